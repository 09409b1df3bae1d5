//! Choosing victory point cards, and the end of a round: the rulebook's "Choosing the VP-cards" and
//! "End of a round".

use std::cmp::Reverse;

use arrayvec::ArrayVec;

use super::cards::Cards;
use super::{Action, Combination, Event, Neon, Phase};
use crate::rules::{BySeat, MAX_SEATS, Refusal, Seat, Sink};

pub(super) const TIME_TO_CHOOSE: Refusal =
    Refusal::new("time_to_choose", "it is time to choose cards, not to play them");
pub(super) const NOT_ON_TABLE: Refusal =
    Refusal::new("not_on_table", "these cards do not lie on the table");
pub(super) const ONE_CARD: Refusal =
    Refusal::new("one_card", "in the first round a choice is exactly one card");
pub(super) const ONE_OR_A_PAIR: Refusal =
    Refusal::new("one_or_a_pair", "a choice is one card, or two of equal value");

impl Neon {
    /// Who still chooses, the next one first.
    pub(super) fn choosers(&self) -> impl Iterator<Item = Seat> {
        self.to_choose.iter().rev().map(|&place| self.plays[usize::from(place)].seat)
    }

    /// Ranks the plays and lets the first of them choose.
    pub(super) fn begin_choosing(&mut self) {
        self.phase = Phase::Choosing;
        // Of equal ranks the earlier play is the better one, so no two of these are equal.
        let ranks: ArrayVec<(u16, Reverse<u8>), MAX_SEATS> = (0_u8..)
            .zip(&self.plays)
            .map(|(place, play)| {
                let rank = Combination::of(play.cards).map_or(0, Combination::rank);
                (rank, Reverse(place))
            })
            .collect();
        // The best play stands last: a play's index is the number of plays that it outranks.
        self.to_choose = ranks.iter().map(|_| 0).collect();
        for rank in &ranks {
            let outranked = ranks.iter().filter(|&other| other < rank).count();
            self.to_choose[outranked] = rank.1.0;
        }
        let best = self.choosers().next();
        self.first_chooser = best.unwrap_or(self.first);
    }

    /// Whether two cards of one value can be chosen.
    fn pairs_allowed(&self) -> bool {
        self.round > 1
    }

    pub(super) fn legal_choices(&self, into: &mut Vec<Action>) {
        into.extend(self.table.distinct().map(|value| Action::Choose(Cards::of(value, 1))));
        if self.pairs_allowed() {
            into.extend(self.table.at_least(2).map(|value| Action::Choose(Cards::of(value, 2))));
        }
    }

    pub(super) fn choose_cards(
        &mut self,
        seat: Seat,
        cards: Cards,
        sink: &mut impl Sink<Event>,
    ) -> Result<(), Refusal> {
        let pair = cards.len() == 2 && cards.distinct().len() == 1;
        match cards.len() {
            1 => {}
            _ if !self.pairs_allowed() => return Err(ONE_CARD),
            _ if pair => {}
            _ => return Err(ONE_OR_A_PAIR),
        }
        if !self.table.contains(cards) {
            return Err(NOT_ON_TABLE);
        }

        self.table -= cards;
        self.piles[seat] += cards;
        self.to_choose.pop();
        sink.report(|| Event::Chose { seat, cards });
        if self.table.is_empty() || self.to_choose.is_empty() {
            self.end_round(sink);
        }
        Ok(())
    }

    fn end_round(&mut self, sink: &mut impl Sink<Event>) {
        let removed = self.table;
        self.removed += removed;
        self.table = self.plays.iter().map(|play| play.cards).sum();
        self.plays.clear();
        self.to_choose.clear();
        let table = self.table;
        sink.report(|| Event::RoundEnded { removed, table });

        let empty = self.seats.iter().filter(|&seat| !self.has_cards(seat)).count();
        let enough = if self.seats.get() == 2 { 1 } else { 2 };
        if empty >= enough {
            self.phase = Phase::Over;
            sink.report(|| Event::Ended {
                results: BySeat::from_fn(self.seats, |seat| self.result(seat)),
            });
        } else {
            self.begin_round(sink);
        }
    }

    fn begin_round(&mut self, sink: &mut impl Sink<Event>) {
        self.phase = Phase::Playing;
        self.round += 1;
        self.place = 0;
        self.kind = None;
        self.first = self
            .seats
            .clockwise_from(self.first_chooser)
            .find(|&seat| self.has_cards(seat))
            .unwrap_or(self.first_chooser);
        let (round, first) = (self.round, self.first);
        sink.report(|| Event::RoundBegan { round, first });
    }
}
