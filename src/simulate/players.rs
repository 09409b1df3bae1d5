//! Players who do anything that is allowed, each thing equally likely.

use rand::rngs::Xoshiro256PlusPlus;
use rand::{Rng as _, SeedableRng as _};

use crate::rules::{Game, NoEvents, Outcome, Seat, Seed, Setup};

/// A match that was played to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Played {
    /// How many actions it took.
    pub actions: u32,
    /// How it ended.
    pub outcome: Outcome,
}

/// The secret of match `number` of a simulation: the simulation's seed and the number, each as eight
/// bytes, little-endian, and sixteen zero bytes.
#[must_use]
pub fn match_seed(seed: u64, number: u64) -> Seed {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    bytes[8..16].copy_from_slice(&number.to_le_bytes());
    Seed::new(bytes)
}

/// Random players at all seats of a table. They can play one match after another.
#[derive(Debug)]
pub struct RandomPlayers<G: Game> {
    /// What the seat to act may do, here so that it is not allocated anew for each action.
    listed: Vec<G::Action>,
}

impl<G: Game> Default for RandomPlayers<G> {
    fn default() -> Self {
        Self { listed: Vec::new() }
    }
}

impl<G: Game> RandomPlayers<G> {
    /// Plays match `number` of a simulation with this seed. Before each action, `look` is shown the
    /// match and who is about to act.
    ///
    /// # Panics
    /// When the game refuses an action that it listed, or lists none for a seat that is to act.
    pub fn play(
        &mut self,
        setup: &Setup<G::Options>,
        seed: u64,
        number: u64,
        mut look: impl FnMut(&mut G, Seat),
    ) -> Played {
        // The deals have a stream of their own. Seed and number keep apart in one word as long as
        // each fits in its half.
        let mut choices = Xoshiro256PlusPlus::seed_from_u64(seed.rotate_left(32) ^ number);
        let mut game = G::start(setup, &match_seed(seed, number), &mut NoEvents);
        let mut actions = 0;
        loop {
            let to_act = game.to_act();
            if to_act.is_empty() {
                break;
            }
            let seat = match to_act.len() {
                1 => 0,
                several => below(&mut choices, several),
            };
            let seat = to_act.iter().nth(seat).expect("as many seats as there are");
            look(&mut game, seat);
            self.listed.clear();
            game.legal(seat, &mut self.listed);
            let action = &self.listed[below(&mut choices, self.listed.len())];
            game.play(seat, action, &mut NoEvents).expect("a listed action is accepted");
            actions += 1;
        }
        Played { actions, outcome: game.outcome().expect("with nobody to act, it is over") }
    }
}

/// A number below `bound`. For so few choices it is even enough without drawing again.
fn below(choices: &mut Xoshiro256PlusPlus, bound: usize) -> usize {
    ((u64::from(choices.next_u32()) * bound as u64) >> 32) as usize
}
