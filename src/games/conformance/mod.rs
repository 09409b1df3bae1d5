//! The suites that every game passes, found through the registry: a new game is tested before
//! anyone writes a test for it.
//!
//! What the suites need to know of a game, its [`Trial`] tells.

mod catalogs;
mod play;
mod records;
mod secrecy;

use crate::games::{IDS, Registered, WithGame, with_game};
use crate::rules::{Game, Seat, Seed, Setup, Shuffle, Viewer};

/// What the suites need to know of a game.
pub trait Trial: Game {
    /// Every combination of options and seats that is to be tried, each with a short name for
    /// files and messages.
    fn setups() -> Vec<(String, Setup<Self::Options>)>;

    /// Fails unless what must hold between any two actions does: above all, that no card was lost.
    fn check_invariants(&self);

    /// More actions than a match can take.
    fn longest() -> usize;

    /// Actions to try on a state, legal or not: all that a seat could think of, and then some.
    fn conceivable(&self, seat: Seat) -> Vec<Self::Action>;

    /// A state that the viewer cannot tell from this one: everything that it does not know is
    /// drawn anew.
    fn twin(&self, viewer: Viewer, shuffle: &mut Shuffle) -> Self;

    /// What an action tells the viewer.
    fn tells(&self, seat: Seat, action: &Self::Action, viewer: Viewer) -> Tells;
}

/// What an action tells a viewer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tells {
    /// The viewer sees the action itself.
    Everything,
    /// The viewer sees only that the seat answered.
    ThatItHappened,
    /// Cards that the viewer did not know come to light, so that states it could not tell apart
    /// may differ from now on.
    HiddenCards,
}

/// A suite: something to do with each game.
trait Suite {
    fn run<G: Registered>();
}

/// Runs a suite over all games.
fn for_each_game<S: Suite>() {
    struct Run<S>(std::marker::PhantomData<S>);
    impl<S: Suite> WithGame for Run<S> {
        type Output = ();
        fn with<G: Registered>(self) {
            S::run::<G>();
        }
    }
    for id in IDS {
        with_game(id, Run::<S>(std::marker::PhantomData)).expect("a game of the registry");
    }
}

/// The seed of this number.
fn seed(number: u64) -> Seed {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&number.to_le_bytes());
    Seed::new(bytes)
}

/// Any of the items.
fn any<'a, T>(items: &'a [T], chance: &mut Shuffle) -> &'a T {
    &items[chance.below(u32::try_from(items.len()).expect("few items")) as usize]
}

/// The legal actions of a seat.
fn legal<G: Game>(game: &G, seat: Seat) -> Vec<G::Action> {
    let mut actions = Vec::new();
    game.legal(seat, &mut actions);
    actions
}

/// Any seat that is to act, and any action of it.
pub fn any_move<G: Game>(game: &G, chance: &mut Shuffle) -> (Seat, G::Action) {
    let seats: Vec<_> = game.to_act().iter().collect();
    let seat = *any(&seats, chance);
    (seat, any(&legal(game, seat), chance).clone())
}
