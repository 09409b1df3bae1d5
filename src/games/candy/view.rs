//! What lies before a viewer in a match.

use super::card::{Card, CardSet};
use super::flavor::Flavor;
use super::options::HAND;
use super::playing::FOLLOW_SUIT;
use super::question::Question;
use super::suit::SuitSet;
use super::trick::{LastTrick, Play, Side};
use super::{Candy, Ending, Stage};
use crate::rules::{BySeat, Refusal, Seat, Viewer};

/// The table as one viewer sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    /// The hand, from 0.
    pub hand: u32,
    /// Tricks completed in this hand.
    pub completed: u8,
    /// What is going on.
    pub stage: Stage,
    /// The score that ends the match.
    pub target: u8,
    /// Who dealt.
    pub dealer: Seat,
    /// Who leads this trick.
    pub leader: Seat,
    /// What was played to this trick, in order.
    pub plays: Vec<PlayView>,
    /// The suits of the cards that lie face up in the trick.
    pub suits: SuitSet,
    /// Whether nobody has to follow suit in what is left of this trick.
    pub need_not_follow: bool,
    /// How the next card of this trick is played.
    pub next_side: Side,
    /// Who won this trick, once that is known.
    pub winner: Option<Seat>,
    /// The cards whose effects wait for their turn, in playing order, each with who played it.
    pub waiting: Vec<(Card, Seat)>,
    /// What an effect asks, and whom.
    pub asked: Option<Question>,
    /// What the winner of this trick takes beside it.
    pub beside: CardSet,
    /// What the winner of the next trick takes beside it.
    pub held: CardSet,
    /// What waits for another card's effect.
    pub aside: CardSet,
    /// Cards in the leftover stash.
    pub leftover_size: u8,
    /// The trick completed last in this hand.
    pub last_trick: Option<LastTrick>,
    /// What is public about each seat.
    pub seats: BySeat<SeatView>,
    /// What the viewer sees alone; nothing for a spectator.
    pub own: Option<Own>,
    /// Why the match is over, once it is.
    pub ending: Option<Ending>,
}

/// A card of the trick as one viewer sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlayView {
    /// Who played to this place of the trick.
    pub seat: Seat,
    /// How.
    pub side: Side,
    /// What lies there.
    pub lies: Lying,
}

/// What lies in a place of the trick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lying {
    /// A card face down; the viewer knows it if it is its own.
    FaceDown(Option<Card>),
    /// The card that was played, face up.
    FaceUp(Card),
    /// A card that was traded in for it.
    TradedIn(Card),
    /// Nothing any more.
    Gone,
}

/// What everyone sees of a seat.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SeatView {
    /// Cards in its hand.
    pub hand_size: u8,
    /// Its stash.
    pub stash: CardSet,
    /// Tricks won in this hand.
    pub tricks: u8,
    /// Points so far.
    pub points: u16,
    /// Whether it has kept a Flavor in this hand.
    pub has_kept: bool,
    /// The Flavor kept in the last hand, once the match is over, if that hand was scored.
    pub flavor: Option<Flavor>,
}

/// What a player sees alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Own {
    /// The hand.
    pub hand: CardSet,
    /// The Flavors to choose from, until one is kept.
    pub flavors: Vec<Flavor>,
    /// The Flavor kept.
    pub kept: Option<Flavor>,
    /// On its turn to play, each card of the hand that may not be played, and why.
    pub forbidden: Vec<(Card, Refusal)>,
}

impl View {
    /// What the viewer sees of the table.
    #[must_use]
    pub fn of(game: &Candy, viewer: Viewer) -> Self {
        let trick = &game.trick;
        Self {
            hand: game.hand,
            completed: game.completed,
            stage: game.stage,
            target: game.target,
            dealer: game.dealer,
            leader: trick.leader,
            plays: trick.plays.iter().map(|&play| PlayView::of(play, viewer)).collect(),
            suits: trick.suits(),
            need_not_follow: trick.later.need_not_follow,
            next_side: trick.next_side(),
            winner: trick.winner,
            waiting: trick.waiting().map(|play| (play.card, play.seat)).collect(),
            asked: game.asked,
            beside: game.beside,
            held: game.held,
            aside: game.aside,
            leftover_size: game.leftover.len() as u8,
            last_trick: game.last_trick.clone(),
            seats: BySeat::from_fn(game.seats, |seat| SeatView::of(game, seat)),
            own: viewer.seat().map(|seat| Own::of(game, seat)),
            ending: match game.stage {
                Stage::Over(ending) => Some(ending),
                _ => None,
            },
        }
    }
}

impl PlayView {
    fn of(play: Play, viewer: Viewer) -> Self {
        let lies = match play.lies {
            None => Lying::Gone,
            Some(card) if play.down => Lying::FaceDown(viewer.is(play.seat).then_some(card)),
            Some(card) if card == play.card => Lying::FaceUp(card),
            Some(card) => Lying::TradedIn(card),
        };
        Self { seat: play.seat, side: play.side, lies }
    }
}

impl SeatView {
    fn of(game: &Candy, seat: Seat) -> Self {
        // With its last trick a hand is scored and its Flavors are revealed; after any hand but the
        // match's last, the next one is dealt at once.
        let revealed = usize::from(game.completed) == HAND;
        Self {
            hand_size: game.hands[seat].len(),
            stash: game.stashes[seat],
            tricks: game.tricks[seat],
            points: game.points[seat],
            has_kept: game.kept[seat].is_some(),
            flavor: game.kept[seat].filter(|_| revealed),
        }
    }
}

impl Own {
    fn of(game: &Candy, seat: Seat) -> Self {
        let hand = game.hands[seat];
        let kept = game.kept[seat];
        let plays = game.stage == Stage::Playing
            && game.asked.is_none()
            && game.trick.player(game.seats) == seat;
        let forbidden = if plays { hand - game.trick.playable(hand) } else { CardSet::NONE };
        Self {
            hand,
            flavors: if kept.is_none() { game.flavors[seat].to_vec() } else { Vec::new() },
            kept,
            forbidden: forbidden.iter().map(|card| (card, FOLLOW_SUIT)).collect(),
        }
    }
}
