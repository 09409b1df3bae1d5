//! What it costs to look whether watched matches have changed.

use std::sync::Arc;
use std::time::Duration;

use parlor::store::{MatchId, RedisConfig, RedisStore, Store as _};
use tokio::time::Instant;
use uuid::Uuid;

use super::server::Durable;
use crate::Args;
use crate::load::Failure;

/// For so many times the time between two looks it is measured.
const LOOKS: u32 = 2;

/// Prints the table.
pub async fn measure(args: &Args) -> Result<(), Failure> {
    let redis = Durable::start(&["--appendonly", "no"]).await?;
    println!(
        "watched matches that do not change\n{:>42}{:>12}{:>14}{:>14}{:>13}",
        "", "looks/s", "redis µs/s", "own µs/s", "connections"
    );
    for watched in [0, args.watched / 10, args.watched] {
        let store = Arc::new(RedisStore::connect(redis.store()).await?);
        let mut watches = Vec::new();
        for number in 0..watched {
            watches.push(store.watch(MatchId(Uuid::from_u128(number as u128 + 1))).await);
        }
        let mut connection = redis.connect().await?;
        // Until all are subscribed and looked at once.
        let channels = async |connection: &mut _| {
            let mut count = redis::cmd("PUBSUB");
            count.arg("CHANNELS").query_async::<Vec<String>>(connection).await
        };
        while channels(&mut connection).await?.len() < watched {}
        let looks = async |connection: &mut _| -> Result<u64, Failure> {
            let info: String =
                redis::cmd("INFO").arg("commandstats").query_async(connection).await?;
            let calls = info.lines().find_map(|line| line.strip_prefix("cmdstat_hmget:calls="));
            Ok(calls.and_then(|it| it.split(',').next()).map_or(Ok(0), str::parse)?)
        };
        let own = || cpu_of_this_process();
        let poll = RedisConfig::new("").poll_every.mul_f64(2.5);
        tokio::time::sleep(poll).await;
        let before = (looks(&mut connection).await?, redis.process.cpu(), own()?);
        let began = Instant::now();
        tokio::time::sleep(if args.bench { poll * LOOKS } else { poll / 10 }).await;
        let after = (looks(&mut connection).await?, redis.process.cpu(), own()?);
        let took = began.elapsed().as_secs_f64();
        let micros = |before: Duration, after: Duration| {
            after.saturating_sub(before).as_secs_f64() * 1e6 / took
        };
        let mut list = redis::cmd("CLIENT");
        let clients: String = list.arg("LIST").query_async(&mut connection).await?;
        println!(
            "{:>42}{:>12.0}{:>14.0}{:>14.0}{:>13}",
            watched,
            (after.0 - before.0) as f64 / took,
            micros(before.1, after.1),
            micros(before.2, after.2),
            clients.lines().count() - 1,
        );
        drop(watches);
        store.close().await;
    }
    Ok(())
}

/// How long this process was on a core so far.
fn cpu_of_this_process() -> Result<Duration, Failure> {
    let text = std::fs::read_to_string("/proc/self/schedstat")?;
    let nanos = text.split(' ').next().ok_or("no figure")?.parse()?;
    Ok(Duration::from_nanos(nanos))
}
