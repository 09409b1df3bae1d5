//! The names under which things lie in Redis, and how positions are written.
//!
//! | key | type | what |
//! |---|---|---|
//! | `parlor1:{match}:s` | hash | `version`, `digest`, `snapshot` |
//! | `parlor1:{match}:l` | stream | the log: entry `<version>-0` with `digest` and `input` |
//! | `parlor1:{match}:d` | hash | the requests carried out: `<scope>:<request>`, answered |
//! | `parlor1:{match}:w` | channel | the position after every change |
//! | `parlor1:c:<key>` | string | a claim |
//!
//! Snapshots, inputs, answers and claims have a checksum behind them (`checked`), over them and their
//! place: of a snapshot and an input the digest and version, of an answer its field, of a claim its key.
//!
//! Braces make the match's id the hash tag, so that all of a match lies in one slot of a cluster.
//! Nothing here is without an expiry.
//!
//! Versions are decimal strings everywhere: scripts compare them as such and never as Lua numbers,
//! which lose precision. Where a version goes with a digest in one value, the sixteen bytes of the
//! digest come first.

use uuid::Uuid;

use crate::store::{Answered, Digest, MatchId, Position, Version};

/// The names under one prefix.
#[derive(Clone, Debug)]
pub(super) struct Keys {
    prefix: String,
}

impl Keys {
    pub(super) fn new(prefix: String) -> Self {
        Self { prefix }
    }

    pub(super) fn prefix(&self) -> &str {
        &self.prefix
    }

    pub(super) fn state(&self, id: MatchId) -> String {
        self.of(id, 's')
    }

    pub(super) fn log(&self, id: MatchId) -> String {
        self.of(id, 'l')
    }

    pub(super) fn requests(&self, id: MatchId) -> String {
        self.of(id, 'd')
    }

    pub(super) fn channel(&self, id: MatchId) -> String {
        self.of(id, 'w')
    }

    pub(super) fn claim(&self, key: &str) -> String {
        format!("{}:c:{key}", self.prefix)
    }

    /// The match whose channel this is.
    pub(super) fn match_of_channel(&self, channel: &[u8]) -> Option<MatchId> {
        let id = channel
            .strip_prefix(self.prefix.as_bytes())?
            .strip_prefix(b":{")?
            .strip_suffix(b"}:w")?;
        Uuid::try_parse_ascii(id).ok().map(MatchId)
    }

    fn of(&self, id: MatchId, what: char) -> String {
        let mut buffer = Uuid::encode_buffer();
        let id = id.0.hyphenated().encode_lower(&mut buffer);
        let mut key = String::with_capacity(self.prefix.len() + id.len() + 5);
        for part in [self.prefix.as_str(), ":{", id, "}:"] {
            key.push_str(part);
        }
        key.push(what);
        key
    }
}

/// The field of a request.
pub(super) fn request(scope: u8, id: Uuid) -> String {
    format!("{scope}:{}", id.simple())
}

/// A digest and a version as one value.
pub(super) fn with_digest(version: Version, digest: Digest) -> Vec<u8> {
    let mut value = digest.0.to_vec();
    value.extend_from_slice(version.to_string().as_bytes());
    value
}

/// The announced position, if it is one.
pub(super) fn position(value: &[u8]) -> Option<Position> {
    let (digest, version) = value.split_first_chunk()?;
    Some(Position { version: version_of(version)?, digest: Digest(*digest) })
}

/// What is remembered of a request, if it can be read.
pub(super) fn answered(value: &[u8]) -> Option<Answered> {
    let Position { version, digest } = position(value)?;
    Some(Answered { version, digest })
}

/// The version, if it is one.
pub(super) fn version_of(value: &[u8]) -> Option<Version> {
    std::str::from_utf8(value).ok()?.parse().ok()
}

/// The digest, if it is one.
pub(super) fn digest_of(value: &[u8]) -> Option<Digest> {
    value.try_into().ok().map(Digest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_channel_names_its_match() {
        let keys = Keys::new("parlor1".to_owned());
        let id = MatchId(Uuid::from_u128(7));
        assert_eq!(keys.match_of_channel(keys.channel(id).as_bytes()), Some(id));
        assert_eq!(keys.match_of_channel(keys.state(id).as_bytes()), None);
        assert_eq!(keys.match_of_channel(b"other:{}:w"), None);
    }

    #[test]
    fn a_position_reads_as_it_was_written() {
        let at = Position { version: u64::MAX, digest: Digest([b'7'; 16]) };
        assert_eq!(position(&with_digest(at.version, at.digest)), Some(at));
        assert_eq!(position(b"short"), None);
        assert_eq!(position(&[b'x'; 20]), None);
    }
}
