//! The command line: what can be said, in flags or in the environment.
//!
//! Values are read as text here and judged in [`crate::config`], so that all mistakes in them can be
//! told at once.

mod limits;
mod serve;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};

pub use self::limits::{CallArgs, ConnectionArgs, Http2Args, LimitArgs, RateArgs, StreamArgs};
pub use self::serve::{CallerArgs, OperatorArgs, ServeArgs, StoreArgs, TlsArgs};
use crate::games::catalogs;
use crate::rules::CatalogOption;

/// Referees card games over gRPC.
///
/// Without a command it serves. Every setting can also be given in the environment, under the name
/// that its help shows; a flag goes before the environment.
#[derive(Debug, Parser)]
#[command(name = "parlor", version, args_conflicts_with_subcommands = true)]
pub struct Cli {
    /// What to do instead of serving.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// How to serve.
    #[command(flatten)]
    pub serve: ServeArgs,
}

/// What to do instead of serving.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Play a match at a server, choosing at random among what is allowed
    ///
    /// It plays every seat of a new match, or with `--join` one seat of a match that someone else
    /// created: something to see the service work with, and an opponent while a frontend is built.
    Play(PlayArgs),
    /// Play a small match at a server again and again, and measure how that goes
    ///
    /// It is for whoever operates the service: where few people play, its matches tell whether they
    /// could. A match of NeoN for two is played by the client that every Rust program can use.
    Probe(ProbeArgs),
    /// Recompute the deals of a finished match from the secret that it revealed
    ///
    /// It asks the server for the match and for all that the token's seat was shown, checks the
    /// secret against the commitment, makes every deal again, and compares.
    Verify(VerifyArgs),
    /// Let random players play many matches, and sum up how they went
    ///
    /// The summary says how long matches are, how they end, how scores spread and which seats win,
    /// and how fast the rules are. Everything but the speed depends on the settings alone: the same
    /// command gives the same matches, whatever the number of threads.
    Simulate(SimulateArgs),
}

/// Which server to call, and how.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "The server")]
pub struct ServerArgs {
    /// The server's address; give it several times to spread the calls
    #[arg(
        long,
        env = "PARLOR_SERVER",
        value_name = "URL",
        default_value = "http://127.0.0.1:50051",
        value_delimiter = ','
    )]
    pub server: Vec<String>,

    /// The authority of the server's certificate, in PEM, for an address with https; without it,
    /// those that the system trusts
    #[arg(long, env = "PARLOR_CA", value_name = "FILE")]
    pub ca: Option<PathBuf>,

    /// The certificate, in PEM, to show to a server that asks for one
    #[arg(long, env = "PARLOR_CERT", value_name = "FILE", requires = "key")]
    pub cert: Option<PathBuf>,

    /// The key, in PEM, of that certificate
    #[arg(long, env = "PARLOR_KEY", value_name = "FILE", requires = "cert")]
    pub key: Option<PathBuf>,
}

/// What to verify.
#[derive(Args, Clone, Debug)]
pub struct VerifyArgs {
    /// The match
    #[arg(value_name = "MATCH")]
    pub match_id: String,

    /// A token of the match: with a seat's, what that seat was dealt is verified too
    #[arg(long, env = "PARLOR_TOKEN", value_name = "TOKEN", hide_env_values = true)]
    pub token: Option<String>,

    /// The commitment that was published when the match was created, in hexadecimal, if you noted
    /// it; otherwise the server's word is taken for it
    #[arg(long, value_name = "HEX")]
    pub commitment: Option<String>,

    /// Which server
    #[command(flatten)]
    pub at: ServerArgs,
}

/// How to play.
#[derive(Args, Clone, Debug)]
pub struct PlayArgs {
    /// The game, by its id in the catalog
    #[arg(long, value_name = "GAME", default_value = "neon", conflicts_with = "join")]
    pub game: String,

    /// How many seats; left out, as few as the game allows
    #[arg(long, value_name = "COUNT", conflicts_with = "join")]
    pub seats: Option<u8>,

    /// An option of the game, as in `-o first_player=0`; give it once for each option
    #[arg(short, long = "option", value_name = "NAME=VALUE", conflicts_with = "join")]
    pub options: Vec<String>,

    /// Take an open seat of the match with this code, and play only that
    #[arg(long, value_name = "CODE")]
    pub join: Option<String>,

    /// What to be called
    #[arg(long, value_name = "NAME", default_value = "random player")]
    pub name: String,

    /// How long to wait for the others at the table; then it is given up, with exit code 1
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = period)]
    pub wait: Duration,

    /// An API key, where the server asks for one to create matches; `@FILE` reads it from a file
    #[arg(long, env = "PARLOR_API_KEY", value_name = "KEY", hide_env_values = true)]
    pub api_key: Option<String>,

    /// Also write everything that is sent and received to this file, a JSON object a line, with
    /// messages as hexadecimal Protobuf
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,

    /// Which server
    #[command(flatten)]
    pub at: ServerArgs,
}

/// How to probe.
#[derive(Args, Clone, Debug)]
pub struct ProbeArgs {
    /// Which server
    #[command(flatten)]
    pub at: ServerArgs,

    /// An API key, where the server asks for one to create matches; `@FILE` reads it from a file
    #[arg(long, env = "PARLOR_API_KEY", value_name = "KEY", hide_env_values = true)]
    pub api_key: Option<String>,

    /// How often a match begins; one that is not over when the next is due is given up
    #[arg(
        long,
        env = "PARLOR_EVERY",
        value_name = "TIME",
        default_value = "30s",
        value_parser = period
    )]
    pub every: Duration,

    /// Address and port where `/metrics` tells how the matches went, and `/livez` and `/readyz`
    /// answer, over HTTP; left out, only what is printed tells
    #[arg(long, env = "PARLOR_ADMIN_LISTEN", value_name = "ADDR")]
    pub admin_listen: Option<SocketAddr>,
}

/// A time that is longer than nothing.
fn period(text: &str) -> Result<Duration, String> {
    match humantime::parse_duration(text).map_err(|error| error.to_string())? {
        Duration::ZERO => Err("longer than nothing".to_owned()),
        period => Ok(period),
    }
}

/// What to simulate.
#[derive(Args, Clone, Debug)]
#[command(after_long_help = simulate_help())]
pub struct SimulateArgs {
    /// The game
    pub game: String,

    /// How many seats the table has; without it, the fewest that the game takes
    #[arg(long, value_name = "COUNT")]
    pub seats: Option<String>,

    /// An option of the game, as JSON; can be given for several options
    ///
    /// What does not read as JSON is taken as text, so that text needs no quotes. Options that are
    /// left out have their defaults.
    #[arg(short, long = "option", value_name = "NAME=VALUE")]
    pub options: Vec<String>,

    /// How many matches are played
    #[arg(long, value_name = "COUNT", default_value = "100000")]
    pub matches: String,

    /// What the matches are made from: another seed gives other matches
    #[arg(long, value_name = "NUMBER", default_value = "0")]
    pub seed: String,

    /// How many threads play; without it, one for each core
    #[arg(long, value_name = "COUNT")]
    pub threads: Option<String>,

    /// Print the summary as a JSON object
    #[arg(long)]
    pub json: bool,
}

/// The games with their options, examples, and the fields of the JSON.
fn simulate_help() -> String {
    let games = catalogs().map(|catalog| {
        let (fewest, most) = (catalog.seats.start(), catalog.seats.end());
        let options = catalog.options.iter().map(|CatalogOption { name, text, kind }| {
            format!("\n    {name}: {text} Takes {kind}.")
        });
        format!("  {}: {fewest} to {most} seats{}", catalog.id, options.collect::<String>())
    });
    format!("Games and their options:\n{}\n{SIMULATE_HELP}", games.join("\n"))
}

const SIMULATE_HELP: &str = "
Examples:
  parlor simulate neon
  parlor simulate neon --seats 4 -o first_player=0 --matches 1000000
  parlor simulate neon --seats 6 --seed 7 --json

Fields of the JSON:
  game, seats, options, matches, seed   what was simulated
  actions                               how many actions all matches took together
  length                                actions of a match: min, mean, max, p5, p25, p50, p75, p95,
                                        p99 (p95: 95 % of the matches took no more)
  outcomes                              how many matches ended for each reason
  unwon                                 how many matches nobody won
  by_seat                               for each seat: seat, won (alone), shared (won with others),
                                        score: min, mean, max
  speed                                 threads, secs, matches_per_sec, actions_per_sec; all other
                                        fields depend on the settings alone
";
