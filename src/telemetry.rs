//! Logs.

use std::io::{self, IsTerminal as _};

use tracing_subscriber::Layer as _;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::config::{LogFormat, Settings};

/// Writes logs to standard error, as the settings say. Only the first call in a process counts.
pub fn init(settings: &Settings) {
    let filter: Targets = settings.log.parse().unwrap_or_default();
    let lines = match settings.log_format {
        LogFormat::Text => tracing_subscriber::fmt::layer()
            .with_ansi(io::stderr().is_terminal())
            .with_writer(io::stderr)
            .boxed(),
        LogFormat::Json => tracing_subscriber::fmt::layer()
            .json()
            .flatten_event(true)
            .with_writer(io::stderr)
            .boxed(),
    };
    let _ = tracing_subscriber::registry().with(lines.with_filter(filter)).try_init();
}
