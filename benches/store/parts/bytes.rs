//! What a whole match takes.

use std::path::Path;
use std::process::Command;

use parlor::games::{IDS, Registered, WithGame, with_game};
use parlor::rules::SeatCount;

use super::server::Durable;
use crate::Args;
use crate::load::Failure;

/// How many can play a game with its default options.
struct Seats;

impl WithGame for Seats {
    type Output = Vec<u8>;

    fn with<G: Registered>(self) -> Vec<u8> {
        let options = G::Options::default();
        let fits = |&seats: &u8| {
            SeatCount::new(seats).is_some_and(|seats| G::check(&options, seats).is_empty())
        };
        G::catalog(&options).seats.clone().filter(fits).collect()
    }
}

/// Prints the table.
pub async fn measure(args: &Args) -> Result<(), Failure> {
    let redis = Durable::start(&["--appendonly", "yes", "--appendfsync", "no"]).await?;
    let server = super::instances::start(&redis)?;
    println!(
        "a whole match, played at random, default options, mean of {}\n{:28}{:>10}{:>12}{:>12}{:>16}",
        args.rounds, "", "actions", "memory", "file", "file an action"
    );
    for game in IDS {
        let seats = with_game(game, Seats).ok_or("a game that is not there")?;
        let (Some(fewest), Some(most)) = (seats.first(), seats.last()) else { continue };
        for seats in [*fewest, *most] {
            let mut sum = [0; 3];
            for _ in 0..args.rounds {
                let played = play(&redis, &server.address, game, seats).await?;
                sum.iter_mut().zip(played).for_each(|(sum, it)| *sum += it);
            }
            let [actions, memory, file] = sum.map(|it| it as f64 / args.rounds as f64);
            println!(
                "{:28}{actions:>10.0}{memory:>12.0}{file:>12.0}{:>16.0}",
                format!("{game}, {seats} seats"),
                file / actions
            );
        }
    }
    Ok(())
}

/// Lets random players play a match; how many actions it had, and the bytes that it takes in memory
/// and in the append-only file.
async fn play(redis: &Durable, address: &str, game: &str, seats: u8) -> Result<[u64; 3], Failure> {
    let mut connection = redis.connect().await?;
    let before = file(&mut connection).await?;
    let mut command = Command::new(Path::new(env!("CARGO_BIN_EXE_parlor")));
    command.args(["play", "--server", &format!("http://{address}")]);
    command.args(["--game", game, "--seats", &seats.to_string()]);
    let output = tokio::task::spawn_blocking(move || command.output()).await??;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    let said = String::from_utf8(output.stdout)?;
    let id = said.lines().find_map(|line| line.strip_prefix("match ")).ok_or("no match")?;
    let mut memory = 0;
    for what in ["s", "l", "d"] {
        let mut usage = redis::cmd("MEMORY");
        usage.arg("USAGE").arg(format!("parlor1:{{{id}}}:{what}")).arg("SAMPLES").arg(0);
        memory += usage.query_async::<u64>(&mut connection).await?;
    }
    let mut length = redis::cmd("XLEN");
    length.arg(format!("parlor1:{{{id}}}:l"));
    let versions: u64 = length.query_async(&mut connection).await?;
    Ok([versions - 1, memory, file(&mut connection).await? - before])
}

/// How long the append-only file is.
async fn file(connection: &mut redis::aio::MultiplexedConnection) -> Result<u64, Failure> {
    let info: String = redis::cmd("INFO").arg("persistence").query_async(connection).await?;
    let size = info.lines().find_map(|line| line.strip_prefix("aof_current_size:"));
    Ok(size.ok_or("no figure of the file")?.parse()?)
}
