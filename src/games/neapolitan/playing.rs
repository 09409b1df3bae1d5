//! Playing and resolving tricks: the rulebook's "Gameplay".

use super::cards::{Card, Cards};
use super::numbers::TRICKS;
use super::trick::{Play, Trick, WonTrick};
use super::{Event, Neapolitan};
use crate::rules::{Refusal, Seat, Sink};

pub(super) const TIME_TO_PLAY: Refusal =
    Refusal::new("time_to_play", "it is time to play a card, not to declare");
pub(super) const NOT_IN_HAND: Refusal = Refusal::new("not_in_hand", "this card is not in the hand");
pub(super) const FOLLOW_LEAD: Refusal = Refusal::new(
    "follow_lead",
    "a hand with a Monster of the lead flavor plays one of these or a Pass",
);

impl Neapolitan {
    /// What the seat may play, if it is its turn.
    pub(super) fn playable(&self, seat: Seat) -> Cards {
        let hand = self.hands[seat];
        self.trick.lead_suit().map_or(hand, |suit| hand.following(suit))
    }

    /// Judges a card that a seat wants to play in its turn.
    pub(super) fn judge_card(&self, seat: Seat, card: Card) -> Result<(), Refusal> {
        if !self.hands[seat].contains(card) {
            Err(NOT_IN_HAND)
        } else if !self.playable(seat).contains(card) {
            Err(FOLLOW_LEAD)
        } else {
            Ok(())
        }
    }

    pub(super) fn play_card(&mut self, seat: Seat, card: Card, sink: &mut impl Sink<Event>) {
        self.hands[seat].remove(card);
        self.trick.push(card);
        if card.is_pass() {
            self.passed.insert(seat);
        }
        sink.report(|| Event::Played(Play { seat, card }));
        if self.trick.is_complete(self.seats) {
            self.end_trick(sink);
        }
    }

    fn end_trick(&mut self, sink: &mut impl Sink<Event>) {
        let stack = self.stack;
        let Play { seat: winner, card } = self.trick.winner(self.seats, stack);
        // A Pass wins only by showing the stack's own sequence.
        self.stack =
            card.flavor().map_or_else(|| stack.reversed(), |flavor| stack.with_last(flavor));
        self.won[winner].insert(self.tricks);
        for card in self.trick.cards() {
            self.piles[winner].insert(card);
        }
        self.tricks += 1;
        sink.report(|| Event::TrickWon { trick: self.tricks, winner, stack: self.stack });
        if self.options.ice_cream_you_scream {
            self.award_screams(Play { seat: winner, card }, sink);
        }
        let trick = std::mem::replace(&mut self.trick, Trick::led_by(winner));
        self.last_trick = Some(WonTrick { trick, stack, winner });
        if self.tricks == TRICKS {
            self.end_round(sink);
        }
    }
}
