//! NeoN, for 2 to 6 players, after the NeoN rulebook.
//!
//! Players lay out combinations of cards from their hands: a *solo* (one card), a *set* (two or
//! more of one value) or a *run* (two or more consecutive values). Bigger and higher plays choose
//! first among the victory point cards on the table; then what was played becomes the victory
//! point cards of the next round.
//!
//! # Rulings, where the rulebook leaves something open
//!
//! - Once a set (or a run) was played in a round, every later play in it is a solo or a set (or a
//!   run), with two players too, the same player's own second play included. A solo never fixes the
//!   kind. There is no duty to match or beat anything.
//! - Plays are ranked by number of cards, then by highest value, then earlier play first. With two
//!   players it is each play, and not each player, that chooses once.
//! - Choosing is a duty as long as a card lies on the table: one card, from round 2 on one card or
//!   two of equal value. With none left, the remaining choosers are passed over without being asked.
//!   Every play and every choice is asked for, also the only legal one.
//! - A round ends in this order: the unchosen cards leave the game and the plays become victory
//!   point cards; then the end of the game is checked (three or more players: at least two empty
//!   hands; two players: one with neither hand nor second hand); then the first chooser leads the
//!   next round, or, its hand being empty, the next seat to the left that has cards.
//! - A seat without cards is passed over in play and does not choose, but keeps its pile. A seat
//!   that played its last card in this round still chooses in it.
//! - With two players the second hand is taken up the moment the last card of the first is played,
//!   and can be played from in the same round. Nobody sees it before, its owner included.
//! - The score is the sum of the pile; with two players plus 1 for each card left in either hand.
//!   The highest score wins, equal ones share the victory.
//! - Plays and choices are public as they are made, and so is how many cards there are in each hand
//!   and pile. A pile itself its owner alone can look at, until the end shows all piles and scores;
//!   cards left over in a hand stay hidden even then.
//! - Cards of one value are interchangeable: an action names values, in any order.
//!
//! # What is random
//!
//! Deal 0 is the only one. Unless the options name the first player, it is drawn first, as a number
//! below the number of seats. Then the sixty cards, sorted from the ten 1s to the ten 6s, are
//! shuffled and dealt from the top: the victory point cards, each seat's hand in seat order, each
//! seat's second hand in seat order, and the rest out of the game.

mod cards;
mod catalog;
mod choosing;
mod combination;
mod conversions;
mod events;
mod playing;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod trial;
mod view;

use arrayvec::ArrayVec;
use serde::{Deserialize, Serialize};

pub use self::cards::{COPIES, Cards, Value, Values};
pub use self::combination::{Combination, Kind};
pub use self::events::{Event, Seen};
pub use self::view::{Own, SeatView, View};
use crate::rules::{
    BadOption, BySeat, Catalog, Game, MAX_SEATS, Outcome, Refusal, Seat, SeatCount, SeatSet, Seed,
    Setup, Sink, Viewer,
};

/// What is chosen when a match is created.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// Who plays first; drawn at random when left out.
    pub first_player: Option<Seat>,
}

/// One answer of a seat. The cards of either may be named in any order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Action {
    /// Play these cards from the hand.
    Play(Cards),
    /// Put these victory point cards on the pile.
    Choose(Cards),
}

/// What is going on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Phase {
    /// Seats play from their hands.
    Playing,
    /// Seats choose victory point cards.
    Choosing,
    /// The match is over.
    Over,
}

/// Cards on the table, and who played them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Play {
    /// Who played.
    pub seat: Seat,
    /// What was played: always a combination.
    pub cards: Cards,
}

/// What a seat ended the match with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SeatResult {
    /// The victory point pile.
    pub pile: Cards,
    /// The score.
    pub score: i32,
}

/// A match of NeoN.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Neon {
    seats: SeatCount,
    phase: Phase,
    /// From 1. It stays below 30: each round every seat with cards plays at least one.
    round: u8,
    /// Who plays first in this round.
    first: Seat,
    /// While playing, whose place in the round's order it is, counted from `first`; with two
    /// players the order has four places.
    place: u8,
    /// The kind that the round's first set or run fixed.
    kind: Option<Kind>,
    plays: ArrayVec<Play, MAX_SEATS>,
    /// While choosing, the places in `plays` that still choose, the next one last.
    to_choose: ArrayVec<u8, MAX_SEATS>,
    /// Who chose first in the round that was last ranked; leads the next one if it can.
    first_chooser: Seat,
    /// The victory point cards.
    table: Cards,
    hands: BySeat<Cards>,
    second_hands: BySeat<Cards>,
    piles: BySeat<Cards>,
    /// What left the game: kept because no card may be lost.
    removed: Cards,
}

/// How many cards there are where at the start.
struct Deal {
    table: u8,
    hand: u8,
    second_hand: u8,
}

impl Deal {
    /// The rulebook's table in "Preparation".
    fn of(seats: SeatCount) -> Self {
        match seats.get() {
            2 => Self { table: 4, hand: 14, second_hand: 14 },
            n @ (3 | 4) => Self { table: n, hand: 14, second_hand: 0 },
            n @ 5 => Self { table: n, hand: 11, second_hand: 0 },
            n => Self { table: n, hand: 9, second_hand: 0 },
        }
    }
}

/// The sixty cards from the ten 1s to the ten 6s, each as cards of its own, so that those dealt to a
/// seat only need to be added up.
const SORTED_DECK: [Cards; 60] = {
    let mut deck = [Cards::NONE; 60];
    let mut i = 0;
    while i < deck.len() {
        deck[i] = Cards::of(Value::ALL[i / COPIES as usize], 1);
        i += 1;
    }
    deck
};

/// The table as it was dealt, and the first player.
fn deal(setup: &Setup<Options>, seed: &Seed) -> Neon {
    let seats = setup.seats();
    let mut shuffle = seed.deal(0);
    let first = setup.options().first_player.unwrap_or_else(|| {
        seats.seat(shuffle.below(seats.get().into())).expect("below the number of seats")
    });
    let mut deck = SORTED_DECK;
    shuffle.shuffle(&mut deck);

    let mut rest = &deck[..];
    let mut take = |count: u8| {
        let (top, below) = rest.split_at(count.into());
        rest = below;
        top.iter().copied().sum::<Cards>()
    };
    let Deal { table, hand, second_hand } = Deal::of(seats);
    Neon {
        seats,
        phase: Phase::Playing,
        round: 1,
        first,
        place: 0,
        kind: None,
        plays: ArrayVec::new(),
        to_choose: ArrayVec::new(),
        first_chooser: first,
        table: take(table),
        hands: BySeat::from_fn(seats, |_| take(hand)),
        second_hands: BySeat::from_fn(seats, |_| take(second_hand)),
        piles: BySeat::new(seats),
        removed: rest.iter().copied().sum(),
    }
}

impl Neon {
    fn report_deal(&self, sink: &mut impl Sink<Event>) {
        sink.report(|| Event::Dealt {
            table: self.table,
            hands: self.hands,
            second_hands: self.second_hands,
        });
    }

    /// Whether the seat has a card to play, now or from its second hand.
    fn has_cards(&self, seat: Seat) -> bool {
        !(self.hands[seat].is_empty() && self.second_hands[seat].is_empty())
    }

    /// What the seat would end with now.
    fn result(&self, seat: Seat) -> SeatResult {
        let left = match self.seats.get() {
            2 => self.hands[seat].len() + self.second_hands[seat].len(),
            _ => 0,
        };
        let pile = self.piles[seat];
        SeatResult { pile, score: i32::from(pile.sum()) + i32::from(left) }
    }
}

impl Game for Neon {
    type Options = Options;
    type Action = Action;
    type Event = Event;
    type Seen = Seen;
    type View = View;

    fn check(options: &Options, seats: SeatCount) -> Vec<BadOption> {
        let mut bad = Vec::new();
        if !(2..=6).contains(&seats.get()) {
            bad.push(BadOption::new("seats", "NeoN has 2 to 6 seats"));
        }
        if options.first_player.is_some_and(|seat| !seats.contains(seat)) {
            bad.push(BadOption::new("first_player", "the table has no such seat"));
        }
        bad
    }

    fn catalog(_options: &Options) -> &'static Catalog {
        &catalog::CATALOG
    }

    fn kind(action: &Action) -> &'static str {
        match action {
            Action::Play(_) => "play",
            Action::Choose(_) => "choose",
        }
    }

    fn start(setup: &Setup<Options>, seed: &Seed, sink: &mut impl Sink<Event>) -> Self {
        let game = deal(setup, seed);
        game.report_deal(sink);
        sink.report(|| Event::RoundBegan { round: 1, first: game.first });
        game
    }

    fn redeal(setup: &Setup<Options>, seed: &Seed, n: u32, sink: &mut impl Sink<Event>) {
        if n == 0 {
            deal(setup, seed).report_deal(sink);
        }
    }

    fn to_act(&self) -> SeatSet {
        match self.phase {
            Phase::Playing => SeatSet::only(self.player()),
            Phase::Choosing => self.choosers().next().map_or(SeatSet::EMPTY, SeatSet::only),
            Phase::Over => SeatSet::EMPTY,
        }
    }

    /// Plays: solos by value, sets by value and then size, runs by lowest value and then length.
    /// Choices: single cards by value, then pairs by value.
    fn legal(&self, seat: Seat, into: &mut Vec<Action>) {
        if !self.to_act().contains(seat) {
            return;
        }
        match self.phase {
            Phase::Playing => self.legal_plays(seat, into),
            Phase::Choosing => self.legal_choices(into),
            Phase::Over => {}
        }
    }

    fn play(
        &mut self,
        seat: Seat,
        action: &Action,
        sink: &mut impl Sink<Event>,
    ) -> Result<(), Refusal> {
        if !self.to_act().contains(seat) {
            return Err(Refusal::NOT_TO_ACT);
        }
        match (self.phase, *action) {
            (Phase::Playing, Action::Play(cards)) => self.play_cards(seat, cards, sink),
            (Phase::Playing, Action::Choose(_)) => Err(playing::TIME_TO_PLAY),
            (_, Action::Choose(cards)) => self.choose_cards(seat, cards, sink),
            (_, Action::Play(_)) => Err(choosing::TIME_TO_CHOOSE),
        }
    }

    fn outcome(&self) -> Option<Outcome> {
        (self.phase == Phase::Over).then(|| {
            let scores = BySeat::from_fn(self.seats, |seat| self.result(seat).score);
            let best = scores.values().max();
            let winners: SeatSet = scores
                .iter()
                .filter(|&(_, score)| Some(score) == best)
                .map(|(seat, _)| seat)
                .collect();
            let reason = if winners.len() == 1 { "score" } else { "shared" };
            Outcome { winners, reason, scores, achievements: BySeat::new(self.seats) }
        })
    }

    fn view(&self, viewer: Viewer) -> View {
        View::of(self, viewer)
    }

    fn seen(event: &Event, viewer: Viewer) -> Option<Seen> {
        Some(event.seen_by(viewer))
    }
}
