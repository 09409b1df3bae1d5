//! Achievements: what a player can be proud of beside winning.
//!
//! Each seat has each of them at most once a match. They are detected from what lies open when they
//! are announced: a hand without Pass cards, for one, is known to be such once all of it was played.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, de::Error as _};

use super::cards::Card;
use super::numbers::{Numbers, TRICKS};
use super::scoring::{End, Reason, SeatScore, TricksWon};
use super::trick::Play;
use super::{Event, Neapolitan};
use crate::rules::{BySeat, CatalogItem, Seat, Sink};

/// One achievement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "`Achievement::text` says what each of them is")]
pub enum Achievement {
    ExactOrder,
    FrontLoaded,
    NoIceCream,
    NoIceCreamTwice,
    NoPassNoIceCream,
    TieBrokenByStrongest,
    Scream,
    LastScream,
    ScreamTooLate,
    Cherry,
    CherryNoPass,
    CherryFinish,
}

impl Achievement {
    /// All achievements, in the order in which they are listed and announced.
    pub const ALL: [Self; 12] = [
        Self::ExactOrder,
        Self::FrontLoaded,
        Self::NoIceCream,
        Self::NoIceCreamTwice,
        Self::NoPassNoIceCream,
        Self::TieBrokenByStrongest,
        Self::Scream,
        Self::LastScream,
        Self::ScreamTooLate,
        Self::Cherry,
        Self::CherryNoPass,
        Self::CherryFinish,
    ];

    /// The stable id.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Self::ExactOrder => "exact_order",
            Self::FrontLoaded => "front_loaded",
            Self::NoIceCream => "no_ice_cream",
            Self::NoIceCreamTwice => "no_ice_cream_twice",
            Self::NoPassNoIceCream => "no_pass_no_ice_cream",
            Self::TieBrokenByStrongest => "tie_broken_by_strongest",
            Self::Scream => "scream",
            Self::LastScream => "last_scream",
            Self::ScreamTooLate => "scream_too_late",
            Self::Cherry => "cherry",
            Self::CherryNoPass => "cherry_no_pass",
            Self::CherryFinish => "cherry_finish",
        }
    }

    /// When a seat has it.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::ExactOrder => "Win exactly the trick goal in a round, declared or not.",
            Self::FrontLoaded => {
                "Win the first tricks of a round up to the goal, no other, and score a point."
            }
            Self::NoIceCream => "Win no trick in a round, declared or not.",
            Self::NoIceCreamTwice => "Win no trick in two rounds in a row.",
            Self::NoPassNoIceCream => "Win no trick in a round, dealt not a single Pass card.",
            Self::TieBrokenByStrongest => {
                "Win the match alone against others that reached the end too, by cards of the \
                 strongest flavor."
            }
            Self::Scream => "Win a trick with a variant Pass card.",
            Self::LastScream => "Win the last trick of a round with a variant Pass card.",
            Self::ScreamTooLate => {
                "Lose with a variant Pass card that would have won the trick before."
            }
            Self::Cherry => "Declare to win no trick in a round, and win none.",
            Self::CherryNoPass => {
                "Declare to win no trick in a round, and win none, dealt not a single Pass card."
            }
            Self::CherryFinish => {
                "Win the match in a round in which the own declaration came true."
            }
        }
    }
}

impl From<Achievement> for CatalogItem {
    fn from(achievement: Achievement) -> Self {
        Self { id: achievement.id(), text: achievement.text() }
    }
}

/// A set of achievements.
#[derive(Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Achievements(u16);

impl Achievements {
    /// Whether the achievement is in the set.
    #[must_use]
    pub const fn contains(self, achievement: Achievement) -> bool {
        self.0 >> achievement as u16 & 1 == 1
    }

    /// The achievements, in the order of [`Achievement::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Achievement> {
        Achievement::ALL.into_iter().filter(move |&achievement| self.contains(achievement))
    }

    fn insert(&mut self, achievement: Achievement) {
        self.0 |= 1 << achievement as u16;
    }
}

impl<'de> Deserialize<'de> for Achievements {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let bits = u16::deserialize(deserializer)?;
        let known = bits >> Achievement::ALL.len() == 0;
        if known { Ok(Self(bits)) } else { Err(D::Error::custom("no such achievement")) }
    }
}

impl fmt::Debug for Achievements {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

impl Neapolitan {
    /// Gives the seat what it has not yet.
    fn award(&mut self, seat: Seat, achievement: Achievement, sink: &mut impl Sink<Event>) {
        if !self.achievements[seat].contains(achievement) {
            self.achievements[seat].insert(achievement);
            sink.report(|| Event::Achieved { seat, achievement });
        }
    }

    /// What the trick on the table, won by this play, brings: first to the winner, then to whoever
    /// lost with the variant Pass card that would have won the trick before.
    pub(super) fn award_screams(&mut self, won: Play, sink: &mut impl Sink<Event>) {
        if won.card.is_pass() {
            self.award(won.seat, Achievement::Scream, sink);
            if self.tricks == TRICKS {
                self.award(won.seat, Achievement::LastScream, sink);
            }
        }
        let Some(before) = &self.last_trick else { return };
        let late = Card::variant_pass(before.stack);
        let played = self.trick.plays(self.seats).find(|play| play.card == late);
        if let Some(Play { seat, .. }) = played.filter(|_| late != won.card) {
            self.award(seat, Achievement::ScreamTooLate, sink);
        }
    }

    /// What a round brings, seat by seat.
    pub(super) fn award_round(&mut self, results: &BySeat<SeatScore>, sink: &mut impl Sink<Event>) {
        let goal = Numbers::of(self.seats).trick_goal;
        for (seat, result) in results.iter() {
            if result.tricks == goal {
                self.award(seat, Achievement::ExactOrder, sink);
                if self.won[seat] == TricksWon::first(goal) && result.points == 1 {
                    self.award(seat, Achievement::FrontLoaded, sink);
                }
            } else if result.tricks == 0 {
                self.award_none_won(seat, sink);
            }
        }
    }

    /// What a round without a trick brings a seat.
    fn award_none_won(&mut self, seat: Seat, sink: &mut impl Sink<Event>) {
        // All seven cards were played, so the seat was dealt a Pass just if it played one.
        let dealt_no_pass = !self.passed.contains(seat);
        self.award(seat, Achievement::NoIceCream, sink);
        if self.without.contains(seat) {
            self.award(seat, Achievement::NoIceCreamTwice, sink);
        }
        if dealt_no_pass {
            self.award(seat, Achievement::NoPassNoIceCream, sink);
        }
        if self.declarations.has_declared(seat) {
            self.award(seat, Achievement::Cherry, sink);
            if dealt_no_pass {
                self.award(seat, Achievement::CherryNoPass, sink);
            }
        }
    }

    /// What the end of a match by its rules brings.
    pub(super) fn award_match(&mut self, end: End, sink: &mut impl Sink<Event>) {
        for seat in end.winners.iter() {
            if end.reason == Reason::StrongestFlavor {
                self.award(seat, Achievement::TieBrokenByStrongest, sink);
            }
            // Whoever contends has reached the end in this very round, and a declaration that failed
            // moves nobody forward.
            if self.declarations.has_declared(seat) {
                self.award(seat, Achievement::CherryFinish, sink);
            }
        }
    }
}
