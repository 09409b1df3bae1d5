//! The commands that call a server, as a person runs them.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;

use parlor::proto::game_options::Game;
use parlor::proto::{
    CreateMatchRequest, CreateMatchResponse, GameOptions, NeonOptions, NewSeat, SeatKind,
    Visibility,
};
use parlor::store::MemoryStore;

use crate::eventually;
use crate::instance::Instance;
use crate::metrics::get;

/// Runs the command against an instance, and gives what it said.
async fn parlor(instance: &Instance, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_parlor"));
    command.args(words).args(["--server", &instance.url]);
    tokio::task::spawn_blocking(move || command.output().expect("it runs")).await.unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_match_of_every_game_is_played_and_then_verified() {
    let instance = Instance::start(Arc::new(MemoryStore::default()), &[]);
    for game in parlor::games::IDS {
        let played = parlor(&instance, &["play", "--game", game]).await;
        assert!(played.status.success(), "{played:?}");
        let told = said(&played);
        assert!(told.contains("over: "), "{told}");
        let id = told.lines().find_map(|line| line.strip_prefix("match ")).expect("its id");

        let verified = parlor(&instance, &["verify", id]).await;
        assert!(verified.status.success(), "{verified:?}");
        let other = "00".repeat(32);
        let verified = parlor(&instance, &["verify", id, "--commitment", &other]).await;
        assert!(!verified.status.success(), "another commitment");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_server_refuses_is_explained() {
    let instance = Instance::start(Arc::new(MemoryStore::default()), &[]);
    let refused = parlor(&instance, &["play", "--game", "candy", "--seats", "5"]).await;
    assert!(!refused.status.success());
    let told = String::from_utf8_lossy(&refused.stderr);
    assert!(told.contains("INVALID_FIELD") && told.contains("57") && told.contains("65"), "{told}");
}

/// A match of NeoN in which the first seat is Anna's, and others are open.
async fn with_open_seats(instance: &Instance, open: usize) -> CreateMatchResponse {
    let anna =
        NewSeat { kind: SeatKind::Taken.into(), name: "Anna".to_owned(), ..NewSeat::default() };
    let others = vec![NewSeat { kind: SeatKind::Open.into(), ..NewSeat::default() }; open];
    let request = CreateMatchRequest {
        options: Some(GameOptions {
            game: Some(Game::Neon(NeonOptions { first_player: Some(0) })),
        }),
        seats: [vec![anna], others].concat(),
        visibility: Visibility::Public.into(),
        ..CreateMatchRequest::default()
    };
    instance.client().create_match(request).await.expect("created")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_player_says_for_whom_it_waits_and_gives_up_in_the_end() {
    let instance = Instance::start(Arc::new(MemoryStore::default()), &[]);
    for (open, awaited) in [(1, "seat 0 (\"Anna\") to act"), (3, "seat 2 and seat 3 to be taken")] {
        let code = with_open_seats(&instance, open).await.join_code;
        let left = parlor(&instance, &["play", "--join", &code, "--wait", "200ms"]).await;
        assert_eq!(left.status.code(), Some(1), "{left:?}");
        assert!(said(&left).contains(&format!("waiting for {awaited}\n")), "{left:?}");
        let told = String::from_utf8_lossy(&left.stderr);
        assert_eq!(told, format!("parlor: gave up after waiting 200ms for {awaited}\n"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_player_that_waited_plays_on() {
    let instance = Instance::start(Arc::new(MemoryStore::default()), &[]);
    let created = with_open_seats(&instance, 1).await;
    let mut command = Command::new(env!("CARGO_BIN_EXE_parlor"));
    command.args([
        "play",
        "--server",
        &instance.url,
        "--join",
        &created.join_code,
        "--wait",
        "50s",
    ]);
    let mut player = Running(command.stdout(Stdio::piped()).spawn().expect("it is built"));
    let mut lines = player.lines();
    assert!(lines.any(|line| line == "waiting for seat 0 (\"Anna\") to act"), "it says nothing");

    let match_id = created.r#match.expect("a match").match_id;
    let anna = instance.client().at(&match_id, Some(&created.seat_tokens[0].token)).unwrap();
    let action = anna.view().await.expect("a view").legal_actions.remove(0);
    anna.act(action, None).await.expect("accepted");
    assert!(lines.any(|line| line.trim_start().starts_with("4: seat 1 ")), "it does not play");
}

/// A command that runs until this is dropped.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Running {
    /// What it says.
    fn lines(&mut self) -> impl Iterator<Item = String> + use<> {
        let lines = BufReader::new(self.0.stdout.take().expect("a pipe")).lines();
        lines.map(|line| line.expect("text"))
    }
}

/// A probe.
struct Probe {
    _running: Running,
    admin: String,
}

impl Probe {
    /// Starts one that plays at this address, this often.
    fn start(url: &str, every: &str) -> Self {
        let child = Command::new(env!("CARGO_BIN_EXE_parlor"))
            .args(["probe", "--server", url, "--every", every, "--admin-listen", "127.0.0.1:0"])
            .stdout(Stdio::piped())
            .spawn()
            .expect("it is built");
        let mut running = Running(child);
        let mut lines = running.lines();
        let line = lines.next().expect("a line");
        // What it says of its matches is for people.
        std::thread::spawn(move || lines.for_each(drop));
        let admin = line.strip_prefix("metrics are at ").expect("it says where");
        Self { _running: running, admin: admin.trim_end_matches("/metrics").to_owned() }
    }

    /// Waits until so many matches went like this.
    async fn counts(&self, result: &str, least: u32) {
        eventually(result, async || {
            let (_, text) = get(&self.admin, "/metrics").await;
            let start = format!("parlor_probe_matches_total{{result=\"{result}\"}} ");
            let count = text.lines().find_map(|line| line.strip_prefix(&start));
            count.and_then(|count| count.parse().ok()).filter(|&count: &u32| count >= least)
        })
        .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_probe_plays_again_and_again_and_counts_what_became_of_it() {
    let instance = Instance::start(Arc::new(MemoryStore::default()), &["--rate-limits=off"]);
    let probe = Probe::start(&instance.url, "1s");
    probe.counts("finished", 2).await;
    let (_, text) = get(&probe.admin, "/metrics").await;
    assert!(text.contains("parlor_probe_duration_seconds_count"), "{text}");
    assert!(!text.contains("parlor_build"), "it is not counted among the instances");
    // Nobody is there any more: the client would go on trying for longer than a match may take.
    instance.stop().await;
    probe.counts("late", 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_probe_that_is_refused_says_so_and_goes_on() {
    let store = Arc::new(MemoryStore::default());
    let instance = Instance::start(store, &["--api-keys=operator:000102030405060708"]);
    Probe::start(&instance.url, "100ms").counts("failed", 2).await;
}
