//! What a failed command means for the store.
//!
//! The one question that matters is whether something may have been changed. A server that answers
//! with an error that Redis has for this has changed nothing, because every script's first write is
//! the one that can be refused. A server that does not answer may have; and so may one that answers
//! with an error that is not known here: a proxy has errors of its own, and the server behind it may
//! have done what the proxy knows no answer to.

use redis::{ErrorKind, RedisError, ServerErrorKind};

use super::address::Host;
use crate::store::StoreError;

/// What a command does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    /// It only looks.
    Read,
    /// It may change something.
    Write,
}

/// Why a command failed, and what can be done.
#[derive(Debug)]
pub(super) enum Failure {
    /// The server does not know the script; nothing was done.
    NoScript,
    /// Nothing was changed: this node of a cluster serves it.
    Moved(Host),
    /// Nothing was changed: it is moving to this node of a cluster, which serves it if it is told
    /// that we ask because of that.
    Ask(Host),
    /// Nothing was changed, and another connection may do better.
    Elsewhere(StoreError),
    /// Trying again at once is no use, or not safe.
    Final(StoreError),
}

impl Failure {
    /// What to tell the caller, if it is not tried again.
    pub(super) fn into_error(self) -> StoreError {
        match self {
            Self::NoScript => StoreError::Unavailable("the script is not known".to_owned()),
            Self::Moved(to) | Self::Ask(to) => {
                StoreError::Failover(format!("what is asked for is moving to {to}"))
            }
            Self::Elsewhere(error) | Self::Final(error) => error,
        }
    }
}

/// What the failure of a command on an open connection means, and whether the connection must not be
/// used any more.
pub(super) fn of_command(error: &RedisError, access: Access, from: &Host) -> (Failure, bool) {
    let to = || Host::redirected(error.redirect_node()?.0, &from.name);
    match error.kind() {
        ErrorKind::Server(ServerErrorKind::NoScript) => (Failure::NoScript, false),
        ErrorKind::Server(ServerErrorKind::Moved) if let Some(to) = to() => {
            (Failure::Moved(to), false)
        }
        ErrorKind::Server(ServerErrorKind::Ask) if let Some(to) = to() => (Failure::Ask(to), false),
        ErrorKind::Server(_) | ErrorKind::Extension => of_refusal(error, access),
        // Everything else is about the connection: nothing that was sent on it can be relied on.
        _ => (of_connection(error, access), true),
    }
}

/// What the server's refusal of a question means, among other answers.
pub(super) fn of_answer(error: &RedisError) -> Failure {
    of_refusal(error, Access::Read).0
}

/// What it means that no connection could be opened. Nothing was sent.
pub(super) fn of_opening(error: &RedisError) -> StoreError {
    match error.kind() {
        ErrorKind::Server(_) | ErrorKind::Extension => of_answer(error).into_error(),
        ErrorKind::AuthenticationFailed
        | ErrorKind::InvalidClientConfig
        | ErrorKind::RESP3NotSupported => StoreError::Misconfigured(text(error)),
        _ => StoreError::Unavailable(text(error)),
    }
}

fn of_connection(error: &RedisError, access: Access) -> Failure {
    match access {
        Access::Write => Failure::Final(StoreError::OutcomeUnknown(text(error))),
        // A second wait would exceed what callers are ready to wait.
        Access::Read if error.is_timeout() => Failure::Final(StoreError::Unavailable(text(error))),
        Access::Read => Failure::Elsewhere(StoreError::Unavailable(text(error))),
    }
}

/// How Redis says, in an error without a code of its own, that it does not do what is asked: it does
/// not know the command, has no database of this number or none for this user, or runs a script for
/// a user who lacks a permission (Redis 7.0, and later servers).
const NEVER_DONE: [&str; 6] = [
    "unknown command",
    "unknown subcommand",
    "DB index is out of range",
    "has no permissions to run",
    "user executing the script",
    "ACL failure in script",
];

/// What the server's error means.
fn of_refusal(error: &RedisError, access: Access) -> (Failure, bool) {
    let text = text(error);
    match error.code().unwrap_or_default() {
        // This is not the primary, or not yet: the address may by now lead to another server.
        "READONLY" | "LOADING" | "MASTERDOWN" => {
            (Failure::Elsewhere(StoreError::Failover(text)), true)
        }
        "TRYAGAIN" | "NOREPLICAS" | "CLUSTERDOWN" | "MOVED" | "ASK" => {
            (Failure::Final(StoreError::Failover(text)), false)
        }
        "OOM" => (Failure::Final(StoreError::Full(text)), false),
        "MISCONF" => (Failure::Final(StoreError::ReadOnly(text)), false),
        // Somebody's script holds the server up.
        "BUSY" => (Failure::Final(StoreError::Unavailable(text)), false),
        "NOPERM" | "WRONGPASS" | "DENIED" | "CROSSSLOT" => {
            (Failure::Final(StoreError::Misconfigured(text)), false)
        }
        // The user was changed under an open connection.
        "NOAUTH" => (Failure::Final(StoreError::Misconfigured(text)), true),
        "ERR" if NEVER_DONE.iter().any(|never| text.contains(never)) => {
            (Failure::Final(StoreError::Misconfigured(text)), false)
        }
        "ERR" if text.contains("max number of clients") => {
            (Failure::Final(StoreError::Unavailable(text)), true)
        }
        // What lies under the key is not what a script wrote there: of another kind, or a log that
        // goes on where its match does not.
        "WRONGTYPE" => (Failure::Final(StoreError::Corrupt(text)), false),
        "ERR" if text.contains("smaller than the target stream top item") => {
            (Failure::Final(StoreError::Corrupt(text)), false)
        }
        _ => {
            let text = format!("an error that is not known: {text}");
            let error = match access {
                Access::Write => StoreError::OutcomeUnknown(text),
                Access::Read => StoreError::Unavailable(text),
            };
            (Failure::Final(error), false)
        }
    }
}

/// The error in the server's own words, if it is the server's.
fn text(error: &RedisError) -> String {
    match (error.code(), error.detail()) {
        (Some(code), Some(detail)) => format!("{code} {detail}"),
        (Some(code), None) => code.to_owned(),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the server's error means, and whether the connection is given up.
    fn meaning(code: &str, detail: &str) -> (StoreError, bool) {
        let known = [
            ("ERR", ServerErrorKind::ResponseError),
            ("LOADING", ServerErrorKind::BusyLoading),
            ("MOVED", ServerErrorKind::Moved),
            ("TRYAGAIN", ServerErrorKind::TryAgain),
            ("CLUSTERDOWN", ServerErrorKind::ClusterDown),
            ("MASTERDOWN", ServerErrorKind::MasterDown),
            ("READONLY", ServerErrorKind::ReadOnly),
            ("NOPERM", ServerErrorKind::NoPerm),
        ];
        let known = known.into_iter().find(|(known, _)| *known == code);
        let error = match known {
            Some((_, kind)) => {
                RedisError::from((ErrorKind::Server(kind), "refused", detail.to_owned()))
            }
            None => redis::make_extension_error(code.to_owned(), Some(detail.to_owned())),
        };
        let (failure, broken) = of_command(&error, Access::Write, &Host::new("h", 1));
        (failure.into_error(), broken)
    }

    #[test]
    fn every_refusal_of_the_server_has_its_meaning() {
        type Case = (&'static str, &'static str, fn(String) -> StoreError, bool);
        let cases: [Case; 22] = [
            ("READONLY", "it is a replica", StoreError::Failover, true),
            ("LOADING", "it reads its data", StoreError::Failover, true),
            ("MASTERDOWN", "its primary is down", StoreError::Failover, true),
            ("CLUSTERDOWN", "slots are missing", StoreError::Failover, false),
            ("MOVED", "nowhere", StoreError::Failover, false),
            ("TRYAGAIN", "keys are moving", StoreError::Failover, false),
            ("NOREPLICAS", "too few replicas", StoreError::Failover, false),
            ("OOM", "no memory", StoreError::Full, false),
            ("MISCONF", "it cannot save", StoreError::ReadOnly, false),
            ("BUSY", "a script runs", StoreError::Unavailable, false),
            ("NOPERM", "not permitted", StoreError::Misconfigured, false),
            ("WRONGPASS", "no such user", StoreError::Misconfigured, false),
            ("NOAUTH", "nobody is asking", StoreError::Misconfigured, true),
            ("ERR", "The user executing the script can't", StoreError::Misconfigured, false),
            ("ERR", "ACL failure in script: User u has no", StoreError::Misconfigured, false),
            ("ERR", "max number of clients reached", StoreError::Unavailable, true),
            ("DENIED", "it is protected", StoreError::Misconfigured, false),
            ("CROSSSLOT", "it is in a cluster", StoreError::Misconfigured, false),
            ("ERR", "unknown command 'EVALSHA'", StoreError::Misconfigured, false),
            ("ERR", "DB index is out of range", StoreError::Misconfigured, false),
            ("WRONGTYPE", "not a hash", StoreError::Corrupt, false),
            ("ERR", "is smaller than the target stream top item", StoreError::Corrupt, false),
        ];
        for (code, detail, error, broken) in cases {
            let expected = (error(format!("{code} {detail}")), broken);
            assert_eq!(meaning(code, detail), expected);
        }
    }

    #[test]
    fn an_error_that_is_not_known_is_no_damage_and_leaves_a_change_in_doubt() {
        for (code, detail) in [("upstream", "failure"), ("ERR", "Connection refused"), ("-", "")] {
            let error = redis::make_extension_error(code.to_owned(), Some(detail.to_owned()));
            let of = |access| of_command(&error, access, &Host::new("h", 1));
            let (write, broken) = of(Access::Write);
            assert!(matches!(write, Failure::Final(StoreError::OutcomeUnknown(_))) && !broken);
            let (read, broken) = of(Access::Read);
            assert!(matches!(read, Failure::Final(StoreError::Unavailable(_))) && !broken);
            assert!(matches!(of_opening(&error), StoreError::Unavailable(_)));
        }
    }

    #[test]
    fn only_a_change_that_was_not_answered_is_in_doubt() {
        for kind in [std::io::ErrorKind::TimedOut, std::io::ErrorKind::BrokenPipe] {
            let error = RedisError::from(std::io::Error::from(kind));
            let of = |access| of_command(&error, access, &Host::new("h", 1));
            let (write, broken) = of(Access::Write);
            assert!(matches!(write, Failure::Final(StoreError::OutcomeUnknown(_))) && broken);
            let (read, broken) = of(Access::Read);
            assert!(matches!(read.into_error(), StoreError::Unavailable(_)) && broken);
            assert!(matches!(of_opening(&error), StoreError::Unavailable(_)));
        }
    }
}
