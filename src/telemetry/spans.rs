//! Spans on their way to a collector, by OTLP over gRPC.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use opentelemetry::trace::{
    Link, SpanKind, TraceContextExt as _, TraceId, Tracer as _, TracerProvider as _,
};
use opentelemetry::{Context, KeyValue, global};
use opentelemetry_otlp::SpanExporter as OtlpExporter;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::{
    Sampler, SamplingDecision, SamplingResult, SdkTracerProvider, ShouldSample, SpanData,
    SpanExporter,
};

use super::BadExport;
use crate::config::{Collector, TraceDecision};
use crate::trace;

/// Sends spans to this collector from a thread of its own, of the traces that are recorded.
///
/// Spans wait in a queue of bounded length; one that finds it full is dropped. The queue and the
/// batches can be set with the `OTEL_BSP_` variables of OpenTelemetry.
pub(super) fn exporter(
    collector: &Collector,
    resource: Resource,
    recorded: impl ShouldSample + 'static,
) -> Result<SdkTracerProvider, BadExport> {
    let exporter = collector
        .reached_by(OtlpExporter::builder().with_tonic())
        .build()
        .map_err(|error| BadExport(error.to_string()))?;
    Ok(SdkTracerProvider::builder()
        .with_resource(resource)
        .with_sampler(recorded)
        .with_batch_exporter(Reporting { exporter, fails: AtomicBool::new(false) })
        .build())
}

/// Lets the other layers make spans, which go this way.
pub(super) fn install(provider: &SdkTracerProvider) {
    let tracer = provider.tracer("parlor");
    global::set_text_map_propagator(TraceContextPropagator::new());
    trace::install(move |span, parent| parent.with_span(tracer.build_with_context(span, parent)));
}

/// Which traces are recorded: of those that begin here this share, and of those that callers name as
/// the decision is.
pub(super) fn recorded(share: f64, decision: &TraceDecision) -> impl ShouldSample + use<> {
    let trusting = Sampler::ParentBased(Box::new(Sampler::TraceIdRatioBased(share)));
    Recorded { trusting, decision: decision.clone() }
}

/// Takes traces that callers name for such as begin here, where the decision is ours; and records
/// what is linked to a recorded span.
#[derive(Clone, Debug)]
struct Recorded {
    /// Follows whoever has decided before.
    trusting: Sampler,
    decision: TraceDecision,
}

impl ShouldSample for Recorded {
    fn should_sample(
        &self,
        parent: Option<&Context>,
        trace_id: TraceId,
        name: &str,
        kind: &SpanKind,
        attributes: &[KeyValue],
        links: &[Link],
    ) -> SamplingResult {
        let is_foreign = parent.is_some_and(|parent| parent.span().span_context().is_remote());
        let stand_in = if is_foreign { self.decision.stand_in(trace_id.to_bytes()) } else { None };
        let (parent, trace_id) = match stand_in {
            Some(id) => (None, TraceId::from_bytes(id)),
            None => (parent, trace_id),
        };
        let mut result =
            self.trusting.should_sample(parent, trace_id, name, kind, attributes, links);
        if links.iter().any(|link| link.span_context.is_sampled()) {
            result.decision = SamplingDecision::RecordAndSample;
        }
        result
    }
}

/// Says once when the collector takes no more, and once when it does again.
#[derive(Debug)]
struct Reporting<E> {
    exporter: E,
    fails: AtomicBool,
}

impl<E: SpanExporter> SpanExporter for Reporting<E> {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let spans = batch.len();
        let exported = self.exporter.export(batch).await;
        match &exported {
            Ok(()) if self.fails.swap(false, Ordering::Relaxed) => {
                tracing::info!("the collector takes traces again");
            }
            Err(error) if !self.fails.swap(true, Ordering::Relaxed) => {
                tracing::warn!(spans, %error, "the collector does not take traces: they are lost");
            }
            Ok(()) | Err(_) => {}
        }
        exported
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.exporter.shutdown_with_timeout(timeout)
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.exporter.force_flush()
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.exporter.set_resource(resource);
    }
}
