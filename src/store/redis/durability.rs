//! What survives: what is asked of the servers, and what their settings say that they do.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use redis::Value;

use super::client::Client;
use super::replies;
use crate::store::Result;

/// What of what was acknowledged is to survive.
///
/// | profile | survives | the servers have |
/// |---|---|---|
/// | `everysec` | the end of the service; a crash of Redis or a power loss takes up to two seconds | an append-only file |
/// | `always` | a crash of Redis and a power loss too | `appendfsync always`, `no-appendfsync-on-rewrite no` |
/// | `replicated` | the loss of the primary too | the same, and at least one replica |
///
/// The first two are kept by the servers alone; that they are set so is looked up at the start. With
/// `replicated`, nothing is acknowledged that not at least one replica has, and what is repeated is
/// waited for again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// A crash or a power loss may take a little.
    Everysec,
    /// A power loss takes nothing.
    #[default]
    Always,
    /// Nor does the loss of the primary.
    Replicated,
}

impl Durability {
    /// Every profile.
    pub const ALL: [Self; 3] = [Self::Everysec, Self::Always, Self::Replicated];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Everysec => "everysec",
            Self::Always => "always",
            Self::Replicated => "replicated",
        }
    }
}

impl fmt::Display for Durability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Durability {
    type Err = String;

    fn from_str(name: &str) -> std::result::Result<Self, String> {
        let found = Self::ALL.into_iter().find(|durability| durability.name() == name);
        found.ok_or_else(|| format!("one of {}", Self::ALL.map(Self::name).join(", ")))
    }
}

/// What a log on disk survives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Disk {
    /// There is none.
    Nothing,
    /// The system writes it when it likes.
    Sometimes,
    Everysec,
    /// Not while the log is rewritten.
    AlwaysBut,
    Always,
}

/// So long a replica may take to say that it is there.
const REPLICA_MILLIS: u64 = 100;

/// What the primaries say that they do: of several, the least that one of them does.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// What they keep on disk, if that may be asked.
    disk: Option<Disk>,
    /// What is thrown away when there is no room.
    evicting: BTreeSet<String>,
    /// How many replicas are connected, if that may be asked.
    replicas: Option<i64>,
}

/// Asks all primaries.
///
/// # Errors
///
/// None of them answers.
pub(super) async fn found(client: &Client) -> Result<Found> {
    let mut questions = redis::pipe();
    // One pattern each: a server before version 7 takes no more.
    questions.cmd("CONFIG").arg("GET").arg("*append*");
    questions.cmd("CONFIG").arg("GET").arg("maxmemory-policy");
    questions.cmd("WAIT").arg(1).arg(REPLICA_MILLIS);
    let answers = client.look_everywhere(&questions).await;
    if let Some(Err(error)) = answers.iter().find(|_| answers.iter().all(Result::is_err)) {
        return Err(error.clone());
    }
    let least = answers.into_iter().map(Result::unwrap_or_default).map(of_one);
    let least = least.reduce(|a, b| Found {
        disk: a.disk.min(b.disk),
        evicting: a.evicting.into_iter().chain(b.evicting).collect(),
        replicas: a.replicas.min(b.replicas),
    });
    Ok(least.unwrap_or(Found { disk: None, evicting: BTreeSet::new(), replicas: None }))
}

fn of_one(answers: Vec<Value>) -> Found {
    let mut answers = answers.into_iter();
    let persistence = answers.next().and_then(replies::settings);
    let disk = persistence.map(|settings| {
        let setting = |name: &str| settings.get(name).map(String::as_str).unwrap_or_default();
        match (setting("appendonly"), setting("appendfsync")) {
            ("yes", "always") if setting("no-appendfsync-on-rewrite") == "yes" => Disk::AlwaysBut,
            ("yes", "always") => Disk::Always,
            ("yes", "everysec") => Disk::Everysec,
            ("yes", _) => Disk::Sometimes,
            _ => Disk::Nothing,
        }
    });
    let policy = answers.next().and_then(replies::settings);
    let policy = policy.and_then(|mut settings| settings.remove("maxmemory-policy"));
    let evicting = policy.into_iter().filter(|policy| policy != "noeviction").collect();
    let replicas = match answers.next() {
        Some(Value::Int(replicas)) => Some(replicas),
        _ => None,
    };
    Found { disk, evicting, replicas }
}

impl Found {
    /// In what it is less than the profile asks for; nothing, if that is as it should be.
    pub(super) fn missing(&self, durability: Durability) -> Vec<String> {
        let mut missing = Vec::new();
        let needed = match durability {
            Durability::Everysec => Disk::Everysec,
            Durability::Always | Durability::Replicated => Disk::Always,
        };
        if self.disk.is_none_or(|disk| disk < needed) {
            missing.push(self.kept_on_disk().to_owned());
        }
        if durability == Durability::Replicated {
            match self.replicas {
                Some(1..) => {}
                Some(_) => missing.push("no replica is connected".to_owned()),
                None => missing.push("it may not wait for replicas".to_owned()),
            }
        }
        missing.extend(self.evicting.iter().map(|policy| throws_away(policy)));
        missing
    }

    fn kept_on_disk(&self) -> &'static str {
        match self.disk {
            None => "what it keeps on disk may not be asked",
            Some(Disk::Always) => "what it acknowledged survives a crash and a power loss",
            Some(Disk::AlwaysBut) => {
                "what it acknowledged survives a crash, but a power loss while its log is rewritten \
                 takes what came meanwhile"
            }
            // A write waits while the disk is still busy with the second before.
            Some(Disk::Everysec) => {
                "a crash or a power loss takes up to two seconds of what it acknowledged"
            }
            Some(Disk::Sometimes) => {
                "what it acknowledged survives a crash, but a power loss takes what the system had \
                 not written yet"
            }
            Some(Disk::Nothing) => {
                "it keeps no log on disk, so its end takes all since its last dump, if there is one"
            }
        }
    }
}

fn throws_away(policy: &str) -> String {
    format!("its maxmemory-policy {policy} lets it throw matches away when it is full")
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kept_on_disk())?;
        self.evicting.iter().try_for_each(|policy| write!(f, "; {}", throws_away(policy)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(disk: Option<Disk>, replicas: Option<i64>) -> Found {
        Found { disk, evicting: BTreeSet::new(), replicas }
    }

    #[test]
    fn a_profile_reads_as_it_is_written() {
        for durability in Durability::ALL {
            assert_eq!(durability.to_string().parse(), Ok(durability));
        }
        assert!("sometimes".parse::<Durability>().is_err());
    }

    #[test]
    fn what_is_less_than_asked_for_is_told() {
        use Durability::{Always, Everysec, Replicated};
        let cases = [
            (Everysec, Some(Disk::Everysec), None, 0),
            (Everysec, Some(Disk::Always), None, 0),
            (Everysec, Some(Disk::Sometimes), None, 1),
            (Everysec, None, None, 1),
            (Always, Some(Disk::Always), Some(0), 0),
            (Always, Some(Disk::AlwaysBut), Some(0), 1),
            (Always, Some(Disk::Everysec), Some(1), 1),
            (Replicated, Some(Disk::Always), Some(1), 0),
            (Replicated, Some(Disk::Always), Some(0), 1),
            (Replicated, Some(Disk::Nothing), None, 2),
        ];
        for (durability, disk, replicas, missing) in cases {
            let told = found(disk, replicas).missing(durability);
            assert_eq!(told.len(), missing, "{durability} {disk:?} {replicas:?}: {told:?}");
        }
    }

    #[test]
    fn a_server_that_throws_matches_away_keeps_no_profile() {
        let evicting = BTreeSet::from(["allkeys-lru".to_owned()]);
        let found = Found { evicting, ..found(Some(Disk::Always), Some(1)) };
        assert_eq!(found.missing(Durability::Everysec).len(), 1);
    }
}
