//! The end of a hand and of the match: the rulebook's "Score Points for the Hand" and "End the Game".

use serde::{Deserialize, Serialize};

use super::card::Card;
use super::effects::Effect;
use super::flavor::Flavor;
use super::printed::PRINTED;
use super::question::Source;
use super::turns::report_effect;
use super::{Candy, EffectResult, Event, Stage};
use crate::rules::{ACTION_LIMIT, BySeat, Seat, SeatSet, Sink};

/// Why a match is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ending {
    /// One seat has the highest total.
    Score,
    /// Of the highest totals, one seat has the biggest stash.
    Stash,
    /// Several seats have the highest total and equally big stashes.
    Shared,
    /// The match took as many actions as it may.
    ActionLimit,
}

impl Ending {
    /// The stable name of what decided.
    #[must_use]
    pub const fn reason(self) -> &'static str {
        match self {
            Self::Score => "score",
            Self::Stash => "stash",
            Self::Shared => "shared",
            Self::ActionLimit => "action_limit",
        }
    }
}

/// What a hand was worth to a seat.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HandResult {
    /// Tricks won.
    pub tricks: u8,
    /// Whether they score nothing, as the seat alone won the most.
    pub tummy_ache: bool,
    /// The Flavor that the seat kept.
    pub flavor: Option<Flavor>,
    /// Points for cards that match it.
    pub flavor_points: u8,
    /// Points for effects of cards in the stash.
    pub effect_points: u8,
    /// Pranks in the stash.
    pub pranks: u8,
    /// The points of the hand.
    pub points: u8,
}

impl Candy {
    /// Who alone won the most tricks of the hand.
    fn greediest(&self) -> Option<Seat> {
        let most = self.tricks.values().max();
        let mut greediest = self.tricks.iter().filter(|&(_, tricks)| Some(tricks) == most);
        let (seat, _) = greediest.next()?;
        greediest.next().is_none().then_some(seat)
    }

    /// What the hand is worth to a seat.
    fn result(&self, seat: Seat) -> HandResult {
        let stash = self.stashes[seat];
        let tricks = self.tricks[seat];
        let tummy_ache = self.dont_be_greedy && self.greediest() == Some(seat);
        let flavor = self.kept[seat];
        let flavor_points = flavor.map_or(0, |flavor| (stash & flavor.matches()).len());
        let effects = (stash & PRINTED.at_hand_end).iter().filter_map(Card::effect);
        let effect_points: u8 = effects.map(Effect::points).sum();
        let pranks = (stash & PRINTED.pranks).len();
        let scoring_tricks = if tummy_ache { 0 } else { tricks };
        let points = (scoring_tricks + flavor_points + effect_points).saturating_sub(pranks);
        HandResult { tricks, tummy_ache, flavor, flavor_points, effect_points, pranks, points }
    }

    /// Scores the hand, and ends the match or deals the next hand.
    pub(super) fn end_hand(&mut self, sink: &mut impl Sink<Event>) {
        for seat in self.seats.iter() {
            for card in (self.stashes[seat] & PRINTED.at_hand_end).iter() {
                report_effect(Source { card, seat }, EffectResult::Worked, sink);
            }
        }
        let results = BySeat::from_fn(self.seats, |seat| self.result(seat));
        for (seat, result) in results.iter() {
            self.points[seat] += u16::from(result.points);
        }
        let totals = self.points;
        sink.report(|| Event::HandScored { results, totals });

        if totals.values().any(|&points| points >= self.target.into()) {
            self.end(self.ending_by_score(), sink);
        } else if self.actions < ACTION_LIMIT {
            self.deal(self.hand + 1);
            self.report_deal(sink);
        }
    }

    pub(super) fn end(&mut self, ending: Ending, sink: &mut impl Sink<Event>) {
        self.stage = Stage::Over(ending);
        sink.report(|| Event::Ended { ending });
    }

    /// The seats with the highest total.
    fn highest(&self) -> SeatSet {
        let best = self.points.values().max();
        let highest = self.points.iter().filter(|&(_, points)| Some(points) == best);
        highest.map(|(seat, _)| seat).collect()
    }

    /// The seats with the highest total and, of those, the biggest stash.
    pub(super) fn leaders(&self) -> SeatSet {
        let highest = self.highest();
        let size = |seat: Seat| self.stashes[seat].len();
        let biggest = highest.iter().map(size).max();
        highest.iter().filter(|&seat| Some(size(seat)) == biggest).collect()
    }

    fn ending_by_score(&self) -> Ending {
        match (self.highest().len(), self.leaders().len()) {
            (1, _) => Ending::Score,
            (_, 1) => Ending::Stash,
            _ => Ending::Shared,
        }
    }
}
