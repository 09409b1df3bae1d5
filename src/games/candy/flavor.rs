//! Flavor cards: what a seat wants to find in its stash when the hand ends.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, de::Error as _};

use super::card::CardSet;
use super::printed::{FlavorText, PRINTED};

/// The most Flavors that the printed list can have.
pub const MAX_FLAVORS: usize = 32;

/// Flavors dealt to each seat.
pub const DEALT: usize = 3;

/// A Flavor card: its place in the printed list of Flavors.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Flavor(u8);

impl Flavor {
    /// The Flavor at this place, if the printed list has it.
    #[must_use]
    pub fn new(place: usize) -> Option<Self> {
        u8::try_from(place).ok().filter(|_| place < PRINTED.flavors.len()).map(Self)
    }

    /// The Flavor of this id.
    #[must_use]
    pub fn from_id(id: &str) -> Option<Self> {
        PRINTED.flavors.iter().position(|flavor| flavor.id == id).and_then(Self::new)
    }

    /// What is printed on it.
    #[must_use]
    pub fn text(self) -> &'static FlavorText {
        &PRINTED.flavors[usize::from(self.0)]
    }

    /// Its stable id.
    #[must_use]
    pub fn id(self) -> &'static str {
        &self.text().id
    }

    /// Every card that scores for it.
    #[must_use]
    pub fn matches(self) -> CardSet {
        self.text().matches
    }
}

impl fmt::Debug for Flavor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

impl<'de> Deserialize<'de> for Flavor {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let place = u8::deserialize(deserializer)?;
        Self::new(place.into()).ok_or_else(|| D::Error::custom("no such Flavor"))
    }
}

/// A set of Flavors, one bit each.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(transparent)]
pub struct FlavorSet(u32);

impl FlavorSet {
    /// Whether there is no Flavor.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether the Flavor is in the set.
    #[must_use]
    pub const fn contains(self, flavor: Flavor) -> bool {
        self.0 >> flavor.0 & 1 == 1
    }

    /// The Flavors, in the order of the printed list.
    pub fn iter(self) -> impl Iterator<Item = Flavor> {
        (0..MAX_FLAVORS as u8).map(Flavor).filter(move |&flavor| self.contains(flavor))
    }
}

impl FromIterator<Flavor> for FlavorSet {
    fn from_iter<I: IntoIterator<Item = Flavor>>(flavors: I) -> Self {
        Self(flavors.into_iter().fold(0, |set, flavor| set | 1 << flavor.0))
    }
}

impl<'de> Deserialize<'de> for FlavorSet {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let set = u32::deserialize(deserializer)?;
        let known = u64::from(set) >> PRINTED.flavors.len() == 0;
        if known { Ok(Self(set)) } else { Err(D::Error::custom("no such Flavor")) }
    }
}

impl fmt::Debug for FlavorSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ids: Vec<_> = self.iter().map(Flavor::id).collect();
        write!(f, "[{}]", ids.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stored_flavor_that_was_never_printed_is_refused() {
        for place in [PRINTED.flavors.len() as u8, 31, 255] {
            let unknown = postcard::to_allocvec(&place).expect("stored");
            assert!(postcard::from_bytes::<Flavor>(&unknown).is_err(), "{place}");
        }
        for place in [PRINTED.flavors.len(), 31] {
            let unknown = postcard::to_allocvec(&(1_u32 << place)).expect("stored");
            assert!(postcard::from_bytes::<FlavorSet>(&unknown).is_err(), "{place}");
        }
    }
}
