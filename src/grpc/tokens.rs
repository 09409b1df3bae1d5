//! Seat and spectator tokens: JSON Web Tokens, signed with HMAC-SHA256.
//!
//! A token is a capability for one seat of one match, or for watching one match. It is checked
//! before the store is asked for anything. The `kid` in its header names the key, so that keys can
//! be rotated: the first one signs, all of them verify. A new one has to be known to all instances
//! before it is the first at any.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use hmac::{Hmac, KeyInit as _, Mac as _};
use jsonwebtoken::errors::ErrorKind;
use jsonwebtoken::{
    Algorithm, DecodingKey, EncodingKey, Header, Validation, get_current_timestamp,
};
use quick_cache::sync::Cache;
use rand::TryRng as _;
use rand::rngs::SysRng;
use serde::{Deserialize, Serialize};
use sha2::Sha256;
use tonic::Status;

use super::errors::Fault;
use crate::rules::Seat;
use crate::store::MatchId;

/// Who issues the tokens.
const ISSUER: &str = "parlor";
/// The shortest key that is accepted, in bytes.
const MIN_KEY: usize = 32;
/// The longest token that is looked at, in bytes.
const MAX_TOKEN: usize = 512;
/// For how many seconds after its end a token is still good, as clocks differ.
const LEEWAY_SECS: u64 = 30;
/// How many tokens are remembered as good. A seat's is sent with each of its actions.
const REMEMBERED: usize = 16 * 1024;

/// What a token allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claims {
    iss: Issuer,
    /// The match.
    #[serde(rename = "sub")]
    pub match_id: MatchId,
    /// The seat; a spectator's token has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seat: Option<Seat>,
    /// Which of the seat's tokens it is.
    #[serde(default)]
    pub epoch: u32,
    /// When it was issued, in seconds since 1970 began.
    pub iat: u64,
    /// Until when it is good, likewise.
    pub exp: u64,
}

impl Claims {
    /// Whether the token has not expired.
    fn is_in_time(&self) -> bool {
        self.exp + LEEWAY_SECS >= get_current_timestamp()
    }
}

/// The issuer, which is always the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Issuer {
    #[serde(rename = "parlor")]
    Parlor,
}

/// One key and its name.
#[derive(Clone)]
struct Key {
    id: String,
    /// For other uses than tokens; ready to be copied and fed.
    mac: Hmac<Sha256>,
    signing: EncodingKey,
    verifying: DecodingKey,
}

/// The keys that tokens are signed and verified with.
#[derive(Clone)]
pub struct TokenKeys {
    keys: Vec<Key>,
    /// What was verified lately, so that it need not be for each call.
    verified: Arc<Cache<String, Claims>>,
}

/// Says nothing of the keys: they must not reach a log.
impl fmt::Debug for TokenKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.keys.iter().map(|key| &key.id)).finish()
    }
}

/// What is wrong with a list of keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadKeys {
    /// It is not written as it should be.
    #[error("write the keys as id:hex, with commas in between")]
    Syntax,
    /// A key is too short.
    #[error("a key has at least 32 bytes, which are 64 hexadecimal digits")]
    TooShort,
    /// Two keys have the same id.
    #[error("two keys have the same id")]
    Repeated,
}

impl FromStr for TokenKeys {
    type Err = BadKeys;

    /// Reads keys as `id:hex`, separated by commas; the first one signs.
    fn from_str(text: &str) -> Result<Self, BadKeys> {
        let mut keys: Vec<Key> = Vec::new();
        for part in text.split(',') {
            let (id, secret) = part.trim().split_once(':').ok_or(BadKeys::Syntax)?;
            let secret = hex::decode(secret).map_err(|_| BadKeys::Syntax)?;
            if id.is_empty() {
                return Err(BadKeys::Syntax);
            }
            if secret.len() < MIN_KEY {
                return Err(BadKeys::TooShort);
            }
            if keys.iter().any(|key| key.id == id) {
                return Err(BadKeys::Repeated);
            }
            keys.push(Key::new(id, &secret).ok_or(BadKeys::Syntax)?);
        }
        Ok(Self::new(keys))
    }
}

impl Key {
    fn new(id: &str, secret: &[u8]) -> Option<Self> {
        let signing = EncodingKey::from_secret(secret).ok()?;
        let verifying = DecodingKey::from_secret(secret).ok()?;
        let mac = Hmac::<Sha256>::new_from_slice(secret).ok()?;
        Some(Self { id: id.to_owned(), mac, signing, verifying })
    }

    /// An authentication code over these bytes, for other uses than tokens.
    fn mac(&self, bytes: &[u8]) -> Hmac<Sha256> {
        let mut mac = self.mac.clone();
        mac.update(bytes);
        mac
    }
}

impl TokenKeys {
    fn new(keys: Vec<Key>) -> Self {
        Self { keys, verified: Arc::new(Cache::new(REMEMBERED)) }
    }

    /// A key for this process alone.
    ///
    /// # Panics
    /// When the operating system has no randomness to give.
    #[must_use]
    pub fn random() -> Self {
        let mut secret = vec![0; MIN_KEY];
        SysRng.try_fill_bytes(&mut secret).expect("the operating system gives randomness");
        Self::new(Key::new("process", &secret).into_iter().collect())
    }

    /// A token for a seat, or without one for a spectator. The same arguments give the same token.
    ///
    /// # Errors
    /// None that depends on the arguments.
    pub fn issue(
        &self,
        match_id: MatchId,
        seat: Option<(Seat, u32)>,
        issued_at: u64,
        life: Duration,
    ) -> Result<String, Status> {
        let claims = Claims {
            iss: Issuer::Parlor,
            match_id,
            seat: seat.map(|(seat, _)| seat),
            epoch: seat.map_or(0, |(_, epoch)| epoch),
            iat: issued_at,
            exp: issued_at + life.as_secs(),
        };
        let key = self.keys.first().ok_or_else(|| Fault::PANIC.status())?;
        let header = Header { kid: Some(key.id.clone()), ..Header::new(Algorithm::HS256) };
        jsonwebtoken::encode(&header, &claims, &key.signing).map_err(|error| {
            tracing::error!(%error, "a token could not be signed");
            Fault::PANIC.status()
        })
    }

    /// What a token allows.
    ///
    /// # Errors
    /// `TOKEN_EXPIRED`, or `TOKEN_INVALID` for whatever else is wrong with it.
    pub fn verify(&self, token: &str) -> Result<Claims, Status> {
        let invalid = || Fault::TOKEN_INVALID.status();
        if token.len() > MAX_TOKEN {
            return Err(invalid());
        }
        if let Some(claims) = self.verified.get(token).filter(Claims::is_in_time) {
            return Ok(claims);
        }
        let header = jsonwebtoken::decode_header(token).map_err(|_| invalid())?;
        let key = self.keys.iter().find(|key| header.kid.as_ref() == Some(&key.id));
        let mut validation = Validation::new(Algorithm::HS256);
        validation.leeway = LEEWAY_SECS;
        validation.set_issuer(&[ISSUER]);
        validation.set_required_spec_claims(&["exp", "iss", "sub"]);
        let verified =
            jsonwebtoken::decode::<Claims>(token, &key.ok_or_else(invalid)?.verifying, &validation);
        match verified {
            Ok(data) => {
                self.verified.insert(token.to_owned(), data.claims);
                Ok(data.claims)
            }
            Err(error) if matches!(error.kind(), ErrorKind::ExpiredSignature) => {
                Err(Fault::TOKEN_EXPIRED.status())
            }
            Err(_) => Err(invalid()),
        }
    }

    /// The authentication code of these bytes under the signing key.
    #[must_use]
    pub fn seal(&self, bytes: &[u8]) -> [u8; 16] {
        let mut seal = [0; 16];
        if let Some(key) = self.keys.first() {
            seal.copy_from_slice(&key.mac(bytes).finalize().into_bytes()[..16]);
        }
        seal
    }

    /// Whether this is the authentication code of these bytes under any of the keys.
    pub(super) fn is_sealed(&self, bytes: &[u8], seal: &[u8]) -> bool {
        self.keys.iter().any(|key| key.mac(bytes).verify_truncated_left(seal).is_ok())
    }
}

#[cfg(test)]
mod tests {
    use tonic_types::StatusExt as _;
    use uuid::Uuid;

    use super::*;

    fn reason(status: &Status) -> String {
        status.get_error_details().error_info().expect("an ErrorInfo").reason.clone()
    }

    #[test]
    fn a_token_is_good_again_and_again() {
        let keys = TokenKeys::random();
        let (now, life) = (get_current_timestamp(), Duration::from_secs(60));
        let token = keys.issue(MatchId(Uuid::nil()), None, now, life).expect("a token");
        let first = keys.verify(&token).expect("it is good");
        assert_eq!(keys.verify(&token).expect("it is still good"), first);
        let garbled = format!("{token}x");
        assert_eq!(reason(&keys.verify(&garbled).expect_err("garbled")), "TOKEN_INVALID");
    }

    #[test]
    fn while_keys_are_rotated_neighbours_know_what_each_other_signs() {
        let [one, two] =
            [("k1", "11"), ("k2", "22")].map(|(id, byte)| format!("{id}:{}", byte.repeat(32)));
        let steps = [one.clone(), format!("{one},{two}"), format!("{two},{one}")];
        let steps = steps.map(|keys| keys.parse::<TokenKeys>().expect("keys"));
        let token = |keys: &TokenKeys| {
            let (now, life) = (get_current_timestamp(), Duration::from_secs(60));
            keys.issue(MatchId(Uuid::nil()), None, now, life).expect("a token")
        };
        for (one, other) in [(0, 1), (1, 0), (1, 2), (2, 1)] {
            let (signs, verifies) = (&steps[one], &steps[other]);
            verifies.verify(&token(signs)).expect("a key that both have");
            assert!(verifies.is_sealed(b"here", &signs.seal(b"here")));
        }
        // Without the step between.
        let refused = steps[0].verify(&token(&steps[2])).expect_err("a key that it has not");
        assert_eq!(reason(&refused), "TOKEN_INVALID");
    }

    #[test]
    fn a_token_that_was_good_expires() {
        let keys = TokenKeys::random();
        let token = keys.issue(MatchId(Uuid::nil()), None, 1_000, Duration::from_secs(60));
        let token = token.expect("a token");
        let remembered = Claims {
            iss: Issuer::Parlor,
            match_id: MatchId(Uuid::nil()),
            seat: None,
            epoch: 0,
            iat: 1_000,
            exp: 1_060,
        };
        keys.verified.insert(token.clone(), remembered);
        assert_eq!(reason(&keys.verify(&token).expect_err("expired")), "TOKEN_EXPIRED");
    }
}
