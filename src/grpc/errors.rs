//! Every status that this service answers with, and the reasons in it.
//!
//! A status carries an `ErrorInfo` of domain `parlor` with a stable reason. Its message is constant
//! for each reason: it repeats nothing of the request and tells nothing of hidden cards. What went
//! wrong inside is logged, not sent.

use std::collections::HashMap;
use std::time::Duration;

use rand::RngExt as _;
use tonic::{Code, Status};
use tonic_types::{
    ErrorDetails, FieldViolation, PreconditionViolation, QuotaViolation, StatusExt as _,
};

use crate::games::wire::BadField;
use crate::matches::Error;
use crate::rules::Refusal;
use crate::store::StoreError;

/// The domain of all reasons.
pub const DOMAIN: &str = "parlor";

/// A kind of error: its code, its reason and its message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The status code.
    pub code: Code,
    /// The stable reason.
    pub reason: &'static str,
    /// The constant message.
    pub message: &'static str,
}

macro_rules! faults {
    ($($NAME:ident = $code:ident $message:literal;)+) => {
        impl Fault {
            $(
                #[doc = $message]
                pub const $NAME: Self = Self {
                    code: Code::$code,
                    reason: stringify!($NAME),
                    message: $message,
                };
            )+

            /// Every fault there is.
            pub const ALL: &[Self] = &[$(Self::$NAME),+];
        }
    };
}

faults! {
    TOKEN_MISSING = Unauthenticated "this needs a token: authorization: Bearer …";
    TOKEN_INVALID = Unauthenticated "the token is not one of this service";
    TOKEN_EXPIRED = Unauthenticated "the token has expired";
    TOKEN_REVOKED = Unauthenticated "the token was replaced by a newer one";
    API_KEY_MISSING = Unauthenticated "creating a match needs an API key: x-api-key: …";
    API_KEY_INVALID = Unauthenticated "the API key is not known";
    TOKEN_SCOPE = PermissionDenied "the token is for another match";
    SEAT_FORBIDDEN = PermissionDenied "the token is not for a seat";
    INVALID_FIELD = InvalidArgument "a field of the request is not valid; the details name it";
    MALFORMED_MESSAGE = InvalidArgument "the request is not a message of this method";
    INVALID_TIMEOUT = InvalidArgument "the grpc-timeout header cannot be read";
    ACTION_ID_REUSED = InvalidArgument "the action id was used for another action";
    REQUEST_ID_REUSED = InvalidArgument "the request id was used for another request";
    MESSAGE_TOO_LARGE = ResourceExhausted "the request is too large";
    NOT_GRPC = InvalidArgument "this is no request of gRPC: content-type application/grpc";
    MATCH_NOT_FOUND = NotFound "there is no such match, or it has expired";
    GAME_NOT_FOUND = NotFound "there is no such game";
    REVISION_CONFLICT = Aborted "the decision is no longer open: look at the match again";
    REVISION_IN_FUTURE = OutOfRange "there is no such version yet";
    ILLEGAL_ACTION = FailedPrecondition "the action breaks a rule; the details name it";
    NOT_YOUR_TURN = FailedPrecondition "the seat has no decision to answer now";
    MATCH_NOT_STARTED = FailedPrecondition "the match waits for seats to be taken";
    MATCH_OVER = FailedPrecondition "the match is over";
    SEAT_TAKEN = FailedPrecondition "the seat is not open";
    MATCH_FULL = FailedPrecondition "no seat is open";
    CONTENTION = Aborted "others kept changing the match: try again";
    HISTORY_FORKED = Aborted "the store lost a part of the match: look at it again";
    RULES_VERSION_RETIRED = FailedPrecondition "the match is played by rules that this build does not have";
    SCHEMA_TOO_NEW = FailedPrecondition "the match was stored by a newer version of this service";
    DATA_CORRUPT = DataLoss "the stored match cannot be read";
    ANSWER_TOO_LARGE = Internal "the answer is too large";
    RULES_PANIC = Internal "the rules failed on this match";
    PANIC = Internal "the service failed on this request";
    RATE_LIMITED = ResourceExhausted "this was done too often: try again later";
    OVERLOADED = Unavailable "too much is asked at once: try again";
    STREAM_QUOTA = ResourceExhausted "there are too many streams; the details say of what";
    SLOW_CONSUMER = Cancelled "the answer was not read for too long";
    STORE_UNAVAILABLE = Unavailable "the store cannot be reached: try again";
    STORE_FAILOVER = Unavailable "the store is failing over: try again";
    STORE_FULL = ResourceExhausted "the store is full";
    STORE_READ_ONLY = Unavailable "the store takes no writes: try again";
    STORE_MISCONFIGURED = Internal "the store refuses this service";
    OUTCOME_UNKNOWN = Unavailable "whether it was done is not known: send the same request again";
    DURABILITY_PENDING = Unavailable "it is done but not yet safe: send the same request again";
    DEADLINE_EXCEEDED = DeadlineExceeded "the deadline passed";
}

impl Fault {
    /// The status of this fault.
    #[must_use]
    pub fn status(self) -> Status {
        self.with(ErrorDetails::new())
    }

    /// The status with metadata.
    #[must_use]
    pub fn with_metadata(self, key: &str, value: u64) -> Status {
        let mut details = ErrorDetails::new();
        let metadata = HashMap::from([(key.to_owned(), value.to_string())]);
        details.set_error_info(self.reason, DOMAIN, metadata);
        Status::with_error_details(self.code, self.message, details)
    }

    /// The status with the delay after which to try again.
    #[must_use]
    pub fn with_retry(self) -> Status {
        #[expect(clippy::disallowed_methods, reason = "callers that fail together come back apart")]
        let delay = Duration::from_millis(rand::rng().random_range(200..=1000));
        self.with(ErrorDetails::with_retry_info(Some(delay)))
    }

    /// The status that names of what there is too much.
    #[must_use]
    pub fn with_quota(self, subject: &str) -> Status {
        let violation = QuotaViolation::new(subject, self.message);
        self.with(ErrorDetails::with_quota_failure(vec![violation]))
    }

    /// The status that names what was done too often, and how long to wait before doing it again.
    /// Callers that have to wait equally long come back apart.
    #[must_use]
    pub fn with_pushback(self, subject: &str, wait: Duration) -> Status {
        #[expect(clippy::disallowed_methods, reason = "callers that fail together come back apart")]
        let wait = wait.mul_f64(rand::rng().random_range(1.0..=1.1));
        let wait = Duration::from_millis(wait.as_millis() as u64 + 1);
        let mut details = ErrorDetails::with_retry_info(Some(wait));
        details.set_quota_failure(vec![QuotaViolation::new(subject, self.message)]);
        let mut status = self.with(details);
        let pushback = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX).into();
        status.metadata_mut().insert("grpc-retry-pushback-ms", pushback);
        status
    }

    fn with(self, mut details: ErrorDetails) -> Status {
        details.set_error_info(self.reason, DOMAIN, HashMap::new());
        Status::with_error_details(self.code, self.message, details)
    }
}

/// The status for fields that are not valid.
#[must_use]
pub fn invalid_fields(bad: impl IntoIterator<Item = (String, String)>) -> Status {
    let violations: Vec<_> =
        bad.into_iter().map(|(field, why)| FieldViolation::new(field, why)).collect();
    Fault::INVALID_FIELD.with(ErrorDetails::with_bad_request(violations))
}

/// The status for a field that is not valid.
#[must_use]
pub fn invalid_field(bad: BadField) -> Status {
    invalid_fields([(bad.field, bad.why.to_owned())])
}

/// The status for a mistake of ours that was caught, which is logged and counted.
#[must_use]
pub fn panicked() -> Status {
    tracing::error!("a call panicked");
    tracing::info!(name: "parlor.panics", target: "metric", r#where = "handler");
    Fault::PANIC.status()
}

fn illegal(refusal: Refusal) -> Status {
    let violation = PreconditionViolation::new("RULE", refusal.rule, refusal.text);
    Fault::ILLEGAL_ACTION.with(ErrorDetails::with_precondition_failure(vec![violation]))
}

fn match_not_found() -> Status {
    let mut details = ErrorDetails::new();
    details.set_resource_info("match", "", "", "there is no such match, or it has expired");
    Fault::MATCH_NOT_FOUND.with(details)
}

impl From<Error> for Status {
    fn from(error: Error) -> Self {
        match error {
            Error::NotFound => match_not_found(),
            Error::Hidden => Fault::TOKEN_MISSING.status(),
            Error::TokenRevoked => Fault::TOKEN_REVOKED.status(),
            Error::BadSetup(bad) => invalid_fields(bad.into_iter().map(|bad| {
                let field = if bad.field == "seats" {
                    bad.field.to_owned()
                } else {
                    format!("options.{}", bad.field)
                };
                (field, bad.why)
            })),
            Error::NoSuchSeat => invalid_field(BadField::new("seat", "the table has no such seat")),
            Error::RequestIdReused => Fault::REQUEST_ID_REUSED.status(),
            Error::ActionIdReused => Fault::ACTION_ID_REUSED.status(),
            Error::SeatTaken => Fault::SEAT_TAKEN.status(),
            Error::Full => Fault::MATCH_FULL.status(),
            Error::NotStarted => Fault::MATCH_NOT_STARTED.status(),
            Error::Over => Fault::MATCH_OVER.status(),
            Error::NotYourTurn => Fault::NOT_YOUR_TURN.status(),
            Error::DecisionClosed { current } => {
                Fault::REVISION_CONFLICT.with_metadata("currentRevision", current)
            }
            Error::InFuture { current } => {
                Fault::REVISION_IN_FUTURE.with_metadata("currentRevision", current)
            }
            Error::Illegal(refusal) => illegal(refusal),
            Error::Contention => Fault::CONTENTION.with_retry(),
            Error::Forked => Fault::HISTORY_FORKED.status(),
            Error::SchemaTooNew(_) => Fault::SCHEMA_TOO_NEW.status(),
            Error::RulesVersion(_) => Fault::RULES_VERSION_RETIRED.status(),
            Error::Corrupt(why) => {
                tracing::error!(why, "a stored match cannot be read");
                Fault::DATA_CORRUPT.status()
            }
            Error::RulesPanic => {
                tracing::error!("the rules failed on a match");
                Fault::RULES_PANIC.status()
            }
            Error::Store(error) => store(&error),
        }
    }
}

fn store(error: &StoreError) -> Status {
    tracing::warn!(%error, "the store failed");
    match error {
        StoreError::Unavailable(_) => Fault::STORE_UNAVAILABLE.with_retry(),
        StoreError::OutcomeUnknown(_) => Fault::OUTCOME_UNKNOWN.with_retry(),
        StoreError::DurabilityPending(_) => Fault::DURABILITY_PENDING.with_retry(),
        StoreError::Failover(_) => Fault::STORE_FAILOVER.with_retry(),
        StoreError::ReadOnly(_) => Fault::STORE_READ_ONLY.with_retry(),
        StoreError::Full(_) => Fault::STORE_FULL.status(),
        StoreError::Misconfigured(_) => Fault::STORE_MISCONFIGURED.status(),
        StoreError::Corrupt(_) => Fault::DATA_CORRUPT.status(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_is_named_once() {
        for (i, fault) in Fault::ALL.iter().enumerate() {
            assert!(Fault::ALL[..i].iter().all(|other| other.reason != fault.reason));
        }
    }

    #[test]
    fn every_status_carries_its_reason() {
        for fault in Fault::ALL {
            for status in [fault.status(), fault.with_metadata("a", 1), fault.with_retry()] {
                let details = status.get_error_details();
                let info = details.error_info().expect("an ErrorInfo");
                assert_eq!((info.reason.as_str(), info.domain.as_str()), (fault.reason, DOMAIN));
                assert_eq!((status.code(), status.message()), (fault.code, fault.message));
            }
        }
    }
}
