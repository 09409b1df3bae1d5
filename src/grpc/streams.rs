//! What the operator sees of streams: how many are open, why they end, and how each update gets
//! to its viewer.

use tokio::time::Instant;

use crate::connections;
use crate::games::AnyGame;
use crate::matches::{EndReason, Message, Watcher};
use crate::store::MatchId;
use crate::trace::{KeyValue, Span, SpanKind};

/// Counts for one stream, as long as it is open.
#[derive(Debug)]
pub(super) struct OpenStream {
    began: Instant,
    reason: &'static str,
}

impl OpenStream {
    pub(super) fn new() -> Self {
        tracing::info!(name: "parlor.streams.open", target: "metric", value = 1);
        Self { began: Instant::now(), reason: "left" }
    }

    /// It ends next, for this reason.
    pub(super) fn ends(&mut self, reason: EndReason) {
        self.reason = match reason {
            EndReason::MatchOver => "match_over",
            EndReason::MatchExpired => "match_expired",
            EndReason::Draining => "draining",
            EndReason::TokenRevoked => "token_revoked",
            EndReason::MaxAge => "max_age",
            EndReason::Superseded => "superseded",
            EndReason::Unreadable => "unreadable",
        };
    }

    /// It ends next, because the match cannot be told any further.
    pub(super) fn fails(&mut self) {
        self.reason = "failed";
    }

    /// It ends next, because its caller gave it no more time.
    pub(super) fn is_late(&mut self) {
        self.reason = "deadline";
    }
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.reason = "failed";
        } else if connections::is_given_up() {
            self.reason = "slow";
        }
        let secs = self.began.elapsed().as_secs_f64();
        tracing::info!(name: "parlor.streams.open", target: "metric", value = -1);
        tracing::info!(name: "parlor.streams.ended", target: "metric", reason = self.reason);
        tracing::info!(name: "parlor.stream.duration", target: "metric", value = secs);
    }
}

/// Measures a delivery, and gives its span, linked to that of the action that it tells of;
/// nothing, if that is not recorded.
pub(super) fn delivery(
    watcher: &Watcher<AnyGame>,
    id: MatchId,
    message: &Message<AnyGame>,
) -> Span {
    if !matches!(message, Message::Update(..)) {
        return Span::default();
    }
    tracing::info!(name: "parlor.stream.lag", target: "metric", value = watcher.lag());
    let Some(heard) = watcher.heard() else { return Span::default() };
    tracing::info!(
        name: "parlor.delivery.duration",
        target: "metric",
        value = heard.at.elapsed().as_secs_f64(),
        made = if heard.here { "here" } else { "elsewhere" },
    );
    let Some(origin) = heard.origin else { return Span::default() };
    let version = watcher.position().map_or(0, |position| position.version);
    let attributes = vec![
        KeyValue::new("parlor.match_id", id.to_string()),
        KeyValue::new("parlor.version", version.cast_signed()),
    ];
    Span::linked(origin, "deliver", SpanKind::Producer, attributes)
}
