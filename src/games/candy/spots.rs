//! Where cards can be, and how effects move them: each move changes the table and is reported, so
//! that no card is lost and nothing happens unseen.

use serde::{Deserialize, Serialize};

use super::card::Card;
use super::{Candy, Event};
use crate::rules::{Seat, Sink};

/// Where a card can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Spot {
    /// The hand of a seat.
    Hand(Seat),
    /// The trick.
    Trick,
    /// The stash of a seat.
    Stash(Seat),
    /// The leftover stash: taken from its top, put on its bottom.
    Leftover,
    /// Beside the trick, for its winner.
    Beside,
    /// Set aside for the winner of the next trick.
    Held,
    /// Set aside for a card's effect when the hand began.
    Aside,
}

impl Candy {
    /// Moves a card, as the effect of another one says.
    pub(super) fn moves(
        &mut self,
        by: Card,
        card: Card,
        from: Spot,
        to: Spot,
        sink: &mut impl Sink<Event>,
    ) {
        match from {
            Spot::Hand(seat) => self.hands[seat].remove(card),
            Spot::Trick => self.leaves_trick(card, to == Spot::Leftover),
            Spot::Stash(seat) => self.stashes[seat].remove(card),
            Spot::Leftover => self.leftover.retain(|other| *other != card),
            Spot::Beside => self.beside.remove(card),
            Spot::Held => self.held.remove(card),
            Spot::Aside => self.aside.remove(card),
        }
        match to {
            Spot::Hand(seat) => self.hands[seat].insert(card),
            Spot::Trick => {}
            Spot::Stash(seat) => {
                self.stashes[seat].insert(card);
                self.trick.fresh.insert(card);
            }
            Spot::Leftover => self.leftover.push(card),
            Spot::Beside => self.beside.insert(card),
            Spot::Held => self.held.insert(card),
            Spot::Aside => self.aside.insert(card),
        }
        sink.report(|| Event::Moved { by, card, from, to });
    }

    /// Moves the top card of the leftover stash, if there is one.
    pub(super) fn draws(
        &mut self,
        by: Card,
        to: Spot,
        sink: &mut impl Sink<Event>,
    ) -> Option<Card> {
        let card = *self.leftover.first()?;
        self.moves(by, card, Spot::Leftover, to, sink);
        Some(card)
    }

    /// Swaps a card of the trick with one of a seat's stash, which takes its place.
    pub(super) fn swaps(
        &mut self,
        by: Card,
        seat: Seat,
        (take, give): (Card, Card),
        sink: &mut impl Sink<Event>,
    ) {
        let place = self.trick.plays.iter().position(|play| play.lies == Some(take));
        self.moves(by, take, Spot::Trick, Spot::Stash(seat), sink);
        self.moves(by, give, Spot::Stash(seat), Spot::Trick, sink);
        if let Some(place) = place {
            self.trick.plays[place].lies = Some(give);
        }
    }

    /// Moves every such card of the trick to the bottom of the leftover stash, in playing order;
    /// whether there was one.
    pub(super) fn buries(
        &mut self,
        by: Card,
        such: impl Fn(Card) -> bool,
        sink: &mut impl Sink<Event>,
    ) -> bool {
        let mut any = false;
        for place in 0..self.trick.plays.len() {
            if let Some(card) = self.trick.plays[place].lies.filter(|&card| such(card)) {
                self.moves(by, card, Spot::Trick, Spot::Leftover, sink);
                any = true;
            }
        }
        any
    }

    fn leaves_trick(&mut self, card: Card, face_down: bool) {
        for play in &mut self.trick.plays {
            if play.lies == Some(card) {
                play.lies = None;
            }
            if play.card == card {
                play.buried |= face_down;
            }
        }
    }
}
