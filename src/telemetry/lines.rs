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

use super::{METRIC, SPAN, spans};
use crate::config::{LogFormat, Settings};

/// The field with the id of a trace.
const TRACE_ID: &str = "trace_id";

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
        LogFormat::Text => layer.event_format(Text(format::format())).boxed(),
        LogFormat::Json => {
            let format = Json(format::format().json().flatten_event(true));
            layer.json().event_format(format).boxed()
        }
    };
    layer.with_filter(filter)
}

/// Lines for people, the trace at their end.
struct Text(format::Format);

impl<S, N> FormatEvent<S, N> for Text
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let Some(trace) = trace_of(event) else {
            return self.0.format_event(context, writer, event);
        };
        let mut line = String::new();
        self.0.format_event(context, Writer::new(&mut line), event)?;
        writeln!(writer, "{} {TRACE_ID}={trace}", line.trim_end())
    }
}

/// A JSON object a line, the trace its first field.
struct Json(format::Format<format::Json>);

impl<S, N> FormatEvent<S, N> for Json
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let Some(trace) = trace_of(event) else {
            return self.0.format_event(context, writer, event);
        };
        let mut line = String::new();
        self.0.format_event(context, Writer::new(&mut line), event)?;
        let fields = line.strip_prefix('{').unwrap_or(&line);
        write!(writer, "{{\"{TRACE_ID}\":\"{trace}\",{fields}")
    }
}

/// The trace that the event was written in, unless it says that itself.
fn trace_of(event: &Event<'_>) -> Option<String> {
    let says_so = event.metadata().fields().field(TRACE_ID).is_some();
    if says_so { None } else { spans::trace_here() }
}
