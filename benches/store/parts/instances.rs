//! One instance and three, over the same Redis.

use std::path::Path;
use std::time::Duration;

use futures_util::future::try_join_all;
use parlor::proto::match_service_client::MatchServiceClient;
use tokio::time::Instant;
use tonic::transport::Channel;

use super::server::Durable;
use super::{Turns, head, slice};
use crate::Args;
use crate::load::process::Server;
use crate::load::table::Table;
use crate::load::{Failure, connect};

/// How many calls are in flight.
pub const IN_FLIGHT: usize = 32;

const CONNECTIONS: usize = 4;

/// Starts the service.
pub fn start(redis: &Durable) -> Result<Server, Failure> {
    Server::parlor(Path::new(env!("CARGO_BIN_EXE_parlor")), &redis.url, "shared", "error", &[])
}

/// Where actions go.
pub struct Players {
    /// The connections to each instance.
    pub instances: Vec<Vec<Channel>>,
    /// Whether each action goes to another instance than the one before.
    pub roam: bool,
}

/// Prints the table.
pub async fn measure(args: &Args) -> Result<(), Failure> {
    let redis = Durable::start(&["--appendonly", "yes", "--appendfsync", "everysec"]).await?;
    let servers = [start(&redis)?, start(&redis)?, start(&redis)?];
    let mut channels = Vec::new();
    for server in &servers {
        channels.push(connect(&server.address, CONNECTIONS).await?);
    }
    let one = Players { instances: channels[..1].to_vec(), roam: false };
    let three = Players { instances: channels.clone(), roam: false };
    let roaming = Players { instances: channels, roam: true };
    let contenders = [
        ("one instance", one),
        ("three, each match at one", three),
        ("three, each action at another", roaming),
    ];
    head(&format!("actions, {IN_FLIGHT} in flight"), "actions/s", "one");
    let mut turns = Vec::new();
    for (name, players) in &contenders {
        let mut first = Turns::new(*name)?;
        players.turn(slice(args) / 2, &mut first).await?;
        first.forget();
        turns.push(first);
    }
    for _ in 0..args.rounds {
        for ((_, players), turns) in contenders.iter().zip(&mut turns) {
            players.turn(slice(args), turns).await?;
        }
    }
    for it in &turns {
        println!("{}", it.line(&turns[0]));
    }
    Ok(())
}

impl Players {
    /// Keeps actions in flight for so long.
    pub async fn turn(&self, time: Duration, turns: &mut Turns) -> Result<(), Failure> {
        let mut tables = Vec::new();
        for player in 0..IN_FLIGHT {
            tables.push(self.open(player).await?);
        }
        let (before, began) = (turns.count(), Instant::now());
        let players = tables.into_iter().enumerate();
        let playing = players.map(|(player, table)| self.play(player, table, began + time, turns));
        try_join_all(playing).await?;
        turns.rates.push((turns.count() - before) as f64 / began.elapsed().as_secs_f64());
        Ok(())
    }

    async fn open(&self, player: usize) -> Result<Table, Failure> {
        Table::open(&mut self.client(player, 0), 4).await
    }

    /// Plays one match after the other, until it is time.
    async fn play(
        &self,
        player: usize,
        mut table: Table,
        until: Instant,
        turns: &Turns,
    ) -> Result<(), Failure> {
        let mut done = 0;
        loop {
            let Some(request) = table.next() else {
                table = self.open(player).await?;
                continue;
            };
            let began = Instant::now();
            if began >= until {
                return Ok(());
            }
            let answer = self.client(player, done).submit_action(request).await?.into_inner();
            turns.ended(began);
            table.take(answer);
            done += 1;
        }
    }

    /// Who is asked for a player's action of this number.
    fn client(&self, player: usize, number: usize) -> MatchServiceClient<Channel> {
        let instance = player + if self.roam { number } else { 0 };
        let channels = &self.instances[instance % self.instances.len()];
        MatchServiceClient::new(channels[player % channels.len()].clone())
    }
}
