//! Resume tokens: a position in a match's history, sealed, so that any instance can tell its own
//! from others.

use super::tokens::TokenKeys;
use crate::games::wire::BadField;
use crate::store::{Digest, MatchId, Position};

/// Says which form the token has.
const FORM: u8 = 1;
/// Form, version and digest; the seal follows.
const SEALED: usize = 1 + 8 + 16;

/// The token for this position.
pub(super) fn write(keys: &TokenKeys, id: MatchId, position: Position) -> Vec<u8> {
    let mut token = Vec::with_capacity(SEALED + 16);
    token.push(FORM);
    token.extend(position.version.to_be_bytes());
    token.extend(position.digest.0);
    token.extend(keys.seal(&sealed(id, &token)));
    token
}

/// The position that a token of this match stands for; none for an empty one.
pub(super) fn read(
    keys: &TokenKeys,
    id: MatchId,
    token: &[u8],
) -> Result<Option<Position>, BadField> {
    if token.is_empty() {
        return Ok(None);
    }
    let bad = || BadField::new("resume_token", "not a resume token of this match");
    let (position, seal) = token.split_at_checked(SEALED).ok_or_else(bad)?;
    if seal.len() != 16 || !keys.is_sealed(&sealed(id, position), seal) {
        return Err(bad());
    }
    let [FORM, rest @ ..] = position else { return Err(bad()) };
    let (version, digest) = rest.split_first_chunk().ok_or_else(bad)?;
    let digest = Digest(digest.try_into().map_err(|_| bad())?);
    Ok(Some(Position { version: u64::from_be_bytes(*version), digest }))
}

/// What the seal is over: the purpose, the match and the position.
fn sealed(id: MatchId, position: &[u8]) -> Vec<u8> {
    [b"parlor.v1 resume", id.0.as_bytes().as_slice(), position].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    const HERE: Position = Position { version: 7, digest: Digest([3; 16]) };

    #[test]
    fn a_token_reads_back_under_any_of_the_keys() {
        let id = MatchId(Uuid::from_u128(1));
        let [one, two] = ["11", "22"].map(|byte| byte.repeat(32));
        let before: TokenKeys = format!("a:{one}").parse().expect("keys");
        let after: TokenKeys = format!("b:{two},a:{one}").parse().expect("keys");
        let token = write(&before, id, HERE);
        assert_eq!(read(&after, id, &token), Ok(Some(HERE)));
    }

    #[test]
    fn a_garbled_or_foreign_token_is_refused() {
        let keys = TokenKeys::random();
        let id = MatchId(Uuid::from_u128(1));
        let token = write(&keys, id, HERE);
        assert!(read(&keys, MatchId(Uuid::from_u128(2)), &token).is_err(), "of another match");
        assert!(read(&TokenKeys::random(), id, &token).is_err(), "of another service");
        for cut in 1..token.len() {
            assert!(read(&keys, id, &token[..cut]).is_err(), "cut at {cut}");
        }
        for place in 0..token.len() {
            let mut garbled = token.clone();
            garbled[place] ^= 1;
            assert!(read(&keys, id, &garbled).is_err(), "garbled at {place}");
        }
        assert!(read(&keys, id, &[token, vec![0]].concat()).is_err(), "too long");
    }
}
