//! What a caller sees of a match.

use super::{Error, Event, Live, Player, Record, State, Visibility};
use crate::rules::{BySeat, Game, Outcome, Seat, Seed, Viewer};
use crate::store::Version;

/// Who asks, as far as the token says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caller {
    /// Who has a token of this seat, with this number.
    Seat(Seat, u32),
    /// Who has a spectator token.
    Spectator,
    /// Who has no token.
    Anyone,
}

/// What one viewer sees of a match.
#[derive(Clone, Debug, PartialEq)]
pub struct MatchView<G: Game> {
    /// The version that it is the view of.
    pub version: Version,
    /// Who sees it.
    pub viewer: Viewer,
    /// How far the match is.
    pub state: State,
    /// The table; nothing while the match waits for seats.
    pub game: Option<G::View>,
    /// The decision that each seat has to answer.
    pub decisions: BySeat<Option<Version>>,
    /// What the viewer may do now.
    pub legal: Vec<G::Action>,
    /// How the match ended, once it has.
    pub outcome: Option<Outcome>,
}

/// What one viewer sees of an event.
#[derive(Clone, Debug, PartialEq)]
pub enum Seen<G: Game> {
    /// A seat was taken.
    SeatTaken(Seat, Player),
    /// The match began; its shuffles were committed to with this.
    Started([u8; 32]),
    /// Something happened in the game.
    Game(G::Seen),
    /// The match is over; all shuffles came from this.
    Ended(Outcome, Seed),
}

impl<G: Game> Record<G> {
    /// As whom the caller sees the match.
    pub(super) fn viewer(&self, caller: Caller) -> Result<Viewer, Error> {
        match caller {
            Caller::Seat(seat, epoch) => {
                self.check_epoch(seat, epoch)?;
                Ok(Viewer::Seat(seat))
            }
            Caller::Spectator => Ok(Viewer::Spectator),
            Caller::Anyone if self.creation.visibility == Visibility::Public => {
                Ok(Viewer::Spectator)
            }
            Caller::Anyone => Err(Error::Hidden),
        }
    }

    /// Whether the seat's token of this number is good: none that was issued is newer.
    ///
    /// One that is newer than all the match knows of was issued before the store lost something, if
    /// not just now, where this is an instance's cache: its holder is not to lose the seat too. Those
    /// that it had replaced are then good again, until [`Matches::renew`] revokes them all.
    ///
    /// [`Matches::renew`]: super::Matches::renew
    pub(super) fn check_epoch(&self, seat: Seat, epoch: u32) -> Result<(), Error> {
        match &self.players[seat] {
            Some(player) if player.epoch <= epoch => Ok(()),
            _ => Err(Error::TokenRevoked),
        }
    }

    /// Whether the caller's token was replaced by a newer one.
    pub(super) fn is_revoked(&self, caller: Caller) -> bool {
        let Caller::Seat(seat, epoch) = caller else { return false };
        self.players[seat].as_ref().is_some_and(|player| player.epoch > epoch)
    }

    /// The secret of the shuffles, once it may be known.
    pub fn revealed_secret(&self) -> Option<Seed> {
        (self.state() == State::Over).then_some(self.creation.secret)
    }
}

impl<G: Game> Live<G> {
    /// What the viewer sees of the match here.
    pub fn view(&self, viewer: Viewer) -> MatchView<G> {
        let record = &self.record;
        let mut legal = Vec::new();
        if let (Viewer::Seat(seat), Some(game)) = (viewer, &record.game) {
            game.legal(seat, &mut legal);
        }
        MatchView {
            version: self.position.version,
            viewer,
            state: record.state(),
            game: record.game.as_ref().map(|game| game.view(viewer)),
            decisions: record.decisions,
            legal,
            outcome: record.outcome(),
        }
    }

    /// What the viewer sees of these events, which led here.
    pub fn seen(&self, events: &[Event<G>], viewer: Viewer) -> Vec<Seen<G>> {
        let secret = self.record.creation.secret;
        let seen = events.iter().filter_map(|event| match event {
            Event::SeatTaken(seat, player) => Some(Seen::SeatTaken(*seat, player.clone())),
            Event::Started => Some(Seen::Started(secret.commitment())),
            Event::Game(event) => G::seen(event, viewer).map(Seen::Game),
            Event::Ended(outcome) => Some(Seen::Ended(outcome.clone(), secret)),
        });
        seen.collect()
    }
}
