//! The log, where nobody reads it.

use parlor::proto::NeonOptions;
use parlor::proto::game_options::Game;

use crate::eventually;
use crate::instance::Table;
use crate::metrics::get;
use crate::process::Process;

#[tokio::test]
async fn a_log_that_nobody_reads_keeps_nobody_waiting_and_what_is_lost_is_counted() {
    let mut process = Process::start_unread(&["--log=trace", "--admin-listen=127.0.0.1:0"]);
    let admin = process.admin().expect("it says where its metrics are");
    let memory = process.memory();
    eventually("lines are lost", async || {
        let table = Table::create(&process.client(), Game::Neon(NeonOptions::default()), 2).await;
        table.play(10).await;
        let (_, text) = get(&admin, "/metrics").await;
        let lost = text.lines().find_map(|line| line.strip_prefix("parlor_log_lost_total "));
        lost.filter(|&lost| lost != "0").map(drop)
    })
    .await;
    let grown = process.memory().saturating_sub(memory);
    assert!(grown < 64 << 20, "{} KiB more", grown / 1024);
    process.terminate();
    assert_eq!(process.ended().await.code(), Some(0));
}
