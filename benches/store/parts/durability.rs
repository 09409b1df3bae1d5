//! Commits by profile of durability.

use std::sync::Arc;
use std::time::Duration;

use ::bytes::Bytes;
use futures_util::future::try_join_all;
use parlor::store::{
    Commit, Committed, Digest, Durability, Entry, MatchId, Position, RedisConfig, RedisStore,
    Request, Store as _,
};
use tokio::time::Instant;
use uuid::Uuid;

use super::server::Durable;
use super::{Turns, head, slice};
use crate::Args;
use crate::load::Failure;

/// What a match of NeoN with four seats has at its end, in bytes.
const SNAPSHOT: usize = 329;
const INPUT: usize = 8;

const KEEP: Duration = Duration::from_secs(3_600);

/// How many writers there are.
const WRITERS: [usize; 3] = [1, 16, 64];

/// A store over servers that do what the profile asks for.
struct Contender {
    profile: Durability,
    store: Arc<RedisStore>,
    /// Run as long as this lives.
    _servers: Vec<Durable>,
}

impl Contender {
    async fn start(profile: Durability) -> Result<Self, Failure> {
        let fsync = if profile == Durability::Everysec { "everysec" } else { "always" };
        let settings = ["--appendonly", "yes", "--appendfsync", fsync];
        let primary = Durable::start(&settings).await?;
        let config = RedisConfig { durability: profile, ..primary.store() };
        let mut servers = vec![primary];
        if profile == Durability::Replicated {
            let port = servers[0].port.to_string();
            let follow = ["--replicaof", "127.0.0.1", &port];
            servers.push(Durable::start(&[&settings[..], &follow].concat()).await?);
            let mut connection = servers[0].connect().await?;
            while redis::cmd("WAIT").arg(1).arg(1_000).query_async::<u32>(&mut connection).await?
                < 1
            {}
        }
        let store = Arc::new(RedisStore::connect(config).await?);
        Ok(Self { profile, store, _servers: servers })
    }
}

/// Prints the table.
pub async fn measure(args: &Args) -> Result<(), Failure> {
    let mut contenders = Vec::new();
    for profile in Durability::ALL {
        contenders.push(Contender::start(profile).await?);
    }
    for writers in WRITERS {
        let plural = if writers == 1 { "" } else { "s" };
        head(&format!("commits, {writers} writer{plural}"), "commits/s", "everysec");
        let mut turns = Vec::new();
        for contender in &contenders {
            let mut first = Turns::new(contender.profile.name())?;
            turn(&contender.store, writers, slice(args) / 2, &mut first).await?;
            // The first turn is not counted.
            first.forget();
            turns.push(first);
        }
        for _ in 0..args.rounds {
            for (contender, turns) in contenders.iter().zip(&mut turns) {
                turn(&contender.store, writers, slice(args), turns).await?;
            }
        }
        for it in &turns {
            println!("{}", it.line(&turns[0]));
        }
    }
    Ok(())
}

async fn turn(
    store: &RedisStore,
    writers: usize,
    time: Duration,
    turns: &mut Turns,
) -> Result<(), Failure> {
    let (before, began) = (turns.count(), Instant::now());
    try_join_all((0..writers).map(|_| write(store, began + time, turns))).await?;
    turns.rates.push((turns.count() - before) as f64 / began.elapsed().as_secs_f64());
    Ok(())
}

/// Changes a new match again and again, until it is time.
async fn write(store: &RedisStore, until: Instant, turns: &Turns) -> Result<(), Failure> {
    let id = MatchId(Uuid::new_v4());
    let (input, snapshot) = (Bytes::from_static(&[7; INPUT]), Bytes::from_static(&[7; SNAPSHOT]));
    let digest = Digest([7; 16]);
    let at = |version| Position { version, digest };
    store
        .create(id, Entry { position: at(1), input: input.clone() }, snapshot.clone(), KEEP)
        .await?;
    for version in 1.. {
        let began = Instant::now();
        if began >= until {
            break;
        }
        let commit = Commit {
            base: at(version),
            digest,
            request: Request { scope: 0, id: Uuid::new_v4(), digest },
            input: input.clone(),
            snapshot: snapshot.clone(),
            keep: KEEP,
        };
        match store.commit(id, commit).await? {
            Committed::Done => turns.ended(began),
            other => return Err(format!("a commit came to {other:?}").into()),
        }
    }
    Ok(())
}
