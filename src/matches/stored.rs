//! The form in which matches lie in the store: the number of the form, and then what it holds.
//!
//! Whatever is written begins with the number: claims, inputs, snapshots. An older form is read for
//! ever; a newer one is refused as such, before anything is written, so that its caller goes on at an
//! instance that knows it. What the digests of requests are over belongs to the form too: a repeat
//! may come to an instance of another version than the request did.
//!
//! A new form takes two releases: the first reads it, the second writes it. So instances of two
//! adjacent versions serve the same matches in a roll-out, and in one that is taken back.

use bytes::Bytes;
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};

use super::Error;
use crate::store::Digest;

/// The number of the form that is written, and the newest that is read.
pub const SCHEMA: u16 = 1;

/// This in the form of today.
pub(super) fn write(value: &impl Serialize) -> Result<Bytes, Error> {
    Ok(postcard::to_allocvec(&(SCHEMA, value)).map_err(corrupt)?.into())
}

/// What was written, in whichever form.
///
/// # Errors
/// [`Error::SchemaTooNew`] for a form of a later version, [`Error::Corrupt`] for what is none.
pub(super) fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Error> {
    let (schema, rest) = postcard::take_from_bytes(bytes).map_err(corrupt)?;
    match schema {
        SCHEMA => {}
        0 => return Err(Error::Corrupt("there is no form 0".to_owned())),
        newer => return Err(Error::SchemaTooNew(newer)),
    }
    let (value, rest) = postcard::take_from_bytes(rest).map_err(corrupt)?;
    if rest.is_empty() { Ok(value) } else { Err(Error::Corrupt("it goes on".to_owned())) }
}

/// Stands for what a request asks.
pub(super) fn digest_of(asked: &impl Serialize) -> Result<Digest, Error> {
    let hash = Sha256::digest(postcard::to_allocvec(asked).map_err(corrupt)?);
    let mut digest = [0; 16];
    digest.copy_from_slice(&hash[..16]);
    Ok(Digest(digest))
}

#[expect(clippy::needless_pass_by_value, reason = "it is passed to map_err")]
fn corrupt(error: postcard::Error) -> Error {
    Error::Corrupt(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_is_told_from_what_is_none() {
        let written = write(&("a", 7_u64)).expect("written");
        assert_eq!(read(&written), Ok(("a".to_owned(), 7_u64)));
        let of = |schema: u16| {
            let mut bytes = postcard::to_allocvec(&schema).expect("written");
            bytes.extend(&written[1..]);
            read::<(String, u64)>(&bytes)
        };
        assert_eq!(of(SCHEMA + 1), Err(Error::SchemaTooNew(SCHEMA + 1)));
        assert_eq!(of(u16::MAX), Err(Error::SchemaTooNew(u16::MAX)));
        assert!(matches!(of(0), Err(Error::Corrupt(_))));
        for cut in 0..written.len() {
            let cut = read::<(String, u64)>(&written[..cut]);
            assert!(matches!(cut, Err(Error::Corrupt(_))), "{cut:?}");
        }
        let longer = [&written[..], &[0]].concat();
        assert!(matches!(read::<(String, u64)>(&longer), Err(Error::Corrupt(_))));
    }
}
