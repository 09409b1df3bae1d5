//! Creating a match.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::chance::bytes;
use super::change::Answer;
use super::history::Frame;
use super::uncut::Uncut;
use super::{Creation, Error, JoinCode, Matches, Player, Visibility, stored};
use crate::rules::{BySeat, Entropy, Game, Seat, Seed, Setup};
use crate::store::{Digest, Entry, MatchId};
use crate::trace::Span;

/// A request for a new match.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "O: Serialize + serde::de::DeserializeOwned")]
pub struct Create<O> {
    /// The id of the request.
    pub request_id: Uuid,
    /// Who asks: requests of different principals never meet.
    pub principal: String,
    /// The game's options.
    pub options: O,
    /// Each seat: what its player brings, or nothing for one that is left open.
    pub seats: BySeat<Option<NewPlayer>>,
    /// Who may watch.
    pub visibility: Visibility,
}

/// What someone brings who takes a seat.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewPlayer {
    /// What to call the player.
    pub name: String,
    /// What the player adds to the randomness.
    pub entropy: Entropy,
}

impl NewPlayer {
    /// The player with the first token of its seat, issued at this time.
    pub(super) fn seated(&self, issued_at: u64) -> Player {
        let Self { name, entropy } = self.clone();
        Player { name, entropy, epoch: 0, issued_at }
    }
}

/// A match that was created.
#[derive(Clone, Debug)]
pub struct Created<G: Game> {
    /// The id of the match.
    pub id: MatchId,
    /// The match as it was created.
    pub answer: Answer<G>,
}

/// What is kept for a request, so that its repeats lead to the same match.
#[derive(Serialize, Deserialize)]
struct Claim {
    digest: Digest,
    join_code: JoinCode,
}

impl<G: Game> Matches<G> {
    /// Creates a match, once for each request.
    ///
    /// # Errors
    /// [`Error::BadSetup`], [`Error::RequestIdReused`], or the store's.
    pub async fn create(&self, request: Create<G::Options>) -> Result<Created<G>, Error> {
        let setup = Setup::new::<G>(request.options.clone(), request.seats.seats());
        let setup = setup.map_err(Error::BadSetup)?;
        let matches = self.clone();
        let work = async move { matches.create_once(request, setup).await };
        // The id of the match is known only in the middle of it.
        Uncut::new(Span::part("change").carry(work), &self.inner.tasks).await
    }

    async fn create_once(
        &self,
        request: Create<G::Options>,
        setup: Setup<G::Options>,
    ) -> Result<Created<G>, Error> {
        let digest = stored::digest_of(&request)?;
        let join_code = JoinCode::random(&*self.inner.chance);
        let claim = stored::write(&Claim { digest, join_code })?;
        let key = format!("{}:{}", request.principal, request.request_id);
        let keep = self.inner.settings.keep_idle;
        let claim = self.asked(|| self.inner.store.claim(&key, claim.clone(), keep)).await?;
        let claim: Claim = stored::read(&claim)?;
        if claim.digest != digest {
            return Err(Error::RequestIdReused);
        }

        let id = claim.join_code.match_id();
        Span::here().set("parlor.match_id", id.to_string());
        let creation = self.creation(&request, setup, claim.join_code);
        let (frame, input) = Span::part("rules").within(|| Frame::create(creation))?;
        let first = Entry { position: frame.live.position, input };
        let snapshot = frame.live.snapshot()?;
        let is_new =
            self.asked(|| self.inner.store.create(id, first.clone(), snapshot.clone(), keep));
        if is_new.await? {
            let game = G::catalog(frame.live.record.creation.setup.options()).id;
            tracing::info!(name: "parlor.matches.created", target: "metric", game);
            self.inner.cache.insert(id, Arc::clone(&frame.live));
            return Ok(Created { id, answer: Answer { frame: Arc::new(frame), replayed: false } });
        }
        // It is there: from an earlier try, or from this one, if its answer got lost.
        let ours = frame.live.position;
        let frame = self.replay(id, 1).await?;
        let replayed = frame.live.position != ours;
        Ok(Created { id, answer: Answer { frame: Arc::new(frame), replayed } })
    }

    fn creation(
        &self,
        request: &Create<G::Options>,
        setup: Setup<G::Options>,
        join_code: JoinCode,
    ) -> Creation<G::Options> {
        let created_at = self.inner.clock.unix_millis();
        let seated = |_: Seat, player: &Option<NewPlayer>| {
            player.as_ref().map(|player| player.seated(created_at / 1000))
        };
        Creation {
            rules_version: G::catalog(setup.options()).rules_version,
            setup,
            visibility: request.visibility,
            join_code,
            created_at,
            secret: Seed::new(bytes(&*self.inner.chance)),
            history_key: bytes(&*self.inner.chance),
            players: request.seats.map(seated),
        }
    }
}
