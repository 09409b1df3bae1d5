//! What lies before a viewer in a match of Best of Neapolitan.

use super::achievements::Achievements;
use super::cards::Card;
use super::declaring::Declaration;
use super::numbers::{LEFTOVERS, Numbers, TRICKS};
use super::scoring::End;
use super::sequence::Sequence;
use super::trick::Play;
use super::{Action, Neapolitan, Phase};
use crate::rules::{BySeat, Refusal, Seat, Viewer};

/// The table as one viewer sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    /// The round, from 1.
    pub round: u16,
    /// Which trick of the round is played, from 1; the last one also when it was won.
    pub trick: u8,
    /// What is going on.
    pub phase: Phase,
    /// The flavor stack.
    pub stack: Sequence,
    /// Who leads the trick.
    pub leader: Seat,
    /// Whose turn it is to play a card, while cards are played.
    pub turn: Option<Seat>,
    /// The cards of the trick, in order.
    pub plays: Vec<Play>,
    /// The last trick that was won in this round.
    pub last_trick: Option<LastTrick>,
    /// The cards that nobody was dealt, where they lie face up.
    pub leftovers: Option<[Card; LEFTOVERS]>,
    /// The charts of the rulebook for this table.
    pub numbers: Numbers,
    /// What is public about each seat.
    pub seats: BySeat<SeatView>,
    /// How the match ended, once it has.
    pub end: Option<End>,
    /// The viewer's own cards; a spectator has none.
    pub own: Option<Own>,
}

/// A trick that was won.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastTrick {
    /// Its cards, in order.
    pub plays: Vec<Play>,
    /// Who won it.
    pub winner: Seat,
    /// The flavor stack as it stood while the trick was played.
    pub stack: Sequence,
}

/// What everyone sees of a seat.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SeatView {
    /// Cards in its hand.
    pub hand_size: u8,
    /// Tricks that it won in this round.
    pub tricks: u8,
    /// Its score.
    pub score: i8,
    /// Whether its loyalty card is stamped.
    pub stamped: bool,
    /// How often it can still declare.
    pub cherries: u8,
    /// How it stands to the declarations of this round.
    pub declaration: Declaration,
    /// What it achieved in the match.
    pub achievements: Achievements,
}

/// What a player sees alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Own {
    /// The cards in the hand, each with the rule that forbids to play it now, if one does.
    pub hand: Vec<(Card, Option<Refusal>)>,
    /// The own answer, also while it is still hidden from the others.
    pub declares: Option<bool>,
}

impl View {
    /// What the viewer sees of the table.
    #[must_use]
    pub fn of(game: &Neapolitan, viewer: Viewer) -> Self {
        let seats = game.seats;
        let phase = game.phase();
        Self {
            round: game.round,
            trick: (game.tricks + 1).min(TRICKS),
            phase,
            stack: game.stack,
            leader: game.trick.leader(),
            turn: (phase == Phase::Playing).then(|| game.trick.player(seats)),
            plays: game.trick.plays(seats).collect(),
            last_trick: game.last_trick.as_ref().map(|last| LastTrick {
                plays: last.trick.plays(seats).collect(),
                winner: last.winner,
                stack: last.stack,
            }),
            leftovers: (!game.options.secret_ingredients).then_some(game.leftovers),
            numbers: Numbers::of(seats),
            seats: BySeat::from_fn(seats, |seat| SeatView {
                hand_size: game.hands[seat].len(),
                tricks: game.won[seat].count(),
                score: game.scores[seat],
                stamped: game.stamped.contains(seat),
                cherries: game.cherries[seat],
                declaration: game.declarations.of(seat),
                achievements: game.achievements[seat],
            }),
            end: game.end,
            own: viewer.seat().map(|seat| Own::of(game, seat)),
        }
    }
}

impl Own {
    fn of(game: &Neapolitan, seat: Seat) -> Self {
        let judged = |card| (card, game.judge(seat, Action::Play(card)).err());
        Self {
            hand: game.hands[seat].iter().map(judged).collect(),
            declares: game.declarations.own_answer(seat),
        }
    }
}
