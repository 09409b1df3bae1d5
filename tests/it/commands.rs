//! The commands that call a server, as a person runs them.

use std::process::{Command, Output};
use std::sync::Arc;

use parlor::store::MemoryStore;

use crate::instance::Instance;

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
