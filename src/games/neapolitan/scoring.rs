//! Rounds: the rulebook's "End of Round Scoring", "New Round" and "End of Game", with the variant
//! "More Scoops".

use std::fmt;

use serde::{Deserialize, Serialize};

use super::dealing::Deal;
use super::declaring::Declarations;
use super::numbers::{Numbers, TRICKS};
use super::{Event, Neapolitan};
use crate::rules::{ACTION_LIMIT, BySeat, Seat, SeatSet, Shuffle, Sink};

/// Which tricks of a round a seat won, one bit a trick.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct TricksWon(u8);

impl TricksWon {
    /// The first so many tricks of a round.
    pub(super) fn first(count: u8) -> Self {
        Self((1 << count) - 1)
    }

    /// Adds a trick, counted from 0.
    pub(super) fn insert(&mut self, trick: u8) {
        debug_assert!(trick < TRICKS);
        self.0 |= 1 << trick;
    }

    pub(super) fn count(self) -> u8 {
        self.0.count_ones() as u8
    }
}

/// What a round brought a seat.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct SeatScore {
    /// The tricks that it won.
    pub tricks: u8,
    /// The points for them, also those beyond the last space.
    pub points: i8,
    /// The score after them, at most the last space.
    pub score: i8,
}

/// As in `0 tricks +2 = 3`.
impl fmt::Debug for SeatScore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} tricks {:+} = {}", self.tricks, self.points, self.score)
    }
}

/// What decided a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reason {
    /// One seat alone reached the end.
    OnlyContender,
    /// Of several, one won the most cards of the strongest flavor.
    StrongestFlavor,
    /// Of those still level, one won the most cards of the second flavor.
    SecondFlavor,
    /// Of those still level, one won the most cards of the weakest flavor.
    WeakestFlavor,
    /// Nothing told the last ones apart.
    Shared,
    /// The match took as many actions as a match may.
    ActionLimit,
}

impl Reason {
    /// The stable id.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Self::OnlyContender => "only_contender",
            Self::StrongestFlavor => "strongest_flavor",
            Self::SecondFlavor => "second_flavor",
            Self::WeakestFlavor => "weakest_flavor",
            Self::Shared => "shared",
            Self::ActionLimit => "action_limit",
        }
    }
}

/// How a match ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    /// Who won: nobody, where the match was cut short.
    pub winners: SeatSet,
    /// What decided.
    pub reason: Reason,
}

impl Neapolitan {
    /// Whether the last action that a match may take was taken.
    pub(super) fn is_at_limit(&self) -> bool {
        u32::from(self.actions) >= ACTION_LIMIT
    }

    /// Deals a round and asks for its declarations.
    pub(super) fn begin_round(&mut self, shuffle: &mut Shuffle, sink: &mut impl Sink<Event>) {
        let deal = Deal::draw(self.options, self.seats, shuffle);
        deal.report(self.round.into(), self.options, sink);
        self.hands = deal.hands;
        self.leftovers = deal.leftovers;
        self.round += 1;
        self.tricks = 0;
        self.last_trick = None;
        self.won = BySeat::new(self.seats);
        self.piles = BySeat::new(self.seats);
        self.passed = SeatSet::EMPTY;
        self.declarations = Declarations::ask(self.can_declare());
        sink.report(|| Event::RoundBegan {
            round: self.round,
            leader: self.trick.leader(),
            asked: self.declarations.asked(),
        });
    }

    /// Scores a round, and ends the match or begins the next round.
    pub(super) fn end_round(&mut self, sink: &mut impl Sink<Event>) {
        let results = BySeat::from_fn(self.seats, |seat| self.result(seat));
        self.scores = results.map(|_, result| result.score);
        sink.report(|| Event::RoundScored { results });
        self.award_round(&results, sink);
        self.without = self.seats.iter().filter(|&seat| results[seat].tricks == 0).collect();

        let contenders = self.stamp_cards(sink);
        if !contenders.is_empty() {
            let end = self.decide(contenders);
            self.award_match(end, sink);
            self.end_match(end, sink);
        } else if !self.is_at_limit() {
            let mut shuffle = self.seed.deal(self.round.into());
            self.begin_round(&mut shuffle, sink);
        }
    }

    /// What the round brings a seat. There is no lowest score: a failed declaration costs a point
    /// that the seat need not have.
    fn result(&self, seat: Seat) -> SeatScore {
        let Numbers { trick_goal, points_goal, .. } = Numbers::of(self.seats);
        let tricks = self.won[seat].count();
        let points = match (self.declarations.has_declared(seat), tricks) {
            (true, 0) => 3,
            (true, _) => -1,
            (false, 0) => 2,
            (false, tricks) if tricks == trick_goal => 1,
            (false, _) => 0,
        };
        SeatScore { tricks, points, score: (self.scores[seat] + points).min(points_goal) }
    }

    /// Stamps the loyalty cards of those that reached the last space for the first of two times, and
    /// gives those that reached the end of the match.
    fn stamp_cards(&mut self, sink: &mut impl Sink<Event>) -> SeatSet {
        let last_space = Numbers::of(self.seats).points_goal;
        let mut contenders = SeatSet::EMPTY;
        for seat in self.seats.iter() {
            if self.scores[seat] < last_space {
                continue;
            }
            if self.options.more_scoops && !self.stamped.contains(seat) {
                self.stamped.insert(seat);
                self.scores[seat] = 0;
                sink.report(|| Event::Stamped { seat });
            } else {
                contenders.insert(seat);
            }
        }
        contenders
    }

    /// Who of those that reached the end wins: by the cards of each flavor in the tricks of this
    /// round, the strongest flavor of the stack first.
    fn decide(&self, contenders: SeatSet) -> End {
        if contenders.len() == 1 {
            return End { winners: contenders, reason: Reason::OnlyContender };
        }
        let reasons = [Reason::StrongestFlavor, Reason::SecondFlavor, Reason::WeakestFlavor];
        let mut level = contenders;
        for (flavor, reason) in self.stack.flavors().into_iter().zip(reasons) {
            let count = |seat: &Seat| self.piles[*seat].of(flavor).len();
            let most = level.iter().map(|seat| count(&seat)).max();
            level = level.iter().filter(|seat| Some(count(seat)) == most).collect();
            if level.len() == 1 {
                return End { winners: level, reason };
            }
        }
        End { winners: level, reason: Reason::Shared }
    }

    /// Ends a match that took as many actions as a match may: nobody wins, and a round in progress
    /// counts nothing.
    pub(super) fn cut_short(&mut self, sink: &mut impl Sink<Event>) {
        let end = End { winners: SeatSet::EMPTY, reason: Reason::ActionLimit };
        self.end_match(end, sink);
    }

    fn end_match(&mut self, end: End, sink: &mut impl Sink<Event>) {
        self.end = Some(end);
        sink.report(|| Event::Ended { end, scores: self.scores });
    }
}
