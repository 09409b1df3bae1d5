//! The real command, as a process of its own.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};

use parlor::client::Client;
use rustix::process::{Pid, Signal, kill_process};

use crate::eventually;

/// A running server; ended when it is dropped.
pub struct Process {
    child: Child,
    pub address: String,
    /// Kept, so that it can go on writing.
    _output: BufReader<ChildStdout>,
}

impl Process {
    /// Starts it on a free port and waits until it listens.
    pub fn start(flags: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_parlor"))
            .args(["--listen=127.0.0.1:0", "--log=error"])
            .args(flags)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it can be started");
        let mut output = BufReader::new(child.stdout.take().expect("its output"));
        let mut line = String::new();
        output.read_line(&mut line).expect("it says something");
        let address = line.trim().rsplit(' ').next().expect("an address").to_owned();
        Self { child, address, _output: output }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn client(&self) -> Client {
        Client::new(&[self.url()]).expect("an address")
    }

    /// Tells it to stop, as an operator would.
    pub fn terminate(&self) {
        let pid = Pid::from_child(&self.child);
        kill_process(pid, Signal::TERM).expect("it runs");
    }

    /// Waits until it has ended.
    pub async fn ended(&mut self) -> ExitStatus {
        eventually("it ends", async || self.child.try_wait().expect("our child")).await
    }

    /// How much memory it has, in bytes.
    pub fn memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a size");
        let kib: u64 = line.trim().trim_end_matches(" kB").parse().expect("a number");
        kib * 1024
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
