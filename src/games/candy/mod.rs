//! Best Candy on the Block: Rewrapped, for 2 to 5 players, after its rulebook and those of its
//! expansions King Sized and Lost Treats.
//!
//! A trick-taking game whose Treats have one to three suits each. A trick won is a point, a Prank in
//! the stash costs one, and the Kings of the expansion do whatever is printed on them. The first to
//! reach the target score ends the match; the highest score wins.
//!
//! The rulebook does not list the cards. They are data: `cards.json` says what is printed on each
//! and where that is known from, [`printed`] reads and checks it. To see what a card does, look up
//! its effect there and open the file of that name in `effects/`.
//!
//! # Rulings, where the rulebook leaves something open
//!
//! *Decks.* The Treat deck is the base set and the chosen expansions; then the alternate King-Size
//! Bar takes the place of the original, then single cards leave, then single cards come in. It must
//! hold 13 cards for each seat, which alone limits the number of seats. The card that another card's
//! effect needs, the Banana Peel, is set aside while that card is in the deck and is never dealt.
//!
//! *Following suit.* The suits of a trick are those of all its face-up cards. Pranks, Kings and
//! Non-Candies can always be played; a Treat if it shares a suit with the trick, if the trick has no
//! suit, or if no Treat of the hand shares one. The original King-Size Bar has all ten suits for the
//! trick and for Flavors, but never obliges whoever holds it. A card that is played face down obeys
//! the same rule.
//!
//! *A trick, in this order.*
//! 1. Each seat plays a card, face up unless an earlier card says otherwise. What a face-up card does
//!    at once is done before the next card is played. A face-down card is known to its player alone.
//! 2. Face-down cards are revealed in the order in which they were played; what they do at once is
//!    done as each is revealed. Effects on later cards do nothing on a revealed card. A card muted by
//!    Candy Lockjaw has rank, suits and kind, but no text.
//! 3. The winner is found: the highest rank above 0, the last of equal ones; the leader, where there
//!    is none. Of the effects that change this, the later played one counts.
//! 4. Effects after the trick: all that were played and have text, the winner picking which is next,
//!    as long as there are two or more that can be; Possible Allergens wait for Known Allergens.
//!    Whether an effect finds something to work on is judged in its turn; if not, it is passed over.
//!    It works on what is then in the trick, even if its own card is no longer there. "Other cards"
//!    are all in the trick but this one. What a player *may* do, they can decline; a choice with one
//!    possible answer is made without asking.
//! 5. The winner takes what is left, also of an empty trick, with what lies beside it: what Weird
//!    Tasting Punch turned up and what Marshmallow Test held over. No effect touches those.
//! 6. The winner leads next; if a Prank was played to the trick, wherever it went, the seat to the
//!    winner's right does; the player of a Sugar Rush before either.
//!
//! *A card that comes back* into a hand through the leftover stash is played like any other and works
//! anew; the Banana Peel is then a Prank like the others.
//!
//! *A hand scores* tricks, plus one for each stash card that matches the kept Flavor, plus what
//! effects are worth in the stash, minus its Pranks, but never less than 0. Under *don't be greedy*
//! the seat that alone won the most tricks scores 0 for tricks and everything else as usual.
//!
//! *The match ends* after a hand in which a seat reaches the target. The highest total wins, then the
//! bigger stash of the last hand (every card counts), then the victory is shared. The 10,000th action
//! ends it in any case, without a winner if it did not end by then.
//!
//! *Flavors* are chosen by all seats at once. Who has chosen is public, what is not, until the hand is
//! scored. Flavors not kept are never shown; all go back, as the Flavor deck too is shuffled anew for
//! every hand.
//!
//! *What lies open.* Stashes do, to everyone, and what is set aside or lies beside the trick. Of hands
//! and the leftover stash everyone knows the size; what went to its bottom is told as it happens and
//! shown by no view.
//!
//! # What is random
//!
//! Deal `n` is the deal of the `n`-th hand, from 0. For deal 0, unless the options name the first
//! dealer, that seat is drawn first, as a number below the number of seats; each later hand is dealt
//! by the next seat to the left. Then the Treat deck is shuffled, then, with Favorite Flavors, the
//! Flavor deck. Unshuffled, both lie in the order of `cards.json`. From the top, which is the front of
//! the shuffled list, each seat is dealt 13 cards, whole hands in seat order from seat 0; the rest is
//! the leftover stash, top first. Each seat is dealt three Flavors in the same way.

pub mod card;
mod catalog;
mod conversions;
mod dealing;
pub mod effects;
mod events;
pub mod flavor;
pub mod options;
mod playing;
pub mod printed;
pub mod question;
mod resolving;
mod scoring;
pub mod spots;
pub mod suit;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod trial;
pub mod trick;
mod turns;
mod view;

use std::ops::RangeInclusive;

use arrayvec::ArrayVec;
use serde::{Deserialize, Serialize};

use self::card::{Card, CardSet, MAX_CARDS};
pub use self::events::{EffectResult, Event, Seen};
use self::flavor::{DEALT, Flavor};
pub use self::options::{Decks, Options};
use self::question::Question;
pub use self::scoring::{Ending, HandResult};
use self::suit::Suit;
use self::trick::{LastTrick, Trick};
pub use self::view::View;
use crate::rules::{
    BadOption, BySeat, Catalog, Game, Outcome, Refusal, Seat, SeatCount, SeatSet, Seed, Setup,
    Sink, Viewer,
};

/// One answer of a seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Action {
    /// Keep this Flavor of the three dealt.
    Keep(Flavor),
    /// Play this card from the hand.
    Play(Card),
    /// Let the effect of this card be the next; for the winner of a trick.
    Resolve(Card),
    /// Choose this card for an effect.
    Choose(Card),
    /// For an effect, take this card of the trick and give that one of the own stash.
    Swap {
        /// The card of the trick.
        take: Card,
        /// The card of the stash.
        give: Card,
    },
    /// For an effect, give this card to that seat.
    Give {
        /// The card.
        card: Card,
        /// Whose stash it goes to.
        seat: Seat,
    },
    /// Choose this seat for an effect.
    ChooseSeat(Seat),
    /// Name this suit for an effect.
    Name(Suit),
    /// Decline what an effect offers.
    Decline,
}

/// What is going on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stage {
    /// Each seat keeps one of its Flavors.
    Flavors,
    /// Cards are played to the trick.
    Playing,
    /// All have played, and face-down cards are revealed.
    Revealing,
    /// The winner is known, and effects have their turns.
    Resolving,
    /// The match is over.
    Over(Ending),
}

/// A match of Best Candy on the Block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Candy {
    seats: SeatCount,
    /// Later hands are dealt from it.
    seed: Seed,
    decks: Decks,
    target: u8,
    dont_be_greedy: bool,
    /// Accepted actions: at [`ACTION_LIMIT`](crate::rules::ACTION_LIMIT) the match is over.
    actions: u32,
    /// The hand, from 0.
    hand: u32,
    dealer: Seat,
    stage: Stage,
    /// What an effect asks; while it does, nothing else goes on.
    asked: Option<Question>,
    /// Tricks completed in this hand.
    completed: u8,
    trick: Trick,
    /// The trick completed last in this hand.
    last_trick: Option<LastTrick>,
    hands: BySeat<CardSet>,
    stashes: BySeat<CardSet>,
    /// The leftover stash, top first.
    leftover: ArrayVec<Card, MAX_CARDS>,
    /// What the winner of this trick takes beside it.
    beside: CardSet,
    /// What the winner of the next trick takes beside it.
    held: CardSet,
    /// What waits for another card's effect.
    aside: CardSet,
    /// The Flavors dealt to each seat; none when nobody keeps one.
    flavors: BySeat<ArrayVec<Flavor, DEALT>>,
    kept: BySeat<Option<Flavor>>,
    tricks: BySeat<u8>,
    points: BySeat<u16>,
}

impl Candy {
    /// How many can play.
    pub const SEATS: RangeInclusive<u8> = 2..=5;
    /// What the target score can be.
    pub const TARGETS: RangeInclusive<u32> = 1..=100;

    /// Whether the trick on the table is the hand's last.
    fn is_last_trick(&self) -> bool {
        usize::from(self.completed) + 1 == options::HAND
    }
}

impl Game for Candy {
    type Options = Options;
    type Action = Action;
    type Event = Event;
    type Seen = Seen;
    type View = View;

    fn check(options: &Options, seats: SeatCount) -> Vec<BadOption> {
        options.check(seats)
    }

    fn catalog(_options: &Options) -> &'static Catalog {
        &catalog::CATALOG
    }

    fn kind(action: &Action) -> &'static str {
        match action {
            Action::Keep(_) => "keep_flavor",
            Action::Play(_) => "play_card",
            Action::Resolve(_) => "resolve_effect",
            Action::Choose(_) => "choose_card",
            Action::Swap { .. } => "swap_cards",
            Action::Give { .. } => "give_card",
            Action::ChooseSeat(_) => "choose_seat",
            Action::Name(_) => "name_suit",
            Action::Decline => "decline",
        }
    }

    fn start(setup: &Setup<Options>, seed: &Seed, sink: &mut impl Sink<Event>) -> Self {
        let game = Self::first_hand(setup, seed);
        game.report_deal(sink);
        game
    }

    fn redeal(setup: &Setup<Options>, seed: &Seed, n: u32, sink: &mut impl Sink<Event>) {
        let mut game = Self::first_hand(setup, seed);
        if n > 0 {
            game.deal(n);
        }
        game.report_deal(sink);
    }

    fn to_act(&self) -> SeatSet {
        match (self.asked, self.stage) {
            (_, Stage::Over(_)) => SeatSet::EMPTY,
            (Some(question), _) => SeatSet::only(question.seat),
            (None, Stage::Flavors) => self.still_to_keep(),
            (None, Stage::Playing) => SeatSet::only(self.trick.player(self.seats)),
            (None, Stage::Revealing | Stage::Resolving) => {
                self.trick.winner.map_or(SeatSet::EMPTY, SeatSet::only)
            }
        }
    }

    /// Flavors as they were dealt; cards to play in the order of the printed list; effects in the
    /// order in which their cards were played; answers to a question in the order of
    /// [`Question::answers`].
    fn legal(&self, seat: Seat, into: &mut Vec<Action>) {
        if !self.to_act().contains(seat) {
            return;
        }
        match (self.asked, self.stage) {
            (Some(question), _) => into.extend(question.answers(self.hands[seat])),
            (None, Stage::Flavors) => {
                into.extend(self.flavors[seat].iter().copied().map(Action::Keep));
            }
            (None, Stage::Playing) => {
                into.extend(self.trick.playable(self.hands[seat]).iter().map(Action::Play));
            }
            (None, Stage::Revealing | Stage::Resolving | Stage::Over(_)) => {
                into.extend(self.trick.ready().map(|play| Action::Resolve(play.card)));
            }
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
        match (self.asked, self.stage) {
            (Some(question), _) => self.answer(question, *action, sink)?,
            (None, Stage::Flavors) => self.keep(seat, *action, sink)?,
            (None, Stage::Playing) => self.play_card(seat, *action, sink)?,
            (None, Stage::Revealing | Stage::Resolving | Stage::Over(_)) => {
                self.pick_effect(*action, sink)?;
            }
        }
        self.actions += 1;
        self.go_on(sink);
        Ok(())
    }

    fn outcome(&self) -> Option<Outcome> {
        let Stage::Over(ending) = self.stage else { return None };
        let winners = match ending {
            Ending::ActionLimit => SeatSet::EMPTY,
            Ending::Score | Ending::Stash | Ending::Shared => self.leaders(),
        };
        let scores = self.points.map(|_, &points| points.into());
        let achievements = BySeat::new(self.seats);
        Some(Outcome { winners, reason: ending.reason(), scores, achievements })
    }

    fn view(&self, viewer: Viewer) -> View {
        View::of(self, viewer)
    }

    fn seen(event: &Event, viewer: Viewer) -> Option<Seen> {
        Some(event.seen_by(viewer))
    }
}
