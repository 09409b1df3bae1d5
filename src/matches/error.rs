//! Why something was not done, whatever the transport.

use crate::rules::{BadOption, Refusal};
use crate::store::{StoreError, Version};

/// Why something was not done. Nothing was changed, unless it says so.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// There is no such match, or it has expired.
    #[error("there is no such match")]
    NotFound,
    /// The match does not exist, or is not for everyone: the caller cannot know which.
    #[error("this needs a token")]
    Hidden,
    /// The token was replaced by a newer one.
    #[error("the token was revoked")]
    TokenRevoked,
    /// The options do not fit the table.
    #[error("the options do not fit")]
    BadSetup(Vec<BadOption>),
    /// The request id was used for another request.
    #[error("the request id was used for another request")]
    RequestIdReused,
    /// The action id was used for another action.
    #[error("the action id was used for another action")]
    ActionIdReused,
    /// The seat is not open.
    #[error("the seat is not open")]
    SeatTaken,
    /// No seat is open.
    #[error("no seat is open")]
    Full,
    /// The table has no such seat.
    #[error("the table has no such seat")]
    NoSuchSeat,
    /// The match waits for seats to be taken.
    #[error("the match has not started")]
    NotStarted,
    /// The match is over.
    #[error("the match is over")]
    Over,
    /// The seat has no decision to answer.
    #[error("it is not this seat's turn")]
    NotYourTurn,
    /// The decision is no longer open.
    #[error("the decision is no longer open")]
    DecisionClosed {
        /// Where the match is.
        current: Version,
    },
    /// The version, or the decision opened by it, does not exist yet.
    #[error("there is no such version yet")]
    InFuture {
        /// Where the match is.
        current: Version,
    },
    /// The action breaks a rule.
    #[error("the action breaks a rule: {}", .0.rule)]
    Illegal(Refusal),
    /// Others changed the match each time; nothing was done. Try again.
    #[error("others kept changing the match")]
    Contention,
    /// The store lost something that it had acknowledged.
    #[error("the store lost a part of the match's history")]
    Forked,
    /// What is stored cannot be read.
    #[error("the stored match cannot be read: {0}")]
    Corrupt(String),
    /// What is stored was written by a newer version of this service.
    #[error("the stored match has schema {0}, which is newer than this build")]
    SchemaTooNew(u16),
    /// The match is played by rules that this build does not have.
    #[error("the match is played by rules version {0}, which this build does not have")]
    RulesVersion(u32),
    /// The rules failed on this match: a mistake of ours.
    #[error("the rules failed on this match")]
    RulesPanic,
    /// The store did not do it.
    #[error(transparent)]
    Store(StoreError),
}

impl From<StoreError> for Error {
    /// What the store found damaged is as unreadable as what is found so here.
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Corrupt(why) => Self::Corrupt(why),
            error => Self::Store(error),
        }
    }
}
