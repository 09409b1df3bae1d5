//! The scripts, and how they are run: by their hash, and by their text where the server has not seen
//! them since it started.

use std::sync::LazyLock;

use redis::{Cmd, ToRedisArgs, Value};

use super::connection::Connection;
use super::errors::{Access, Failure};

/// One script.
#[derive(Debug)]
pub(super) struct Script {
    /// What it is called in traces.
    pub(super) name: &'static str,
    text: &'static str,
    hash: String,
    pub(super) access: Access,
}

pub(super) static CLAIM: LazyLock<Script> =
    LazyLock::new(|| Script::new("claim", include_str!("claim.lua"), Access::Write));
pub(super) static CREATE: LazyLock<Script> =
    LazyLock::new(|| Script::new("create", include_str!("create.lua"), Access::Write));
pub(super) static CONFIRM: LazyLock<Script> =
    LazyLock::new(|| Script::new("confirm", include_str!("confirm.lua"), Access::Write));
pub(super) static LOAD: LazyLock<Script> =
    LazyLock::new(|| Script::new("load", include_str!("load.lua"), Access::Read));
pub(super) static COMMIT: LazyLock<Script> =
    LazyLock::new(|| Script::new("commit", include_str!("commit.lua"), Access::Write));
pub(super) static LOG: LazyLock<Script> =
    LazyLock::new(|| Script::new("log", include_str!("log.lua"), Access::Read));

impl Script {
    fn new(name: &'static str, text: &'static str, access: Access) -> Self {
        Self { name, text, hash: redis::Script::new(text).get_hash().to_owned(), access }
    }

    /// Runs it in one round trip; in two, if the server does not know it. Dropping the future leaves
    /// it run as a whole or not at all.
    pub(super) async fn run(
        &self,
        connection: &Connection,
        keys: &[String],
        arguments: &[&[u8]],
        asking: bool,
    ) -> Result<Value, Failure> {
        let by_hash = call("EVALSHA", &self.hash, keys, arguments);
        match connection.send(&by_hash, self.access, asking).await {
            // Running it by its text also makes its hash known.
            Err(Failure::NoScript) => {
                let by_text = call("EVAL", self.text, keys, arguments);
                connection.send(&by_text, self.access, asking).await
            }
            answer => answer,
        }
    }
}

fn call(command: &str, script: impl ToRedisArgs, keys: &[String], arguments: &[&[u8]]) -> Cmd {
    let mut call = redis::cmd(command);
    call.arg(script).arg(keys.len()).arg(keys).arg(arguments);
    call
}
