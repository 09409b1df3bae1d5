//! What happens in a match of Best of Neapolitan, and what a viewer sees of it.

use super::achievements::Achievement;
use super::cards::{Card, Cards};
use super::numbers::{LEFTOVERS, TRICKS};
use super::scoring::{End, SeatScore};
use super::sequence::Sequence;
use super::trick::Play;
use crate::rules::{BySeat, Seat, SeatSet, Viewer};

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The match began.
    SetUp {
        /// The flavor stack.
        stack: Sequence,
        /// Who leads the first round.
        leader: Seat,
    },
    /// A round's cards were dealt.
    Dealt {
        /// The number of the deal, from 0.
        deal: u32,
        /// Each seat's hand.
        hands: BySeat<Cards>,
        /// The cards that nobody was dealt.
        leftovers: [Card; LEFTOVERS],
        /// Whether the leftovers lie face down.
        secret: bool,
    },
    /// A round began.
    RoundBegan {
        /// The round, from 1.
        round: u16,
        /// Who leads it.
        leader: Seat,
        /// Who is asked for a declaration first.
        asked: SeatSet,
    },
    /// A seat answered whether it declares.
    Answered {
        /// Who answered.
        seat: Seat,
        /// The answer.
        declares: bool,
    },
    /// The last answer is in, and all of them come to light.
    Revealed {
        /// Who declared to win no trick.
        declared: SeatSet,
        /// Who was asked and declined.
        declined: SeatSet,
    },
    /// A seat played a card.
    Played(Play),
    /// A trick was won.
    TrickWon {
        /// Which of the round, from 1.
        trick: u8,
        /// Who won it, and leads the next one.
        winner: Seat,
        /// The flavor stack from now on.
        stack: Sequence,
    },
    /// A round was scored.
    RoundScored {
        /// What it brought each seat.
        results: BySeat<SeatScore>,
    },
    /// A seat on the last space had its loyalty card stamped and starts anew from 0.
    Stamped {
        /// Whose card it is.
        seat: Seat,
    },
    /// A seat achieved something for the first time in the match.
    Achieved {
        /// Who.
        seat: Seat,
        /// What.
        achievement: Achievement,
    },
    /// The match is over.
    Ended {
        /// Who won, and why.
        end: End,
        /// The final scores.
        scores: BySeat<i8>,
    },
}

/// What one viewer sees of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seen {
    /// See [`Event::SetUp`].
    SetUp {
        /// The flavor stack.
        stack: Sequence,
        /// Who leads the first round.
        leader: Seat,
    },
    /// A round's cards were dealt.
    Dealt {
        /// The number of the deal, from 0.
        deal: u32,
        /// The viewer's own hand; a spectator has none.
        hand: Option<Cards>,
        /// The number of cards in each hand.
        hand_size: u8,
        /// The cards that nobody was dealt, where they lie face up.
        leftovers: Option<[Card; LEFTOVERS]>,
    },
    /// See [`Event::RoundBegan`].
    RoundBegan {
        /// The round, from 1.
        round: u16,
        /// Who leads it.
        leader: Seat,
        /// Who is asked for a declaration first.
        asked: SeatSet,
    },
    /// A seat answered whether it declares. The answer is not part of it for anyone.
    Answered {
        /// Who answered.
        seat: Seat,
    },
    /// See [`Event::Revealed`].
    Revealed {
        /// Who declared to win no trick.
        declared: SeatSet,
        /// Who was asked and declined.
        declined: SeatSet,
    },
    /// See [`Event::Played`].
    Played(Play),
    /// See [`Event::TrickWon`].
    TrickWon {
        /// Which of the round, from 1.
        trick: u8,
        /// Who won it, and leads the next one.
        winner: Seat,
        /// The flavor stack from now on.
        stack: Sequence,
    },
    /// See [`Event::RoundScored`].
    RoundScored {
        /// What it brought each seat.
        results: BySeat<SeatScore>,
    },
    /// See [`Event::Stamped`].
    Stamped {
        /// Whose card it is.
        seat: Seat,
    },
    /// See [`Event::Achieved`].
    Achieved {
        /// Who.
        seat: Seat,
        /// What.
        achievement: Achievement,
    },
    /// See [`Event::Ended`].
    Ended {
        /// Who won, and why.
        end: End,
        /// The final scores.
        scores: BySeat<i8>,
    },
}

impl Event {
    /// What the viewer sees. Nothing here happens unnoticed: only cards and answers are hidden.
    #[must_use]
    pub fn seen_by(&self, viewer: Viewer) -> Seen {
        match *self {
            Self::SetUp { stack, leader } => Seen::SetUp { stack, leader },
            Self::Dealt { deal, ref hands, leftovers, secret } => Seen::Dealt {
                deal,
                hand: viewer.seat().map(|seat| hands[seat]),
                hand_size: TRICKS,
                leftovers: (!secret).then_some(leftovers),
            },
            Self::RoundBegan { round, leader, asked } => Seen::RoundBegan { round, leader, asked },
            Self::Answered { seat, declares: _ } => Seen::Answered { seat },
            Self::Revealed { declared, declined } => Seen::Revealed { declared, declined },
            Self::Played(play) => Seen::Played(play),
            Self::TrickWon { trick, winner, stack } => Seen::TrickWon { trick, winner, stack },
            Self::RoundScored { results } => Seen::RoundScored { results },
            Self::Stamped { seat } => Seen::Stamped { seat },
            Self::Achieved { seat, achievement } => Seen::Achieved { seat, achievement },
            Self::Ended { end, scores } => Seen::Ended { end, scores },
        }
    }
}
