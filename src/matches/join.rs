//! Taking an open seat, and replacing the token of a seat.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::change::Answer;
use super::create::NewPlayer;
use super::record::Input;
use super::{Caller, Error, Event, JoinCode, Matches, stored};
use crate::rules::{Game, Seat};
use crate::store::{MatchId, Request};

/// A request for an open seat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Join {
    /// The id of the request.
    pub request_id: Uuid,
    /// The code of the match.
    pub join_code: JoinCode,
    /// Which seat; left out, the first open one.
    pub seat: Option<Seat>,
    /// What the player brings.
    pub player: NewPlayer,
}

/// A seat that was taken.
#[derive(Clone, Debug)]
pub struct Joined<G: Game> {
    /// The id of the match.
    pub id: MatchId,
    /// The seat.
    pub seat: Seat,
    /// The match as it was then.
    pub answer: Answer<G>,
}

impl<G: Game> Matches<G> {
    /// Takes an open seat, once for each request.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::NoSuchSeat`], [`Error::SeatTaken`], [`Error::Full`],
    /// [`Error::RequestIdReused`], or the store's.
    pub async fn join(&self, join: Join) -> Result<Joined<G>, Error> {
        let id = join.join_code.match_id();
        let request = Request {
            scope: Request::JOIN,
            id: join.request_id,
            digest: stored::digest_of(&join)?,
        };
        let player = join.player.seated(self.inner.clock.unix_millis() / 1000);
        let answer = self
            .change(id, request, Error::RequestIdReused, move |record| {
                let seat = join.seat.or_else(|| record.open_seat()).ok_or(Error::Full)?;
                Ok(Input::Join(seat, player.clone()))
            })
            .await?;
        let seat = answer.frame.events.iter().find_map(|event| match event {
            Event::SeatTaken(seat, _) => Some(*seat),
            _ => None,
        });
        let seat = seat.ok_or_else(|| Error::Corrupt("a join took no seat".to_owned()))?;
        Ok(Joined { id, seat, answer })
    }

    /// Replaces the token of a seat by a new one, once for each request: all earlier ones are
    /// revoked.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::TokenRevoked`], [`Error::RequestIdReused`], or the store's.
    pub async fn renew(
        &self,
        id: MatchId,
        seat: Seat,
        epoch: u32,
        request_id: Uuid,
    ) -> Result<Answer<G>, Error> {
        let digest = stored::digest_of(&(epoch, "renew"))?;
        let mut request = Request { scope: seat.number(), id: request_id, digest };
        let issued_at = self.inner.clock.unix_millis() / 1000;
        loop {
            let renewed = self.change(id, request, Error::RequestIdReused, move |record| {
                record.check_epoch(seat, epoch)?;
                Ok(Input::Renew(seat, issued_at))
            });
            let answer = renewed.await?;
            if answer.frame.live.record.is_revoked(Caller::Seat(seat, epoch)) {
                return Ok(answer);
            }
            // The store has lost that the caller's own token was issued, which is to be revoked too.
            request.id = Uuid::from_bytes(stored::digest_of(&request.id)?.0);
        }
    }
}
