//! Many writers on one match.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use ::bytes::Bytes;
use async_trait::async_trait;
use futures_util::future::try_join_all;
use parlor::matches::{
    Create, Error, Matches, NewPlayer, Settings, Submit, SystemChance, SystemClock, Visibility,
};
use parlor::rules::{BySeat, SeatCount};
use parlor::store::{
    Commit, Committed, Entry, Loaded, Log, MatchId, Position, RedisStore, Result as StoreResult,
    Store, StoreInfo, Version, Watch,
};
use tokio::time::Instant;
use uuid::Uuid;

use super::counter::Counter;
use super::server::Durable;
use super::{Turns, head, slice};
use crate::Args;
use crate::load::Failure;

/// How many writers there are.
const WRITERS: [usize; 2] = [1, 16];

const SEATS: u8 = 6;

/// A store that counts what came of commits.
#[derive(Debug)]
struct Counted {
    store: RedisStore,
    done: AtomicU64,
    conflicts: AtomicU64,
}

/// Prints the table.
pub async fn measure(args: &Args) -> Result<(), Failure> {
    let redis = Durable::start(&["--appendonly", "yes", "--appendfsync", "everysec"]).await?;
    head("actions in one match", "actions/s", "one writer");
    let mut turns: Vec<Turns> = Vec::new();
    let mut notes = Vec::new();
    for (writers, instances) in [(WRITERS[0], 1), (WRITERS[1], 1), (WRITERS[1], 3)] {
        let crowd = Crowd::gather(&redis, writers, instances).await?;
        let plural = |count| if count == 1 { "" } else { "s" };
        let name = format!(
            "{writers} writer{}, {instances} instance{}",
            plural(writers),
            plural(instances)
        );
        let mut these = Turns::new(name)?;
        let mut refused = 0;
        for _ in 0..args.rounds {
            refused += crowd.turn(slice(args), &mut these).await?;
        }
        notes.push(crowd.note(&these, refused));
        turns.push(these);
    }
    for (it, note) in turns.iter().zip(notes) {
        println!("{}\n{note}", it.line(&turns[0]));
    }
    Ok(())
}

/// Writers at a match.
struct Crowd {
    stores: Vec<Arc<Counted>>,
    instances: Vec<Matches<Counter>>,
    id: MatchId,
    writers: usize,
}

impl Crowd {
    async fn gather(redis: &Durable, writers: usize, instances: usize) -> Result<Self, Failure> {
        let mut stores = Vec::new();
        for _ in 0..instances {
            let store = RedisStore::connect(redis.store()).await?;
            let (done, conflicts) = (AtomicU64::new(0), AtomicU64::new(0));
            stores.push(Arc::new(Counted { store, done, conflicts }));
        }
        let instances = stores.iter().map(|store| {
            let store: Arc<dyn Store> = Arc::<Counted>::clone(store);
            let (clock, chance) = (Arc::new(SystemClock), Arc::new(SystemChance));
            Matches::new(store, clock, chance, Settings::default())
        });
        let instances: Vec<Matches<Counter>> = instances.collect();
        let seats = SeatCount::new(SEATS).ok_or("too many seats")?;
        let create = Create {
            request_id: Uuid::new_v4(),
            principal: String::new(),
            options: (),
            seats: BySeat::from_fn(seats, |_| Some(NewPlayer::default())),
            visibility: Visibility::Public,
        };
        let id = instances[0].create(create).await?.id;
        Ok(Self { stores, instances, id, writers })
    }

    /// Lets all act for so long; how often one was told that there was too much contention.
    async fn turn(&self, time: Duration, turns: &mut Turns) -> Result<u64, Failure> {
        let (before, began) = (turns.count(), Instant::now());
        let writers = (0..self.writers).map(|writer| self.write(writer, began + time, turns));
        let refused = try_join_all(writers).await?.iter().sum();
        turns.rates.push((turns.count() - before) as f64 / began.elapsed().as_secs_f64());
        Ok(refused)
    }

    async fn write(&self, writer: usize, until: Instant, turns: &Turns) -> Result<u64, Failure> {
        let matches = &self.instances[writer % self.instances.len()];
        let seats = SeatCount::new(SEATS).ok_or("too many seats")?;
        let seat = seats.iter().nth(writer % usize::from(SEATS)).ok_or("no such seat")?;
        let mut refused = 0;
        loop {
            let began = Instant::now();
            if began >= until {
                return Ok(refused);
            }
            let action_id = Uuid::new_v4();
            let submit = Submit { seat, epoch: 0, action_id, action: (), decision: None };
            match matches.submit(self.id, submit).await {
                Ok(_) => turns.ended(began),
                Err(Error::Contention) => refused += 1,
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// What conflicts cost.
    fn note(&self, turns: &Turns, refused: u64) -> String {
        let sum = |of: fn(&Counted) -> &AtomicU64| {
            self.stores.iter().map(|store| of(store).load(Ordering::Relaxed)).sum::<u64>() as f64
        };
        let (done, conflicts) = (sum(|it| &it.done), sum(|it| &it.conflicts));
        let asked = (turns.count() + refused) as f64;
        format!(
            "  {:.2} conflicts for each commit, {:.0} % of all that was sent; {:.2} % of the actions \
             given up (CONTENTION)",
            conflicts / done,
            conflicts * 100.0 / (done + conflicts),
            refused as f64 * 100.0 / asked
        )
    }
}

#[async_trait]
impl Store for Counted {
    async fn claim(&self, key: &str, claim: Bytes, keep: Duration) -> StoreResult<Bytes> {
        self.store.claim(key, claim, keep).await
    }

    async fn create(
        &self,
        id: MatchId,
        first: Entry,
        snapshot: Bytes,
        keep: Duration,
    ) -> StoreResult<bool> {
        self.store.create(id, first, snapshot, keep).await
    }

    async fn load(
        &self,
        id: MatchId,
        known: Option<Position>,
        request: Option<(u8, Uuid)>,
    ) -> StoreResult<Option<Loaded>> {
        self.store.load(id, known, request).await
    }

    async fn commit(&self, id: MatchId, commit: Commit) -> StoreResult<Committed> {
        let committed = self.store.commit(id, commit).await;
        match committed {
            Ok(Committed::Done) => self.done.fetch_add(1, Ordering::Relaxed),
            Ok(Committed::Conflict) => self.conflicts.fetch_add(1, Ordering::Relaxed),
            _ => 0,
        };
        committed
    }

    async fn log(&self, id: MatchId, after: Version, limit: usize) -> StoreResult<Option<Log>> {
        self.store.log(id, after, limit).await
    }

    async fn watch(&self, id: MatchId) -> Watch {
        self.store.watch(id).await
    }

    fn info(&self) -> StoreInfo {
        self.store.info()
    }
}
