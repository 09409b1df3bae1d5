//! The servers that are measured, each a process of its own that ends with what holds it, and what
//! the system says of them.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;

use super::Failure;

/// A process that ends with this.
pub struct Process(pub Child);

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Process {
    /// Its number.
    pub fn id(&self) -> u32 {
        self.0.id()
    }

    /// How long it was on a core so far, all threads together.
    pub fn cpu(&self) -> Duration {
        let threads = fs::read_dir(format!("/proc/{}/task", self.id()));
        let times = threads.into_iter().flatten().flatten().filter_map(|thread| {
            let text = fs::read_to_string(thread.path().join("schedstat")).ok()?;
            text.split(' ').next()?.parse::<u64>().ok()
        });
        Duration::from_nanos(times.sum())
    }
}

/// A server that tells its address in its first line.
pub struct Server {
    pub process: Process,
    pub address: String,
    /// Open as long as the server lives, as it may write more.
    _output: BufReader<ChildStdout>,
}

/// What is measured is not to be limited.
const UNLIMITED: [(&str, &str); 6] = [
    ("PARLOR_RATE_LIMITS", "off"),
    ("PARLOR_IN_FLIGHT", "off"),
    ("PARLOR_SEAT_STREAMS", "off"),
    ("PARLOR_SPECTATORS", "off"),
    ("PARLOR_STREAMS", "off"),
    ("PARLOR_CONNECTIONS", "1000000"),
];

impl Server {
    /// Starts the command and waits for its address.
    pub fn start(command: &mut Command) -> Result<Self, Failure> {
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
        let output = child.stdout.take().ok_or("no output")?;
        let process = Process(child);
        let mut output = BufReader::new(output);
        let mut line = String::new();
        output.read_line(&mut line)?;
        let address = line.trim().rsplit(' ').next().unwrap_or_default().to_owned();
        if address.is_empty() {
            return Err("a server did not start".into());
        }
        Ok(Self { process, address, _output: output })
    }

    /// Starts the service, with more flags.
    pub fn parlor(
        binary: &Path,
        store: &str,
        runtime: &str,
        log: &str,
        flags: &[String],
    ) -> Result<Self, Failure> {
        let keys = format!("bench:{}", "5e".repeat(32));
        Self::start(
            Command::new(binary)
                .args(["--listen=127.0.0.1:0", "--store", store, "--runtime", runtime])
                .args(["--log", log, "--token-keys", &keys])
                .args(flags)
                // Not as flags: another build may not have them.
                .envs(UNLIMITED)
                .stderr(Stdio::null()),
        )
    }

    /// Starts this program again, as the baseline.
    pub fn baseline(
        recording: &Path,
        runtime: &str,
        redis: Option<&str>,
        script: &str,
    ) -> Result<Self, Failure> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("baseline").arg(recording).args(["--runtime", runtime, "--script", script]);
        Self::start(command.args(redis.map(|url| format!("--redis={url}"))))
    }
}

/// A Redis server that writes nothing to disk.
pub struct Redis {
    pub process: Process,
    pub url: String,
    _folder: TempDir,
}

impl Redis {
    /// Starts it and waits until it answers.
    pub async fn start() -> Result<Self, Failure> {
        let folder = tempfile::tempdir()?;
        // Free a moment ago; if somebody else was faster, the bench ends and can be run again.
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let child = Command::new("redis-server")
            .current_dir(folder.path())
            .args(["--port", &port.to_string(), "--bind", "127.0.0.1"])
            .args(["--save", "", "--appendonly", "no"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()?;
        let url = format!("redis://127.0.0.1:{port}");
        let mut redis = Self { process: Process(child), url, _folder: folder };
        while redis.connections().await.is_err() {
            if let Some(status) = redis.process.0.try_wait()? {
                return Err(format!("redis-server ended: {status}").into());
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        Ok(redis)
    }

    /// How many connections it has from others.
    pub async fn connections(&self) -> Result<usize, Failure> {
        let mut connection =
            redis::Client::open(self.url.as_str())?.get_multiplexed_async_connection().await?;
        let list: String = redis::cmd("CLIENT").arg("LIST").query_async(&mut connection).await?;
        Ok(list.lines().count() - 1)
    }
}
