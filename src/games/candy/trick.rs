//! The trick on the table: what was played, what lies in it now, following suit, and who wins.

use arrayvec::ArrayVec;
use serde::{Deserialize, Serialize};

use super::card::{Card, CardSet};
use super::effects::Effect;
use super::printed::{Kind, PRINTED};
use super::suit::SuitSet;
use crate::rules::{Seat, SeatCount};

/// The most cards in a trick.
pub const MAX_PLAYS: usize = 5;

/// How a card is played.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Side {
    /// Face up.
    #[default]
    Up,
    /// Face down: it is revealed once all have played.
    Down,
    /// Face down, and without its effect: it is revealed too, but its text counts for nothing.
    Mute,
}

/// A card that was played, and what became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Play {
    /// Who played it.
    pub seat: Seat,
    /// What was played.
    pub card: Card,
    /// How it was played.
    pub side: Side,
    /// Whether it lies face down still.
    pub down: bool,
    /// What lies in its place now: the card itself, one that was traded in for it, or nothing.
    pub lies: Option<Card>,
    /// Whether the card left the trick for the leftover stash, so that nobody sees it any more.
    pub buried: bool,
}

impl Play {
    /// The effect of the card, if its text counts.
    #[must_use]
    pub fn effect(&self) -> Option<Effect> {
        if self.side == Side::Mute { None } else { self.card.effect() }
    }
}

/// What earlier cards of the trick demand of later ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Later {
    /// Nobody has to follow suit.
    pub need_not_follow: bool,
    /// Cards are played face down.
    pub face_down: bool,
    /// The next card is played face down and has no effect.
    pub next_mute: bool,
}

/// A trick.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trick {
    /// Who leads it.
    pub leader: Seat,
    /// What was played, in order.
    pub plays: ArrayVec<Play, MAX_PLAYS>,
    /// What the next cards have to obey.
    pub later: Later,
    /// The places in `plays` whose effects wait for their turn, one bit each.
    pub pending: u8,
    /// Who won it, once all have played and everything is revealed.
    pub winner: Option<Seat>,
    /// What was put into stashes since the trick began.
    pub fresh: CardSet,
}

/// What lies open of a completed trick.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastTrick {
    /// Who won it.
    pub winner: Seat,
    /// What each seat played, in order; hidden, if it went to the leftover stash.
    pub plays: ArrayVec<(Seat, Option<Card>), MAX_PLAYS>,
}

impl Trick {
    /// A trick that this seat leads.
    #[must_use]
    pub fn led_by(leader: Seat) -> Self {
        Self {
            leader,
            plays: ArrayVec::new(),
            later: Later::default(),
            pending: 0,
            winner: None,
            fresh: CardSet::NONE,
        }
    }

    /// Whose turn it is to play, while the trick is not full.
    #[must_use]
    pub fn player(&self, seats: SeatCount) -> Seat {
        seats.steps_left(self.leader, self.plays.len() as u8)
    }

    /// How the next card is played.
    #[must_use]
    pub const fn next_side(&self) -> Side {
        match self.later {
            Later { next_mute: true, .. } => Side::Mute,
            Later { face_down: true, .. } => Side::Down,
            _ => Side::Up,
        }
    }

    /// The cards that lie face up in the trick, in playing order.
    pub fn face_up(&self) -> impl Iterator<Item = Card> {
        self.plays.iter().filter(|play| !play.down).filter_map(|play| play.lies)
    }

    /// All cards that lie in the trick.
    #[must_use]
    pub fn cards(&self) -> CardSet {
        self.plays.iter().filter_map(|play| play.lies).collect()
    }

    /// All cards in the trick but this one.
    #[must_use]
    pub fn others(&self, card: Card) -> CardSet {
        self.cards().without(card)
    }

    /// The suits of the cards that lie face up.
    #[must_use]
    pub fn suits(&self) -> SuitSet {
        self.face_up().fold(SuitSet::NONE, |suits, card| suits | card.suits())
    }

    /// Which cards of a hand may be played: not a Treat without a suit of the trick, while there is
    /// one with such a suit. Only Treats ever have to follow.
    #[must_use]
    pub fn playable(&self, hand: CardSet) -> CardSet {
        if self.later.need_not_follow {
            return hand;
        }
        let sharing = self.face_up().fold(CardSet::NONE, |set, card| set | card.sharing());
        let following = hand & sharing;
        if following.is_empty() { hand } else { following | (hand - PRINTED.treats) }
    }

    /// The play that wins: the effect that says so, the latest of several, or the highest rank
    /// above 0, the last of equal ones; the lead where no rank is above 0.
    #[must_use]
    pub fn winning_play(&self) -> &Play {
        let place = match self.decider() {
            Some((_, effect)) => effect.winner(&self.plays),
            None => highest(&self.plays),
        };
        &self.plays[place.unwrap_or(0)]
    }

    /// Whether this seat won it.
    #[must_use]
    pub fn is_won_by(&self, seat: Seat) -> bool {
        self.winner == Some(seat)
    }

    /// The last played card whose effect says who wins, and that effect.
    #[must_use]
    pub fn decider(&self) -> Option<(Card, Effect)> {
        let effects = self.plays.iter().filter_map(|play| Some((play.card, play.effect()?)));
        effects.rev().find(|(_, effect)| effect.decides_the_winner())
    }

    /// Who leads next: whom an effect names, else the winner, or the seat to the winner's right
    /// once a Prank was played.
    #[must_use]
    pub fn next_leader(&self, winner: Seat, seats: SeatCount) -> Seat {
        let mut plays = self.plays.iter().rev();
        let named = plays.find(|play| play.effect().is_some_and(Effect::leads_next));
        let prank = || self.plays.iter().any(|play| play.card.kind() == Kind::Prank);
        match named {
            Some(play) => play.seat,
            None if prank() => seats.right_of(winner),
            None => winner,
        }
    }

    /// How many tricks it counts for.
    #[must_use]
    pub fn worth(&self) -> u8 {
        1 + self.plays.iter().filter_map(Play::effect).map(Effect::extra_tricks).sum::<u8>()
    }

    /// What lies open of it once the winner has taken it.
    #[must_use]
    pub fn as_last(&self, winner: Seat) -> LastTrick {
        let plays = self.plays.iter();
        let plays = plays.map(|play| (play.seat, (!play.buried).then_some(play.card))).collect();
        LastTrick { winner, plays }
    }

    /// The plays whose effects wait for their turn, in playing order.
    pub fn waiting(&self) -> impl Iterator<Item = &Play> {
        let plays = self.plays.iter().enumerate();
        plays.filter(|(place, _)| self.pending >> place & 1 == 1).map(|(_, play)| play)
    }

    /// The plays whose effects may be the next, in playing order: not those that must wait for
    /// another one.
    pub fn ready(&self) -> impl Iterator<Item = &Play> {
        let is_waiting = |effect| self.waiting().any(|play| play.card.effect() == Some(effect));
        self.waiting().filter(move |play| {
            !play.card.effect().and_then(Effect::waits_for).is_some_and(is_waiting)
        })
    }

    /// Takes the effect of this card off those that wait.
    pub fn no_longer_waits(&mut self, card: Card) {
        if let Some(place) = self.plays.iter().position(|play| play.card == card) {
            self.pending &= !(1 << place);
        }
    }
}

/// The place of the highest rank above 0, the last of equal ones.
fn highest(plays: &[Play]) -> Option<usize> {
    let ranks = plays.iter().map(|play| play.card.rank()).enumerate();
    ranks.filter(|&(_, rank)| rank > 0).max_by_key(|&(_, rank)| rank).map(|(place, _)| place)
}
