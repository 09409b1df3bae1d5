//! Spans on their way to a collector, by OTLP over gRPC.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use opentelemetry::propagation::{Extractor, TextMapPropagator as _};
use opentelemetry::trace::{
    Link, SpanContext, SpanId, SpanKind, TraceContextExt as _, TraceFlags, TraceId, TraceState,
    TracerProvider as _,
};
use opentelemetry::{Context, KeyValue};
use opentelemetry_otlp::SpanExporter as OtlpExporter;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::{
    Sampler, SamplingDecision, SamplingResult, SdkTracerProvider, ShouldSample, SpanData,
    SpanExporter,
};
use tracing::{Metadata, Span, Subscriber};
use tracing_opentelemetry::OpenTelemetrySpanExt as _;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::dynamic_filter_fn;
use tracing_subscriber::registry::LookupSpan;

use super::{BadExport, SPAN};
use crate::config::Collector;
use crate::trace::{self, Origin, Tracer};

/// The spans that are made whether or not their trace is recorded, so that log lines have its id.
/// All others are made only where they are recorded.
const ALWAYS: &[&str] = &["rpc", "change", "deliver"];

/// Sends spans to this collector from a thread of its own, this share of the traces that begin here.
///
/// Spans wait in a queue of bounded length; one that finds it full is dropped. The queue and the
/// batches can be set with the `OTEL_BSP_` variables of OpenTelemetry.
pub(super) fn exporter(
    collector: &Collector,
    sampling: f64,
    resource: Resource,
) -> Result<SdkTracerProvider, BadExport> {
    let exporter = collector
        .reached_by(OtlpExporter::builder().with_tonic())
        .build()
        .map_err(|error| BadExport(error.to_string()))?;
    Ok(SdkTracerProvider::builder()
        .with_resource(resource)
        .with_sampler(Sampling(Sampler::TraceIdRatioBased(sampling)))
        .with_batch_exporter(Reporting { exporter, fails: AtomicBool::new(false) })
        .build())
}

/// Makes spans of OpenTelemetry of those of `tracing`.
pub(super) fn layer<S>(traces: &SdkTracerProvider) -> impl Layer<S> + use<S>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    let filter = dynamic_filter_fn(|metadata, _| is_wanted(metadata))
        .with_callsite_filter(|metadata| match metadata.target() == SPAN {
            false => tracing::subscriber::Interest::never(),
            true if ALWAYS.contains(&metadata.name()) => tracing::subscriber::Interest::always(),
            true => tracing::subscriber::Interest::sometimes(),
        })
        .with_max_level_hint(tracing::level_filters::LevelFilter::INFO);
    tracing_opentelemetry::layer()
        .with_tracer(traces.tracer("parlor"))
        .with_location(false)
        .with_threads(false)
        .with_target(false)
        .with_tracked_inactivity(false)
        .with_filter(filter)
}

fn is_wanted(metadata: &Metadata<'_>) -> bool {
    metadata.target() == SPAN
        && (ALWAYS.contains(&metadata.name())
            || Context::map_current(|here| here.span().span_context().is_sampled()))
}

/// The id of the trace that is entered here.
pub(super) fn trace_here() -> Option<String> {
    Context::map_current(|here| {
        let span = here.span().span_context().clone();
        span.is_valid().then(|| span.trace_id().to_string())
    })
}

/// Lets the other layers join and link traces.
pub(super) fn install() {
    trace::install(Box::new(Otel));
}

#[derive(Debug)]
struct Otel;

impl Tracer for Otel {
    fn adopt(&self, span: &Span, headers: &dyn Fn(&str) -> Option<String>) -> Option<String> {
        let caller = Headers::read(headers);
        // Where there is none, or one that is malformed, a new trace begins.
        let parent = TraceContextPropagator::new().extract_with_context(&Context::new(), &caller);
        span.set_parent(parent).ok()?;
        let context = span.context();
        let context = context.span().span_context().clone();
        context.is_valid().then(|| context.trace_id().to_string())
    }

    fn here(&self) -> Option<Origin> {
        Context::map_current(|here| {
            let span = here.span().span_context().clone();
            span.is_sampled().then(|| Origin {
                trace: span.trace_id().to_bytes(),
                span: span.span_id().to_bytes(),
            })
        })
    }

    fn link(&self, span: &Span, origin: Origin) {
        span.add_link(SpanContext::new(
            TraceId::from_bytes(origin.trace),
            SpanId::from_bytes(origin.span),
            TraceFlags::SAMPLED,
            false,
            TraceState::NONE,
        ));
    }
}

/// The headers that say which trace a call belongs to.
struct Headers {
    parent: Option<String>,
    state: Option<String>,
}

impl Headers {
    const PARENT: &str = "traceparent";
    const STATE: &str = "tracestate";

    fn read(headers: &dyn Fn(&str) -> Option<String>) -> Self {
        Self { parent: headers(Self::PARENT), state: headers(Self::STATE) }
    }
}

impl Extractor for Headers {
    fn get(&self, key: &str) -> Option<&str> {
        match key {
            Self::PARENT => self.parent.as_deref(),
            Self::STATE => self.state.as_deref(),
            _ => None,
        }
    }

    fn keys(&self) -> Vec<&str> {
        vec![Self::PARENT, Self::STATE]
    }
}

/// Records what the caller records; of the traces that begin here, a share; and what is linked to
/// something recorded.
#[derive(Clone, Debug)]
struct Sampling(Sampler);

impl ShouldSample for Sampling {
    fn should_sample(
        &self,
        parent: Option<&Context>,
        trace: TraceId,
        name: &str,
        kind: &SpanKind,
        attributes: &[KeyValue],
        links: &[Link],
    ) -> SamplingResult {
        let above = parent.map(|parent| parent.span().span_context().clone());
        let above = above.filter(SpanContext::is_valid);
        let is_linked = links.iter().any(|link| link.span_context.is_sampled());
        let recorded = match &above {
            Some(above) => above.is_sampled(),
            None if is_linked => true,
            None => {
                return self.0.should_sample(parent, trace, name, kind, attributes, links);
            }
        };
        SamplingResult {
            decision: if recorded {
                SamplingDecision::RecordAndSample
            } else {
                SamplingDecision::Drop
            },
            attributes: Vec::new(),
            trace_state: above.map(|above| above.trace_state().clone()).unwrap_or_default(),
        }
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
