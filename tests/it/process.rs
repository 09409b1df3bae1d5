//! The server as it is shipped, in a process of its own.

use std::ffi::OsString;
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::JoinHandle;

use parlor::client::Client;
use parlor::proto::match_service_client::MatchServiceClient;
use rustix::process::{Pid, Signal, kill_process};
use tonic::transport::Channel;

use crate::eventually;

/// The key that all servers of a test sign with.
pub const KEY: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

/// The program: that of this build, if not another one is to be tried.
fn built() -> OsString {
    std::env::var_os("PARLOR_BIN").unwrap_or_else(|| env!("CARGO_BIN_EXE_parlor").into())
}

/// A server that runs until it is stopped or dropped.
pub struct Process {
    pub url: String,
    /// What it said at its start.
    greeting: Vec<String>,
    child: Child,
    log: Option<JoinHandle<String>>,
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Process {
    /// Starts a server with these flags, which logs as JSON, and waits until it listens.
    pub fn start(flags: &[&str]) -> Self {
        let mut process = Self::start_unread(flags);
        let mut errors = process.child.stderr.take().expect("a pipe");
        process.log = Some(std::thread::spawn(move || {
            let mut text = String::new();
            errors.read_to_string(&mut text).expect("text");
            text
        }));
        process
    }

    /// The same, whose log goes to a pipe that nobody reads.
    pub fn start_unread(flags: &[&str]) -> Self {
        let mut command = Command::new(built());
        command
            .args(["--listen=127.0.0.1:0", "--log-format=json"])
            .arg(format!("--token-keys=test:{KEY}"))
            .args(flags)
            // Flags go before these.
            .env("PARLOR_DRAIN", "5s")
            .env("PARLOR_RATE_LIMITS", "off")
            // Spans are sent soon, so that little waits when the process ends.
            .env("OTEL_BSP_SCHEDULE_DELAY", "50")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("the server is built");
        let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        let mut greeting = Vec::new();
        while let Some(line) = lines.next().map(|line| line.expect("text")) {
            let is_last = line.starts_with("try next");
            greeting.push(line);
            if is_last {
                break;
            }
        }
        let url = address(&greeting, "listens on ").expect("it says where it listens");
        Self { url, greeting, child, log: None }
    }

    /// Where its port for operators is, if it has one.
    pub fn admin(&self) -> Option<String> {
        let found = self.greeting.iter().find_map(|line| line.strip_prefix("metrics are at "))?;
        found.strip_suffix("/metrics").map(str::to_owned)
    }

    /// A client of it alone.
    pub fn client(&self) -> Client {
        Client::new(&[&self.url]).expect("an address")
    }

    /// The generated client, for what the other one hides.
    pub async fn raw(&self) -> MatchServiceClient<Channel> {
        MatchServiceClient::connect(self.url.clone()).await.expect("it listens")
    }

    /// Where it listens, without the scheme.
    pub fn address(&self) -> &str {
        self.url.trim_start_matches("http://")
    }

    /// Tells it to stop, as an operator would.
    pub fn terminate(&self) {
        kill_process(Pid::from_child(&self.child), Signal::TERM).expect("it runs");
    }

    /// Waits until it has ended.
    pub async fn ended(&mut self) -> ExitStatus {
        eventually("it ends", async || self.child.try_wait().expect("our child")).await
    }

    /// How much memory it has, in bytes.
    pub fn memory(&self) -> u64 {
        self.status("VmRSS:")
    }

    /// How much memory it had at most, in bytes.
    pub fn peak_memory(&self) -> u64 {
        self.status("VmHWM:")
    }

    fn status(&self, name: &str) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix(name)).expect("a size");
        let kib: u64 = line.trim().trim_end_matches(" kB").parse().expect("a number");
        kib * 1024
    }

    /// Stops it as an operator would, and gives all that it logged, once it has ended well.
    pub async fn stop(mut self) -> String {
        self.terminate();
        let log = self.log.take().expect("stopped only once");
        // What it logs ends with it.
        let log = tokio::task::spawn_blocking(move || log.join().expect("read"));
        let log = log.await.expect("read");
        let status = self.child.wait().expect("it ends");
        assert!(status.success(), "{status}: {log}");
        log
    }
}

/// The address behind these words.
fn address(greeting: &[String], words: &str) -> Option<String> {
    let found = greeting.iter().find_map(|line| line.split_once(words))?;
    Some(format!("http://{}", found.1.trim()))
}
