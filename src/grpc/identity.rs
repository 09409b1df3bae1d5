//! Who calls: what the metadata of a request says, judged before the store is asked.

use std::collections::HashMap;
use std::str::FromStr;

use sha2::{Digest as _, Sha256};
use tonic::Status;
use tonic::metadata::MetadataMap;

use super::errors::Fault;
use super::tokens::TokenKeys;
use crate::matches::Caller;
use crate::rules::Seat;
use crate::store::MatchId;

/// The caller, for this match.
pub(super) fn caller(
    keys: &TokenKeys,
    metadata: &MetadataMap,
    match_id: MatchId,
) -> Result<Caller, Status> {
    let Some(header) = metadata.get("authorization") else { return Ok(Caller::Anyone) };
    let invalid = || Fault::TOKEN_INVALID.status();
    let text = header.to_str().map_err(|_| invalid())?;
    let (scheme, token) = text.split_once(' ').ok_or_else(invalid)?;
    if !scheme.eq_ignore_ascii_case("bearer") {
        return Err(invalid());
    }
    let claims = keys.verify(token.trim())?;
    if claims.match_id != match_id {
        return Err(Fault::TOKEN_SCOPE.status());
    }
    Ok(match claims.seat {
        Some(seat) => Caller::Seat(seat, claims.epoch),
        None => Caller::Spectator,
    })
}

/// The seat of the caller, and the number of its token.
pub(super) fn seat(
    keys: &TokenKeys,
    metadata: &MetadataMap,
    match_id: MatchId,
) -> Result<(Seat, u32), Status> {
    match caller(keys, metadata, match_id)? {
        Caller::Seat(seat, epoch) => Ok((seat, epoch)),
        Caller::Spectator => Err(Fault::SEAT_FORBIDDEN.status()),
        Caller::Anyone => Err(Fault::TOKEN_MISSING.status()),
    }
}

/// The API keys that matches can be created with; without any, everyone can.
///
/// Only hashes are kept: a key is looked up by its hash, so that how long that takes tells nothing
/// about other keys.
#[derive(Clone, Debug, Default)]
pub struct ApiKeys {
    names: HashMap<[u8; 32], String>,
}

/// A list of API keys that cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("write the keys as name:key, with commas in between, each key at least 16 characters")]
pub struct BadApiKeys;

impl FromStr for ApiKeys {
    type Err = BadApiKeys;

    /// Reads keys as `name:key`, separated by commas.
    fn from_str(text: &str) -> Result<Self, BadApiKeys> {
        let mut names = HashMap::new();
        for part in text.split(',') {
            let (name, key) = part.trim().split_once(':').ok_or(BadApiKeys)?;
            if name.is_empty() || key.len() < 16 {
                return Err(BadApiKeys);
            }
            if names.insert(Sha256::digest(key).into(), name.to_owned()).is_some() {
                return Err(BadApiKeys);
            }
        }
        Ok(Self { names })
    }
}

impl ApiKeys {
    /// Whether everyone can create matches.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.names.is_empty()
    }

    /// The name of who creates a match; the same for everyone where everyone can.
    pub(super) fn principal(&self, metadata: &MetadataMap) -> Result<String, Status> {
        if self.is_open() {
            return Ok("anyone".to_owned());
        }
        let key = metadata.get("x-api-key").ok_or_else(|| Fault::API_KEY_MISSING.status())?;
        let hash: [u8; 32] = Sha256::digest(key.as_encoded_bytes()).into();
        self.names.get(&hash).cloned().ok_or_else(|| Fault::API_KEY_INVALID.status())
    }
}
