//! What the operator sees of the process: log lines and traces.
//!
//! The other layers write spans with `tracing` and know no more; this one alone knows where they
//! go. Nothing here makes a caller wait: what a slow or dead collector does not take is dropped.

mod lines;
mod spans;

use std::time::Duration;

use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::config::Settings;

/// The target of spans, which are for traces only.
const SPAN: &str = "span";

/// For how long what was recorded last is tried to be sent when the process ends.
const LAST_EXPORT: Duration = Duration::from_secs(2);

/// Why telemetry could not be set up.
#[derive(Debug, thiserror::Error)]
#[error("telemetry cannot be exported: {0}")]
pub struct BadExport(String);

/// Telemetry of this process, as long as it runs.
#[derive(Debug)]
pub struct Telemetry {
    traces: Option<SdkTracerProvider>,
}

impl Telemetry {
    /// Begins, as the settings say: logs to standard error, traces to the collector. Must be called
    /// within the runtime that is to send them. Only the first call in a process counts.
    ///
    /// # Errors
    /// [`BadExport`], when the collector's address cannot be used. Whether the collector is there
    /// plays no part.
    pub fn start(settings: &Settings) -> Result<Self, BadExport> {
        let export = settings
            .otlp_endpoint
            .as_ref()
            .map(|endpoint| spans::exporter(endpoint, settings.trace_sampling, resource()));
        let traces = export.transpose()?;
        let subscriber = tracing_subscriber::registry()
            .with(lines::layer(settings))
            .with(traces.as_ref().map(spans::layer));
        let _ = subscriber.try_init();
        if traces.is_some() {
            spans::install();
        }
        Ok(Self { traces })
    }

    /// Sends what was recorded last, for no longer than a collector that works needs.
    pub async fn stop(self) {
        let last = tokio::task::spawn_blocking(move || {
            if let Some(traces) = self.traces {
                // What cannot be sent by now is lost.
                let _ = traces.shutdown_with_timeout(LAST_EXPORT);
            }
        });
        let _ = tokio::time::timeout(LAST_EXPORT * 2, last).await;
    }
}

/// What all that is exported says of this process. `OTEL_RESOURCE_ATTRIBUTES` adds to it.
fn resource() -> Resource {
    let version = opentelemetry::KeyValue::new("service.version", env!("CARGO_PKG_VERSION"));
    Resource::builder().with_service_name("parlor").with_attribute(version).build()
}
