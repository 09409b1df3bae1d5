//! One connection to the server: opened, checked, used by many at once, and given up.
//!
//! The socket and the task that drives it are ours, so that it is known at once when a connection is
//! lost, and a command is not sent into one that is.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{
    AsyncConnectionConfig, Cmd, ConnectionAddr, ConnectionInfo, IntoConnectionInfo, Pipeline,
    ProtocolVersion, PushInfo, Value,
};
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;

use super::errors::{self, Access, Failure};
use super::replies;
use super::tasks::Tasks;
use crate::store::{Result, StoreError};

/// Between two signs of life on a connection that nobody uses.
const KEEPALIVE: Duration = Duration::from_secs(30);

/// Where the server is and how to talk to it.
#[derive(Debug)]
pub(super) struct Settings {
    info: ConnectionInfo,
    connect_timeout: Duration,
    response_timeout: Duration,
}

impl Settings {
    /// # Errors
    ///
    /// The address is not one, or of a kind that is not served.
    pub(super) fn new(
        url: &str,
        connect_timeout: Duration,
        response_timeout: Duration,
    ) -> Result<Self> {
        let info = url.into_connection_info().map_err(|error| errors::of_opening(&error))?;
        if !matches!(info.addr(), ConnectionAddr::Tcp(..)) {
            let what = "only addresses of the form redis://host:port are served".to_owned();
            return Err(StoreError::Misconfigured(what));
        }
        // Announcements come as pushes, which need version 3 of the protocol.
        let redis = info.redis_settings().clone();
        let redis = redis.set_protocol(ProtocolVersion::RESP3).set_skip_set_lib_name();
        Ok(Self { info: info.set_redis_settings(redis), connect_timeout, response_timeout })
    }

    /// The server's address, without any secret.
    pub(super) fn address(&self) -> String {
        self.info.addr().to_string()
    }

    pub(super) fn response_timeout(&self) -> Duration {
        self.response_timeout
    }

    /// Connects to the primary: the one place that knows where it is.
    async fn dial(&self) -> std::io::Result<TcpStream> {
        let ConnectionAddr::Tcp(host, port) = self.info.addr() else {
            return Err(std::io::ErrorKind::Unsupported.into());
        };
        let stream = TcpStream::connect((host.as_str(), *port)).await?;
        stream.set_nodelay(true)?;
        let keepalive = socket2::TcpKeepalive::new().with_time(KEEPALIVE);
        socket2::SockRef::from(&stream).set_tcp_keepalive(&keepalive)?;
        Ok(stream)
    }
}

/// What the server says of itself.
#[derive(Clone, Debug)]
pub(super) struct Greeting {
    pub(super) version: String,
}

/// An open connection. Clones share it.
#[derive(Clone, Debug)]
pub(super) struct Connection {
    commands: MultiplexedConnection,
    given_up: Arc<GivenUp>,
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
    /// Opens a connection to a primary that answers. What the server pushes goes to `pushed`.
    ///
    /// # Errors
    ///
    /// There is no such server, or it refuses.
    pub(super) async fn open(
        settings: &Settings,
        tasks: &Tasks,
        pushed: impl Fn(PushInfo) + Send + Sync + 'static,
    ) -> Result<(Self, Greeting)> {
        let opening = Self::open_untimed(settings, tasks, pushed);
        match tokio::time::timeout(settings.connect_timeout, opening).await {
            Ok(opened) => opened,
            Err(_) => Err(StoreError::Unavailable("connecting took too long".to_owned())),
        }
    }

    async fn open_untimed(
        settings: &Settings,
        tasks: &Tasks,
        pushed: impl Fn(PushInfo) + Send + Sync + 'static,
    ) -> Result<(Self, Greeting)> {
        let stream =
            settings.dial().await.map_err(|error| StoreError::Unavailable(error.to_string()))?;
        let config = AsyncConnectionConfig::new()
            .set_response_timeout(Some(settings.response_timeout))
            .set_push_sender(move |push| -> std::result::Result<(), redis::aio::SendError> {
                pushed(push);
                Ok(())
            });
        let redis = settings.info.redis_settings();
        let (commands, driver) = MultiplexedConnection::new_with_config(redis, stream, config)
            .await
            .map_err(|error| errors::of_opening(&error))?;

        let token = tasks.stopped().child_token();
        let given_up = Arc::new(GivenUp { token, why: OnceLock::new() });
        let grace = settings.response_timeout;
        tasks.spawn_to_end(drive(Box::pin(driver), Arc::clone(&given_up), grace));

        let connection = Self { commands, given_up };
        match connection.check().await {
            Ok(greeting) => Ok((connection, greeting)),
            Err(error) => {
                connection.give_up(error.clone());
                Err(error)
            }
        }
    }

    /// Whether there is a primary at the other end, and it answers.
    ///
    /// # Errors
    ///
    /// It does not, or is a replica, or loading.
    pub(super) async fn check(&self) -> Result<Greeting> {
        let mut both = redis::pipe();
        both.cmd("HELLO").cmd("PING");
        let [hello, ping] = <[Value; 2]>::try_from(self.send_all(&both).await?)
            .map_err(|_| StoreError::Corrupt("two commands had not two answers".to_owned()))?;
        let (version, role) = replies::hello(hello)?;
        if role != "master" {
            return Err(StoreError::Failover(format!("the server is a {role}")));
        }
        // A server that loads its data greets, but refuses all else.
        replies::refused(ping)?;
        Ok(Greeting { version })
    }

    /// Sends a command and waits for its answer. Dropping the future does not stop the command, once
    /// it is sent.
    pub(super) async fn send(
        &self,
        command: &Cmd,
        access: Access,
    ) -> std::result::Result<Value, Failure> {
        if self.is_given_up() {
            return Err(Failure::Elsewhere(self.given_up.why()));
        }
        let answer = self.commands.clone().send_packed_command(command).await;
        answer.and_then(Value::extract_error).map_err(|error| {
            let (failure, broken) = errors::of_command(&error, access);
            if broken {
                self.give_up(errors::of_command(&error, Access::Read).0.into_error());
            }
            failure
        })
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
            let error = errors::of_command(&error, Access::Read).0.into_error();
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
        answer.map_err(|error| errors::of_command(&error, Access::Read).0.into_error())
    }

    /// Hears them no more.
    ///
    /// # Errors
    ///
    /// The connection is lost.
    pub(super) async fn unsubscribe(&self, channels: &[String]) -> Result<()> {
        let answer = self.commands.clone().unsubscribe(channels).await;
        answer.map_err(|error| errors::of_command(&error, Access::Read).0.into_error())
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
                    if let Err(error) = self.check().await {
                        self.give_up(error);
                    }
                }
            }
        }
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
