//! The ten Treat suits, and sets of them.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, de::Error as _};

/// What a Treat is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "each is the suit of that name")]
pub enum Suit {
    Chocolate,
    Caramel,
    Peanut,
    Nougat,
    Cookie,
    Coconut,
    Mint,
    Fruit,
    Gummy,
    Sour,
}

impl Suit {
    /// All suits, in the order in which they are listed everywhere.
    pub const ALL: [Self; 10] = [
        Self::Chocolate,
        Self::Caramel,
        Self::Peanut,
        Self::Nougat,
        Self::Cookie,
        Self::Coconut,
        Self::Mint,
        Self::Fruit,
        Self::Gummy,
        Self::Sour,
    ];

    /// The suit's stable id, as in the card data.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Self::Chocolate => "chocolate",
            Self::Caramel => "caramel",
            Self::Peanut => "peanut",
            Self::Nougat => "nougat",
            Self::Cookie => "cookie",
            Self::Coconut => "coconut",
            Self::Mint => "mint",
            Self::Fruit => "fruit",
            Self::Gummy => "gummy",
            Self::Sour => "sour",
        }
    }
}

/// A set of suits.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(transparent)]
pub struct SuitSet(u16);

impl SuitSet {
    /// No suit.
    pub const NONE: Self = Self(0);

    /// Whether the suit is in the set.
    #[must_use]
    pub const fn contains(self, suit: Suit) -> bool {
        self.0 >> suit as u16 & 1 == 1
    }

    /// Whether the two sets have a suit in common.
    #[must_use]
    pub const fn shares(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether there is no suit.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// How many suits there are.
    #[must_use]
    pub const fn len(self) -> u8 {
        self.0.count_ones() as u8
    }

    /// The suits, in the order of [`Suit::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Suit> {
        Suit::ALL.into_iter().filter(move |&suit| self.contains(suit))
    }
}

impl std::ops::BitOr for SuitSet {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl FromIterator<Suit> for SuitSet {
    fn from_iter<I: IntoIterator<Item = Suit>>(suits: I) -> Self {
        Self(suits.into_iter().fold(0, |set, suit| set | 1 << suit as u16))
    }
}

impl<'de> Deserialize<'de> for SuitSet {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let set = u16::deserialize(deserializer)?;
        if set >> Suit::ALL.len() == 0 {
            Ok(Self(set))
        } else {
            Err(D::Error::custom("no such suit"))
        }
    }
}

impl fmt::Debug for SuitSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ids: Vec<_> = self.iter().map(Suit::id).collect();
        write!(f, "[{}]", ids.join(" "))
    }
}
