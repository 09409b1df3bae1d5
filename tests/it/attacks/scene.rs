//! A server that is attacked, and players who are not to notice.
//!
//! Players have no patience: an error that they would get over ends the test. They think before they
//! act, so that the machine is not theirs alone. How long their actions take is printed and not judged,
//! because others use it, too; beside what it was in peace, and what it was while another server on the
//! same machine was attacked. `PARLOR_TEST_ATTACK_SECS` makes each attack last longer, for figures.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::future::join_all;
use parlor::client::{Client, Followed, Patience};
use parlor::proto::game_options::Game;
use parlor::proto::{MatchState, NeonOptions};
use tokio::time::Instant;

use crate::instance::Table;
use crate::metrics::get;
use crate::process::Process;
use crate::{eventually, number, within};

/// How much memory an attack may cost.
const COST: u64 = 96 * 1024 * 1024;

/// How long an attack may take on a machine that has much else to do, where a few seconds do.
const PATIENCE: Duration = Duration::from_secs(300);

/// How many matches are played at once.
const TABLES: usize = 2;

/// How long players think before each action.
const THOUGHT: Duration = Duration::from_millis(3);

/// What every server here is set to, so that only attackers meet limits.
const FLAGS: [&str; 5] = [
    "--rate-limits=on",
    "--seat-rate=off",
    "--match-rate=off",
    "--create-rate=off",
    "--admin-listen=127.0.0.1:0",
];

/// A server, and a match there that attackers may know.
struct Target {
    process: Process,
    client: Client,
    known: Table,
}

impl Target {
    async fn start(flags: &[&str]) -> Self {
        let process = Process::start(flags);
        let client = players(&process);
        let known = Table::create(&client, Game::Neon(NeonOptions::default()), 3).await;
        Self { process, client, known }
    }
}

/// A server at which matches are played, and what is known of it before it is attacked.
pub struct Scene {
    ours: Target,
    /// Another one, for comparison: who plays at ours then shares the machine with the attack, and
    /// nothing else.
    other: Target,
    quiet: Vec<Duration>,
    memory: u64,
    connections: f64,
}

impl Scene {
    /// A server with more flags, at which matches were played in peace.
    pub async fn set(flags: &[&str]) -> Self {
        let flags: Vec<_> = FLAGS.iter().chain(flags).copied().collect();
        let (ours, other) = (Target::start(&flags).await, Target::start(&flags).await);
        let began = Instant::now();
        let quiet = play(&ours.client, || began.elapsed() >= duration()).await;
        let connections = gauge(&ours.process, "parlor_connections_open").await;
        let memory = ours.process.memory();
        Self { ours, other, quiet, memory, connections }
    }

    /// Plays the match that attackers know to its end.
    pub async fn play_what_is_known(&self) {
        for target in [&self.ours, &self.other] {
            target.known.play(usize::MAX).await;
        }
    }

    /// Attacks while matches are played; then looks at what is left. The attacker is told the
    /// server's address and a match.
    pub async fn attack(mut self, attack: impl AsyncFn(&str, &str) + Send + Sync + 'static) {
        let attack = Arc::new(attack);
        let mut elsewhere = self.play_beside(&self.other, &attack).await;
        let mut here = self.play_beside(&self.ours, &attack).await;

        let grown = self.ours.process.peak_memory().saturating_sub(self.memory);
        report(&mut self.quiet, &mut elsewhere, &mut here, grown);
        assert!(grown < COST, "{} KiB more", grown / 1024);
        within(Duration::from_secs(5), "all that attacked are gone", async || {
            let streams = gauge(&self.ours.process, "parlor_streams_open").await;
            let connections = gauge(&self.ours.process, "parlor_connections_open").await;
            (streams < 0.5 && connections <= self.connections + 0.5).then_some(())
        })
        .await;
        play(&players(&self.ours.process), || true).await;
        self.ours.process.terminate();
        assert_eq!(self.ours.process.ended().await.code(), Some(0));
    }

    /// Plays at our server while this one is attacked; gives how long actions took.
    async fn play_beside<A>(&self, target: &Target, attack: &Arc<A>) -> Vec<Duration>
    where
        A: AsyncFn(&str, &str) + Send + Sync + 'static,
    {
        let over = AtomicBool::new(false);
        let attacking = async {
            let (address, known) = (target.process.address().to_owned(), target.known.id.clone());
            let attack = Arc::clone(attack);
            let attacking =
                tokio::task::spawn_blocking(move || keep_on(|| attack(&address, &known)));
            attacking.await.expect("it went as the attacker thought");
            over.store(true, Ordering::Relaxed);
        };
        let enough = || over.load(Ordering::Relaxed);
        let both = async { tokio::join!(attacking, play(&self.ours.client, enough)) };
        let both = tokio::time::timeout(PATIENCE + duration(), both).await;
        both.expect("it comes to an end").1
    }
}

/// For how long there is peace and then war, beyond what one attack and whole matches take.
fn duration() -> Duration {
    Duration::from_secs(number("PARLOR_TEST_ATTACK_SECS").unwrap_or(0))
}

/// Attacks again and again, at least once, on a thread of the least priority: players and the server
/// are not to wait for a processor that in truth is the attacker's own.
fn keep_on(attack: impl AsyncFn()) {
    rustix::process::nice(19).expect("one may always ask for less");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(async {
        let began = Instant::now();
        attack().await;
        while began.elapsed() < duration() {
            attack().await;
        }
    });
}

/// A client for who must not see an error.
fn players(process: &Process) -> Client {
    process.client().with_patience(Patience { total: Duration::ZERO, ..Patience::default() })
}

/// Plays whole matches until it is enough, at least one at each table, while someone watches each;
/// gives how long actions took.
async fn play(client: &Client, enough: impl Fn() -> bool) -> Vec<Duration> {
    let tables = (0..TABLES).map(|_| async {
        let mut times = Vec::new();
        loop {
            let table = Table::create(client, Game::Neon(NeonOptions::default()), 3).await;
            let (played, ()) = tokio::join!(play_one(&table), watch(client, &table));
            times.extend(played);
            if enough() {
                return times;
            }
        }
    });
    join_all(tables).await.concat()
}

/// Plays a match to its end; gives how long each action took.
async fn play_one(table: &Table) -> Vec<Duration> {
    let mut times = Vec::new();
    loop {
        let view = table.seats[0].view().await.expect("a view");
        if view.state() != MatchState::Playing {
            return times;
        }
        tokio::time::sleep(THOUGHT).await;
        let decision = view.decisions[0];
        let seat = &table.seats[decision.seat as usize];
        let action = seat.view().await.expect("a view").legal_actions[0].clone();
        let since = Instant::now();
        seat.act(action, Some(decision.decision)).await.expect("a legal action");
        times.push(since.elapsed());
    }
}

/// Watches a match from its beginning to its end, on one stream.
async fn watch(client: &Client, table: &Table) {
    let mut follow = client.at(&table.id, None).unwrap().follow_from_the_start();
    let mut next = 1;
    while let Some(told) = follow.next().await.expect("no error") {
        assert!(matches!(told, Followed::Update { version, .. } if version == next));
        next += 1;
    }
    assert_eq!(follow.resumed(), 0);
}

/// One number of the server's metrics.
async fn gauge(process: &Process, name: &str) -> f64 {
    let admin = process.admin().expect("a port for operators");
    let prefix = format!("{name} ");
    eventually("it is measured", async || {
        let (_, text) = get(&admin, "/metrics").await;
        text.lines().find_map(|line| line.strip_prefix(&prefix)?.parse().ok())
    })
    .await
}

#[expect(clippy::print_stdout, reason = "figures are read, not judged")]
fn report(quiet: &mut [Duration], elsewhere: &mut [Duration], here: &mut [Duration], grown: u64) {
    let [quiet, elsewhere, here] = [quiet, elsewhere, here].map(|times| {
        times.sort_unstable();
        let at = |index: usize| times[index.min(times.len() - 1)].as_secs_f64() * 1000.0;
        [at(times.len() / 2), at(times.len() * 99 / 100)]
    });
    println!(
        "{}: actions took {:.1} ms, 99 of 100 at most {:.1}; in peace {:.1} and {:.1}, with the attack \
         elsewhere {:.1} and {:.1}, so {:.1} and {:.1} times as long; {} KiB more at most",
        std::thread::current().name().unwrap_or_default(),
        here[0],
        here[1],
        quiet[0],
        quiet[1],
        elsewhere[0],
        elsewhere[1],
        here[1] / quiet[1],
        here[1] / elsewhere[1],
        grown / 1024,
    );
}
