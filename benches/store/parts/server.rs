//! A Redis server that keeps what it is set to keep, in a folder of its own.

use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::time::Duration;

use parlor::store::RedisConfig;
use redis::AsyncConnectionConfig;
use redis::aio::MultiplexedConnection;
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::load::Failure;
use crate::load::process::Process;

/// Runs as long as this lives.
pub struct Durable {
    pub process: Process,
    pub url: String,
    pub port: u16,
    words: Vec<String>,
    folder: TempDir,
}

impl Durable {
    /// Starts one with these settings, and waits until it answers.
    pub async fn start(settings: &[&str]) -> Result<Self, Failure> {
        let folder = tempfile::tempdir()?;
        // Free a moment ago; if somebody else was faster, the bench ends and can be run again.
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let number = port.to_string();
        let words = ["--port", &number, "--bind", "127.0.0.1", "--save", ""];
        let words = words.iter().chain(settings).map(ToString::to_string).collect::<Vec<_>>();
        let url = format!("redis://127.0.0.1:{port}");
        let process = spawn(&folder, &words)?;
        let server = Self { process, url, port, words, folder };
        server.answers().await?;
        Ok(server)
    }

    /// A connection for anything.
    pub async fn connect(&self) -> Result<MultiplexedConnection, Failure> {
        let patience = Some(Duration::from_secs(60));
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(patience)
            .set_response_timeout(patience);
        let client = redis::Client::open(self.url.as_str())?;
        Ok(client.get_multiplexed_async_connection_with_config(&config).await?)
    }

    /// A store over it, which is patient: other work on the machine is not to end the bench.
    pub fn store(&self) -> RedisConfig {
        let patience = Duration::from_secs(20);
        RedisConfig {
            connect_timeout: patience,
            response_timeout: patience,
            ..RedisConfig::new(&self.url)
        }
    }

    /// Waits until it carries commands out.
    pub async fn answers(&self) -> Result<(), Failure> {
        let asking = async {
            loop {
                if let Ok(mut connection) = self.connect().await
                    && redis::cmd("PING").exec_async(&mut connection).await.is_ok()
                {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        let asked = tokio::time::timeout(Duration::from_secs(60), asking).await;
        asked.map_err(|_| "redis-server does not answer".into())
    }

    /// Ends it, without a word.
    pub fn kill(&mut self) -> Result<(), Failure> {
        self.process.0.kill()?;
        self.process.0.wait()?;
        Ok(())
    }

    /// Starts it again.
    pub fn again(&mut self) -> Result<(), Failure> {
        self.process = spawn(&self.folder, &self.words)?;
        Ok(())
    }

    /// Stops it in its tracks, or lets it go on.
    pub fn signal(&self, signal: Signal) -> Result<(), Failure> {
        Ok(kill_process(Pid::from_child(&self.process.0), signal)?)
    }
}

fn spawn(folder: &TempDir, words: &[String]) -> Result<Process, Failure> {
    let mut command = Command::new("redis-server");
    command.current_dir(folder.path()).args(words);
    Ok(Process(command.stdin(Stdio::null()).stdout(Stdio::null()).spawn()?))
}
