//! What runs here, for operators: the program, the games, where matches are kept and what is kept of
//! them, and which limits are in force. Nothing secret.

use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use serde_json::{Map, Value, json};

use crate::config::Settings;
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
        let limits = settings.limits_in_force();
        let limits = limits.into_iter().map(|(flag, limit)| (flag.to_owned(), json!(limit)));
        let fixed = json!({
            "version": env!("CARGO_PKG_VERSION"),
            "started": humantime::format_rfc3339_millis(started).to_string(),
            "rules_versions": Map::from_iter(games),
            "schema": SCHEMA,
            "limits": limits.collect::<Map<_, _>>(),
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
