//! Metrics: what is counted and measured, and how it leaves the process.
//!
//! The other layers write a measurement as an event of `tracing`, under the target `metric` and the
//! name that stands in the table here. Its field `value` is what is measured, 1 if it has none;
//! its other fields are the labels, exactly those of the table. To add a metric, add it to the table
//! and write the event: where none are collected, it costs nothing.
//!
//! Labels have few values each, whatever callers do: no match, seat or player is one.

use std::collections::HashMap;

use opentelemetry::KeyValue;
use opentelemetry::metrics::{Counter, Gauge, Histogram, Meter, MeterProvider as _, UpDownCounter};
use opentelemetry_otlp::{MetricExporter, WithExportConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::metrics::{PeriodicReader, SdkMeterProvider};
use prometheus::{Registry, TextEncoder};
use tracing::field::{Field, Visit};
use tracing::subscriber::Interest;
use tracing::{Event, Metadata, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

use super::{BadExport, EXPORT_TIMEOUT, METRIC};
use crate::config::Settings;

/// One metric.
struct Metric {
    name: &'static str,
    kind: Kind,
    labels: &'static [&'static str],
    text: &'static str,
}

#[derive(Clone, Copy)]
enum Kind {
    /// How often something happened.
    Count,
    /// How many there are now: events say how many more, or less.
    Level,
    /// How long something took, in seconds.
    Seconds(&'static [f64]),
    /// How far something is behind, in versions.
    Versions(&'static [f64]),
    /// Says something in its labels; always 1.
    Info,
}

/// What unary calls, the store and deliveries take: from a tenth of a millisecond to their limits.
const SHORT: Kind = Kind::Seconds(&[
    0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5,
    5.0, 10.0,
]);

/// How long streams live.
const LONG: Kind =
    Kind::Seconds(&[0.1, 1.0, 10.0, 60.0, 300.0, 900.0, 1800.0, 3600.0, 7200.0, 14400.0]);

/// Every metric there is.
const METRICS: &[Metric] = &[
    Metric {
        name: "rpc.server.call.duration",
        kind: SHORT,
        labels: &["rpc.method", "rpc.response.status_code"],
        text: "How long calls took, those left out whose answer is a stream.",
    },
    Metric {
        name: "parlor.calls",
        kind: Kind::Count,
        labels: &["method", "code"],
        text: "Calls that have ended, streams among them; methods that are not there as _OTHER.",
    },
    Metric {
        name: "parlor.streams.open",
        kind: Kind::Level,
        labels: &[],
        text: "Streams that are open.",
    },
    Metric {
        name: "parlor.streams.ended",
        kind: Kind::Count,
        labels: &["reason"],
        text: "Streams that have ended, by why; left: by their callers.",
    },
    Metric {
        name: "parlor.stream.duration",
        kind: LONG,
        labels: &[],
        text: "How long streams lived.",
    },
    Metric {
        name: "parlor.stream.lag",
        kind: Kind::Versions(&[0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0]),
        labels: &[],
        text: "How many versions a viewer was behind after each update.",
    },
    Metric {
        name: "parlor.delivery.duration",
        kind: SHORT,
        labels: &["made"],
        text: "From a commit (made here) or from hearing of it (made elsewhere) to each viewer's update.",
    },
    Metric {
        name: "parlor.commits",
        kind: Kind::Count,
        labels: &["result"],
        text: "Commits to the store: done, repeated, conflict, forked, gone, failed.",
    },
    Metric {
        name: "parlor.change.retries",
        kind: Kind::Count,
        labels: &["because"],
        text: "Changes decided anew: after a conflict, or because the cache may have been stale.",
    },
    Metric {
        name: "parlor.forks",
        kind: Kind::Count,
        labels: &["found"],
        text: "Histories that the store has lost, by who found it: a writer, reader, or viewer.",
    },
    Metric {
        name: "parlor.matches.created",
        kind: Kind::Count,
        labels: &["game"],
        text: "Matches created.",
    },
    Metric {
        name: "parlor.matches.finished",
        kind: Kind::Count,
        labels: &["game", "reason"],
        text: "Matches that came to their end, by what decided.",
    },
    Metric {
        name: "parlor.actions",
        kind: Kind::Count,
        labels: &["game", "kind"],
        text: "Actions that were accepted, by their id in the catalog.",
    },
    Metric {
        name: "db.client.operation.duration",
        kind: SHORT,
        labels: &["db.system.name", "db.operation.name", "outcome"],
        text: "Round trips to the store, by script.",
    },
    Metric {
        name: "parlor.store.reconnects",
        kind: Kind::Count,
        labels: &["connection"],
        text: "Connections to the store that were opened again after they had been lost.",
    },
    Metric {
        name: "parlor.store.durability",
        kind: Kind::Level,
        labels: &["asked", "found"],
        text: "1 for the profile of durability that is asked for and what Redis was found to keep of it.",
    },
    Metric {
        name: "parlor.announcements",
        kind: Kind::Count,
        labels: &["by"],
        text: "Changes of watched matches heard of: by announcement, or only by looking (missed).",
    },
    Metric {
        name: "parlor.build",
        kind: Kind::Info,
        labels: &["version"],
        text: "What is running.",
    },
    Metric {
        name: "parlor.config",
        kind: Kind::Info,
        labels: &["store", "runtime", "trace_sampling"],
        text: "How it is set.",
    },
];

/// The metrics of this process.
#[derive(Clone, Debug)]
pub(super) struct Metrics {
    provider: SdkMeterProvider,
    registry: Registry,
}

impl Metrics {
    /// Collects metrics, to be read, and to be sent to the collector if there is one.
    pub(super) fn collect(settings: &Settings, resource: Resource) -> Result<Self, BadExport> {
        let bad = |error: &dyn std::error::Error| BadExport(error.to_string());
        let registry = Registry::new();
        let reader = opentelemetry_prometheus::exporter()
            .with_registry(registry.clone())
            .scope_info_enabled(false)
            .build();
        let builder = SdkMeterProvider::builder()
            .with_resource(resource)
            .with_reader(reader.map_err(|error| bad(&error))?);
        let builder = match &settings.otlp_endpoint {
            None => builder,
            Some(endpoint) => {
                let exporter = MetricExporter::builder()
                    .with_tonic()
                    .with_endpoint(endpoint.to_string())
                    .with_timeout(EXPORT_TIMEOUT)
                    .build();
                let exporter = exporter.map_err(|error| bad(&error))?;
                builder.with_reader(PeriodicReader::builder(exporter).build())
            }
        };
        Ok(Self { provider: builder.build(), registry })
    }

    /// What makes measurements of events.
    pub(super) fn layer<S>(&self) -> impl Layer<S> + use<S>
    where
        S: Subscriber + for<'a> LookupSpan<'a>,
    {
        let meter = self.provider.meter("parlor");
        let instruments = METRICS.iter().map(|metric| {
            let instrument = Instrument { labels: metric.labels, kind: metric.on(&meter) };
            (metric.name, instrument)
        });
        let recorder = Recorder { instruments: instruments.collect() };
        recorder.with_filter(filter_fn(|metadata| metadata.target() == METRIC))
    }

    /// All metrics in the text format of Prometheus.
    pub(super) fn text(&self) -> String {
        TextEncoder::new().encode_to_string(&self.registry.gather()).unwrap_or_default()
    }

    /// Sends the collector, if there is one, what was measured last.
    pub(super) fn shut_down(&self) {
        // What cannot be sent by now is lost.
        let _ = self.provider.shutdown();
    }
}

impl Metric {
    fn on(&self, meter: &Meter) -> Handle {
        let (name, text) = (self.name, self.text);
        match self.kind {
            Kind::Count => Handle::Count(meter.u64_counter(name).with_description(text).build()),
            Kind::Level => {
                Handle::Level(meter.i64_up_down_counter(name).with_description(text).build())
            }
            Kind::Info => Handle::Info(meter.u64_gauge(name).with_description(text).build()),
            Kind::Seconds(bounds) => {
                let histogram = meter.f64_histogram(name).with_unit("s").with_description(text);
                Handle::Spread(histogram.with_boundaries(bounds.to_vec()).build())
            }
            Kind::Versions(bounds) => {
                let histogram = meter.f64_histogram(name).with_description(text);
                Handle::Spread(histogram.with_boundaries(bounds.to_vec()).build())
            }
        }
    }
}

struct Instrument {
    labels: &'static [&'static str],
    kind: Handle,
}

enum Handle {
    Count(Counter<u64>),
    Level(UpDownCounter<i64>),
    Spread(Histogram<f64>),
    Info(Gauge<u64>),
}

/// Makes measurements of events.
struct Recorder {
    instruments: HashMap<&'static str, Instrument>,
}

impl<S: Subscriber> Layer<S> for Recorder {
    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        if metadata.target() != METRIC {
            return Interest::never();
        }
        let instrument = self.instruments.get(metadata.name());
        debug_assert!(instrument.is_some(), "no metric of the table: {}", metadata.name());
        if instrument.is_some() { Interest::always() } else { Interest::never() }
    }

    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let Some(instrument) = self.instruments.get(event.metadata().name()) else { return };
        let labels = Vec::with_capacity(instrument.labels.len());
        let mut read = Measurement { known: instrument.labels, value: 1.0, labels };
        event.record(&mut read);
        instrument.record(read.value, &read.labels);
    }
}

impl Instrument {
    #[expect(clippy::cast_sign_loss, reason = "counts only grow")]
    fn record(&self, value: f64, labels: &[KeyValue]) {
        match &self.kind {
            Handle::Count(counter) => counter.add(value as u64, labels),
            Handle::Level(level) => level.add(value as i64, labels),
            Handle::Spread(histogram) => histogram.record(value, labels),
            Handle::Info(gauge) => gauge.record(1, labels),
        }
    }
}

/// What an event says.
struct Measurement {
    known: &'static [&'static str],
    value: f64,
    labels: Vec<KeyValue>,
}

impl Measurement {
    /// A label that the table does not have stays away: it might have any number of values.
    fn label(&mut self, field: &Field, value: impl Into<opentelemetry::Value>) {
        let known = self.known.contains(&field.name());
        debug_assert!(known, "no label of the table: {}", field.name());
        if known {
            self.labels.push(KeyValue::new(field.name(), value));
        }
    }
}

impl Visit for Measurement {
    fn record_f64(&mut self, field: &Field, value: f64) {
        if field.name() == "value" {
            self.value = value;
        } else {
            self.label(field, value);
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "far below what a float holds exactly")]
    fn record_i64(&mut self, field: &Field, value: i64) {
        self.record_f64(field, value as f64);
    }

    #[expect(clippy::cast_precision_loss, reason = "far below what a float holds exactly")]
    fn record_u64(&mut self, field: &Field, value: u64) {
        self.record_f64(field, value as f64);
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.label(field, value.to_owned());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        self.label(field, format!("{value:?}"));
    }
}
