//! Best of Neapolitan, for 3 to 5 players, after its rulebook (2025 English first edition), with all
//! four variants.
//!
//! A trick-taking game in rounds of seven tricks. Players want to win no trick, or exactly the
//! *trick goal*, and to be the first on the last space of the score track. The *flavor stack* ranks
//! the suits; a flavor that wins a trick goes to its bottom.
//!
//! | players | Monsters of each flavor | Pass cards | trick goal | last space | cards |
//! |---|---|---|---|---|---|
//! | 3 | 1 to 7 | 2 | 3 | 3 | 23 |
//! | 4 | 1 to 9 | 3 | 2 | 4 | 30 |
//! | 5 | 1 to 11 | 4 | 1 | 5 | 37 |
//!
//! # Rulings, where the rulebook leaves something open
//!
//! - *Following.* The lead suit is the flavor of the first card of a trick that is not a Pass. A
//!   hand with a Monster of it plays one of these or any Pass; any other hand, and any hand as long
//!   as there is no lead suit, plays what it likes. Every card is asked for, also the only legal one.
//! - *Winning.* The strongest flavor among those in the trick counts, by the stack as it stood while
//!   the trick was played, and of it the highest number. Not every card of a trick can be a Pass.
//! - *The stack.* The flavor of the winning card goes to the bottom; the others keep their order.
//! - *Ice Cream, You Scream.* The six variant Pass cards show the six sequences, each once. For every
//!   round as many of them as the deck has Pass cards are drawn anew; which, nobody sees: one is known
//!   to whoever holds it, and to all once it was played or lies face up as a leftover. One that shows
//!   the sequence of the stack in the moment in which it is played wins the trick, whatever follows.
//!   The stack is reversed when the trick is resolved, and then no flavor moves; so there are never
//!   two that match in one trick. One that does not match is a Pass like any other.
//! - *Leftovers* lie face up until the next deal; with Secret Ingredients nobody ever sees them, not
//!   even after the match.
//! - *Scoring.* 1 point for the trick goal, 2 for no trick. A token stops on the last space: the
//!   points of a round are announced in full, the score is capped.
//! - *The Cherry On Top.* Before the first lead of a round, hands and leader being known, each seat
//!   that still has a declaration says whether it declares. Answers are final and simultaneous: who
//!   has answered is public, what, comes to light in one step with the last answer, and is public for
//!   that round. Where nobody can declare, nobody is asked. Who declared scores 3 for no trick and -1
//!   for any other number, also for the trick goal; either way the declaration is used up. A score can
//!   fall below 0 without bound.
//! - *More Scoops.* A seat on the last space for the first time has its loyalty card stamped and goes
//!   back to 0, after the score was announced; the second time, it has reached the end. Each seat has
//!   two declarations, where these are played with.
//! - *The end.* When a seat has reached the end in a round, those that did contend, and no others. Of
//!   several, the one with the most Monsters of the strongest flavor in its tricks of that round wins,
//!   by the stack after the last trick; of those level with it, the one with the most of the second;
//!   then of the weakest; then they share the victory.
//! - *The leader* of a trick is the winner of the one before, also from round to round.
//! - *Achievements* are announced once for each seat and match. `award_…` in `achievements.rs` says
//!   when; a hand was dealt with a Pass just if a Pass was played from it.
//! - *Length.* The rules have no bound, so the 10,000th answer of a match, declarations included, is
//!   its last. It is carried out in full, scoring included; unless it ends the match by the rules,
//!   nobody wins, nothing more is dealt or asked, the scores stand, a round in progress counts
//!   nothing, and hands and answers not yet revealed stay hidden.
//! - *The view* shows the last trick of the round until the next one is won or the next hand dealt.
//!
//! # What is random
//!
//! Deal `n`, counted from 0, is that of round `n + 1`. Numbers are drawn in this order:
//!
//! 1. In deal 0 alone, the flavor stack: the list Vanilla, Chocolate, Strawberry is shuffled; its
//!    first is the strongest.
//! 2. In deal 0 alone, unless the options name the first leader, the leader as a number below the
//!    number of seats.
//! 3. With Ice Cream, You Scream, the variant Pass cards: the list VCS, VSC, CVS, CSV, SVC, SCV (each
//!    by its flavors' first letters, strongest first) is shuffled; the first two, three or four of it
//!    go into the deck of three, four or five players, in this order.
//! 4. The deck: the Monsters of Vanilla from 1 upwards, then those of Chocolate, then those of
//!    Strawberry, then the Pass cards (the standard ones, or those just drawn), is shuffled. It is
//!    dealt from its first card: seven to seat 0, seven to each next seat, and two leftovers.

mod achievements;
mod cards;
mod catalog;
mod conversions;
mod dealing;
mod declaring;
mod events;
mod numbers;
mod playing;
mod scoring;
mod sequence;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod trial;
mod trick;
mod view;

use serde::{Deserialize, Serialize};

pub use self::achievements::{Achievement, Achievements};
pub use self::cards::{Card, Cards, Face};
pub use self::declaring::Declaration;
pub use self::events::{Event, Seen};
pub use self::numbers::{LEFTOVERS, Numbers, TRICKS};
pub use self::scoring::{End, Reason, SeatScore};
pub use self::sequence::{Flavor, Sequence};
pub use self::trick::Play;
pub use self::view::{LastTrick, Own, SeatView, View};

use self::dealing::{Deal, Opening};
use self::declaring::Declarations;
use self::scoring::TricksWon;
use self::trick::{Trick, WonTrick};
use crate::rules::{
    BadOption, BySeat, Catalog, Game, Outcome, Refusal, Seat, SeatCount, SeatSet, Seed, Setup,
    Sink, Viewer,
};

/// What is chosen when a match is created.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "four variants, each played or not")]
pub struct Options {
    /// The variant of that name: Pass cards that can win.
    pub ice_cream_you_scream: bool,
    /// The variant of that name: declarations.
    pub cherry_on_top: bool,
    /// The variant of that name: the last space has to be reached twice.
    pub more_scoops: bool,
    /// The variant of that name: the leftovers lie face down.
    pub secret_ingredients: bool,
    /// Who leads the first trick; drawn at random when left out.
    pub first_leader: Option<Seat>,
}

/// One answer of a seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Action {
    /// Play this card from the hand.
    Play(Card),
    /// Declare to win no trick in this round.
    Declare,
    /// Declare nothing in this round.
    Decline,
}

/// What is going on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Seats say whether they declare.
    Declaring,
    /// Seats play cards.
    Playing,
    /// The match is over.
    Over,
}

/// A match of Best of Neapolitan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Neapolitan {
    seats: SeatCount,
    options: Options,
    /// What later rounds are dealt from.
    seed: Seed,
    /// Answers taken so far.
    actions: u16,
    /// From 1, and below 500: a round takes at least 21 actions.
    round: u16,
    /// Tricks won in this round.
    tricks: u8,
    stack: Sequence,
    trick: Trick,
    last_trick: Option<WonTrick>,
    hands: BySeat<Cards>,
    leftovers: [Card; LEFTOVERS],
    declarations: Declarations,
    /// Who has played a Pass in this round.
    passed: SeatSet,
    /// The tricks that each seat won in this round.
    won: BySeat<TricksWon>,
    /// The cards in these tricks.
    piles: BySeat<Cards>,
    scores: BySeat<i8>,
    /// Whose loyalty card is stamped.
    stamped: SeatSet,
    /// How often each seat can still declare.
    cherries: BySeat<u8>,
    /// Who won no trick in the round before this one.
    without: SeatSet,
    achievements: BySeat<Achievements>,
    end: Option<End>,
}

impl Neapolitan {
    fn phase(&self) -> Phase {
        if self.end.is_some() {
            Phase::Over
        } else if self.declarations.awaited().is_empty() {
            Phase::Playing
        } else {
            Phase::Declaring
        }
    }

    /// The rule that the action breaks, if it does.
    fn judge(&self, seat: Seat, action: Action) -> Result<(), Refusal> {
        if !self.to_act().contains(seat) {
            return Err(Refusal::NOT_TO_ACT);
        }
        match (self.phase(), action) {
            (Phase::Declaring, Action::Play(_)) => Err(declaring::TIME_TO_DECLARE),
            (Phase::Declaring, _) => Ok(()),
            (_, Action::Play(card)) => self.judge_card(seat, card),
            (_, Action::Declare | Action::Decline) => Err(playing::TIME_TO_PLAY),
        }
    }
}

impl Game for Neapolitan {
    type Options = Options;
    type Action = Action;
    type Event = Event;
    type Seen = Seen;
    type View = View;

    fn check(options: &Options, seats: SeatCount) -> Vec<BadOption> {
        let mut bad = Vec::new();
        if !(3..=5).contains(&seats.get()) {
            bad.push(BadOption::new("seats", "Best of Neapolitan has 3 to 5 seats"));
        }
        if options.first_leader.is_some_and(|seat| !seats.contains(seat)) {
            bad.push(BadOption::new("first_leader", "the table has no such seat"));
        }
        bad
    }

    fn catalog(_options: &Options) -> &'static Catalog {
        &catalog::CATALOG
    }

    fn kind(action: &Action) -> &'static str {
        match action {
            Action::Play(_) => "play",
            Action::Declare => "declare",
            Action::Decline => "decline",
        }
    }

    fn start(setup: &Setup<Options>, seed: &Seed, sink: &mut impl Sink<Event>) -> Self {
        let (seats, options) = (setup.seats(), *setup.options());
        let mut shuffle = seed.deal(0);
        let opening = Opening::draw(setup, &mut shuffle);
        opening.report(sink);
        let cherries = declaring::declarations_a_match(options);
        let mut game = Self {
            seats,
            options,
            seed: *seed,
            actions: 0,
            round: 0,
            tricks: 0,
            stack: opening.stack,
            trick: Trick::led_by(opening.leader),
            last_trick: None,
            hands: BySeat::new(seats),
            leftovers: [Card::PASS; LEFTOVERS],
            declarations: Declarations::default(),
            passed: SeatSet::EMPTY,
            won: BySeat::new(seats),
            piles: BySeat::new(seats),
            scores: BySeat::new(seats),
            stamped: SeatSet::EMPTY,
            cherries: BySeat::from_fn(seats, |_| cherries),
            without: SeatSet::EMPTY,
            achievements: BySeat::new(seats),
            end: None,
        };
        game.begin_round(&mut shuffle, sink);
        game
    }

    fn redeal(setup: &Setup<Options>, seed: &Seed, n: u32, sink: &mut impl Sink<Event>) {
        let mut shuffle = seed.deal(n);
        if n == 0 {
            Opening::draw(setup, &mut shuffle).report(sink);
        }
        let options = *setup.options();
        Deal::draw(options, setup.seats(), &mut shuffle).report(n, options, sink);
    }

    fn to_act(&self) -> SeatSet {
        match self.phase() {
            Phase::Declaring => self.declarations.awaited(),
            Phase::Playing => SeatSet::only(self.trick.player(self.seats)),
            Phase::Over => SeatSet::EMPTY,
        }
    }

    /// Declaring: to declare, then to decline. Playing: Vanilla, Chocolate, Strawberry, each from the
    /// lowest number, then variant Pass cards in the order VCS, VSC, CVS, CSV, SVC, SCV, then a
    /// standard Pass.
    fn legal(&self, seat: Seat, into: &mut Vec<Action>) {
        if !self.to_act().contains(seat) {
            return;
        }
        if self.phase() == Phase::Declaring {
            into.extend([Action::Declare, Action::Decline]);
        } else {
            into.extend(self.playable(seat).distinct().map(Action::Play));
        }
    }

    fn play(
        &mut self,
        seat: Seat,
        action: &Action,
        sink: &mut impl Sink<Event>,
    ) -> Result<(), Refusal> {
        self.judge(seat, *action)?;
        self.actions += 1;
        match *action {
            Action::Play(card) => self.play_card(seat, card, sink),
            Action::Declare => self.answer(seat, true, sink),
            Action::Decline => self.answer(seat, false, sink),
        }
        if self.is_at_limit() && self.end.is_none() {
            self.cut_short(sink);
        }
        Ok(())
    }

    fn outcome(&self) -> Option<Outcome> {
        self.end.map(|End { winners, reason }| Outcome {
            winners,
            reason: reason.id(),
            scores: self.scores.map(|_, &score| score.into()),
            achievements: self
                .achievements
                .map(|_, achieved| achieved.iter().map(Achievement::id).collect()),
        })
    }

    fn view(&self, viewer: Viewer) -> View {
        View::of(self, viewer)
    }

    fn seen(event: &Event, viewer: Viewer) -> Option<Seen> {
        Some(event.seen_by(viewer))
    }
}
