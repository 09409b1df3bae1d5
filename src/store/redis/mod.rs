//! The Redis store: matches live in Redis, from version 6.2, which any number of instances share: in
//! one server, in a primary that sentinels watch, or in a cluster.
//!
//! Every change is one script, so it happens whole or not at all, whoever hangs up; every question is
//! one round trip. `keys` says what lies where, `checked` makes sure that it is what was written; the
//! scripts say how it changes. The connections for commands and the one for announcements are few,
//! whatever the number of matches and watches.
//!
//! `address` reads where the servers are. `connection` opens one and asks sentinels where the primary
//! is; `lanes` keeps a few open to one server; `cluster` knows which node serves what; nothing else
//! knows that there is more than one server. `durability` says what acknowledged data survives, and
//! `inspection` keeps looking whether it does.

mod address;
mod checked;
mod client;
mod cluster;
mod connection;
mod durability;
mod errors;
mod following;
mod inspection;
mod keys;
mod lanes;
mod replies;
mod scripts;
mod tasks;
mod tls;
mod watches;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use tokio::sync::{Notify, watch};
use uuid::Uuid;

use self::client::Client;
use self::connection::Settings;
use self::following::{Listener, Looker};
use self::inspection::Inspector;
use self::keys::Keys;
use self::lanes::Keeping;
use self::scripts::{CLAIM, COMMIT, CONFIRM, CREATE, LOAD, LOG};
use self::tasks::Tasks;
use self::watches::Watches;
use super::{
    Commit, Committed, Digest, Entry, Loaded, Log, MatchId, Position, Request, Result, Store,
    StoreError, StoreInfo, Version, Watch,
};

pub use self::address::RedisAddress;
pub use self::durability::{Durability, RedisInfo, RedisPrimary};
pub use self::tls::RedisTls;

/// For this long something is kept at most. Redis refuses times that overflow, and a script must not
/// be refused after its first write.
const LONGEST_KEEP: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);

/// So many times as seldom as watched matches are looked for, it is looked whether the servers keep
/// what they should.
const INSPECTED_EVERY: u32 = 15;

/// How the store reaches its server.
#[derive(Clone)]
pub struct RedisConfig {
    /// The address, in one of the forms of [`RedisAddress`].
    pub url: String,
    /// How connections are encrypted, where the address asks for that; without it, by what the system
    /// trusts.
    pub tls: Option<RedisTls>,
    /// What is to survive.
    pub durability: Durability,
    /// How many connections carry commands to each primary, at least 1. For
    /// [`Durability::Replicated`], twice as many, because half of them wait for replicas.
    pub lanes: usize,
    /// After this long a connection that is being opened is given up.
    pub connect_timeout: Duration,
    /// After this long an answer is not waited for any more.
    pub response_timeout: Duration,
    /// What all names in Redis begin with.
    pub prefix: String,
    /// How often watched matches are looked for, in case an announcement was lost, and idle
    /// connections are checked. Two and a half times as long with very many watched matches.
    pub poll_every: Duration,
}

impl RedisConfig {
    /// The server at this address, and defaults for the rest.
    #[must_use]
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            tls: None,
            durability: Durability::default(),
            lanes: 2,
            connect_timeout: Duration::from_secs(1),
            response_timeout: Duration::from_millis(400),
            prefix: "parlor1".to_owned(),
            poll_every: Duration::from_secs(2),
        }
    }
}

impl fmt::Debug for RedisConfig {
    /// Leaves the address out: there may be a password in it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisConfig")
            .field("durability", &self.durability)
            .field("lanes", &self.lanes)
            .field("connect_timeout", &self.connect_timeout)
            .field("response_timeout", &self.response_timeout)
            .field("prefix", &self.prefix)
            .field("poll_every", &self.poll_every)
            .finish_non_exhaustive()
    }
}

/// Keeps matches in Redis.
///
/// The server's user needs, on keys and channels that begin with the prefix, `evalsha eval exists get
/// set hget hmget hset xadd xrange pexpire pttl publish subscribe unsubscribe ping`; in a cluster also
/// `cluster|slots asking`, to wait for a replica `wait`, and `config|get role` to
/// [say](Store::info) what the server keeps. The sentinels' user needs
/// `sentinel|get-master-addr-by-name`. Where the server's default user is turned off,
/// it must keep all its permissions (`user default off ~* &* +@all`): Redis 7.0 replays its
/// append-only file as that user, and otherwise leaves out what scripts wrote.
pub struct RedisStore {
    client: Arc<Client>,
    keys: Arc<Keys>,
    watches: Arc<Watches>,
    tasks: Tasks,
    info: watch::Receiver<RedisInfo>,
    /// Whether what is repeated is written again, so that it can be waited for.
    replicated: bool,
    /// Whether it was reported that announcements are refused.
    reported: AtomicBool,
}

impl fmt::Debug for RedisStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisStore")
            .field("address", &self.info.borrow().address)
            .finish_non_exhaustive()
    }
}

impl Drop for RedisStore {
    fn drop(&mut self) {
        self.tasks.stopped().cancel();
    }
}

impl RedisStore {
    /// Connects to the server and makes sure that it permits what is needed, by keeping a match for
    /// a moment.
    ///
    /// # Errors
    ///
    /// [`StoreError::Misconfigured`] if the configuration or a permission is wrong, and what else
    /// keeps the server from being reached. That it takes no writes at the moment is none: that may
    /// pass.
    pub async fn connect(config: RedisConfig) -> Result<Self> {
        if config.prefix.is_empty() || config.prefix.contains(['{', '}']) {
            let what = "the prefix must not be empty nor contain braces".to_owned();
            return Err(StoreError::Misconfigured(what));
        }
        let address: RedisAddress = config.url.parse().map_err(StoreError::Misconfigured)?;
        let tls = match (address.encrypted, config.tls) {
            (true, None) => Some(RedisTls::new(None, None).map_err(StoreError::Misconfigured)?),
            (true, tls) => tls,
            (false, _) => None,
        };
        let replicated = config.durability == Durability::Replicated;
        let settings = Arc::new(Settings {
            address,
            tls,
            connect_timeout: config.connect_timeout,
            response_timeout: config.response_timeout,
            replicated,
            said: tokio::sync::Mutex::default(),
        });
        let tasks = Tasks::default();
        let keeping = Keeping {
            settings: Arc::clone(&settings),
            count: config.lanes * if replicated { 2 } else { 1 },
            check_every: config.poll_every,
            tasks: tasks.clone(),
            opened: Arc::new(Notify::new()),
        };
        let opened = Arc::clone(&keeping.opened);
        let client = Arc::new(Client::open(keeping).await?);
        let keys = Arc::new(Keys::new(config.prefix));
        let watches = Arc::new(Watches::default());
        let listener = Listener {
            watches: Arc::clone(&watches),
            client: Arc::clone(&client),
            settings: Arc::clone(&settings),
            keys: Arc::clone(&keys),
            tasks: tasks.clone(),
            check_every: config.poll_every,
        };
        tasks.spawn(listener.listen());
        let looker = Looker {
            watches: Arc::clone(&watches),
            client: Arc::clone(&client),
            keys: Arc::clone(&keys),
            every: config.poll_every,
        };
        tasks.spawn(looker.look());

        let (info, found) = watch::channel(RedisInfo {
            address: settings.address.to_string(),
            prefix: keys.prefix().to_owned(),
            durability: config.durability,
            found: None,
            missing: Vec::new(),
            primaries: Vec::new(),
        });
        let every = config.poll_every * INSPECTED_EVERY;
        let inspector = Inspector { client: Arc::clone(&client), opened, every, info };
        let reported = AtomicBool::new(false);
        let store = Self { client, keys, watches, tasks, info: found, replicated, reported };
        inspector.inspect().await?;
        store.tasks.spawn(inspector.keep_inspecting());
        match store.try_out().await {
            Err(error @ (StoreError::Misconfigured(_) | StoreError::Corrupt(_))) => Err(error),
            Err(error) => {
                tracing::warn!(%error, "the store could not be tried out");
                Ok(store)
            }
            Ok(()) => Ok(store),
        }
    }

    /// Closes all connections, and waits until nothing runs in the background any more.
    pub async fn close(&self) {
        self.tasks.close().await;
    }

    /// Tells a script whether to write again what was written before.
    fn again(&self) -> &'static [u8] {
        if self.replicated { b"1" } else { b"" }
    }

    /// Does once all that is done with a match. A permission that is missing shows here, and not as a
    /// change cut in half.
    async fn try_out(&self) -> Result<()> {
        let id = MatchId(Uuid::new_v4());
        let keep = Duration::from_secs(1);
        let digest = Digest([0; 16]);
        let base = Position { version: 1, digest };
        self.claim(&id.to_string(), Bytes::new(), keep).await?;
        let first = Entry { position: base, input: Bytes::new() };
        self.create(id, first, Bytes::new(), keep).await?;
        let request = Request { scope: Request::JOIN, id: id.0, digest };
        let (input, snapshot) = (Bytes::new(), Bytes::new());
        self.commit(id, Commit { base, digest, request, input, snapshot, keep }).await?;
        self.load(id, None, Some((request.scope, request.id))).await?;
        self.log(id, 0, 1).await?;
        Ok(())
    }
}

#[async_trait]
impl Store for RedisStore {
    async fn claim(&self, key: &str, claim: Bytes, keep: Duration) -> Result<Bytes> {
        let keys = [self.keys.claim(key)];
        let claim = checked::write(key.as_bytes(), &claim);
        let arguments: [&[u8]; 3] = [&claim, &millis(keep), self.again()];
        replies::claim(self.client.run(&CLAIM, &keys, &arguments).await?, key)
    }

    async fn create(
        &self,
        id: MatchId,
        first: Entry,
        snapshot: Bytes,
        keep: Duration,
    ) -> Result<bool> {
        let keys = [self.keys.state(id), self.keys.log(id), self.keys.requests(id)];
        let Position { version, digest } = first.position;
        let place = keys::with_digest(version, digest);
        let [input, snapshot] = [&first.input, &snapshot].map(|what| checked::write(&place, what));
        let version = version.to_string();
        let (keep, again) = (millis(keep), self.again());
        let arguments: [&[u8]; 6] =
            [version.as_bytes(), &digest.0, &input, &snapshot, &keep, again];
        replies::created(&self.client.run(&CREATE, &keys, &arguments).await?)
    }

    async fn load(
        &self,
        id: MatchId,
        known: Option<Position>,
        request: Option<(u8, Uuid)>,
    ) -> Result<Option<Loaded>> {
        let keys = [self.keys.state(id), self.keys.requests(id)];
        let version = known.map(|at| at.version.to_string()).unwrap_or_default();
        let digest = known.map(|at| at.digest.0);
        let digest: &[u8] = digest.as_ref().map_or(&[], |digest| digest);
        let request = request.map(|(scope, id)| keys::request(scope, id)).unwrap_or_default();
        let arguments: [&[u8]; 3] = [version.as_bytes(), digest, request.as_bytes()];
        let loaded = replies::loaded(self.client.run(&LOAD, &keys, &arguments).await?, &request)?;
        if self.replicated && !request.is_empty() {
            // Whoever asks will tell its caller what came of the request: that it is done, or that it
            // is refused. A primary that no replica follows may have been replaced.
            let repeated = loaded.as_ref().is_some_and(|loaded| loaded.answered.is_some());
            let [_, requests] = keys;
            let confirmed = self.client.run(&CONFIRM, &[requests], &[request.as_bytes()]).await;
            confirmed.map_err(|error| match error {
                StoreError::DurabilityPending(why) if !repeated => StoreError::Failover(why),
                error => error,
            })?;
        }
        Ok(loaded)
    }

    async fn commit(&self, id: MatchId, commit: Commit) -> Result<Committed> {
        let keys = [self.keys.state(id), self.keys.log(id), self.keys.requests(id)];
        let channel = self.keys.channel(id);
        let version = commit.base.version + 1;
        let request = keys::request(commit.request.scope, commit.request.id);
        let answer = keys::with_digest(version, commit.request.digest);
        let answer = checked::write(request.as_bytes(), &answer);
        let place = keys::with_digest(version, commit.digest);
        let [input, snapshot] =
            [&commit.input, &commit.snapshot].map(|what| checked::write(&place, what));
        let (base, version) = (commit.base.version.to_string(), version.to_string());
        let keep = millis(commit.keep);
        let arguments: [&[u8]; 11] = [
            request.as_bytes(),
            &answer,
            base.as_bytes(),
            &commit.base.digest.0,
            version.as_bytes(),
            &commit.digest.0,
            &input,
            &snapshot,
            &keep,
            channel.as_bytes(),
            self.again(),
        ];
        let answer = self.client.run(&COMMIT, &keys, &arguments).await?;
        let (committed, unannounced) = replies::committed(answer, commit.base.version, &request)?;
        if let Some(error) = unannounced
            && !self.reported.swap(true, Ordering::Relaxed)
        {
            let error = String::from_utf8_lossy(&error);
            tracing::warn!(%error, "changes cannot be announced and are seen late");
        }
        Ok(committed)
    }

    async fn log(&self, id: MatchId, after: Version, limit: usize) -> Result<Option<Log>> {
        let keys = [self.keys.state(id), self.keys.log(id)];
        // Redis counts with signed numbers.
        let limit = limit.min(i32::MAX as usize);
        let (from, count) = (after.to_string(), limit.to_string());
        let arguments: [&[u8]; 2] = [from.as_bytes(), count.as_bytes()];
        replies::log(self.client.run(&LOG, &keys, &arguments).await?, after, limit)
    }

    async fn watch(&self, id: MatchId) -> Watch {
        self.watches.watch(id)
    }

    fn info(&self) -> StoreInfo {
        StoreInfo::Redis(self.info.borrow().clone())
    }
}

/// The time to keep something, as an argument.
fn millis(keep: Duration) -> Vec<u8> {
    keep.min(LONGEST_KEEP).as_millis().max(1).to_string().into_bytes()
}
