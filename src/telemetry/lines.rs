//! Log lines. Each has the id of the trace that it was written in, if it was written in one.

use std::fmt;
use std::io::{self, IsTerminal as _};

use tracing::level_filters::LevelFilter;
use tracing::{Event, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::format::{self, Writer};
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

use super::{METRIC, SPAN};
use crate::config::{LogFormat, Settings};
use crate::trace::{self, Trace};

/// Writes to standard error what the settings say.
pub(super) fn layer<S>(settings: &Settings) -> impl Layer<S>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    let filter: Targets = settings.log.parse().unwrap_or_default();
    // Whatever the settings say: spans and measurements are not for logs.
    let off = LevelFilter::OFF;
    let filter = filter.with_target(SPAN, off).with_target(METRIC, off);
    let layer = tracing_subscriber::fmt::layer()
        .with_ansi(io::stderr().is_terminal())
        .with_writer(io::stderr);
    let layer: Box<dyn Layer<S> + Send + Sync> = match settings.log_format {
        LogFormat::Text => {
            // For people, the trace at the end.
            let traced = |line: &str, trace| format!("{} trace_id={trace}\n", line.trim_end());
            layer.event_format(Traced { format: format::format(), traced }).boxed()
        }
        LogFormat::Json => {
            let format = format::format().json().flatten_event(true);
            // An object, the trace its first field.
            let traced = |line: &str, trace| format!(r#"{{"trace_id":"{trace}",{}"#, &line[1..]);
            layer.json().event_format(Traced { format, traced }).boxed()
        }
    };
    layer.with_filter(filter)
}

/// Writes lines with their traces: makes another one of a line and its trace.
struct Traced<F> {
    format: F,
    traced: fn(&str, Trace) -> String,
}

impl<S, N, F> FormatEvent<S, N> for Traced<F>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
    F: FormatEvent<S, N>,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let Some(trace) = trace::here() else {
            return self.format.format_event(context, writer, event);
        };
        let mut line = String::new();
        self.format.format_event(context, Writer::new(&mut line), event)?;
        writer.write_str(&(self.traced)(&line, trace))
    }
}
