//! What runs here, for operators: the program, the games, where matches are kept and what is kept of
//! them, and which limits are in force. Nothing secret.

use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::config::{Limits, Settings};
use crate::games::catalogs;
use crate::matches::{Clock, SCHEMA};
use crate::store::{Store, StoreInfo};

/// What runs here. Clones are about the same.
#[derive(Clone, Debug)]
pub struct Info {
    /// What does not change while it runs.
    fixed: Arc<Value>,
    store: Arc<dyn Store>,
}

impl Info {
    /// Of a service that starts now.
    #[must_use]
    pub fn new(settings: &Settings, store: Arc<dyn Store>, clock: &dyn Clock) -> Self {
        let started = UNIX_EPOCH + Duration::from_millis(clock.unix_millis());
        let games = catalogs().map(|game| (game.id.to_owned(), json!(game.rules_version)));
        let fixed = json!({
            "version": env!("CARGO_PKG_VERSION"),
            "started": humantime::format_rfc3339_millis(started).to_string(),
            "rules_versions": serde_json::Map::from_iter(games),
            "schema": SCHEMA,
            "limits": limits(settings),
        });
        Self { fixed: Arc::new(fixed), store }
    }

    /// What the store is, and what it was last found to do with data.
    pub fn store(&self) -> StoreInfo {
        self.store.info()
    }

    /// All of it, as it is now.
    pub fn page(&self) -> Value {
        let mut page = Value::clone(&self.fixed);
        page["store"] = json!(self.store());
        page
    }
}

/// Under the names that the settings have; null for what is not limited.
fn limits(settings: &Settings) -> Value {
    let time = |time: Duration| humantime::format_duration(time).to_string();
    let Settings { matches, limits, .. } = settings;
    let Limits { connections, in_flight, deadlines, sizes, streams, rates, memory } = limits;
    let http2 = connections.http2;
    let mut limits = json!({
        "keep_idle": time(matches.keep_idle),
        "keep_over": time(matches.keep_over),
        "cached_matches": matches.cached_matches,
        "token_life": time(settings.token_life),
        "drain_delay": time(settings.drain_delay),
        "drain": time(settings.drain),
        "connections": connections.most,
        "preface": time(connections.preface),
        "first_request": time(connections.first_request),
        "write_stall": time(connections.write_stall),
        "connection_age": time(connections.age),
        "tcp_keepalive": time(connections.tcp_keepalive),
        "connection_streams": http2.streams,
        "stream_window": http2.stream_window,
        "connection_window": http2.connection_window,
        "max_headers": http2.headers,
        "max_frame": http2.frame,
        "send_buffer": http2.send_buffer,
        "pending_resets": http2.pending_resets,
        "error_resets": http2.error_resets,
        "keepalive": time(http2.keepalive),
        "keepalive_timeout": time(http2.keepalive_timeout),
        "in_flight": in_flight,
        "deadline": time(deadlines.default),
        "max_deadline": time(deadlines.max),
        "max_request": sizes.request,
        "max_creation": sizes.creation,
        "max_answer": sizes.answer,
        "heartbeat": time(matches.heartbeat),
        "stream_stall": time(connections.stream_stall),
        "stream_age": time(matches.stream_age),
        "seat_streams": streams.of_seat,
        "spectators": streams.of_spectators,
        "streams": streams.of_instance,
        "reconnect_spread": time(streams.spread),
        "seat_rate": rates.acts,
        "match_rate": rates.match_acts,
        "create_rate": rates.creations,
        "create_rate_all": rates.all_creations,
        "stream_rate": rates.opens,
        "spectator_rate": rates.spectators,
        "guess_rate": rates.guesses,
    });
    // One more is too many for the macro.
    limits["memory"] = json!(memory);
    limits
}
