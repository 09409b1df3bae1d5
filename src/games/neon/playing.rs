//! Playing cards from the hand: the rulebook's "Playing of hand cards".

use super::cards::Cards;
use super::{Action, Combination, Event, Kind, Neon, Play, combination};
use crate::rules::{Refusal, Seat, Sink};

pub(super) const TIME_TO_PLAY: Refusal =
    Refusal::new("time_to_play", "it is time to play cards, not to choose them");
pub(super) const NOT_A_COMBINATION: Refusal = Refusal::new(
    "not_a_combination",
    "a play is one card, two or more of one value, or two or more consecutive values",
);
pub(super) const NOT_IN_HAND: Refusal =
    Refusal::new("not_in_hand", "these cards are not in the hand");
pub(super) const ONLY_SETS: Refusal =
    Refusal::new("only_sets", "a set was played in this round, so only solos and sets follow");
pub(super) const ONLY_RUNS: Refusal =
    Refusal::new("only_runs", "a run was played in this round, so only solos and runs follow");

impl Neon {
    /// How many places a round's order has: one a seat, with two players two.
    fn places(&self) -> u8 {
        if self.seats.get() == 2 { 4 } else { self.seats.get() }
    }

    /// Who has a place in the round's order.
    fn at_place(&self, place: u8) -> Seat {
        self.seats.steps_left(self.first, place)
    }

    /// Whose turn it is to play.
    pub(super) fn player(&self) -> Seat {
        self.at_place(self.place)
    }

    pub(super) fn legal_plays(&self, seat: Seat, into: &mut Vec<Action>) {
        into.extend(combination::in_hand(self.hands[seat], self.kind).map(Action::Play));
    }

    pub(super) fn play_cards(
        &mut self,
        seat: Seat,
        cards: Cards,
        sink: &mut impl Sink<Event>,
    ) -> Result<(), Refusal> {
        let combination = Combination::of(cards).ok_or(NOT_A_COMBINATION)?;
        if !self.hands[seat].contains(cards) {
            return Err(NOT_IN_HAND);
        }
        match (self.kind, combination.kind) {
            (Some(Kind::Set), Kind::Run) => return Err(ONLY_SETS),
            (Some(Kind::Run), Kind::Set) => return Err(ONLY_RUNS),
            (None, kind @ (Kind::Set | Kind::Run)) => self.kind = Some(kind),
            _ => {}
        }

        self.hands[seat] -= cards;
        let play = Play { seat, cards };
        self.plays.push(play);
        sink.report(|| Event::Played(play));
        self.take_up_second_hand(seat, sink);

        let next =
            (self.place + 1..self.places()).find(|&place| self.has_cards(self.at_place(place)));
        match next {
            Some(place) => self.place = place,
            None => self.begin_choosing(),
        }
        Ok(())
    }

    fn take_up_second_hand(&mut self, seat: Seat, sink: &mut impl Sink<Event>) {
        if self.hands[seat].is_empty() && !self.second_hands[seat].is_empty() {
            let cards = std::mem::take(&mut self.second_hands[seat]);
            self.hands[seat] = cards;
            sink.report(|| Event::SecondHandTaken { seat, cards });
        }
    }
}
