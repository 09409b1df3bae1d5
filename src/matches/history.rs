//! The chain of a match's versions: what is written to the store and read back from it.

use std::sync::Arc;

use bytes::Bytes;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use tokio::time::Instant;

use super::record::Input;
use super::{Creation, Error, Event, Record, stored};
use crate::rules::Game;
use crate::store::{Digest, Entry, Loaded, Position};
use crate::trace::Origin;

/// Where every history begins.
pub(super) const START: Position = Position { version: 0, digest: Digest([0; 16]) };

/// A match at one point of its history.
#[derive(Debug)]
pub struct Live<G: Game> {
    /// Where that is.
    pub position: Position,
    /// The match there.
    pub record: Record<G>,
}

/// One step of a match: where it led to, and what happened.
#[derive(Debug)]
pub struct Frame<G: Game> {
    /// Where the match was before the step: two histories can have the same versions.
    pub before: Position,
    /// The match after the step.
    pub live: Arc<Live<G>>,
    /// What happened, in order.
    pub events: Vec<Event<G>>,
    /// How this instance heard of it first, if it was while it happened.
    pub heard: Option<Heard>,
}

/// How an instance heard of a step while it happened.
#[derive(Clone, Copy, Debug)]
pub struct Heard {
    /// When.
    pub at: Instant,
    /// Whether it was made at this instance.
    pub here: bool,
    /// The span that made it, where it was made at this instance and is recorded.
    pub origin: Option<Origin>,
}

/// The first input of a log, which the key of its history comes from.
impl<G: Game> Frame<G> {
    /// A new match.
    pub(super) fn create(creation: Creation<G::Options>) -> Result<(Self, Bytes), Error> {
        let creation = Arc::new(creation);
        let input = stored::write(&Input::<G>::Create(Arc::clone(&creation)))?;
        let position = following(&creation.history_key, START, &input);
        Ok((Self::first(creation, position)?, input))
    }

    /// The step that the log has next after `before`; the first, if that is nothing.
    ///
    /// # Errors
    /// [`Error::Forked`], if the entry does not follow this history.
    pub(super) fn read(before: Option<&Live<G>>, entry: &Entry) -> Result<Self, Error> {
        match before {
            Some(live) => live.read_next(entry),
            None => Self::read_first(entry),
        }
    }

    fn read_first(entry: &Entry) -> Result<Self, Error> {
        let Input::Create(creation) = stored::read::<Input<G>>(&entry.input)? else {
            return Err(Error::Corrupt("the log does not begin with a creation".to_owned()));
        };
        check_rules::<G>(&creation)?;
        if following(&creation.history_key, START, &entry.input) != entry.position {
            return Err(Error::Forked);
        }
        Self::first(creation, entry.position)
    }

    fn first(creation: Arc<Creation<G::Options>>, position: Position) -> Result<Self, Error> {
        let mut events = Vec::new();
        let record = Record::create(creation, &mut events)?;
        let live = Arc::new(Live { position, record });
        Ok(Self { before: START, live, events, heard: None })
    }
}

impl<G: Game> Live<G> {
    /// The step that this input makes, and the input as the log is to have it.
    pub(super) fn next(&self, input: &Input<G>) -> Result<(Frame<G>, Bytes), Error> {
        let bytes = stored::write(input)?;
        Ok((self.step(input, self.following(&bytes))?, bytes))
    }

    /// The step that the log has next.
    ///
    /// # Errors
    /// [`Error::Forked`], if the entry does not follow this history.
    pub(super) fn read_next(&self, entry: &Entry) -> Result<Frame<G>, Error> {
        if self.following(&entry.input) != entry.position {
            return Err(Error::Forked);
        }
        self.step(&stored::read(&entry.input)?, entry.position)
    }

    fn following(&self, input: &[u8]) -> Position {
        following(&self.record.creation.history_key, self.position, input)
    }

    fn step(&self, input: &Input<G>, position: Position) -> Result<Frame<G>, Error> {
        let mut events = Vec::new();
        let record = self.record.after(input, &mut events)?;
        let live = Arc::new(Live { position, record });
        Ok(Frame { before: self.position, live, events, heard: None })
    }

    /// The match as a snapshot.
    pub(super) fn snapshot(&self) -> Result<Bytes, Error> {
        stored::write(&self.record)
    }

    /// The match as the store has it, with its snapshot.
    pub(super) fn read(position: Position, snapshot: &[u8]) -> Result<Self, Error> {
        let record: Record<G> = stored::read(snapshot)?;
        if record.version != position.version {
            return Err(Error::Corrupt("the snapshot is of another version".to_owned()));
        }
        check_rules::<G>(&record.creation)?;
        Ok(Self { position, record })
    }
}

/// Fails where a match is played by rules that are not those of this build.
fn check_rules<G: Game>(creation: &Creation<G::Options>) -> Result<(), Error> {
    let ours = G::catalog(creation.setup.options()).rules_version;
    let theirs = creation.rules_version;
    if theirs == ours { Ok(()) } else { Err(Error::RulesVersion(theirs)) }
}

/// What was loaded, with what was known before.
pub(super) fn loaded<G: Game>(
    loaded: Loaded,
    known: Option<Arc<Live<G>>>,
) -> Result<Arc<Live<G>>, Error> {
    match (loaded.snapshot, known) {
        (Some(snapshot), _) => Live::read(loaded.position, &snapshot).map(Arc::new),
        (None, Some(known)) => Ok(known),
        (None, None) => Err(Error::Corrupt("the store gave no snapshot".to_owned())),
    }
}

/// The position after `before` that this input leads to.
fn following(key: &[u8; 32], before: Position, input: &[u8]) -> Position {
    let version = before.version + 1;
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("a key of any length will do");
    mac.update(&before.digest.0);
    mac.update(&version.to_be_bytes());
    mac.update(input);
    let mut digest = [0; 16];
    digest.copy_from_slice(&mac.finalize().into_bytes()[..16]);
    Position { version, digest: Digest(digest) }
}
