//! A real Redis server for a test: on a port and in a folder of its own, with a user for the service
//! that may do what the service needs and no more, and gone when the test ends.

use std::fs::File;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use parlor::store::{RedisConfig, RedisStore};
use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Cmd, FromRedisValue, RedisResult};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

/// What the service's user may do: everything below is used, and the whole suite runs under it.
const PERMISSIONS: &str = "resetkeys ~parlor1:* resetchannels &parlor1:* -@all \
    +evalsha +eval +exists +get +set +hget +hmget +hset +xadd +xrange +pexpire +pttl +publish \
    +subscribe +unsubscribe +hello +ping +config|get +role +wait +cluster|slots +asking";

/// What the service's user may do at a sentinel.
const SENTINEL_PERMISSIONS: &str =
    "resetkeys resetchannels -@all +sentinel|get-master-addr-by-name";

/// How long a server that works may take to answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// A server that runs as long as this lives.
pub struct RedisServer {
    folder: TempDir,
    port: u16,
    /// How it is started.
    words: Vec<String>,
    /// A library that is loaded into it before all others, if it has a name.
    preload: String,
    process: Child,
}

impl Drop for RedisServer {
    fn drop(&mut self) {
        self.kill();
    }
}

impl RedisServer {
    /// Starts a server and waits until it answers.
    pub async fn start() -> Self {
        Self::start_with(&|_, _| Vec::new()).await
    }

    /// Starts a server with more settings, which may depend on its folder and port.
    pub async fn start_with(more: &dyn Fn(&Path, u16) -> Vec<String>) -> Self {
        Self::start_server("", more).await
    }

    /// Starts a server with more settings that loads this library before all others.
    pub async fn start_preloaded(library: &str, more: &[String]) -> Self {
        Self::start_server(library, &|_, _| more.to_vec()).await
    }

    async fn start_server(preload: &str, more: &dyn Fn(&Path, u16) -> Vec<String>) -> Self {
        Self::start_as(preload, &|folder, port| {
            std::fs::write(folder.join("users.acl"), users()).expect("a file of users");
            let port_words =
                ["--port", &port.to_string(), "--bind", "127.0.0.1"].map(str::to_owned);
            // Every write is handed to the system before it is acknowledged, so that it outlives the
            // process. With `everysec`, it may wait for the disk.
            let words = ["--save", "", "--appendonly", "yes", "--appendfsync", "no"];
            let users =
                ["--aclfile", "users.acl", "--masteruser", "admin", "--masterauth", "admin"];
            let words = words.into_iter().chain(users).map(str::to_owned);
            port_words.into_iter().chain(words).chain(more(folder, port)).collect()
        })
        .await
    }

    /// Starts a sentinel that watches a server under the name `main`, and takes it for gone when it is
    /// silent for half a second.
    pub async fn start_sentinel(of: &Self) -> Self {
        let watched = of.port;
        Self::start_as("", &|folder, port| {
            let settings = format!(
                "port {port}\nbind 127.0.0.1\n\
                 user default off\n\
                 user admin on >admin ~* &* +@all\n\
                 user parlor on >sentry {SENTINEL_PERMISSIONS}\n\
                 sentinel sentinel-user admin\nsentinel sentinel-pass admin\n\
                 sentinel monitor main 127.0.0.1 {watched} 2\n\
                 sentinel auth-user main admin\nsentinel auth-pass main admin\n\
                 sentinel down-after-milliseconds main 500\n\
                 sentinel failover-timeout main 3000\n"
            );
            std::fs::write(folder.join("sentinel.conf"), settings).expect("a file of settings");
            ["sentinel.conf", "--sentinel"].map(str::to_owned).to_vec()
        })
        .await
    }

    async fn start_as(preload: &str, words: &dyn Fn(&Path, u16) -> Vec<String>) -> Self {
        loop {
            let folder = tempfile::tempdir().expect("a folder");
            let port = free_port();
            let words = words(folder.path(), port);
            let process = spawn(&folder, &words, preload);
            let preload = preload.to_owned();
            let mut server = Self { folder, port, words, preload, process };
            if server.answers().await {
                return server;
            }
            // Somebody else was faster to take the port.
        }
    }

    /// The address for the service.
    pub fn url(&self) -> String {
        format!("redis://parlor:secret@127.0.0.1:{}", self.port)
    }

    /// What the service is set to here.
    pub fn config(&self) -> RedisConfig {
        patient(self.url())
    }

    /// A store on this server.
    pub async fn store(&self) -> RedisStore {
        RedisStore::connect(self.config()).await.expect("the server is there")
    }

    /// Where it keeps its files.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// A connection that may do everything.
    pub async fn admin(&self) -> MultiplexedConnection {
        self.connect("admin:admin").await.expect("the server is there")
    }

    /// Runs a command that may do everything.
    pub async fn run<T: FromRedisValue>(&self, command: &[&str]) -> T {
        self.ask(command).await.expect("the command is right")
    }

    /// Runs a command as the service's user.
    pub async fn run_as_service(&self, command: &[&str]) -> RedisResult<redis::Value> {
        split(command).query_async(&mut self.connect("parlor:secret").await?).await
    }

    /// Ends it at once, as a crash would.
    pub fn kill(&mut self) {
        // It may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }

    /// Starts it again, on the same port and data.
    pub async fn start_again(&mut self) {
        self.process = spawn(&self.folder, &self.words, &self.preload);
        assert!(self.answers().await, "the server does not start again");
    }

    /// Stops it in its tracks; what is sent to it waits.
    pub fn pause(&self) {
        self.signal(Signal::STOP);
    }

    /// Lets it go on.
    pub fn go_on(&self) {
        self.signal(Signal::CONT);
    }

    async fn ask<T: FromRedisValue>(&self, command: &[&str]) -> RedisResult<T> {
        split(command).query_async(&mut self.connect("admin:admin").await?).await
    }

    async fn connect(&self, user: &str) -> RedisResult<MultiplexedConnection> {
        let url = format!("redis://{user}@127.0.0.1:{}", self.port);
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(PATIENCE))
            .set_response_timeout(Some(PATIENCE));
        redis::Client::open(url)?.get_multiplexed_async_connection_with_config(&config).await
    }

    /// Waits until it answers; not, if it has ended.
    async fn answers(&mut self) -> bool {
        let itself = format!("process_id:{}\r\n", self.process.id());
        while self.process.try_wait().expect("it is our child").is_none() {
            // Another server on this port is not ours.
            let info = self.ask::<String>(&["INFO", "server"]).await;
            if info.is_ok_and(|info| info.contains(&itself)) {
                return true;
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        false
    }

    fn signal(&self, signal: Signal) {
        let process = Pid::from_child(&self.process);
        kill_process(process, signal).expect("it is our child");
    }
}

/// What the service is set to for tests: watched matches are looked for more often, and answers are
/// waited for longer, because many tests share the machine.
pub fn patient(url: impl Into<String>) -> RedisConfig {
    RedisConfig {
        connect_timeout: PATIENCE,
        response_timeout: PATIENCE,
        poll_every: Duration::from_millis(200),
        ..RedisConfig::new(url)
    }
}

/// All users.
///
/// Nobody can be the default user. But Redis 7.0 replays its append-only file as the default user,
/// and checks the permissions of what was written by scripts: one that is off and may do nothing makes
/// a restart lose, without a word to anybody, all that is in that file.
fn users() -> String {
    format!(
        "user default off ~* &* +@all\n\
         user admin on >admin ~* &* +@all\n\
         user parlor on >secret {PERMISSIONS}\n"
    )
}

fn split(command: &[&str]) -> Cmd {
    let (name, arguments) = command.split_first().expect("a command has a name");
    let mut split = redis::cmd(name);
    split.arg(arguments);
    split
}

/// A port that nobody listens on. It is below those that the system gives out, and no other test of
/// this process gets it, so that it is still free when a server starts again.
pub fn free_port() -> u16 {
    static TAKEN: AtomicU32 = AtomicU32::new(0);
    loop {
        let taken = TAKEN.fetch_add(1, Ordering::Relaxed);
        let offset = std::process::id().wrapping_mul(61).wrapping_add(taken) % 12_000;
        let port = 20_000 + offset as u16;
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

fn spawn(folder: &TempDir, words: &[String], preload: &str) -> Child {
    let log = File::create(folder.path().join("log")).expect("a log");
    Command::new("redis-server")
        .current_dir(folder.path())
        .args(words)
        .env("LD_PRELOAD", preload)
        .stdin(Stdio::null())
        .stdout(log)
        .stderr(Stdio::null())
        .spawn()
        .expect("redis-server is installed")
}
