//! Log lines. Each has the id of the trace that it was written in, if it was written in one.
//!
//! A thread of their own writes them: where nobody reads standard error, such as a pipe whose other
//! end is stuck, callers do not wait. What it has no room for is lost, and counted.

use std::fmt;
use std::io::{self, IsTerminal as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tracing::level_filters::LevelFilter;
use tracing::{Event, Subscriber};
use tracing_appender::non_blocking::{ErrorCounter, NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::format::{self, Writer};
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

use super::{METRIC, SPAN, spans};
use crate::config::{LogFormat, Settings};

/// The field with the id of a trace.
const TRACE_ID: &str = "trace_id";

/// How many lines wait to be written; at most as much memory as so many of them take.
const WAITING: usize = 4096;

/// What writes lines, as long as it lives; what waits is written when it is dropped, unless that
/// takes too long.
#[derive(Debug)]
pub(super) struct Lines {
    lost: LostLines,
    _writing: WorkerGuard,
}

impl Lines {
    /// What was lost, now and later.
    pub(super) fn lost(&self) -> LostLines {
        self.lost.clone()
    }
}

/// The lines that were lost.
#[derive(Clone, Debug)]
pub(super) struct LostLines {
    counted: ErrorCounter,
    measured: Arc<AtomicUsize>,
}

impl LostLines {
    /// Measures those that were lost since the last time.
    pub(super) fn measure(&self) {
        let lost = self.counted.dropped_lines();
        let value = lost.saturating_sub(self.measured.swap(lost, Ordering::Relaxed)) as u64;
        tracing::info!(name: "parlor.log.lost", target: "metric", value);
    }
}

/// Writes to standard error what the settings say.
pub(super) fn layer<S>(settings: &Settings) -> (impl Layer<S> + use<S>, Lines)
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    let filter: Targets = settings.log.parse().unwrap_or_default();
    // Whatever the settings say: spans and measurements are not for logs.
    let off = LevelFilter::OFF;
    let filter = filter.with_target(SPAN, off).with_target(METRIC, off);
    let builder = NonBlockingBuilder::default().lossy(true).buffered_lines_limit(WAITING);
    let (writer, writing) = builder.thread_name("log").finish(io::stderr());
    let lost = LostLines { counted: writer.error_counter(), measured: Arc::default() };
    let layer =
        tracing_subscriber::fmt::layer().with_ansi(io::stderr().is_terminal()).with_writer(writer);
    let layer: Box<dyn Layer<S> + Send + Sync> = match settings.log_format {
        LogFormat::Text => layer.event_format(Text(format::format())).boxed(),
        LogFormat::Json => {
            let format = Json(format::format().json().flatten_event(true));
            layer.json().event_format(format).boxed()
        }
    };
    (layer.with_filter(filter), Lines { lost, _writing: writing })
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
