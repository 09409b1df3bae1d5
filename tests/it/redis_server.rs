//! A real Redis server for a test: on a port and in a folder of its own, with a user for the service
//! that may do what the service needs and no more, and gone when the test ends.

use std::fs::File;
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use parlor::store::{RedisConfig, RedisStore};
use redis::aio::MultiplexedConnection;
use redis::{Cmd, FromRedisValue, RedisResult};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

/// What the service's user may do: everything below is used, and the whole suite runs under it.
const PERMISSIONS: &str = "resetkeys ~parlor1:* resetchannels &parlor1:* -@all \
    +evalsha +eval +exists +get +set +hget +hmget +hset +xadd +xrange +pexpire +publish \
    +subscribe +unsubscribe +hello +ping +config|get";

/// A server that runs as long as this lives.
pub struct RedisServer {
    folder: TempDir,
    port: u16,
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
        loop {
            let folder = tempfile::tempdir().expect("a folder");
            std::fs::write(folder.path().join("users.acl"), users()).expect("a file of users");
            let port = free_port();
            let process = spawn(&folder, port);
            let mut server = Self { folder, port, process };
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

    /// What the service is set to here: everything is looked at more often than outside of tests.
    pub fn config(&self) -> RedisConfig {
        RedisConfig { poll_every: Duration::from_millis(200), ..RedisConfig::new(self.url()) }
    }

    /// A store on this server.
    pub async fn store(&self) -> RedisStore {
        RedisStore::connect(self.config()).await.expect("the server is there")
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
        self.process = spawn(&self.folder, self.port);
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
        redis::Client::open(url)?.get_multiplexed_async_connection().await
    }

    /// Waits until it answers; not, if it has ended.
    async fn answers(&mut self) -> bool {
        let mut answers = false;
        while !answers && self.process.try_wait().expect("it is our child").is_none() {
            answers = self.ask::<String>(&["PING"]).await.is_ok();
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        answers
    }

    fn signal(&self, signal: Signal) {
        let process = Pid::from_child(&self.process);
        kill_process(process, signal).expect("it is our child");
    }
}

/// All users: a deployment has no others.
fn users() -> String {
    format!(
        "user default off\n\
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

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("an address").port()
}

fn spawn(folder: &TempDir, port: u16) -> Child {
    let log = File::create(folder.path().join("log")).expect("a log");
    Command::new("redis-server")
        .current_dir(folder.path())
        .args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", ""])
        .args(["--appendonly", "yes", "--aclfile", "users.acl"])
        .stdin(Stdio::null())
        .stdout(log)
        .stderr(Stdio::null())
        .spawn()
        .expect("redis-server is installed")
}
