//! `parlor probe`: plays a small match at a server again and again, and measures how that goes.

use std::fmt;
use std::time::Duration;

use tokio::time::{Instant, MissedTickBehavior, interval, timeout};
use tokio_util::sync::CancellationToken;

use crate::admin::Admin;
use crate::cli::ProbeArgs;
use crate::client::{Client, explain};
use crate::dial::dial;
use crate::play::{Failure, Log, Table, with_key};
use crate::proto::game_options::Game;
use crate::proto::{GameOptions, NeonOptions};
use crate::telemetry::only_metrics;

/// What the players of a probe are called.
const NAME: &str = "probe";

/// Probes as the command line says, until the process is ended.
///
/// # Errors
/// Those of files, and of the port for operators. That a match fails is none.
pub async fn probe(args: ProbeArgs) -> Result<(), Failure> {
    let client = with_key(dial(&args.at)?, args.api_key.as_deref())?;
    let scraper = only_metrics()?;
    let Some(address) = args.admin_listen else {
        again_and_again(&client, args.every).await;
        return Ok(());
    };
    let admin = Admin::bind(address).await?;
    say(format_args!("metrics are at http://{}/metrics", admin.address()));
    let port = admin.serve(scraper, None, CancellationToken::new());
    tokio::join!(port, again_and_again(&client, args.every));
    Ok(())
}

/// Plays a match whenever one is due.
async fn again_and_again(client: &Client, every: Duration) {
    let mut due = interval(every);
    due.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        due.tick().await;
        let began = Instant::now();
        let result = match timeout(every, one_match(client)).await {
            Ok(Ok(())) => {
                let took = began.elapsed();
                tracing::info!(name: "parlor.probe.duration", target: "metric", value = took.as_secs_f64());
                say(format_args!("a match was played in {took:?}"));
                "finished"
            }
            Ok(Err(failure)) => {
                let status = failure.downcast_ref::<tonic::Status>();
                let why = status.map_or_else(|| failure.to_string(), explain);
                say(format_args!("a match failed: {why}"));
                "failed"
            }
            Err(_) => {
                say(format_args!("a match was not over after {every:?}"));
                "late"
            }
        };
        tracing::info!(name: "parlor.probe.matches", target: "metric", result);
    }
}

async fn one_match(client: &Client) -> Result<(), Failure> {
    let options = GameOptions { game: Some(Game::Neon(NeonOptions::default())) };
    let table = Table::create(client, options, 2, NAME).await?;
    // How long it may take is said for the match as a whole.
    let outcome = table.play_out(client, &Log::default(), Duration::MAX).await?;
    outcome.map(|_| ()).ok_or_else(|| "all was told, and the match is not over".into())
}

#[expect(clippy::print_stdout, reason = "this is what the operator is told")]
fn say(line: fmt::Arguments<'_>) {
    println!("{line}");
}
