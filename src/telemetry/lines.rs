//! Log lines. Each has the id of the trace that it was written in, if it was written in one.
//!
//! A thread of their own writes them: where nobody reads standard error, such as a pipe whose other
//! end is stuck, callers do not wait. What it has no room for is lost, and counted.

use std::fmt;
use std::io::{self, BufWriter, IsTerminal as _};
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

use super::METRIC;
use crate::config::{LogFormat, Settings};
use crate::trace::{self, TraceId};

/// How many lines wait to be written; at most as much memory as so many of them take.
const WAITING: usize = 4096;

/// As much as almost every line takes, in bytes.
const ROOM: usize = 256;

/// How much is written at once, in bytes, where there are more lines than one to write.
const TOGETHER: usize = 64 * 1024;

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
    // Whatever the settings say: measurements are not for logs.
    let filter = filter.with_target(METRIC, LevelFilter::OFF);
    let builder = NonBlockingBuilder::default().lossy(true).buffered_lines_limit(WAITING);
    // Whoever writes flushes when there is no more to write.
    let standard_error = BufWriter::with_capacity(TOGETHER, io::stderr());
    let (writer, writing) = builder.thread_name("log").finish(standard_error);
    let lost = LostLines { counted: writer.error_counter(), measured: Arc::default() };
    let layer =
        tracing_subscriber::fmt::layer().with_ansi(io::stderr().is_terminal()).with_writer(writer);
    let layer: Box<dyn Layer<S> + Send + Sync> = match settings.log_format {
        LogFormat::Text => {
            // For people, the trace at the end.
            let write: Write =
                |writer, line, trace| writeln!(writer, "{} trace_id={trace}", line.trim_end());
            layer.event_format(Traced { format: format::format(), write }).boxed()
        }
        LogFormat::Json => {
            let format = format::format().json().flatten_event(true);
            // An object, the trace its first field.
            let write: Write =
                |writer, line, trace| write!(writer, r#"{{"trace_id":"{trace}",{}"#, &line[1..]);
            layer.json().event_format(Traced { format, write }).boxed()
        }
    };
    (layer.with_filter(filter), Lines { lost, _writing: writing })
}

/// Writes lines with their traces.
struct Traced<F> {
    format: F,
    write: Write,
}

/// Writes a line that was formatted without its trace.
type Write = fn(&mut Writer<'_>, &str, TraceId) -> fmt::Result;

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
        let mut line = String::with_capacity(ROOM);
        self.format.format_event(context, Writer::new(&mut line), event)?;
        (self.write)(&mut writer, &line, trace)
    }
}
