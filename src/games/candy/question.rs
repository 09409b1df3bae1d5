//! What an effect asks of a seat, as data: the answers are listed, judged and shown from here, for
//! all effects alike.

use serde::{Deserialize, Serialize};

use super::Action;
use super::card::{Card, CardSet};
use super::suit::Suit;
use crate::rules::{Refusal, Seat, SeatSet};

pub(super) const TIME_TO_ANSWER: Refusal =
    Refusal::new("time_to_answer", "an effect waits for an answer of another kind");
pub(super) const NOT_A_CHOICE: Refusal =
    Refusal::new("not_a_choice", "this is not among what can be chosen");
pub(super) const MUST_CHOOSE: Refusal =
    Refusal::new("must_choose", "this effect cannot be declined");

/// A card whose effect has its turn, and the seat that played it: "this card" and "you" in its
/// text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    /// The card.
    pub card: Card,
    /// Who played it.
    pub seat: Seat,
}

/// What there is to choose from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Choice {
    /// Any card of the own hand.
    Hand,
    /// One of these cards.
    Card(CardSet),
    /// One card of the trick for one of the own stash.
    Swap {
        /// The cards of the trick.
        trick: CardSet,
        /// The cards of the stash.
        stash: CardSet,
    },
    /// One of these cards for one of these seats.
    Give {
        /// The cards.
        cards: CardSet,
        /// The seats.
        to: SeatSet,
    },
    /// One of these seats.
    Seat(SeatSet),
    /// Any of the ten suits.
    Suit,
}

/// What an effect asks of a seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// Who is to answer.
    pub seat: Seat,
    /// The card that asks.
    pub card: Card,
    /// What there is to choose from; never nothing.
    pub choice: Choice,
    /// Whether declining is an answer too.
    pub may: bool,
}

/// What the beginning of an effect's turn comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// There was nothing to work on.
    Nothing,
    /// It worked, and nothing was to be chosen.
    Done,
    /// A seat has to choose.
    Asks(Question),
}

impl Turn {
    /// This seat may choose, if there is anything to choose.
    pub(super) fn may(seat: Seat, card: Card, choice: Choice) -> Self {
        Self::asks(Question { seat, card, choice, may: true })
    }

    /// This seat has to choose, if there is anything to choose.
    pub(super) fn must(seat: Seat, card: Card, choice: Choice) -> Self {
        Self::asks(Question { seat, card, choice, may: false })
    }

    fn asks(question: Question) -> Self {
        if question.choice.is_empty() { Self::Nothing } else { Self::Asks(question) }
    }
}

impl Choice {
    fn is_empty(self) -> bool {
        match self {
            Self::Hand | Self::Suit => false,
            Self::Card(cards) => cards.is_empty(),
            Self::Swap { trick, stash } => trick.is_empty() || stash.is_empty(),
            Self::Give { cards, to } => cards.is_empty() || to.is_empty(),
            Self::Seat(seats) => seats.is_empty(),
        }
    }
}

impl Question {
    /// Every answer, given the hand of who answers: cards in the order of the printed list, seats
    /// and suits in theirs, the first thing named changing slowest; declining last.
    pub fn answers(&self, hand: CardSet) -> impl Iterator<Item = Action> {
        let cards = match self.choice {
            Choice::Hand => hand,
            Choice::Card(cards) | Choice::Give { cards, .. } => cards,
            Choice::Swap { trick, .. } => trick,
            Choice::Seat(_) | Choice::Suit => CardSet::NONE,
        };
        let choice = self.choice;
        let of_cards = cards.iter().flat_map(move |card| answers_with(choice, card));
        let seats = if let Choice::Seat(seats) = choice { seats } else { SeatSet::EMPTY };
        let suits = if choice == Choice::Suit { &Suit::ALL[..] } else { &[] };
        of_cards
            .chain(seats.iter().map(Action::ChooseSeat))
            .chain(suits.iter().map(|&suit| Action::Name(suit)))
            .chain(self.may.then_some(Action::Decline))
    }

    /// The answer, where there is only one.
    pub(super) fn only_answer(&self, hand: CardSet) -> Option<Action> {
        let mut answers = self.answers(hand);
        answers.next().filter(|_| answers.next().is_none())
    }

    /// Judges an answer, given the hand of who answers.
    ///
    /// # Errors
    /// Why it is none.
    pub(super) fn check(&self, action: Action, hand: CardSet) -> Result<(), Refusal> {
        let allowed = match (self.choice, action) {
            (_, Action::Decline) => return if self.may { Ok(()) } else { Err(MUST_CHOOSE) },
            (Choice::Hand, Action::Choose(card)) => hand.contains(card),
            (Choice::Card(cards), Action::Choose(card)) => cards.contains(card),
            (Choice::Swap { trick, stash }, Action::Swap { take, give }) => {
                trick.contains(take) && stash.contains(give)
            }
            (Choice::Give { cards, to }, Action::Give { card, seat }) => {
                cards.contains(card) && to.contains(seat)
            }
            (Choice::Seat(seats), Action::ChooseSeat(seat)) => seats.contains(seat),
            (Choice::Suit, Action::Name(_)) => true,
            _ => return Err(TIME_TO_ANSWER),
        };
        if allowed { Ok(()) } else { Err(NOT_A_CHOICE) }
    }
}

/// The answers that name this card first.
fn answers_with(choice: Choice, card: Card) -> impl Iterator<Item = Action> {
    let alone = matches!(choice, Choice::Hand | Choice::Card(_)).then_some(Action::Choose(card));
    let stash = if let Choice::Swap { stash, .. } = choice { stash } else { CardSet::NONE };
    let to = if let Choice::Give { to, .. } = choice { to } else { SeatSet::EMPTY };
    alone
        .into_iter()
        .chain(stash.iter().map(move |give| Action::Swap { take: card, give }))
        .chain(to.iter().map(move |seat| Action::Give { card, seat }))
}
