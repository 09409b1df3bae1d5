//! The checksum that goes behind everything that is kept in Redis.
//!
//! What was damaged, on a disk or by somebody's hand, may still decode, and would be shown, or played
//! on. So nothing is read but what was written, byte for byte and where it was written: the checksum
//! is over what is kept and over its place, by which versions and digests are covered too. It finds
//! every damage that is within 32 bits in a row, such as that of any one byte, and misses one in four
//! thousand million of all others. It is against accidents: who can write to Redis can also make a
//! checksum.
//!
//! The digests of a log would find damaged entries as well, but only as a history that was lost.

use bytes::Bytes;
use crc32fast::Hasher;

use crate::store::{Result, StoreError};

/// The length of a checksum.
const LENGTH: usize = 4;

/// What is to be kept at this place, with its checksum behind it.
pub(super) fn write(place: &[u8], what: &[u8]) -> Vec<u8> {
    [what, &checksum(place, what)].concat()
}

/// What was kept at this place.
///
/// # Errors
/// [`StoreError::Corrupt`], if it is not what was written there.
pub(super) fn read(place: &[u8], mut kept: Bytes) -> Result<Bytes> {
    let damaged = || StoreError::Corrupt("what is kept is not what was written".to_owned());
    let length = kept.len().checked_sub(LENGTH).ok_or_else(damaged)?;
    let found = kept.split_off(length);
    if found == checksum(place, &kept)[..] { Ok(kept) } else { Err(damaged()) }
}

fn checksum(place: &[u8], what: &[u8]) -> [u8; LENGTH] {
    let mut hasher = Hasher::new();
    hasher.update(place);
    hasher.update(what);
    hasher.finalize().to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_damaged(place: &[u8], kept: Vec<u8>) -> bool {
        matches!(read(place, kept.into()), Err(StoreError::Corrupt(_)))
    }

    #[test]
    fn what_was_written_is_read_and_looks_the_same_for_ever() {
        assert_eq!(write(b"", b"123456789"), b"123456789\x26\x39\xf4\xcb");
        for what in [&b""[..], b"\0", &[0xff; 2_000]] {
            assert_eq!(read(b"here", write(b"here", what).into()), Ok(what.to_vec().into()));
        }
    }

    #[test]
    fn any_damage_of_any_one_byte_is_found() {
        let (place, what) = (b"a place".to_vec(), vec![0x5a; 300]);
        let good = write(&place, &what);
        for damage in 1..=u8::MAX {
            for at in 0..good.len() {
                let mut kept = good.clone();
                kept[at] ^= damage;
                assert!(is_damaged(&place, kept), "byte {at}, {damage:#x}");
            }
            for at in 0..place.len() {
                let mut place = place.clone();
                place[at] ^= damage;
                assert!(is_damaged(&place, good.clone()), "byte {at} of the place, {damage:#x}");
            }
        }
    }

    #[test]
    fn what_was_cut_or_goes_on_is_found() {
        let good = write(b"here", b"0123456789");
        for cut in 0..good.len() {
            assert!(is_damaged(b"here", good[..cut].to_vec()), "cut at {cut}");
        }
        assert!(is_damaged(b"here", [&good[..], &[0]].concat()));
    }
}
