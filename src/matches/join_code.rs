//! The code that lets people take the open seats of a match.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use uuid::Builder;

use super::chance::{Chance, bytes};
use crate::store::MatchId;

/// Digits and letters without I, L, O and U, which are mistaken for others (Crockford's base 32).
const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/// A code to join a match with: 80 random bits, written as `XXXX-XXXX-XXXX-XXXX`.
///
/// The match's id is made from the code, so that the code alone leads to the match without an index
/// in the store, while nobody can tell the code from the id.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct JoinCode([u8; 10]);

impl JoinCode {
    /// A new code.
    pub(super) fn random(chance: &dyn Chance) -> Self {
        Self(bytes(chance))
    }

    /// The id of the match that the code is for.
    #[must_use]
    pub fn match_id(self) -> MatchId {
        let hash = Sha256::new_with_prefix(b"parlor.v1 match").chain_update(self.0).finalize();
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&hash[..16]);
        // Version 8 is for ids made in a way of one's own.
        MatchId(Builder::from_custom_bytes(bytes).into_uuid())
    }
}

/// Says nothing of the code: it must not reach a log.
impl fmt::Debug for JoinCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JoinCode(..)")
    }
}

impl fmt::Display for JoinCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bits = self.0.iter().fold(0_u128, |bits, &byte| bits << 8 | u128::from(byte));
        for place in (0..16).rev() {
            let digit = (bits >> (5 * place)) as usize & 31;
            write!(f, "{}", char::from(ALPHABET[digit]))?;
            if place % 4 == 0 && place > 0 {
                f.write_str("-")?;
            }
        }
        Ok(())
    }
}

/// The text is not a join code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a join code is sixteen letters and digits")]
pub struct BadJoinCode;

impl FromStr for JoinCode {
    type Err = BadJoinCode;

    /// Reads a code as people type it: case, spaces and hyphens do not matter, and I, L and O are
    /// read as the digits they look like.
    fn from_str(text: &str) -> Result<Self, BadJoinCode> {
        let mut bits = 0_u128;
        let mut digits = 0;
        for c in text.chars().filter(|c| !matches!(c, '-' | ' ')) {
            let c = match c.to_ascii_uppercase() {
                'I' | 'L' => '1',
                'O' => '0',
                c => c,
            };
            let digit = ALPHABET.iter().position(|&a| char::from(a) == c).ok_or(BadJoinCode)?;
            digits += 1;
            if digits > 16 {
                return Err(BadJoinCode);
            }
            bits = bits << 5 | digit as u128;
        }
        if digits != 16 {
            return Err(BadJoinCode);
        }
        let mut code = [0; 10];
        code.copy_from_slice(&bits.to_be_bytes()[6..]);
        Ok(Self(code))
    }
}

#[cfg(test)]
mod tests {
    use super::super::SystemChance;
    use super::*;

    #[test]
    fn a_code_reads_back_however_it_is_typed() {
        let code = JoinCode::random(&SystemChance);
        let written = code.to_string();
        assert_eq!(written.len(), 19);
        assert_eq!(written.parse(), Ok(code));
        assert_eq!(written.to_lowercase().replace('-', " ").parse(), Ok(code));
        let zeros = JoinCode([0; 10]);
        assert_eq!("oooo-0000-OOOO-0000".parse(), Ok(zeros));
    }

    #[test]
    fn what_is_no_code_is_refused() {
        for text in
            ["", "0000", "0000-0000-0000-000U", "0000-0000-0000-0000-0", "ünïc-ode0-0000-0000"]
        {
            assert_eq!(text.parse::<JoinCode>(), Err(BadJoinCode), "{text}");
        }
    }

    #[test]
    fn a_code_leads_to_the_same_match_for_ever() {
        let code: JoinCode = "0123-4567-89AB-CDEF".parse().expect("a code");
        assert_eq!(code.match_id().to_string(), "fe71b72b-1588-8b8d-a754-34fd185c4634");
    }
}
