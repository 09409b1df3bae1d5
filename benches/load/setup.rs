//! What both benches begin with: what they are asked, a Redis, and a match that was recorded.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use tempfile::TempDir;
use tokio::runtime::Builder;

use super::baseline::Role;
use super::process::{Redis, Server};
use super::recording::Recording;
use super::{Failure, baseline, connect};

/// What both benches can be asked.
#[derive(Args)]
pub struct SetupArgs {
    #[command(subcommand)]
    role: Option<Role>,
    /// Cargo says this; without it, everything runs only once and briefly.
    #[arg(long, hide = true)]
    pub bench: bool,
    /// Few and short rounds, and less of everything.
    #[arg(long)]
    pub quick: bool,
    /// Where matches are kept.
    #[arg(long, value_delimiter = ',', default_value = "memory,redis")]
    pub store: Vec<String>,
    /// The shapes of the servers' runtimes.
    #[arg(long, value_delimiter = ',', default_value = "shared,per-core")]
    pub runtime: Vec<String>,
    /// How often each has its turn.
    #[arg(long, default_value_t = 7)]
    pub rounds: usize,
    /// How many seats the matches have.
    #[arg(long, default_value_t = 4)]
    pub seats: usize,
    /// What the service logs, to nowhere.
    #[arg(long, default_value = "info")]
    log: String,
    /// Another build of the service, to compare with this one.
    #[arg(long, value_name = "PATH")]
    pub against: Option<PathBuf>,
}

/// Where and how contenders are started.
pub struct Setup {
    pub redis: Redis,
    pub recording: Arc<Recording>,
    folder: TempDir,
    log: String,
}

/// Does what is asked: measures, or serves as what the service is compared with.
pub fn run(
    args: &SetupArgs,
    measure: impl AsyncFnOnce(&Setup) -> Result<(), Failure>,
) -> Result<(), Failure> {
    if let Some(Role::Baseline(args)) = &args.role {
        return baseline::serve(args);
    }
    // One thread: the servers need the cores.
    let runtime = Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async { measure(&Setup::new(args).await?).await })
}

impl Setup {
    #[expect(clippy::print_stdout, reason = "a bench prints what it finds")]
    async fn new(args: &SetupArgs) -> Result<Self, Failure> {
        let redis = Redis::start().await?;
        let folder = tempfile::tempdir()?;
        let recording = {
            let server = Server::parlor(this_build(), &redis.url, "shared", "error", &[])?;
            Recording::make(&connect(&server.address, 1).await?[0], &redis, args.seats).await?
        };
        recording.write(&folder.path().join("recording"))?;
        println!("{} seats, {}", args.seats, recording.describe());
        Ok(Self { redis, recording: Arc::new(recording), folder, log: args.log.clone() })
    }

    /// Starts a build of the service over this store, with more flags.
    pub fn parlor(
        &self,
        binary: &Path,
        store: &str,
        runtime: &str,
        flags: &[String],
    ) -> Result<Server, Failure> {
        Server::parlor(binary, self.url(store).unwrap_or("memory"), runtime, &self.log, flags)
    }

    /// Starts what it is compared with, without a store if no script is named.
    pub fn baseline(&self, runtime: &str, script: Option<&str>) -> Result<Server, Failure> {
        let url = script.map(|_| self.redis.url.as_str());
        let recorded = self.folder.path().join("recording");
        Server::baseline(&recorded, runtime, url, script.unwrap_or("none"))
    }

    fn url(&self, store: &str) -> Option<&str> {
        (store == "redis").then_some(&self.redis.url)
    }
}

/// The build that the bench belongs to.
pub fn this_build() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_parlor"))
}
