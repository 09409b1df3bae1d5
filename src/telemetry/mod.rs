//! What the operator sees of the process: log lines, traces and metrics.
//!
//! The other layers write lines and measurements with `tracing`, make spans with [`trace`](crate::trace), and know no
//! more; this one alone knows where they go. Nothing here makes a caller wait: what a slow or dead collector does not take is dropped.

mod collector;
mod lag;
mod lines;
mod metrics;
mod spans;

use std::time::Duration;

pub use self::lag::measure_lag;
use self::lines::{Lines, LostLines};
use self::metrics::Metrics;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{Layer, Registry};

use crate::config::{RuntimeShape, Settings, StoreChoice};

/// The target of measurements, which are for metrics only.
const METRIC: &str = "metric";

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
    metrics: Option<Metrics>,
    lines: Lines,
}

impl Telemetry {
    /// Begins, as the settings say: logs to standard error, traces and metrics to the
    /// collector, metrics also for whoever reads them. Must be called
    /// within the runtime that is to send them. Only the first call in a process counts.
    ///
    /// # Errors
    /// [`BadExport`], when the collector's address cannot be used. Whether the collector is there
    /// plays no part.
    pub fn start(settings: &Settings) -> Result<Self, BadExport> {
        let collector = settings.collector.as_ref();
        let recorded = || spans::recorded(settings.trace_sampling, &settings.trace_decision);
        let traces = collector.map(|collector| spans::exporter(collector, resource(), recorded()));
        let traces = traces.transpose()?;
        let are_read = settings.admin_listen.is_some();
        let collect = || Metrics::collect(are_read, collector, resource());
        let metrics = (are_read || collector.is_some()).then(collect).transpose()?;
        let (written, lines) = lines::layer(settings);
        let layers = layers(written.boxed(), metrics.as_ref());
        let _ = tracing_subscriber::registry().with(layers).try_init();
        traces.iter().for_each(spans::install);
        introduce(settings);
        Ok(Self { traces, metrics, lines })
    }

    /// What reads the metrics; without any, there is nothing to read.
    pub fn scraper(&self) -> Scraper {
        Scraper(self.metrics.clone().map(|metrics| (metrics, Some(self.lines.lost()))))
    }

    /// Sends and writes what was recorded last, for no longer than a collector that works needs.
    pub async fn stop(self) {
        self.lines.lost().measure();
        let last = tokio::task::spawn_blocking(move || {
            if let Some(traces) = self.traces {
                // What cannot be sent by now is lost.
                let _ = traces.shutdown_with_timeout(LAST_EXPORT);
            }
            if let Some(metrics) = self.metrics {
                metrics.shut_down();
            }
        });
        let _ = tokio::time::timeout(LAST_EXPORT * 2, last).await;
        // Nobody may read what is written.
        let written = tokio::task::spawn_blocking(move || drop(self.lines));
        let _ = tokio::time::timeout(LAST_EXPORT, written).await;
    }
}

/// Begins with metrics alone, for whoever reads them. Only the first call in a process counts.
///
/// # Errors
/// [`BadExport`].
pub fn only_metrics() -> Result<Scraper, BadExport> {
    let metrics = Metrics::collect(true, None, resource())?;
    let _ = tracing_subscriber::registry().with(metrics.layer()).try_init();
    Ok(Scraper(Some((metrics, None))))
}

/// Reads the metrics of this process, after those lines of its log that were lost are measured, if it
/// has one.
#[derive(Clone, Debug, Default)]
pub struct Scraper(Option<(Metrics, Option<LostLines>)>);

impl Scraper {
    /// All metrics as they are now, in the text format of Prometheus.
    pub fn text(&self) -> String {
        let Some((metrics, lost)) = &self.0 else { return String::new() };
        if let Some(lost) = lost {
            lost.measure();
        }
        metrics.text()
    }
}

type Layers = Vec<Box<dyn Layer<Registry> + Send + Sync>>;

/// All that lines and measurements go to.
///
/// Not as options: one that is none would want every event that there is, and so have them made for
/// nobody.
fn layers(written: Box<dyn Layer<Registry> + Send + Sync>, metrics: Option<&Metrics>) -> Layers {
    let mut layers = vec![written];
    layers.extend(metrics.map(|metrics| metrics.layer().boxed()));
    layers
}

/// Says what runs here, and how it is set.
fn introduce(settings: &Settings) {
    let version = env!("CARGO_PKG_VERSION");
    tracing::info!(name: "parlor.build", target: "metric", version);
    tracing::info!(
        name: "parlor.config",
        target: "metric",
        store = match settings.store {
            StoreChoice::Memory => "memory",
            StoreChoice::Redis(_) => "redis",
        },
        runtime = match settings.runtime {
            RuntimeShape::Shared => "shared",
            RuntimeShape::PerCore => "per-core",
        },
        trace_sampling = settings.trace_sampling,
    );
    for (limit, in_force) in settings.limits_in_force() {
        if let Some(value) = in_force.value() {
            tracing::info!(name: "parlor.limits", target: "metric", value, limit);
        }
    }
}

/// What all that is exported says of this process. `OTEL_RESOURCE_ATTRIBUTES` adds to it.
fn resource() -> Resource {
    let version = opentelemetry::KeyValue::new("service.version", env!("CARGO_PKG_VERSION"));
    Resource::builder().with_service_name("parlor").with_attribute(version).build()
}

#[cfg(test)]
mod tests {
    use tracing::Level;
    use tracing::level_filters::LevelFilter;

    use super::*;

    #[test]
    fn nothing_is_made_for_nobody() {
        let metrics = Metrics::collect(true, None, resource()).expect("nothing to be reached");
        for metrics in [None, Some(&metrics)] {
            let written = tracing_subscriber::fmt::layer().with_filter(LevelFilter::ERROR).boxed();
            let subscriber = tracing_subscriber::registry().with(layers(written, metrics));
            tracing::subscriber::with_default(subscriber, || {
                assert!(!tracing::enabled!(target: "h2", Level::DEBUG));
            });
        }
    }
}
