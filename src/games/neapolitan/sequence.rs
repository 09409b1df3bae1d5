//! The flavors and their sequences: what the flavor stack shows, and what is printed on a variant
//! Pass card.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The suit of a Monster card.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Flavor {
    /// Vanilla.
    Vanilla,
    /// Chocolate.
    Chocolate,
    /// Strawberry.
    Strawberry,
}

impl Flavor {
    /// All flavors, in the order of an unshuffled deck.
    pub const ALL: [Self; 3] = [Self::Vanilla, Self::Chocolate, Self::Strawberry];

    /// The stable id.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Self::Vanilla => "vanilla",
            Self::Chocolate => "chocolate",
            Self::Strawberry => "strawberry",
        }
    }

    /// The name for people.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Vanilla => "Vanilla",
            Self::Chocolate => "Chocolate",
            Self::Strawberry => "Strawberry",
        }
    }

    /// The flavor's letter in recorded matches.
    pub(super) const fn letter(self) -> char {
        match self {
            Self::Vanilla => 'V',
            Self::Chocolate => 'C',
            Self::Strawberry => 'S',
        }
    }
}

/// One of the six orders of the flavors, the strongest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub struct Sequence(u8);

/// How strong each flavor is in each sequence: 3 for the strongest, 1 for the weakest.
const STRENGTHS: [[u8; 3]; 6] = [[3, 2, 1], [3, 1, 2], [2, 3, 1], [1, 3, 2], [2, 1, 3], [1, 2, 3]];

impl Sequence {
    /// All sequences, in the order of the unshuffled variant Pass cards.
    pub const ALL: [Self; 6] = [Self(0), Self(1), Self(2), Self(3), Self(4), Self(5)];

    /// The sequence of these flavors, or `None` unless each is named once.
    #[must_use]
    pub fn new([first, second, third]: [Flavor; 3]) -> Option<Self> {
        let each_once = first != second && first != third && second != third;
        each_once.then_some(Self(2 * first as u8 + u8::from(second > third)))
    }

    /// The flavors, the strongest first.
    #[must_use]
    pub const fn flavors(self) -> [Flavor; 3] {
        use Flavor::{Chocolate as C, Strawberry as S, Vanilla as V};
        [[V, C, S], [V, S, C], [C, V, S], [C, S, V], [S, V, C], [S, C, V]][self.0 as usize]
    }

    /// How strong the flavor is: 3 for the strongest, 1 for the weakest.
    #[must_use]
    pub const fn strength(self, flavor: Flavor) -> u8 {
        STRENGTHS[self.0 as usize][flavor as usize]
    }

    /// The sequence after this flavor went to the bottom: the others keep their order.
    #[must_use]
    pub fn with_last(self, flavor: Flavor) -> Self {
        let [first, second, third] = self.flavors();
        let moved = if flavor == first {
            [second, third, first]
        } else if flavor == second {
            [first, third, second]
        } else {
            return self;
        };
        Self::new(moved).unwrap_or(self)
    }

    /// The sequence upside down.
    #[must_use]
    pub fn reversed(self) -> Self {
        let [first, second, third] = self.flavors();
        Self::new([third, second, first]).unwrap_or(self)
    }

    /// The sequence's place in [`Sequence::ALL`].
    pub(super) const fn index(self) -> u8 {
        self.0
    }
}

impl TryFrom<u8> for Sequence {
    type Error = &'static str;

    fn try_from(index: u8) -> Result<Self, Self::Error> {
        Self::ALL.get(usize::from(index)).copied().ok_or("no such sequence of flavors")
    }
}

impl From<Sequence> for u8 {
    fn from(sequence: Sequence) -> Self {
        sequence.0
    }
}

/// The flavors' letters, as in `CVS`.
impl fmt::Debug for Sequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.flavors().iter().try_for_each(|flavor| write!(f, "{}", flavor.letter()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_sequence_is_made_of_its_flavors_and_ranks_them() {
        for sequence in Sequence::ALL {
            let flavors = sequence.flavors();
            assert_eq!(Sequence::new(flavors), Some(sequence));
            assert_eq!(flavors.map(|flavor| sequence.strength(flavor)), [3, 2, 1], "{sequence:?}");
            assert_eq!(sequence.reversed().reversed(), sequence);
        }
        assert_eq!(Sequence::new([Flavor::Vanilla, Flavor::Chocolate, Flavor::Vanilla]), None);
    }

    #[test]
    fn a_flavor_that_goes_to_the_bottom_leaves_the_others_in_order() {
        for (before, flavor, after) in [
            ("VCS", Flavor::Vanilla, "CSV"),
            ("VCS", Flavor::Chocolate, "VSC"),
            ("VCS", Flavor::Strawberry, "VCS"),
            ("SVC", Flavor::Strawberry, "VCS"),
        ] {
            let named = |name| Sequence::ALL.into_iter().find(|s| format!("{s:?}") == name);
            let sequence = named(before).expect("a sequence");
            assert_eq!(Some(sequence.with_last(flavor)), named(after), "{before} {flavor:?}");
        }
    }
}
