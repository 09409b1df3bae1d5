//! What survives: what is asked of the servers, and what their settings say that they do.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

use redis::{Pipeline, Value};
use serde::Serialize;

use super::address::Host;
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
/// The first two are kept by the servers alone; whether they are set so is looked up. With
/// `replicated`, nothing is acknowledged that not at least one replica has, and what is repeated is
/// waited for again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
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

/// The settings that decide what is kept.
const APPEND_ONLY: &str = "appendonly";
const APPEND_FSYNC: &str = "appendfsync";
const NO_FSYNC_ON_REWRITE: &str = "no-appendfsync-on-rewrite";
const MAXMEMORY_POLICY: &str = "maxmemory-policy";

/// What a primary says of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RedisPrimary {
    /// Its host and port.
    pub address: String,
    /// Its version.
    pub version: String,
    /// Those of its settings that decide what is kept, by their names; nothing, if it may not be asked.
    pub settings: Option<BTreeMap<String, String>>,
    /// How many replicas follow it, if that may be asked.
    pub replicas: Option<usize>,
}

impl RedisPrimary {
    /// What to ask it.
    pub(super) fn questions() -> Pipeline {
        let mut questions = redis::pipe();
        questions.cmd("HELLO");
        // One pattern each: a server before version 7 takes no more.
        questions.cmd("CONFIG").arg("GET").arg("*append*");
        questions.cmd("CONFIG").arg("GET").arg(MAXMEMORY_POLICY);
        questions.cmd("ROLE");
        questions
    }

    /// What it answered.
    ///
    /// # Errors
    ///
    /// It is no server that one could keep anything in.
    pub(super) fn read(address: &Host, answers: Vec<Value>) -> Result<Self> {
        let [hello, append, memory, role] = <[Value; 4]>::try_from(answers)
            .map_err(|_| replies::strange("one for each command"))?;
        let settings = replies::settings(append).zip(replies::settings(memory));
        let settings = settings.map(|(append, memory)| {
            let known = [APPEND_ONLY, APPEND_FSYNC, NO_FSYNC_ON_REWRITE, MAXMEMORY_POLICY];
            let all = append.into_iter().chain(memory);
            all.filter(|(name, _)| known.contains(&name.as_str())).collect()
        });
        Ok(Self {
            address: address.to_string(),
            version: replies::hello(hello)?.version,
            settings,
            replicas: replies::replicas(role),
        })
    }

    fn setting(&self, name: &str) -> Option<&str> {
        self.settings.as_ref()?.get(name).map(String::as_str)
    }

    /// What it keeps on disk, if that may be asked.
    fn disk(&self) -> Option<Disk> {
        let append_only = self.setting(APPEND_ONLY)?;
        Some(match (append_only, self.setting(APPEND_FSYNC)?) {
            ("yes", "always") if self.setting(NO_FSYNC_ON_REWRITE) == Some("yes") => {
                Disk::AlwaysBut
            }
            ("yes", "always") => Disk::Always,
            ("yes", "everysec") => Disk::Everysec,
            ("yes", _) => Disk::Sometimes,
            _ => Disk::Nothing,
        })
    }

    /// In what it does less than the profile asks for.
    fn missing(&self, asked: Durability) -> Vec<String> {
        let needed = match asked {
            Durability::Everysec => Disk::Everysec,
            Durability::Always | Durability::Replicated => Disk::Always,
        };
        let disk = self.disk();
        let on_disk = disk.is_none_or(|disk| disk < needed).then(|| kept_on_disk(disk).to_owned());
        let replicas = match (asked, self.replicas) {
            (Durability::Everysec | Durability::Always, _) | (_, Some(1..)) => None,
            (_, Some(0)) => Some("no replica is connected".to_owned()),
            (_, None) => Some("its replicas may not be asked for".to_owned()),
        };
        let evicting = self.evicting().map(throws_away);
        on_disk.into_iter().chain(replicas).chain(evicting).collect()
    }

    /// What it throws away when it is full, if it does.
    fn evicting(&self) -> Option<&str> {
        self.setting(MAXMEMORY_POLICY).filter(|policy| *policy != "noeviction")
    }
}

fn kept_on_disk(disk: Option<Disk>) -> &'static str {
    match disk {
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

fn throws_away(policy: &str) -> String {
    format!("its maxmemory-policy {policy} lets it throw matches away when it is full")
}

/// A Redis, for those who operate it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RedisInfo {
    /// Where it is, without credentials.
    pub address: String,
    /// What all names in it begin with.
    pub prefix: String,
    /// What is to survive.
    pub durability: Durability,
    /// What the servers are set for: that profile or a lesser one, or not even the least.
    pub found: Option<Durability>,
    /// In what they do less than they are to, each with the server that does.
    pub missing: Vec<String>,
    /// Its primaries that answered when they were asked last.
    pub primaries: Vec<RedisPrimary>,
}

impl RedisInfo {
    /// The same Redis, with what its primaries say now.
    pub(super) fn with(self, primaries: Vec<RedisPrimary>) -> Self {
        let found = Durability::ALL.into_iter().rev().find(|profile| {
            *profile <= self.durability
                && !primaries.is_empty()
                && primaries.iter().all(|primary| primary.missing(*profile).is_empty())
        });
        let missing = primaries.iter().flat_map(|primary| {
            let missing = primary.missing(self.durability).into_iter();
            missing.map(|missing| format!("{}: {missing}", primary.address))
        });
        let missing = missing.collect();
        Self { found, missing, primaries, ..self }
    }
}

/// What it is and what that means for data.
impl fmt::Display for RedisInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let version = self.primaries.first().map_or("", |primary| primary.version.as_str());
        let Self { address, prefix, .. } = self;
        // Of several, the least that one of them does.
        let disk = self.primaries.iter().map(RedisPrimary::disk).min().flatten();
        write!(f, "redis {version} at {address}, keys under {prefix}: {}", kept_on_disk(disk))?;
        let evicting: BTreeSet<_> =
            self.primaries.iter().filter_map(RedisPrimary::evicting).collect();
        evicting.into_iter().try_for_each(|policy| write!(f, "; {}", throws_away(policy)))?;
        if self.durability == Durability::Replicated {
            f.write_str("; what is acknowledged, a replica has too")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn primary(settings: Option<[&str; 4]>, replicas: Option<usize>) -> RedisPrimary {
        let names = [APPEND_ONLY, APPEND_FSYNC, NO_FSYNC_ON_REWRITE, MAXMEMORY_POLICY];
        let settings = settings.map(|settings| {
            names.into_iter().zip(settings).map(|(name, it)| (name.into(), it.into())).collect()
        });
        RedisPrimary { address: "h:1".to_owned(), version: "7".to_owned(), settings, replicas }
    }

    fn info(durability: Durability, primaries: Vec<RedisPrimary>) -> RedisInfo {
        RedisInfo {
            address: "h:1".to_owned(),
            prefix: "p".to_owned(),
            durability,
            found: None,
            missing: Vec::new(),
            primaries: Vec::new(),
        }
        .with(primaries)
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
        let none = Some(["no", "everysec", "no", "noeviction"]);
        let sometimes = Some(["yes", "no", "no", "noeviction"]);
        let everysec = Some(["yes", "everysec", "no", "noeviction"]);
        let always_but = Some(["yes", "always", "yes", "noeviction"]);
        let always = Some(["yes", "always", "no", "noeviction"]);
        let evicting = Some(["yes", "always", "no", "allkeys-lru"]);
        let cases = [
            (Everysec, everysec, None, Some(Everysec), 0),
            (Everysec, always, None, Some(Everysec), 0),
            (Everysec, sometimes, None, None, 1),
            (Everysec, None, None, None, 1),
            (Everysec, evicting, None, None, 1),
            (Always, always, Some(0), Some(Always), 0),
            (Always, always_but, Some(0), Some(Everysec), 1),
            (Always, everysec, Some(1), Some(Everysec), 1),
            (Replicated, always, Some(1), Some(Replicated), 0),
            (Replicated, always, Some(0), Some(Always), 1),
            (Replicated, everysec, Some(0), Some(Everysec), 2),
            (Replicated, none, None, None, 2),
        ];
        for (asked, settings, replicas, found, missing) in cases {
            let info = info(asked, vec![primary(settings, replicas)]);
            assert_eq!((info.found, info.missing.len()), (found, missing), "{info:?}");
        }
    }

    #[test]
    fn of_several_primaries_the_one_that_keeps_least_counts() {
        let always = primary(Some(["yes", "always", "no", "noeviction"]), None);
        let everysec = primary(Some(["yes", "everysec", "no", "noeviction"]), None);
        let info = info(Durability::Always, vec![always, everysec]);
        assert_eq!((info.found, info.missing.len()), (Some(Durability::Everysec), 1));
        assert!(info.to_string().contains("up to two seconds"), "{info}");
    }
}
