//! What Redis costs: how much is committed in a second and how fast, what several instances, writers
//! that want the same match, outages and a million matches do to that, and how much is kept.
//!
//! ```text
//! cargo bench --bench store                       # everything, about 6 minutes and 3 GB of memory
//! cargo bench --bench store -- --quick            # a first impression
//! cargo bench --bench store -- --part durability,contention
//! ```
//!
//! All servers are real ones on this machine, with their files in the folder for temporary files. What
//! is compared takes turns, a slice each, round by round; a ratio is the middle one of all rounds,
//! with the least and the most behind it.
//!
//! - `durability`: commits of a store as an instance has it, each writer on a match of its own, with
//!   snapshots and inputs of a match of NeoN, for each profile. The replica of `replicated` is on the
//!   same disk.
//! - `instances`: `SubmitAction` at one server or three, each match at one of them or each action at
//!   another one than the action before.
//! - `contention`: so many writers act in one match of a game in which everyone always may, through
//!   the code that decides anew after a conflict, at one instance and spread over three.
//! - `outage`: an action is sent again and again while Redis is away for five seconds; from when Redis
//!   itself answers again until it is carried out.
//! - `bytes`: what a whole match takes in the memory and in the append-only file, by game.
//! - `size`: `SubmitAction` with few matches in Redis and with very many.
//! - `watches`: what it costs to look every two seconds whether matches have changed that are watched.

#![expect(clippy::print_stdout, reason = "a bench prints what it finds")]
#![expect(clippy::cast_precision_loss, reason = "figures are rounded anyway")]

#[expect(dead_code, reason = "the baseline is for the other benches")]
#[path = "../load/mod.rs"]
mod load;
mod parts;

use clap::Parser;
use tokio::runtime::Builder;

use self::load::Failure;
use self::parts::{bytes, contention, durability, instances, outage, size, watches};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Measures what Redis costs.
#[derive(Parser)]
pub struct Args {
    /// Cargo says this; without it, everything runs only once and briefly.
    #[arg(long, hide = true)]
    bench: bool,
    /// Few and short rounds, and a hundredth of the matches.
    #[arg(long)]
    quick: bool,
    /// What is measured.
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "durability,instances,contention,outage,bytes,size,watches"
    )]
    part: Vec<String>,
    /// How often each has its turn.
    #[arg(long, default_value_t = 7)]
    rounds: usize,
    /// How long a turn is, in seconds.
    #[arg(long, default_value_t = 1.0)]
    seconds: f64,
    /// How many matches are very many.
    #[arg(long, default_value_t = 1_000_000)]
    stored: usize,
    /// How many matches are watched.
    #[arg(long, default_value_t = 20_000)]
    watched: usize,
}

fn main() -> Result<(), Failure> {
    let mut args = Args::parse();
    if args.quick {
        (args.rounds, args.seconds, args.stored) = (3, 0.3, 10_000);
    }
    if !args.bench {
        (args.rounds, args.seconds, args.stored, args.watched) = (1, 0.05, 2_000, 100);
    }
    // One thread: the servers need the cores.
    Builder::new_current_thread().enable_all().build()?.block_on(measure(&args))
}

async fn measure(args: &Args) -> Result<(), Failure> {
    for part in &args.part {
        println!();
        match part.as_str() {
            "durability" => durability::measure(args).await?,
            "instances" => instances::measure(args).await?,
            "contention" => contention::measure(args).await?,
            "outage" => outage::measure(args).await?,
            "bytes" => bytes::measure(args).await?,
            "size" => size::measure(args).await?,
            "watches" => watches::measure(args).await?,
            other => return Err(format!("there is no part `{other}`").into()),
        }
    }
    Ok(())
}
