//! What a frontend needs to build its menus and card faces: a game described as data.

use std::fmt;
use std::ops::RangeInclusive;

/// A game as its catalog describes it.
#[derive(Clone, Debug)]
pub struct Catalog {
    /// The stable id of the game, as it is used in commands and stored matches.
    pub id: &'static str,
    /// The game's name for people.
    pub name: &'static str,
    /// A sentence or two on what players do.
    pub summary: &'static str,
    /// Which version of the rules this build plays.
    pub rules_version: u32,
    /// How many can play.
    pub seats: RangeInclusive<u8>,
    /// What can be chosen when a match is created.
    pub options: Vec<CatalogOption>,
    /// Every card there is.
    pub cards: Vec<CatalogCard>,
    /// What a seat can be asked for.
    pub actions: Vec<CatalogAction>,
    /// The refusals: each rule that an action can break.
    pub refusals: Vec<CatalogItem>,
    /// What can be achieved beside winning; empty where the game has no such thing.
    pub achievements: Vec<CatalogItem>,
    /// The reasons that an outcome can have.
    pub outcomes: Vec<CatalogItem>,
}

/// One option of a game.
#[derive(Clone, Debug)]
pub struct CatalogOption {
    /// The field's name in the game's options message.
    pub name: &'static str,
    /// What it changes.
    pub text: &'static str,
    /// Which values it takes, and which one it has when it is left out.
    pub kind: OptionKind,
}

/// Which values an option takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OptionKind {
    /// On or off; off when left out.
    Switch,
    /// A whole number in a range.
    Number {
        /// The smallest and the largest value.
        range: RangeInclusive<u32>,
        /// The value when left out.
        default: u32,
    },
    /// A seat of the table; drawn at random when left out.
    Seat,
    /// Any number of card ids; none when left out.
    Cards,
}

/// What can be given for the option, and what it is when left out, as a part of a sentence.
impl fmt::Display for OptionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Switch => f.write_str("true or false (when left out: false)"),
            Self::Number { range, default } => {
                let (least, most) = (range.start(), range.end());
                write!(f, "a number from {least} to {most} (when left out: {default})")
            }
            Self::Seat => f.write_str("a seat, counted from 0 (when left out: drawn at random)"),
            Self::Cards => {
                f.write_str(r#"a list of card ids, as in ["one", "other"] (when left out: none)"#)
            }
        }
    }
}

/// One kind of card.
#[derive(Clone, Debug, Default)]
pub struct CatalogCard {
    /// The stable id, unique in its game.
    pub id: String,
    /// What is printed on it.
    pub name: String,
    /// How many of it there are in the box.
    pub copies: u32,
    /// Its kind, where the game has several.
    pub kind: String,
    /// Its color, where it has one.
    pub color: String,
    /// Its rank, where it has one.
    pub rank: Option<i32>,
    /// Its suits.
    pub suits: Vec<String>,
    /// What it does, in a sentence.
    pub text: String,
    /// Which set it comes in, where the game has several.
    pub set: String,
    /// Where its attributes come from, where that is not simply the rulebook.
    pub source: String,
}

/// Something with a stable id and a sentence for people.
#[derive(Clone, Debug)]
pub struct CatalogItem {
    /// The stable id.
    pub id: &'static str,
    /// The sentence.
    pub text: &'static str,
}

/// One kind of action.
pub type CatalogAction = CatalogItem;

impl From<crate::rules::Refusal> for CatalogItem {
    fn from(refusal: crate::rules::Refusal) -> Self {
        Self { id: refusal.rule, text: refusal.text }
    }
}
