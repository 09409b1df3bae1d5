//! Answering a decision.

use uuid::Uuid;

use super::change::Answer;
use super::record::Input;
use super::{Error, Matches, Record, State, stored};
use crate::rules::{Game, Seat};
use crate::store::{MatchId, Request, Version};

/// An action of a seat.
#[derive(Clone, Debug, PartialEq)]
pub struct Submit<A> {
    /// The seat.
    pub seat: Seat,
    /// The number of the seat's token.
    pub epoch: u32,
    /// The id of the action.
    pub action_id: Uuid,
    /// The action.
    pub action: A,
    /// The decision that it answers; left out, whatever is open.
    pub decision: Option<Version>,
}

impl<G: Game> Matches<G> {
    /// Carries out an action, once for each action id.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::TokenRevoked`], [`Error::NotStarted`], [`Error::Over`],
    /// [`Error::NotYourTurn`], [`Error::DecisionClosed`], [`Error::InFuture`],
    /// [`Error::Illegal`], [`Error::ActionIdReused`], [`Error::Contention`], or the store's.
    pub async fn submit(&self, id: MatchId, submit: Submit<G::Action>) -> Result<Answer<G>, Error> {
        let request = Request {
            scope: submit.seat.number(),
            id: submit.action_id,
            digest: stored::digest_of(&(submit.decision, &submit.action))?,
        };
        self.change(id, request, Error::ActionIdReused, move |record| {
            record.check_epoch(submit.seat, submit.epoch)?;
            record.check_decision(submit.seat, submit.decision)?;
            Ok(Input::Act(submit.seat, submit.action.clone()))
        })
        .await
    }
}

impl<G: Game> Record<G> {
    /// Whether the seat has a decision open, and this one, if one is named.
    fn check_decision(&self, seat: Seat, decision: Option<Version>) -> Result<(), Error> {
        match self.state() {
            State::Waiting => return Err(Error::NotStarted),
            State::Over => return Err(Error::Over),
            State::Playing => {}
        }
        let current = self.version;
        match (decision, self.decisions[seat]) {
            (None, None) => Err(Error::NotYourTurn),
            (None, Some(_)) => Ok(()),
            (Some(named), Some(open)) if named == open => Ok(()),
            (Some(named), _) if named > current => Err(Error::InFuture { current }),
            (Some(_), _) => Err(Error::DecisionClosed { current }),
        }
    }
}
