//! How many actions the service takes, and how fast, compared with the least that a server on the
//! same stack does for the same call.
//!
//! ```text
//! cargo bench --bench service                                    # everything, about 5 minutes
//! cargo bench --bench service -- --quick                         # a first impression
//! cargo bench --bench service -- --store redis --runtime shared --in-flight 64 --rounds 9
//! cargo bench --bench service -- --against PATH                  # also another build of parlor
//! cargo bench --bench service -- --beside metrics,traces-5,traces-100,tls
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
//! - the service with the other shape of runtime;
//! - if asked for, the service set otherwise: with metrics; with metrics and traces sent to a
//!   collector, 5 % or all of them; with TLS.
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

mod collector;
#[path = "../load/mod.rs"]
mod load;
mod variants;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use clap::Parser;
use hdrhistogram::Histogram;
use parlor::proto::match_service_client::MatchServiceClient;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tonic::metadata::{Ascii, MetadataValue};
use tonic::transport::Channel;

use self::collector::Collector;
use self::load::process::{Redis, Server};
use self::load::ratio::{Ratios, median};
use self::load::recording::Recording;
use self::load::setup::{self, Setup, SetupArgs, this_build};
use self::load::table::{Table, asked};
use self::load::{Failure, connect, hour, locked, record};
use self::variants::Variants;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Measures `SubmitAction`.
#[derive(Parser)]
struct Args {
    #[command(flatten)]
    setup: SetupArgs,
    /// What takes turns with the service: `shape`, `bare`, `metrics`, `traces-5`, `traces-100`,
    /// `tls`.
    #[arg(long, value_delimiter = ',', default_value = "shape,bare")]
    beside: Vec<String>,
    /// How many calls are in flight.
    #[arg(long, value_delimiter = ',', default_value = "1,16,64,256")]
    in_flight: Vec<usize>,
    /// How long a turn is, in seconds.
    #[arg(long, default_value_t = 0.7)]
    seconds: f64,
    /// How many connections carry the calls.
    #[arg(long, default_value_t = 8)]
    connections: usize,
}

fn main() -> Result<(), Failure> {
    let mut args = Args::parse();
    if args.setup.quick {
        (args.setup.rounds, args.seconds, args.in_flight) = (3, 0.3, vec![1, 64]);
    }
    if !args.setup.bench {
        (args.setup.rounds, args.seconds) = (1, 0.05);
    }
    setup::run(&args.setup, async |setup| compare(&args, setup).await)
}

async fn compare(args: &Args, setup: &Setup) -> Result<(), Failure> {
    let variants = Variants::new().await?;
    for store in &args.setup.store {
        for runtime in &args.setup.runtime {
            let set = Set { args, setup, variants: &variants, store, runtime };
            let mut contenders = set.start().await?;
            for in_flight in &args.in_flight {
                println!("\nstore {store}, runtime {runtime}, {in_flight} in flight");
                let (redis, collector) = (&setup.redis, &variants.collector);
                round_robin(&mut contenders, *in_flight, args, redis, collector).await?;
            }
        }
    }
    Ok(())
}

/// What contenders are started with.
struct Set<'a> {
    args: &'a Args,
    setup: &'a Setup,
    variants: &'a Variants,
    store: &'a str,
    runtime: &'a str,
}

impl Set<'_> {
    /// The service first, then what it is compared with.
    async fn start(&self) -> Result<Vec<Contender>, Failure> {
        let Self { args, setup, store, runtime, .. } = *self;
        let ours = setup.parlor(this_build(), store, runtime, &[])?;
        let mut contenders = vec![self.play("parlor", ours).await?];
        if let Some(other) = &args.setup.against {
            let other = setup.parlor(other, store, runtime, &[])?;
            contenders.push(self.play("the other parlor", other).await?);
        }
        for beside in &args.beside {
            match beside.as_str() {
                "shape" => {
                    let (name, shape) = match runtime {
                        "shared" => ("parlor per-core", "per-core"),
                        _ => ("parlor shared", "shared"),
                    };
                    let server = setup.parlor(this_build(), store, shape, &[])?;
                    contenders.push(self.play(name, server).await?);
                }
                "bare" if store == "memory" => contenders.push(self.replay("bare", None).await?),
                "bare" => {
                    contenders.push(self.replay("bare + script", Some("lean")).await?);
                    contenders.push(self.replay("bare + own script", Some("own")).await?);
                }
                variant => contenders.push(self.vary(variant).await?),
            }
        }
        Ok(contenders)
    }

    /// The service.
    async fn play(&self, name: &'static str, server: Server) -> Result<Contender, Failure> {
        let channels = connect(&server.address, self.args.connections).await?;
        let work = Work::Play(Arc::default(), self.args.setup.seats);
        Ok(Contender { name, server, channels, work })
    }

    /// The baseline.
    async fn replay(&self, name: &'static str, script: Option<&str>) -> Result<Contender, Failure> {
        let server = self.setup.baseline(self.runtime, script)?;
        let channels = connect(&server.address, self.args.connections).await?;
        let work = Work::Replay(Arc::clone(&self.setup.recording));
        Ok(Contender { name, server, channels, work })
    }

    /// The service, set otherwise.
    async fn vary(&self, name: &str) -> Result<Contender, Failure> {
        let Self { args, setup, variants, store, runtime } = *self;
        let variant = variants.find(name).ok_or_else(|| format!("--beside: no {name}"))?;
        let server = setup.parlor(this_build(), store, runtime, &variant.flags)?;
        let channels = variants.connect(&variant, &server.address, args.connections).await?;
        let work = Work::Play(Arc::default(), args.setup.seats);
        Ok(Contender { name: variant.name, server, channels, work })
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
    /// How many spans came to the collector for each call.
    spans: f64,
}

/// Lets all take turns, and prints what came of it.
async fn round_robin(
    contenders: &mut [Contender],
    in_flight: usize,
    args: &Args,
    redis: &Redis,
    collector: &Collector,
) -> Result<(), Failure> {
    let time = Duration::from_secs_f64(args.seconds);
    let mut results: Vec<(Vec<Slice>, Histogram<u64>)> = Vec::new();
    for contender in contenders.iter_mut() {
        // The first turn is not counted; it also tells how many matches a turn takes.
        let first =
            contender.turn(in_flight, time / 2, redis, collector, &new_histogram()?).await?;
        contender.prepare(in_flight, first.calls_per_second * args.seconds * 1.5).await?;
        results.push((Vec::new(), hour()?));
    }
    for _ in 0..args.setup.rounds {
        for (contender, (slices, times)) in contenders.iter_mut().zip(&mut results) {
            let turn = new_histogram()?;
            let slice = contender.turn(in_flight, time, redis, collector, &turn).await?;
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
        "{:20}{:>10}{:>9}{:>9}{:>12}{:>12}{:>8}   parlor's share of it",
        "", "calls/s", "p50 ms", "p99 ms", "server µs", "redis µs", "spans"
    );
    let of = |slices: &[Slice], what: fn(&Slice) -> f64| -> Vec<f64> {
        slices.iter().map(what).collect()
    };
    let rates = |slices: &[Slice]| of(slices, |slice| slice.calls_per_second);
    for (contender, (slices, times)) in contenders.iter().zip(results) {
        let millis = |quantile| times.value_at_quantile(quantile) as f64 / 1e6;
        println!(
            "{:20}{:>10.0}{:>9.2}{:>9.2}{:>12.1}{:>12.1}{:>8.2}   {}",
            contender.name,
            median(&rates(slices)),
            millis(0.5),
            millis(0.99),
            median(&of(slices, |slice| slice.server_micros)),
            median(&of(slices, |slice| slice.redis_micros)),
            median(&of(slices, |slice| slice.spans)),
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
        collector: &Collector,
        times: &Arc<Mutex<Histogram<u64>>>,
    ) -> Result<Slice, Failure> {
        let cpu = || (self.server.process.cpu(), redis.process.cpu());
        let (server_before, redis_before) = cpu();
        let spans_before = collector.spans();
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
            spans: (collector.spans() - spans_before) as f64 / calls,
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
            record(&mut locked(times), began);
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
        record(&mut locked(times), began);
    }
    Ok(())
}

fn new_histogram() -> Result<Arc<Mutex<Histogram<u64>>>, Failure> {
    Ok(Arc::new(Mutex::new(hour()?)))
}
