//! Metrics: what is counted and measured, and how it leaves the process.
//!
//! The other layers write a measurement as an event of `tracing`, under the target `metric` and the
//! name that stands in the table here. Its field `value` is what is measured, 1 if it has none;
//! its other fields are the labels, exactly those of the table. To add a metric, add it to the table
//! and write the event: where none are collected, it costs nothing.
//!
//! Labels have few values each, whatever callers do: no match, seat or player is one.

use std::collections::HashMap;
use std::fmt;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::OnceLock;

use arrayvec::ArrayString;
use opentelemetry::KeyValue;
use opentelemetry::metrics::{Meter, MeterProvider as _};
use opentelemetry_otlp::MetricExporter;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::metrics::{PeriodicReader, SdkMeterProvider};
use prometheus::{Registry, TextEncoder};
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::subscriber::Interest;
use tracing::{Event, Metadata, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

use super::{BadExport, METRIC};
use crate::config::Collector;

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
    /// What something is, in this unit if it has one; 1, where only the labels say something.
    Value(&'static str),
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
        name: "parlor.calls.shed",
        kind: Kind::Count,
        labels: &["reason"],
        text: "Calls refused for load, or connections closed before there was a call, by the limit.",
    },
    Metric {
        name: "parlor.tokens.refused",
        kind: Kind::Count,
        labels: &["reason"],
        text: "Calls refused for their token: missing, invalid, expired, scope, revoked.",
    },
    Metric {
        name: "parlor.connections.open",
        kind: Kind::Level,
        labels: &[],
        text: "Connections that are open.",
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
        name: "parlor.probe.matches",
        kind: Kind::Count,
        labels: &["result"],
        text: "Matches that a probe has begun, by how they went: finished, failed, late.",
    },
    Metric {
        name: "parlor.probe.duration",
        kind: SHORT,
        labels: &[],
        text: "How long the matches of a probe took that were finished.",
    },
    Metric {
        name: "parlor.panics",
        kind: Kind::Count,
        labels: &["where"],
        text: "Mistakes of ours that were caught: in the rules of a game, or in the handler of a call.",
    },
    Metric {
        name: "parlor.runtime.lag",
        kind: SHORT,
        labels: &[],
        text: "How late a task was that wanted to wake up every second, one for each runtime.",
    },
    Metric {
        name: "parlor.certificate.expires",
        kind: Kind::Value("s"),
        labels: &[],
        text: "Until when our certificate is good, in seconds since 1970 began.",
    },
    Metric {
        name: "parlor.log.lost",
        kind: Kind::Count,
        labels: &[],
        text: "Log lines that were lost, because nobody read those before them.",
    },
    Metric {
        name: "parlor.limits",
        kind: Kind::Value(""),
        labels: &["limit"],
        text: "The limits in force, by their flags; of times, seconds; of rates, how many a second.",
    },
    Metric {
        name: "parlor.build",
        kind: Kind::Value(""),
        labels: &["version"],
        text: "What is running.",
    },
    Metric {
        name: "parlor.config",
        kind: Kind::Value(""),
        labels: &["store", "runtime", "trace_sampling"],
        text: "How it is set.",
    },
];

/// The metrics of this process.
#[derive(Clone, Debug)]
pub(super) struct Metrics {
    provider: SdkMeterProvider,
    /// Where they are read, if they are.
    registry: Option<Registry>,
}

impl Metrics {
    /// Collects metrics, to be read if they are, and to be sent to the collector if there is one. Each
    /// measurement is kept apart for both.
    pub(super) fn collect(
        are_read: bool,
        collector: Option<&Collector>,
        resource: Resource,
    ) -> Result<Self, BadExport> {
        let bad = |error: &dyn std::error::Error| BadExport(error.to_string());
        let mut builder = SdkMeterProvider::builder().with_resource(resource);
        let registry = are_read.then(Registry::new);
        if let Some(registry) = &registry {
            // What the collector reads is in /proc.
            #[cfg(target_os = "linux")]
            {
                let process = Box::new(prometheus::process_collector::ProcessCollector::for_self());
                registry.register(process).map_err(|error| bad(&error))?;
            }
            let reader = opentelemetry_prometheus::exporter().with_registry(registry.clone());
            let reader = reader.scope_info_enabled(false).build();
            builder = builder.with_reader(reader.map_err(|error| bad(&error))?);
        }
        if let Some(collector) = collector {
            let exporter = collector.reached_by(MetricExporter::builder().with_tonic()).build();
            let exporter = exporter.map_err(|error| bad(&error))?;
            builder = builder.with_reader(PeriodicReader::builder(exporter).build());
        }
        Ok(Self { provider: builder.build(), registry })
    }

    /// What makes measurements of events.
    pub(super) fn layer<S>(&self) -> impl Layer<S> + use<S>
    where
        S: Subscriber + for<'a> LookupSpan<'a>,
    {
        let meter = self.provider.meter("parlor");
        let instruments =
            METRICS.iter().map(|metric| (metric.name, Instrument::new(metric, &meter)));
        let recorder = Recorder { instruments: instruments.collect() };
        let filter = filter_fn(|metadata| metadata.target() == METRIC);
        recorder.with_filter(filter.with_max_level_hint(LevelFilter::INFO))
    }

    /// All metrics in the text format of Prometheus.
    pub(super) fn text(&self) -> String {
        let Some(registry) = &self.registry else { return String::new() };
        TextEncoder::new().encode_to_string(&registry.gather()).unwrap_or_default()
    }

    /// Sends the collector, if there is one, what was measured last.
    pub(super) fn shut_down(&self) {
        // What cannot be sent by now is lost.
        let _ = self.provider.shutdown();
    }
}

/// Measures one label set of a metric.
type Record = Box<dyn Fn(f64) + Send + Sync>;

/// Gives what measures this label set.
type Bind = Box<dyn Fn(&[KeyValue]) -> Record + Send + Sync>;

impl Metric {
    #[expect(clippy::cast_sign_loss, reason = "counts only grow")]
    fn on(&self, meter: &Meter) -> Bind {
        let (name, text) = (self.name, self.text);
        let histogram = |unit: &'static str, bounds: &[f64]| -> Bind {
            let histogram = meter.f64_histogram(name).with_unit(unit).with_description(text);
            let histogram = histogram.with_boundaries(bounds.to_vec()).build();
            Box::new(move |labels| {
                let bound = histogram.bind(labels);
                Box::new(move |value| bound.record(value))
            })
        };
        match self.kind {
            Kind::Count => {
                let counter = meter.u64_counter(name).with_description(text).build();
                Box::new(move |labels| {
                    let bound = counter.bind(labels);
                    Box::new(move |value| bound.add(value as u64))
                })
            }
            Kind::Level => {
                let level = meter.i64_up_down_counter(name).with_description(text).build();
                Box::new(move |labels| {
                    let bound = level.bind(labels);
                    Box::new(move |value| bound.add(value as i64))
                })
            }
            Kind::Value(unit) => {
                let gauge = meter.f64_gauge(name).with_unit(unit).with_description(text).build();
                Box::new(move |labels| {
                    let bound = gauge.bind(labels);
                    Box::new(move |value| bound.record(value))
                })
            }
            Kind::Seconds(bounds) => histogram("s", bounds),
            Kind::Versions(bounds) => histogram("", bounds),
        }
    }
}

/// A metric, and its label sets that were seen so far.
///
/// What measures a label set is looked up by the text of the labels, in a table that only grows and
/// so is read without a lock: an action makes half a dozen measurements.
struct Instrument {
    labels: &'static [&'static str],
    bind: Bind,
    seen: Box<[OnceLock<Seen>]>,
    hasher: RandomState,
}

/// A label set, and what measures it.
struct Seen {
    labels: Box<str>,
    record: Record,
}

impl Instrument {
    /// So many label sets are found fast: twice as many as any metric of the table can have.
    const FAST: usize = 512;

    fn new(metric: &Metric, meter: &Meter) -> Self {
        Self {
            labels: metric.labels,
            bind: metric.on(meter),
            seen: (0..Self::FAST).map(|_| OnceLock::new()).collect(),
            hasher: RandomState::new(),
        }
    }

    fn record(&self, labels: &Labels, value: f64) {
        let start = self.hasher.hash_one(labels.as_str()) as usize;
        for step in 0..self.seen.len() {
            let slot = &self.seen[start.wrapping_add(step) % self.seen.len()];
            let seen = slot.get_or_init(|| Seen {
                labels: labels.as_str().into(),
                record: self.bound_to(labels),
            });
            if *seen.labels == *labels.as_str() {
                return (seen.record)(value);
            }
        }
        self.bound_to(labels)(value);
    }

    fn bound_to(&self, labels: &Labels) -> Record {
        let each = labels.split_terminator(END).map(|label| {
            let (place, value) = label.split_at(1);
            let name = place.parse::<usize>().map_or("", |place| self.labels[place]);
            KeyValue::new(name, value.to_owned())
        });
        (self.bind)(&each.collect::<Vec<_>>())
    }
}

/// The labels of a measurement: of each its place in the table, its value, and an end.
type Labels = ArrayString<192>;

const END: char = '\0';

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
        let mut read = Measurement { known: instrument.labels, value: 1.0, labels: Labels::new() };
        event.record(&mut read);
        instrument.record(&read.labels, read.value);
    }
}

/// What an event says.
struct Measurement {
    known: &'static [&'static str],
    value: f64,
    labels: Labels,
}

impl Measurement {
    /// A label that the table does not have stays away: it might have any number of values.
    fn label(&mut self, field: &Field, value: &str) {
        let place = self.known.iter().position(|known| *known == field.name());
        let fits = value.len() + 2 <= self.labels.remaining_capacity();
        debug_assert!(place.is_some() && fits, "no label of the table: {}", field.name());
        if let (Some(place), true) = (place, fits) {
            self.labels.push(char::from(b'0' + place as u8));
            self.labels.push_str(value);
            self.labels.push(END);
        }
    }
}

impl Visit for Measurement {
    fn record_f64(&mut self, field: &Field, value: f64) {
        if field.name() == "value" {
            self.value = value;
        } else {
            self.label(field, &value.to_string());
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
        self.label(field, value);
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.label(field, &format!("{value:?}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn label_sets_are_counted_apart_however_many_and_in_whichever_order() {
        let registry = Registry::new();
        let reader = opentelemetry_prometheus::exporter().with_registry(registry.clone());
        let reader = reader.build().expect("nothing is registered yet");
        let provider = SdkMeterProvider::builder().with_reader(reader).build();
        let metric = METRICS.iter().find(|metric| metric.name == "parlor.calls");
        let metric = metric.expect("it is in the table");
        let instrument = Instrument::new(metric, &provider.meter("test"));
        let labels = |text: &str| Labels::from(text).expect("short");
        let sets = 2 * Instrument::FAST;
        for set in 0..sets {
            instrument.record(&labels(&format!("0{set}\x001OK\0")), 1.0);
            instrument.record(&labels(&format!("1OK\x000{set}\0")), 2.0);
        }
        let text = TextEncoder::new().encode_to_string(&registry.gather()).expect("text");
        let ours = || text.lines().filter(|line| line.starts_with("parlor_calls_total{"));
        assert_eq!(ours().count(), sets);
        assert!(ours().all(|line| line.contains(r#"code="OK""#) && line.ends_with(" 3")), "{text}");
    }
}
