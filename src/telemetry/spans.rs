//! Spans on their way to a collector, by OTLP over gRPC.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use opentelemetry::Context;
use opentelemetry::propagation::{Extractor, TextMapPropagator as _};
use opentelemetry::trace::{
    SpanContext, SpanId, TraceContextExt as _, TraceFlags, TraceId, TraceState, TracerProvider as _,
};
use opentelemetry_otlp::SpanExporter as OtlpExporter;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::{Sampler, SdkTracerProvider, SpanData, SpanExporter};
use rand::RngExt as _;
use tracing::level_filters::LevelFilter;
use tracing::{Span, Subscriber};
use tracing_opentelemetry::OpenTelemetrySpanExt as _;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::registry::LookupSpan;

use super::{BadExport, SPAN};
use crate::config::Collector;
use crate::trace::{self, Headers, Origin, Trace, Tracer};

/// Sends spans to this collector from a thread of its own.
///
/// Spans wait in a queue of bounded length; one that finds it full is dropped. The queue and the
/// batches can be set with the `OTEL_BSP_` variables of OpenTelemetry.
pub(super) fn exporter(
    collector: &Collector,
    resource: Resource,
) -> Result<SdkTracerProvider, BadExport> {
    let exporter = collector
        .reached_by(OtlpExporter::builder().with_tonic())
        .build()
        .map_err(|error| BadExport(error.to_string()))?;
    Ok(SdkTracerProvider::builder()
        .with_resource(resource)
        // What is not to be recorded is not even begun.
        .with_sampler(Sampler::AlwaysOn)
        .with_batch_exporter(Reporting { exporter, fails: AtomicBool::new(false) })
        .build())
}

/// Makes spans of OpenTelemetry of those of `tracing`.
pub(super) fn layer<S>(traces: &SdkTracerProvider) -> impl Layer<S> + use<S>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    let filter = filter_fn(|metadata| metadata.target() == SPAN);
    tracing_opentelemetry::layer()
        .with_tracer(traces.tracer("parlor"))
        .with_location(false)
        .with_threads(false)
        .with_target(false)
        .with_tracked_inactivity(false)
        // Everything that asks for a span asks `tracing`.
        .with_context_activation(false)
        .with_filter(filter.with_max_level_hint(LevelFilter::INFO))
}

/// Lets the other layers join and link traces; of those that begin here, this share is recorded.
pub(super) fn install(share: f64) {
    trace::install(Box::new(Otel { share }));
}

#[derive(Debug)]
struct Otel {
    share: f64,
}

impl Otel {
    /// A trace that begins here.
    #[expect(clippy::disallowed_methods, reason = "no match depends on it")]
    fn begin(&self) -> Trace {
        let mut random = rand::rng();
        Trace { id: random.random(), recorded: random.random_bool(self.share) }
    }
}

impl Tracer for Otel {
    fn join(&self, headers: &Headers<'_>, begin: &dyn Fn() -> Span) -> (Trace, Span) {
        // Where there is none, or one that is malformed, a new trace begins.
        let caller = headers(CallerHeaders::PARENT).map(|parent| {
            let caller = CallerHeaders { parent, state: headers(CallerHeaders::STATE) };
            TraceContextPropagator::new().extract_with_context(&Context::new(), &caller)
        });
        let theirs = caller.as_ref().and_then(trace_of);
        let trace = theirs.unwrap_or_else(|| self.begin());
        if !trace.recorded {
            return (trace, Span::none());
        }
        let span = begin();
        let is_joined = span.set_parent(caller.unwrap_or_default()).is_ok();
        // One that begins here gets its id only now.
        (trace_of(&span.context()).filter(|_| is_joined).unwrap_or(trace), span)
    }

    fn origin(&self) -> Option<Origin> {
        let here = Span::current().context();
        let span = here.span();
        let span = span.span_context();
        span.is_sampled()
            .then(|| Origin { trace: span.trace_id().to_bytes(), span: span.span_id().to_bytes() })
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

fn trace_of(context: &Context) -> Option<Trace> {
    let span = context.span();
    let span = span.span_context();
    let id = u128::from_be_bytes(span.trace_id().to_bytes());
    span.is_valid().then_some(Trace { id, recorded: span.is_sampled() })
}

/// The headers that say which trace a call belongs to.
struct CallerHeaders {
    parent: String,
    state: Option<String>,
}

impl CallerHeaders {
    const PARENT: &str = "traceparent";
    const STATE: &str = "tracestate";
}

impl Extractor for CallerHeaders {
    fn get(&self, key: &str) -> Option<&str> {
        match key {
            Self::PARENT => Some(&self.parent),
            Self::STATE => self.state.as_deref(),
            _ => None,
        }
    }

    fn keys(&self) -> Vec<&str> {
        vec![Self::PARENT, Self::STATE]
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
