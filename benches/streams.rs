//! How fast watchers of a match are told, and what a watcher costs that is told nothing, compared
//! with the least that a server on the same stack does.
//!
//! ```text
//! cargo bench --bench streams                       # everything, about 3 minutes
//! cargo bench --bench streams -- --quick            # a first impression
//! cargo bench --bench streams -- --part told --viewers 1000 --ahead 8
//! cargo bench --bench streams -- --part idle --store redis
//! cargo bench --bench streams -- --against PATH     # also another build of parlor
//! ```
//!
//! `told`: so many spectators watch one match of NeoN, over connections with at most 100 streams
//! each, while all its seats are played, one action after the other. The next action is sent when
//! all were told of the one before, or with `--ahead` of the one so many before. `bare` answers and
//! streams recorded bytes of the same sizes. A ratio is the middle one of all rounds, with the least
//! and the most behind it. Times run from when the action was sent until a viewer has the update, so
//! the commit is within them; the last two columns are the times of the action's own answer.
//!
//! `idle`: 5,000 streams on 1,000 matches. What the server's memory grows by is divided by their
//! number; likewise for connections without streams.

#![expect(clippy::print_stdout, reason = "a bench prints what it finds")]
#![expect(clippy::cast_precision_loss, reason = "figures are rounded anyway")]

mod load;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use clap::Parser;
use hdrhistogram::Histogram;
use parlor::proto::StreamViewRequest;
use parlor::proto::match_service_client::MatchServiceClient;
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tonic::Streaming;
use tonic::metadata::{Ascii, MetadataValue};
use tonic::transport::Channel;

use self::load::process::{Process, Redis, Server};
use self::load::ratio::{Ratios, median};
use self::load::recording::{Recording, stream};
use self::load::setup::{self, Setup, SetupArgs, this_build};
use self::load::table::{Table, asked};
use self::load::{Failure, connect, hour, locked, record};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// So many streams a connection carries.
const STREAMS: usize = 100;

/// Measures `StreamView`.
#[derive(Parser)]
struct Args {
    #[command(flatten)]
    setup: SetupArgs,
    /// What is measured.
    #[arg(long, value_delimiter = ',', default_value = "told,idle")]
    part: Vec<String>,
    /// How many watch the match.
    #[arg(long, value_delimiter = ',', default_value = "1,100,1000")]
    viewers: Vec<usize>,
    /// How many actions may be under way that not all were told of.
    #[arg(long, value_delimiter = ',', default_value = "1,8")]
    ahead: Vec<usize>,
    /// How many streams are idle.
    #[arg(long, default_value_t = 5_000)]
    idle_streams: usize,
    /// On how many matches.
    #[arg(long, default_value_t = 1_000)]
    idle_matches: usize,
}

fn main() -> Result<(), Failure> {
    let mut args = Args::parse();
    if args.setup.quick || !args.setup.bench {
        (args.setup.rounds, args.idle_streams, args.idle_matches) = (2, 500, 100);
    }
    setup::run(&args.setup, async |setup| measure(&args, setup).await)
}

async fn measure(args: &Args, setup: &Setup) -> Result<(), Failure> {
    for part in &args.part {
        for store in &args.setup.store {
            for runtime in &args.setup.runtime {
                let ours = setup.parlor(this_build(), store, runtime, &[])?;
                let mut contenders = vec![Contender::new("parlor", ours, None)];
                if let Some(other) = &args.setup.against {
                    let other = setup.parlor(other, store, runtime, &[])?;
                    contenders.push(Contender::new("the other parlor", other, None));
                }
                let bare = setup.baseline(runtime, None)?;
                let recording = Some(Arc::clone(&setup.recording));
                contenders.push(Contender::new("bare", bare, recording));
                if part == "idle" {
                    println!("\nidle, store {store}, runtime {runtime}");
                    idle(&contenders, args, &setup.redis).await?;
                    continue;
                }
                for (viewers, ahead) in
                    args.viewers.iter().flat_map(|v| args.ahead.iter().map(move |a| (*v, *a)))
                {
                    println!(
                        "\nstore {store}, runtime {runtime}, {viewers} viewers, {ahead} ahead"
                    );
                    told(&contenders, viewers, ahead, args).await?;
                }
            }
        }
    }
    Ok(())
}

/// A server that is measured.
struct Contender {
    name: &'static str,
    server: Server,
    /// What is asked of it instead of playing a match.
    replay: Option<Arc<Recording>>,
}

/// What one turn came to.
struct Turn {
    updates_per_second: f64,
    server_micros: f64,
}

/// The times of one contender, in nanoseconds.
struct Times {
    answers: Histogram<u64>,
    updates: Histogram<u64>,
}

impl Times {
    fn new() -> Result<Self, Failure> {
        Ok(Self { answers: hour()?, updates: hour()? })
    }
}

/// Lets all take turns, and prints what came of it.
async fn told(
    contenders: &[Contender],
    viewers: usize,
    ahead: usize,
    args: &Args,
) -> Result<(), Failure> {
    let mut results = Vec::new();
    for contender in contenders {
        results.push((Vec::new(), Arc::new(Mutex::new(Times::new()?))));
        // The first turn is not counted.
        let times = Arc::new(Mutex::new(Times::new()?));
        contender.turn(viewers, ahead, args.setup.seats, &times).await?;
    }
    // With few viewers a match is soon over.
    let matches = 300_usize.div_ceil(viewers).min(20);
    for _ in 0..args.setup.rounds {
        for (contender, (turns, times)) in contenders.iter().zip(&mut results) {
            let mut of_matches = Vec::new();
            for _ in 0..matches {
                of_matches.push(contender.turn(viewers, ahead, args.setup.seats, times).await?);
            }
            let mean = |what: fn(&Turn) -> f64| {
                of_matches.iter().map(what).sum::<f64>() / of_matches.len() as f64
            };
            turns.push(Turn {
                updates_per_second: mean(|turn| turn.updates_per_second),
                server_micros: mean(|turn| turn.server_micros),
            });
        }
    }
    println!(
        "{:20}{:>10}{:>9}{:>9}{:>12}{:>9}{:>9}   parlor's share of it",
        "", "updates/s", "p50 ms", "p99 ms", "server µs", "answer", "p99 ms"
    );
    let of =
        |turns: &[Turn], what: fn(&Turn) -> f64| -> Vec<f64> { turns.iter().map(what).collect() };
    let rates = |turns: &[Turn]| of(turns, |turn| turn.updates_per_second);
    for (contender, (turns, times)) in contenders.iter().zip(&results) {
        let times = locked(times);
        let millis =
            |times: &Histogram<u64>, quantile| times.value_at_quantile(quantile) as f64 / 1e6;
        println!(
            "{:20}{:>10.0}{:>9.2}{:>9.2}{:>12.1}{:>9.2}{:>9.2}   {}",
            contender.name,
            median(&rates(turns)),
            millis(&times.updates, 0.5),
            millis(&times.updates, 0.99),
            median(&of(turns, |turn| turn.server_micros)),
            millis(&times.answers, 0.5),
            millis(&times.answers, 0.99),
            Ratios::of(&rates(&results[0].0), &rates(turns)),
        );
    }
    Ok(())
}

/// How far the viewers of a match are.
#[derive(Default)]
struct Progress {
    /// When each action was sent.
    sent: Mutex<Vec<Instant>>,
    /// How many updates came in all.
    updates: AtomicU64,
    more: Notify,
}

impl Contender {
    fn new(name: &'static str, server: Server, replay: Option<Arc<Recording>>) -> Self {
        Self { name, server, replay }
    }

    /// Plays a match before so many viewers.
    async fn turn(
        &self,
        viewers: usize,
        ahead: usize,
        seats: usize,
        times: &Arc<Mutex<Times>>,
    ) -> Result<Turn, Failure> {
        let channels = connect(&self.server.address, viewers.div_ceil(STREAMS) + 1).await?;
        let mut client = MatchServiceClient::new(channels[0].clone());
        let table = match &self.replay {
            Some(_) => None,
            None => Some(Table::open(&mut client, seats).await?),
        };
        let match_id = table.as_ref().map(|table| table.match_id.clone()).unwrap_or_default();
        let progress = Arc::new(Progress::default());
        let mut watching = JoinSet::new();
        for viewer in 0..viewers {
            let request =
                StreamViewRequest { match_id: match_id.clone(), ..StreamViewRequest::default() };
            let mut stream = stream(&channels[1 + viewer / STREAMS], &request).await?;
            stream.message().await?.ok_or("no snapshot")?;
            watching.spawn(watch(stream, Arc::clone(&progress), Arc::clone(times)));
        }
        let cpu = self.server.process.cpu();
        let began = Instant::now();
        let mut act = Act { client, progress: &progress, times, viewers, ahead };
        let actions = match (table, &self.replay) {
            (Some(table), _) => act.play(table).await?,
            (None, Some(recording)) => act.replay(recording).await?,
            (None, None) => 0,
        };
        progress.wait(actions * viewers).await;
        let took = began.elapsed().as_secs_f64();
        let updates = (actions * viewers) as f64;
        let cpu = self.server.process.cpu().saturating_sub(cpu);
        Ok(Turn {
            updates_per_second: updates / took,
            server_micros: cpu.as_secs_f64() * 1e6 / updates,
        })
    }
}

impl Progress {
    /// Waits until there were so many updates.
    async fn wait(&self, updates: usize) {
        while self.updates.load(Ordering::Relaxed) < updates as u64 {
            self.more.notified().await;
        }
    }
}

/// Takes note of when updates come: one for each action, in order.
async fn watch(
    mut stream: Streaming<bytes::Bytes>,
    progress: Arc<Progress>,
    times: Arc<Mutex<Times>>,
) {
    let mut seen = 0;
    while let Ok(Some(_)) = stream.message().await {
        // What comes after the last action's update is the end.
        let Some(sent) = locked(&progress.sent).get(seen).copied() else { return };
        seen += 1;
        record(&mut locked(&times).updates, sent);
        progress.updates.fetch_add(1, Ordering::Relaxed);
        progress.more.notify_one();
    }
}

/// Who acts, no further ahead of the viewers than allowed.
struct Act<'a> {
    client: MatchServiceClient<Channel>,
    progress: &'a Progress,
    times: &'a Mutex<Times>,
    viewers: usize,
    ahead: usize,
}

impl Act<'_> {
    async fn play(&mut self, mut table: Table) -> Result<usize, Failure> {
        let mut actions = 0;
        while let Some(request) = table.next() {
            let sent = self.begin(actions).await;
            let answer = self.client.submit_action(request).await?.into_inner();
            record(&mut locked(self.times).answers, sent);
            table.take(answer);
            actions += 1;
        }
        Ok(actions)
    }

    async fn replay(&mut self, recording: &Recording) -> Result<usize, Failure> {
        let bearer: MetadataValue<Ascii> = recording.bearer.parse()?;
        for (actions, request) in recording.requests.iter().enumerate() {
            let sent = self.begin(actions).await;
            self.client.submit_action(asked(request.clone(), &bearer)).await?;
            record(&mut locked(self.times).answers, sent);
        }
        Ok(recording.requests.len())
    }

    /// Waits until the next action may be sent, after so many.
    async fn begin(&self, actions: usize) -> Instant {
        let told_of = (actions + 1).saturating_sub(self.ahead);
        self.progress.wait(told_of * self.viewers).await;
        let now = Instant::now();
        locked(&self.progress.sent).push(now);
        now
    }
}

/// Opens streams that are told nothing, and prints what they cost.
async fn idle(contenders: &[Contender], args: &Args, redis: &Redis) -> Result<(), Failure> {
    println!(
        "{:20}{:>17}{:>21}{:>19}{:>24}",
        "", "KiB a stream", "KiB a connection", "server % of core", "connections to Redis"
    );
    for contender in contenders {
        let process = &contender.server.process;
        let mut client =
            MatchServiceClient::new(connect(&contender.server.address, 1).await?.remove(0));
        let mut ids = vec![String::new()];
        if contender.replay.is_none() {
            ids.clear();
            for _ in 0..args.idle_matches {
                ids.push(Table::open(&mut client, args.setup.seats).await?.match_id);
            }
        }
        let redis_before = redis.connections().await?;
        let before = resident(process);
        let connections = args.idle_streams.div_ceil(STREAMS);
        // More of them than carry streams, so that it is more than noise.
        let channels = connect(&contender.server.address, connections * 8).await?;
        settle().await;
        let connected = resident(process);
        let mut streams = Vec::new();
        for index in 0..args.idle_streams {
            let match_id = ids[index % ids.len()].clone();
            let request = StreamViewRequest { match_id, ..StreamViewRequest::default() };
            let mut stream = stream(&channels[index / STREAMS], &request).await?;
            stream.message().await?.ok_or("no snapshot")?;
            streams.push(stream);
        }
        settle().await;
        let open = resident(process);
        let redis_open = redis.connections().await?;
        let cpu = process.cpu();
        let began = Instant::now();
        tokio::time::sleep(Duration::from_secs(if args.setup.quick { 1 } else { 8 })).await;
        let share = process.cpu().saturating_sub(cpu).as_secs_f64() / began.elapsed().as_secs_f64();
        let kib = |from: u64, to: u64, count: usize| {
            to.saturating_sub(from) as f64 / 1024.0 / count as f64
        };
        println!(
            "{:20}{:>17.1}{:>21.1}{:>19.1}{:>24}",
            contender.name,
            kib(connected, open, streams.len()),
            kib(before, connected, channels.len()),
            share * 100.0,
            format!("{redis_before} before, {redis_open} after"),
        );
    }
    Ok(())
}

/// How much memory a process has, in bytes.
fn resident(process: &Process) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", process.id()));
    let kib = status.ok().and_then(|status| {
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        line.trim().strip_suffix(" kB")?.parse::<u64>().ok()
    });
    kib.unwrap_or(0) * 1024
}

/// Lets a server finish what it does in the background.
async fn settle() {
    tokio::time::sleep(Duration::from_millis(500)).await;
}
