//! Reading the fields of a request: all that is wrong with it is told at once.

use tonic::Status;
use uuid::Uuid;

use super::errors::invalid_fields;
use crate::games::wire::BadField;
use crate::matches::NewPlayer;
use crate::store::MatchId;

/// The longest name of a player, in characters.
const MAX_NAME: usize = 32;
/// The most entropy that a player adds, in bytes.
const MAX_ENTROPY: usize = 64;

/// Collects what is wrong with the fields of a request.
#[derive(Debug, Default)]
pub(super) struct Fields {
    bad: Vec<(String, String)>,
}

impl Fields {
    /// Notes that a field is not valid.
    pub(super) fn refuse(&mut self, field: impl Into<String>, why: &str) {
        self.bad.push((field.into(), why.to_owned()));
    }

    /// What was read, or nothing and a note.
    pub(super) fn note<T>(&mut self, read: Result<T, BadField>) -> Option<T> {
        read.map_err(|bad| self.refuse(bad.field, bad.why)).ok()
    }

    /// A UUID.
    pub(super) fn uuid(&mut self, field: &str, text: &str) -> Option<Uuid> {
        let uuid = (text.len() == 36).then(|| Uuid::try_parse(text).ok()).flatten();
        if uuid.is_none() {
            self.refuse(field, "a UUID, as in 123e4567-e89b-12d3-a456-426614174000");
        }
        uuid
    }

    /// What someone brings who takes a seat; `path` leads to the message that holds it.
    pub(super) fn player(&mut self, path: &str, name: &str, entropy: &[u8]) -> NewPlayer {
        if name.chars().count() > MAX_NAME || name.chars().any(char::is_control) {
            self.refuse(
                format!("{path}name"),
                "at most 32 characters, none of them a control character",
            );
        }
        if entropy.len() > MAX_ENTROPY {
            self.refuse(format!("{path}entropy"), "at most 64 bytes");
        }
        NewPlayer { name: name.to_owned(), entropy: entropy.to_vec() }
    }

    /// The status that names everything noted.
    pub(super) fn status(self) -> Status {
        invalid_fields(self.bad)
    }

    /// Fails if anything was noted.
    pub(super) fn check(self) -> Result<(), Status> {
        if self.bad.is_empty() { Ok(()) } else { Err(self.status()) }
    }
}

/// The id of a match.
pub(super) fn match_id(text: &str) -> Result<MatchId, Status> {
    let mut fields = Fields::default();
    fields.uuid("match_id", text).map(MatchId).ok_or_else(|| fields.status())
}
