//! One connection to the server: opened, checked, used by many at once, and given up.
//!
//! The socket and the task that drives it are ours, so that it is known at once when a connection is
//! lost, and a command is not sent into one that is.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures_util::future::select_ok;
use redis::aio::MultiplexedConnection;
use redis::{
    AsyncConnectionConfig, Cmd, Pipeline, ProtocolVersion, PushInfo, RedisConnectionInfo, Value,
};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::Mutex;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::address::{Host, Place, RedisAddress};
use super::errors::{self, Access, Failure};
use super::replies;
use super::tasks::Tasks;
use super::tls::RedisTls;
use crate::store::{Result, StoreError};

/// Between two signs of life on a connection that nobody uses.
const KEEPALIVE: Duration = Duration::from_secs(30);

/// Who opens a connection takes what the sentinels said a moment ago, but no older.
const JUST_SAID: Duration = Duration::from_millis(20);

/// Where the servers are and how to talk to them.
#[derive(Debug)]
pub(super) struct Settings {
    pub(super) address: RedisAddress,
    pub(super) tls: Option<RedisTls>,
    pub(super) connect_timeout: Duration,
    pub(super) response_timeout: Duration,
    /// Whether a change counts only when a replica has it too.
    pub(super) replicated: bool,
    /// What the sentinels said last, and when. Who asks them holds it, so that one asks for all.
    pub(super) said: Mutex<Option<(Instant, Host)>>,
}

/// Which server a connection leads to.
#[derive(Clone, Debug)]
pub(super) enum Target {
    /// The one primary, wherever it is now.
    Primary,
    /// This server, as long as it is a primary.
    PrimaryAt(Host),
    /// This server.
    Anyone(Host),
}

impl Settings {
    /// Where the one primary is, by what was heard not longer ago than this.
    ///
    /// # Errors
    ///
    /// No sentinel knows.
    async fn primary(&self, not_older: Duration) -> Result<Host> {
        let (hosts, name, identity) = match &self.address.place {
            Place::Here(host) => return Ok(host.clone()),
            Place::Sentinels { hosts, primary, identity } => (hosts, primary, identity),
            Place::Cluster(_) => {
                return Err(StoreError::Misconfigured("a cluster has many primaries".to_owned()));
            }
        };
        let mut said = self.said.lock().await;
        if let Some((when, host)) = &*said
            && when.elapsed() <= not_older
        {
            return Ok(host.clone());
        }
        // All at once: one that is away or slow holds nobody up. Whoever answers first may not have
        // heard of a change yet; then the role of the server that it names says so.
        let answers = hosts.iter().map(|host| Box::pin(self.ask_sentinel(host, identity, name)));
        let (host, _) = select_ok(answers).await?;
        *said = Some((Instant::now(), host.clone()));
        Ok(host)
    }

    async fn ask_sentinel(
        &self,
        host: &Host,
        identity: &RedisConnectionInfo,
        name: &str,
    ) -> Result<Host> {
        let stream = self.dial(host).await?;
        let config = AsyncConnectionConfig::new().set_response_timeout(Some(self.response_timeout));
        let identity = identity.clone().set_protocol(ProtocolVersion::RESP2);
        let (mut commands, driver) =
            MultiplexedConnection::new_with_config(&identity, stream, config)
                .await
                .map_err(|error| errors::of_opening(&error))?;
        let mut question = redis::cmd("SENTINEL");
        question.arg("GET-MASTER-ADDR-BY-NAME").arg(name);
        let answer = tokio::select! {
            answer = commands.send_packed_command(&question) => answer,
            () = driver => {
                return Err(StoreError::Unavailable("a sentinel hung up".to_owned()));
            }
        };
        let answer = answer.and_then(Value::extract_error);
        replies::primary(answer.map_err(|error| errors::of_opening(&error))?, name)
    }

    async fn dial(&self, host: &Host) -> Result<Box<dyn Stream>> {
        let unavailable = |error: std::io::Error| StoreError::Unavailable(error.to_string());
        let address = (host.name.as_str(), host.port);
        let stream = TcpStream::connect(address).await.map_err(unavailable)?;
        stream.set_nodelay(true).map_err(unavailable)?;
        let keepalive = socket2::TcpKeepalive::new().with_time(KEEPALIVE);
        socket2::SockRef::from(&stream).set_tcp_keepalive(&keepalive).map_err(unavailable)?;
        Ok(match &self.tls {
            None => Box::new(stream),
            Some(tls) => Box::new(tls.connect(&host.name, stream).await?),
        })
    }
}

/// Bytes to and from a server, encrypted or not.
trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// An open connection. Clones share it.
#[derive(Clone, Debug)]
pub(super) struct Connection {
    commands: MultiplexedConnection,
    settings: Arc<Settings>,
    target: Target,
    /// The server at the other end.
    pub(super) host: Host,
    given_up: Arc<GivenUp>,
    replication: Arc<Replication>,
}

/// Which changes made on a connection have come to a replica.
#[derive(Debug, Default)]
struct Replication {
    /// How many changes were made.
    made: AtomicU64,
    /// Up to which it was asked, and what came of the last question. Who asks holds it.
    asked: Mutex<(u64, Option<StoreError>)>,
}

/// Whether a connection is to be used any more.
#[derive(Debug)]
struct GivenUp {
    token: CancellationToken,
    why: OnceLock<StoreError>,
}

impl GivenUp {
    fn now(&self, why: StoreError) {
        let _ = self.why.set(why);
        self.token.cancel();
    }

    fn why(&self) -> StoreError {
        let stopped = || StoreError::Unavailable("the store is closed".to_owned());
        self.why.get().cloned().unwrap_or_else(stopped)
    }
}

impl Connection {
    /// Opens a connection to a server that answers. What the server pushes goes to `pushed`.
    ///
    /// # Errors
    ///
    /// There is no such server, or it refuses.
    pub(super) async fn open(
        settings: &Arc<Settings>,
        target: Target,
        tasks: &Tasks,
        pushed: impl Fn(PushInfo) + Send + Sync + 'static,
    ) -> Result<Self> {
        let opening = Self::open_untimed(settings, target, tasks, pushed);
        match tokio::time::timeout(settings.connect_timeout, opening).await {
            Ok(opened) => opened,
            Err(_) => Err(StoreError::Unavailable("connecting took too long".to_owned())),
        }
    }

    async fn open_untimed(
        settings: &Arc<Settings>,
        target: Target,
        tasks: &Tasks,
        pushed: impl Fn(PushInfo) + Send + Sync + 'static,
    ) -> Result<Self> {
        let host = match &target {
            Target::Primary => settings.primary(JUST_SAID).await?,
            Target::PrimaryAt(host) | Target::Anyone(host) => host.clone(),
        };
        let stream = settings.dial(&host).await?;
        let config = AsyncConnectionConfig::new()
            .set_response_timeout(Some(settings.response_timeout))
            .set_push_sender(move |push| -> std::result::Result<(), redis::aio::SendError> {
                pushed(push);
                Ok(())
            });
        let identity = &settings.address.identity;
        let (commands, driver) = MultiplexedConnection::new_with_config(identity, stream, config)
            .await
            .map_err(|error| errors::of_opening(&error))?;

        let token = tasks.stopped().child_token();
        let given_up = Arc::new(GivenUp { token, why: OnceLock::new() });
        let grace = settings.response_timeout;
        tasks.spawn_to_end(drive(Box::pin(driver), Arc::clone(&given_up), grace));

        let settings = Arc::clone(settings);
        let replication = Arc::default();
        let connection = Self { commands, settings, target, host, given_up, replication };
        // Asked again: it may have been replaced while it was slow to answer.
        match connection.check_all(Duration::ZERO).await {
            Ok(()) => Ok(connection),
            Err(error) => {
                connection.give_up(error.clone());
                Err(error)
            }
        }
    }

    /// Whether there is the server at the other end that should be, and it answers.
    ///
    /// # Errors
    ///
    /// It does not, or is a replica, or loading.
    pub(super) async fn check(&self) -> Result<()> {
        let mut both = redis::pipe();
        both.cmd("HELLO").cmd("PING");
        let [hello, ping] = <[Value; 2]>::try_from(self.send_all(&both).await?)
            .map_err(|_| replies::strange("one for each command"))?;
        let greeting = replies::hello(hello)?;
        let expected = match self.settings.address.place {
            Place::Cluster(_) => "cluster",
            Place::Here(_) | Place::Sentinels { .. } => "standalone",
        };
        if greeting.mode != expected {
            return Err(StoreError::Misconfigured(format!(
                "{} runs as {}, which needs an address of another form",
                self.host, greeting.mode
            )));
        }
        if greeting.role != "master" && !matches!(self.target, Target::Anyone(_)) {
            return Err(StoreError::Failover(format!("{} is a {}", self.host, greeting.role)));
        }
        // A server that loads its data greets, but refuses all else. One that cannot save refuses
        // this too, and still answers questions.
        match replies::refused(ping) {
            Err(error) if !matches!(error, StoreError::ReadOnly(_)) => Err(error),
            _ => Ok(()),
        }
    }

    /// Sends a command and waits for its answer. Dropping the future does not stop the command, once
    /// it is sent. `asking` is for a node of a cluster that a slot is moving to.
    pub(super) async fn send(
        &self,
        command: &Cmd,
        access: Access,
        asking: bool,
    ) -> std::result::Result<Value, Failure> {
        if self.is_given_up() {
            return Err(Failure::Elsewhere(self.given_up.why()));
        }
        let mut commands = self.commands.clone();
        let answer = if asking {
            let mut both = redis::pipe();
            both.cmd("ASKING").add_command(command.clone());
            commands
                .send_packed_commands(&both, 1, 1)
                .await
                .map(|mut answers| answers.pop().unwrap_or(Value::Nil))
        } else {
            commands.send_packed_command(command).await
        };
        answer.and_then(Value::extract_error).map_err(|error| {
            let (failure, broken) = errors::of_command(&error, access, &self.host);
            if broken {
                let why = errors::of_command(&error, Access::Read, &self.host).0;
                self.give_up(why.into_error());
            }
            failure
        })
    }

    /// Waits until a replica has all that was changed on this connection so far. One asks for all
    /// who wait, because the server answers nothing else on this connection meanwhile.
    ///
    /// # Errors
    ///
    /// [`StoreError::DurabilityPending`]: within half of the time to respond no replica had it.
    pub(super) async fn replicated(&self) -> Result<()> {
        let mine = self.replication.made.fetch_add(1, Ordering::AcqRel) + 1;
        let mut asked = self.replication.asked.lock().await;
        if asked.0 < mine {
            let up_to = self.replication.made.load(Ordering::Acquire);
            *asked = (up_to, self.wait_for_replica().await.err());
        }
        asked.1.clone().map_or(Ok(()), Err)
    }

    async fn wait_for_replica(&self) -> Result<()> {
        let patience = (self.settings.response_timeout / 2).as_millis().max(1);
        let mut wait = redis::cmd("WAIT");
        wait.arg(1).arg(patience.to_string());
        match self.send(&wait, Access::Read, false).await {
            Ok(Value::Int(1..)) => Ok(()),
            Ok(_) => Err(StoreError::DurabilityPending("no replica has it yet".to_owned())),
            // That it may not be asked does not pass.
            Err(Failure::Final(error @ StoreError::Misconfigured(_))) => Err(error),
            Err(failure) => Err(StoreError::DurabilityPending(failure.into_error().to_string())),
        }
    }

    /// Sends commands that only look, and waits for all answers; an error of the server's is among
    /// them.
    ///
    /// # Errors
    ///
    /// The connection is lost.
    pub(super) async fn send_all(&self, commands: &Pipeline) -> Result<Vec<Value>> {
        let answers = self.commands.clone().send_packed_commands(commands, 0, commands.len()).await;
        answers.map_err(|error| {
            let error = errors::of_command(&error, Access::Read, &self.host).0.into_error();
            self.give_up(error.clone());
            error
        })
    }

    /// Hears what is announced on the channels from now on.
    ///
    /// # Errors
    ///
    /// The connection is lost, or it is not permitted.
    pub(super) async fn subscribe(&self, channels: &[String]) -> Result<()> {
        let answer = self.commands.clone().subscribe(channels).await;
        answer.map_err(|error| errors::of_command(&error, Access::Read, &self.host).0.into_error())
    }

    /// Hears them no more.
    ///
    /// # Errors
    ///
    /// The connection is lost.
    pub(super) async fn unsubscribe(&self, channels: &[String]) -> Result<()> {
        let answer = self.commands.clone().unsubscribe(channels).await;
        answer.map_err(|error| errors::of_command(&error, Access::Read, &self.host).0.into_error())
    }

    /// Lets nobody use it any more. Who waits for an answer may still get it.
    pub(super) fn give_up(&self, why: StoreError) {
        self.given_up.now(why);
    }

    pub(super) fn is_given_up(&self) -> bool {
        self.given_up.token.is_cancelled()
    }

    /// Waits until it must not be used any more; says why.
    pub(super) async fn given_up(&self) -> StoreError {
        self.given_up.token.cancelled().await;
        self.given_up.why()
    }

    /// Looks every so often whether all is well; says why it is not any more.
    pub(super) async fn guard(&self, every: Duration) -> StoreError {
        loop {
            match tokio::time::timeout(every, self.given_up()).await {
                Ok(why) => return why,
                Err(_) => {
                    if let Err(error) = self.check_all(every / 2).await {
                        self.give_up(error);
                    }
                }
            }
        }
    }

    /// Whether all is well, also by what was heard of sentinels not longer ago than this.
    async fn check_all(&self, not_older: Duration) -> Result<()> {
        self.check().await?;
        // A primary that is cut off from its sentinels does not know that it has a successor.
        if matches!(self.target, Target::Primary)
            && let Ok(primary) = self.settings.primary(not_older).await
            && primary != self.host
        {
            return Err(StoreError::Failover(format!("{primary} is the primary now")));
        }
        Ok(())
    }
}

/// Moves what is sent and answered, until the connection is lost or given up.
async fn drive(
    mut driver: impl Future<Output = ()> + Unpin,
    given_up: Arc<GivenUp>,
    grace: Duration,
) {
    tokio::select! {
        () = &mut driver => {
            given_up.now(StoreError::Unavailable("the connection was lost".to_owned()));
        }
        () = given_up.token.cancelled() => {
            let _ = tokio::time::timeout(grace, driver).await;
        }
    }
}
