//! A match at one version, and how an input leads to the next.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Error, JoinCode};
use crate::rules::{BySeat, Entropy, Game, Mapped, Outcome, Seat, Seed, Setup};
use crate::store::Version;

/// Who may watch without a seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Visibility {
    /// Anyone who knows the match's id.
    Public,
    /// Who has a spectator token.
    Private,
}

/// Someone at a seat.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Player {
    /// What to call the player; may be empty.
    pub name: String,
    /// What the player added to the randomness of the match.
    pub entropy: Entropy,
    /// Which of the seat's tokens is good: each newer one has the next number.
    pub epoch: u32,
    /// When that token was issued, in seconds since 1970 began.
    pub issued_at: u64,
}

/// What a match is created with. It never changes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "O: Serialize + serde::de::DeserializeOwned")]
pub struct Creation<O> {
    /// The options and the number of seats.
    pub setup: Setup<O>,
    /// The version of the game's rules.
    pub rules_version: u32,
    /// Who may watch.
    pub visibility: Visibility,
    /// The code that open seats are taken with.
    pub join_code: JoinCode,
    /// When the match was created, in milliseconds since 1970 began.
    pub created_at: u64,
    /// What all shuffles come from; revealed when the match is over.
    pub secret: Seed,
    /// What makes the digests of this match's history unpredictable. It is never revealed: a
    /// viewer who could compute digests could try out which hidden input leads to the next one.
    pub history_key: [u8; 32],
    /// Who had a seat from the beginning.
    pub players: BySeat<Option<Player>>,
}

/// What changes a match.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub(super) enum Input<G: Game> {
    /// It is created; always and only the first input.
    Create(Arc<Creation<G::Options>>),
    /// An open seat is taken.
    Join(Seat, Player),
    /// The seat's tokens are replaced by a new one, issued at this time.
    Renew(Seat, u64),
    /// A seat acts.
    Act(Seat, G::Action),
}

/// Something that happened in a match.
#[derive(Clone, Debug, PartialEq)]
pub enum Event<G: Game> {
    /// A seat was taken.
    SeatTaken(Seat, Player),
    /// The last open seat was taken, and the match began.
    Started,
    /// Something happened in the game.
    Game(G::Event),
    /// The match is over.
    Ended(Outcome),
}

/// How far a match is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It waits for open seats to be taken.
    Waiting,
    /// It is played.
    Playing,
    /// It is over.
    Over,
}

/// A match at one version: everything about it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Record<G: Game> {
    /// What it was created with.
    pub creation: Arc<Creation<G::Options>>,
    /// How often it has changed, the creation included.
    pub version: Version,
    /// Who has which seat. Shared between versions, as it seldom changes.
    pub players: Arc<BySeat<Option<Player>>>,
    /// The decision that each seat has to answer: the version at which it was opened.
    pub decisions: BySeat<Option<Version>>,
    /// The game, once every seat is taken.
    pub game: Option<G>,
}

impl<G: Game> Record<G> {
    /// The match as it was created.
    pub(super) fn create(
        creation: Arc<Creation<G::Options>>,
        events: &mut Vec<Event<G>>,
    ) -> Result<Self, Error> {
        let players = Arc::new(creation.players.clone());
        for (seat, player) in players.iter() {
            events.extend(player.clone().map(|player| Event::SeatTaken(seat, player)));
        }
        let decisions = BySeat::new(creation.setup.seats());
        let mut record = Self { creation, version: 1, players, decisions, game: None };
        record.start_if_full(events)?;
        Ok(record)
    }

    /// How far the match is.
    pub fn state(&self) -> State {
        match &self.game {
            None => State::Waiting,
            Some(game) if game.to_act().is_empty() => State::Over,
            Some(_) => State::Playing,
        }
    }

    /// How the match ended, once it has.
    pub fn outcome(&self) -> Option<Outcome> {
        self.game.as_ref().and_then(Game::outcome)
    }

    /// The match after this input.
    pub(super) fn after(
        &self,
        input: &Input<G>,
        events: &mut Vec<Event<G>>,
    ) -> Result<Self, Error> {
        let mut next = self.clone();
        next.version += 1;
        match input {
            Input::Create(_) => return Err(Error::Corrupt("created twice".to_owned())),
            Input::Join(seat, player) => next.join(*seat, player, events)?,
            Input::Renew(seat, issued_at) => next.renew(*seat, *issued_at)?,
            Input::Act(seat, action) => next.act(*seat, action, events)?,
        }
        Ok(next)
    }

    /// The first open seat.
    pub(super) fn open_seat(&self) -> Option<Seat> {
        self.players.iter().find(|(_, player)| player.is_none()).map(|(seat, _)| seat)
    }

    fn join(
        &mut self,
        seat: Seat,
        player: &Player,
        events: &mut Vec<Event<G>>,
    ) -> Result<(), Error> {
        if !self.creation.setup.seats().contains(seat) {
            return Err(Error::NoSuchSeat);
        }
        if self.players[seat].is_some() {
            return Err(Error::SeatTaken);
        }
        Arc::make_mut(&mut self.players)[seat] = Some(player.clone());
        events.push(Event::SeatTaken(seat, player.clone()));
        self.start_if_full(events)
    }

    fn renew(&mut self, seat: Seat, issued_at: u64) -> Result<(), Error> {
        let player = Arc::make_mut(&mut self.players)[seat].as_mut().ok_or(Error::NoSuchSeat)?;
        player.epoch += 1;
        player.issued_at = issued_at;
        Ok(())
    }

    fn start_if_full(&mut self, events: &mut Vec<Event<G>>) -> Result<(), Error> {
        if self.open_seat().is_some() {
            return Ok(());
        }
        let entropy = self.players.map(|_, player| match player {
            Some(player) => player.entropy.clone(),
            None => Entropy::new(),
        });
        let seed = self.creation.secret.with_entropy(&entropy);
        events.push(Event::Started);
        let mut sink = Mapped::new(events, Event::Game);
        let (game, to_act) = guarded(|| {
            let game = G::start(&self.creation.setup, &seed, &mut sink);
            let to_act = game.to_act();
            (game, to_act)
        })?;
        for seat in to_act.iter() {
            self.decisions[seat] = Some(self.version);
        }
        self.game = Some(game);
        Ok(())
    }

    fn act(
        &mut self,
        seat: Seat,
        action: &G::Action,
        events: &mut Vec<Event<G>>,
    ) -> Result<(), Error> {
        let game = self.game.as_mut().ok_or(Error::NotStarted)?;
        let mut sink = Mapped::new(events, Event::Game);
        let played = guarded(|| {
            game.play(seat, action, &mut sink)?;
            Ok((game.to_act(), game.outcome()))
        })?;
        let (to_act, outcome) = played.map_err(Error::Illegal)?;

        self.decisions[seat] = None;
        for seat in self.creation.setup.seats().iter() {
            let open = self.decisions[seat].unwrap_or(self.version);
            self.decisions[seat] = to_act.contains(seat).then_some(open);
        }
        events.extend(outcome.map(Event::Ended));
        Ok(())
    }
}

/// Runs the rules, so that a mistake in them ends neither the process nor other matches.
fn guarded<T>(rules: impl FnOnce() -> T) -> Result<T, Error> {
    catch_unwind(AssertUnwindSafe(rules)).map_err(|_| {
        tracing::info!(name: "parlor.panics", target: "metric", r#where = "rules");
        Error::RulesPanic
    })
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use tracing::Subscriber;
    use tracing_subscriber::Layer;
    use tracing_subscriber::filter::filter_fn;
    use tracing_subscriber::layer::{Context, SubscriberExt as _};

    use super::*;

    /// The names of all events.
    #[derive(Clone, Default)]
    struct Heard(Arc<Mutex<Vec<&'static str>>>);

    impl<S: Subscriber> Layer<S> for Heard {
        fn on_event(&self, event: &tracing::Event<'_>, _: Context<'_, S>) {
            self.0.lock().expect("no panic").push(event.metadata().name());
        }
    }

    #[test]
    fn rules_that_panic_are_an_error_and_are_counted() {
        let heard = Heard::default();
        let measurements = filter_fn(|metadata| metadata.target() == "metric");
        let subscriber =
            tracing_subscriber::registry().with(heard.clone().with_filter(measurements));
        tracing::subscriber::with_default(subscriber, || {
            assert_eq!(guarded(|| 1), Ok(1));
            assert_eq!(guarded(|| panic!("a mistake")), Err::<(), _>(Error::RulesPanic));
        });
        assert_eq!(*heard.0.lock().expect("no panic"), ["parlor.panics"]);
    }
}
