//! How many actions the service takes, and how fast, compared with the least that a server on the
//! same stack does for the same call.
//!
//! ```text
//! cargo bench --bench service                                    # everything, about 5 minutes
//! cargo bench --bench service -- --quick                         # a first impression
//! cargo bench --bench service -- --store redis --runtime shared --in-flight 64 --rounds 9
//! cargo bench --bench service -- --against PATH                  # also another build of parlor
//! ```
//!
//! So many workers as are in flight each play matches of NeoN, all seats of them, one action after
//! the other; only `SubmitAction` is counted. The service is the real binary in a process of its
//! own. What it is compared with is another process:
//!
//! - `bare`: a unary call that answers with recorded bytes of the same sizes;
//! - `bare + script`: the same after one script in Redis that compares, appends to a stream, sets as
//!   many bytes as a snapshot has, and publishes;
//! - `bare + own script`: the same with the script of the service, which does more;
//! - the service with the other shape of runtime.
//!
//! They take turns, a slice each, round by round. A ratio is the middle one of all rounds, with the
//! least and the most behind it: if these lie far apart, something else was running. The processor
//! time of a server for each call is steadier than the calls a second.

#![expect(clippy::print_stdout, reason = "a bench prints what it finds")]
#![expect(
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "figures are rounded anyway"
)]

mod load;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use clap::Parser;
use hdrhistogram::Histogram;
use parlor::proto::match_service_client::MatchServiceClient;
use tokio::runtime::Builder;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tonic::metadata::{Ascii, MetadataValue};
use tonic::transport::Channel;

use self::load::baseline::Role;
use self::load::process::{Redis, Server};
use self::load::ratio::{Ratios, median};
use self::load::recording::Recording;
use self::load::table::{Table, asked};
use self::load::{Failure, baseline, connect};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Measures `SubmitAction`.
#[derive(Parser)]
struct Args {
    #[command(subcommand)]
    role: Option<Role>,
    /// Cargo says this; without it, everything runs only once and briefly.
    #[arg(long, hide = true)]
    bench: bool,
    /// Few and short rounds, and only 1 and 64 in flight.
    #[arg(long)]
    quick: bool,
    /// Where matches are kept.
    #[arg(long, value_delimiter = ',', default_value = "memory,redis")]
    store: Vec<String>,
    /// The shapes of the servers' runtimes.
    #[arg(long, value_delimiter = ',', default_value = "shared,per-core")]
    runtime: Vec<String>,
    /// How many calls are in flight.
    #[arg(long, value_delimiter = ',', default_value = "1,16,64,256")]
    in_flight: Vec<usize>,
    /// How often each has its turn.
    #[arg(long, default_value_t = 7)]
    rounds: usize,
    /// How long a turn is, in seconds.
    #[arg(long, default_value_t = 0.7)]
    seconds: f64,
    /// How many connections carry the calls.
    #[arg(long, default_value_t = 8)]
    connections: usize,
    /// How many seats the matches have.
    #[arg(long, default_value_t = 4)]
    seats: usize,
    /// What the service logs, to nowhere.
    #[arg(long, default_value = "info")]
    log: String,
    /// Another build of the service, to compare with this one.
    #[arg(long, value_name = "PATH")]
    against: Option<PathBuf>,
}

fn main() -> Result<(), Failure> {
    let mut args = Args::parse();
    if let Some(Role::Baseline(args)) = &args.role {
        return baseline::serve(args);
    }
    if args.quick {
        (args.rounds, args.seconds, args.in_flight) = (3, 0.3, vec![1, 64]);
    }
    if !args.bench {
        (args.rounds, args.seconds) = (1, 0.05);
    }
    // One thread: the servers need the cores.
    Builder::new_current_thread().enable_all().build()?.block_on(compare(&args))
}

async fn compare(args: &Args) -> Result<(), Failure> {
    let redis = Redis::start().await?;
    let folder = tempfile::tempdir()?;
    let recorded = folder.path().join("recording");
    let recording = {
        let binary = Path::new(env!("CARGO_BIN_EXE_parlor"));
        let server = Server::parlor(binary, &redis.url, "shared", "error")?;
        Recording::make(&connect(&server.address, 1).await?[0], &redis, args.seats).await?
    };
    recording.write(&recorded)?;
    println!("{} seats, {}", args.seats, recording.describe());
    let recording = Arc::new(recording);

    for store in &args.store {
        for runtime in &args.runtime {
            let set = Set { args, redis: &redis, recorded: &recorded, recording: &recording };
            let mut contenders = set.start(store, runtime).await?;
            for in_flight in &args.in_flight {
                println!("\nstore {store}, runtime {runtime}, {in_flight} in flight");
                round_robin(&mut contenders, *in_flight, args, &redis).await?;
            }
        }
    }
    Ok(())
}

/// What contenders are started with.
struct Set<'a> {
    args: &'a Args,
    redis: &'a Redis,
    recorded: &'a Path,
    recording: &'a Arc<Recording>,
}

impl Set<'_> {
    /// The service first, then what it is compared with.
    async fn start(&self, store: &str, runtime: &str) -> Result<Vec<Contender>, Failure> {
        let Self { args, redis, recorded, recording } = self;
        let in_redis = store == "redis";
        let url = if in_redis { redis.url.as_str() } else { "memory" };
        let parlor = |binary: &Path| Server::parlor(binary, url, runtime, &args.log);
        let play = || Work::Play(Arc::default(), args.seats);
        let mut servers =
            vec![("parlor", parlor(Path::new(env!("CARGO_BIN_EXE_parlor")))?, play())];
        let (name, shape) = match runtime {
            "shared" => ("parlor per-core", "per-core"),
            _ => ("parlor shared", "shared"),
        };
        let binary = Path::new(env!("CARGO_BIN_EXE_parlor"));
        servers.push((name, Server::parlor(binary, url, shape, &args.log)?, play()));
        if let Some(other) = &args.against {
            servers.push(("the other parlor", parlor(other)?, play()));
        }
        let scripts: &[(&str, &str)] = if in_redis {
            &[("bare + script", "lean"), ("bare + own script", "own")]
        } else {
            &[("bare", "none")]
        };
        for (name, script) in scripts {
            let url = in_redis.then_some(redis.url.as_str());
            let server = Server::baseline(recorded, runtime, url, script)?;
            servers.push((*name, server, Work::Replay(Arc::clone(recording))));
        }
        let mut contenders = Vec::new();
        for (name, server, work) in servers {
            let channels = connect(&server.address, args.connections).await?;
            contenders.push(Contender { name, server, channels, work });
        }
        Ok(contenders)
    }
}

/// A server that is measured.
struct Contender {
    name: &'static str,
    server: Server,
    channels: Vec<Channel>,
    work: Work,
}

/// What a worker asks for.
#[derive(Clone)]
enum Work {
    /// Moves in matches with so many seats; these are to be played, or were left.
    Play(Arc<Mutex<Vec<Table>>>, usize),
    /// What was recorded.
    Replay(Arc<Recording>),
}

/// What one turn came to.
struct Slice {
    calls_per_second: f64,
    server_micros: f64,
    redis_micros: f64,
}

/// Lets all take turns, and prints what came of it.
async fn round_robin(
    contenders: &mut [Contender],
    in_flight: usize,
    args: &Args,
    redis: &Redis,
) -> Result<(), Failure> {
    let time = Duration::from_secs_f64(args.seconds);
    let mut results: Vec<(Vec<Slice>, Histogram<u64>)> = Vec::new();
    for contender in contenders.iter_mut() {
        // The first turn is not counted; it also tells how many matches a turn takes.
        let first = contender.turn(in_flight, time / 2, redis, &new_histogram()?).await?;
        contender.prepare(in_flight, first.calls_per_second * args.seconds * 1.5).await?;
        results.push((Vec::new(), hour()?));
    }
    for _ in 0..args.rounds {
        for (contender, (slices, times)) in contenders.iter_mut().zip(&mut results) {
            let turn = new_histogram()?;
            let slice = contender.turn(in_flight, time, redis, &turn).await?;
            contender.prepare(in_flight, slice.calls_per_second * args.seconds * 1.2).await?;
            times.add(&*locked(&turn))?;
            slices.push(slice);
        }
    }
    print(contenders, &results);
    Ok(())
}

fn print(contenders: &[Contender], results: &[(Vec<Slice>, Histogram<u64>)]) {
    println!(
        "{:20}{:>10}{:>9}{:>9}{:>12}{:>12}   parlor's share of it",
        "", "calls/s", "p50 ms", "p99 ms", "server µs", "redis µs"
    );
    let of = |slices: &[Slice], what: fn(&Slice) -> f64| -> Vec<f64> {
        slices.iter().map(what).collect()
    };
    let rates = |slices: &[Slice]| of(slices, |slice| slice.calls_per_second);
    for (contender, (slices, times)) in contenders.iter().zip(results) {
        let millis = |quantile| times.value_at_quantile(quantile) as f64 / 1e6;
        println!(
            "{:20}{:>10.0}{:>9.2}{:>9.2}{:>12.1}{:>12.1}   {}",
            contender.name,
            median(&rates(slices)),
            millis(0.5),
            millis(0.99),
            median(&of(slices, |slice| slice.server_micros)),
            median(&of(slices, |slice| slice.redis_micros)),
            Ratios::of(&rates(&results[0].0), &rates(slices)),
        );
    }
}

impl Contender {
    /// Keeps so many calls in flight for so long.
    async fn turn(
        &self,
        in_flight: usize,
        time: Duration,
        redis: &Redis,
        times: &Arc<Mutex<Histogram<u64>>>,
    ) -> Result<Slice, Failure> {
        let cpu = || (self.server.process.cpu(), redis.process.cpu());
        let (server_before, redis_before) = cpu();
        let began = Instant::now();
        let mut workers = JoinSet::new();
        for worker in 0..in_flight {
            let client =
                MatchServiceClient::new(self.channels[worker % self.channels.len()].clone());
            let (work, times) = (self.work.clone(), Arc::clone(times));
            workers.spawn(async move {
                match work {
                    Work::Play(tables, seats) => {
                        play(client, &tables, seats, began + time, &times).await
                    }
                    Work::Replay(recording) => {
                        replay(client, &recording, worker, began + time, &times).await
                    }
                }
            });
        }
        while let Some(worker) = workers.join_next().await {
            worker??;
        }
        let took = began.elapsed().as_secs_f64();
        let (server_after, redis_after) = cpu();
        let calls = locked(times).len() as f64;
        let micros = |before: Duration, after: Duration| {
            after.saturating_sub(before).as_secs_f64() * 1e6 / calls
        };
        Ok(Slice {
            calls_per_second: calls / took,
            server_micros: micros(server_before, server_after),
            redis_micros: micros(redis_before, redis_after),
        })
    }

    /// Creates as many matches as so many calls may take.
    async fn prepare(&self, in_flight: usize, calls: f64) -> Result<(), Failure> {
        let Work::Play(tables, seats) = &self.work else { return Ok(()) };
        // A match with two seats has the fewest actions, about fifty.
        let wanted = in_flight + (calls / 50.0) as usize;
        let missing = wanted.saturating_sub(locked(tables).len());
        let mut workers = JoinSet::new();
        for share in 0..16 {
            let mut client =
                MatchServiceClient::new(self.channels[share % self.channels.len()].clone());
            let (tables, seats) = (Arc::clone(tables), *seats);
            workers.spawn(async move {
                for _ in 0..missing.div_ceil(16) {
                    let table = Table::open(&mut client, seats).await?;
                    locked(&tables).push(table);
                }
                Ok::<_, Failure>(())
            });
        }
        while let Some(worker) = workers.join_next().await {
            worker??;
        }
        Ok(())
    }
}

/// Plays one match after the other, until it is time.
async fn play(
    mut client: MatchServiceClient<Channel>,
    tables: &Mutex<Vec<Table>>,
    seats: usize,
    until: Instant,
    times: &Mutex<Histogram<u64>>,
) -> Result<(), Failure> {
    while Instant::now() < until {
        let kept = locked(tables).pop();
        let mut table = match kept {
            Some(table) => table,
            None => Table::open(&mut client, seats).await?,
        };
        while let Some(request) = table.next() {
            let began = Instant::now();
            if began >= until {
                locked(tables).push(table);
                break;
            }
            let answer = client.submit_action(request).await?.into_inner();
            record(times, began);
            table.take(answer);
        }
    }
    Ok(())
}

/// Asks what was recorded, until it is time.
async fn replay(
    mut client: MatchServiceClient<Channel>,
    recording: &Recording,
    first: usize,
    until: Instant,
    times: &Mutex<Histogram<u64>>,
) -> Result<(), Failure> {
    let bearer: MetadataValue<Ascii> = recording.bearer.parse()?;
    for request in recording.requests.iter().cycle().skip(first) {
        let began = Instant::now();
        if began >= until {
            break;
        }
        client.submit_action(asked(request.clone(), &bearer)).await?;
        record(times, began);
    }
    Ok(())
}

fn new_histogram() -> Result<Arc<Mutex<Histogram<u64>>>, Failure> {
    Ok(Arc::new(Mutex::new(hour()?)))
}

/// For times up to an hour, in nanoseconds.
fn hour() -> Result<Histogram<u64>, Failure> {
    Ok(Histogram::new_with_max(3_600_000_000_000, 3)?)
}

fn record(times: &Mutex<Histogram<u64>>, began: Instant) {
    let nanos = u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
    locked(times).saturating_record(nanos);
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
