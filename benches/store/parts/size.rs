//! Actions with few and with very many matches in Redis.

use parlor::store::{RedisStore, Store as _};

use super::instances::{self, Players};
use super::server::Durable;
use super::{Turns, head, slice};
use crate::Args;
use crate::load::process::Server;
use crate::load::ratio::Ratios;
use crate::load::table::Table;
use crate::load::{Failure, connect};

/// How many are few.
const FEW: usize = 1_000;

/// After so many actions a match is copied.
const PLAYED: usize = 10;

/// Copies a match under ids that are counted up, together with when it ends.
const COPY: &str = "
    for number = ARGV[1], ARGV[2] do
        local id = string.format('00000000-0000-4000-8000-%012x', number)
        for _, what in ipairs({'s', 'l', 'd'}) do
            redis.call('COPY', ARGV[3] .. what, 'parlor1:{' .. id .. '}:' .. what)
        end
    end";

/// A server that has so many matches, and an instance over it.
struct Contender {
    redis: Durable,
    players: Players,
    /// Runs as long as this lives.
    _server: Server,
}

impl Contender {
    async fn start(matches: usize) -> Result<Self, Failure> {
        let redis = Durable::start(&["--appendonly", "no"]).await?;
        let server = instances::start(&redis)?;
        let channels = connect(&server.address, 4).await?;
        let mut client =
            parlor::proto::match_service_client::MatchServiceClient::new(channels[0].clone());
        let mut table = Table::open(&mut client, 4).await?;
        for _ in 0..PLAYED {
            let request = table.next().ok_or("the match is over too soon")?;
            table.take(client.submit_action(request).await?.into_inner());
        }
        let mut connection = redis.connect().await?;
        let of = format!("parlor1:{{{}}}:", table.match_id);
        for first in (1..=matches).step_by(1_000) {
            let last = (first + 999).min(matches);
            let mut copy = redis::cmd("EVAL");
            copy.arg(COPY).arg(0).arg(first).arg(last).arg(&of);
            copy.exec_async(&mut connection).await?;
        }
        // They are what the service takes for matches.
        let store = RedisStore::connect(redis.store()).await?;
        let last = format!("00000000-0000-4000-8000-{matches:012x}").parse()?;
        let loaded = store.load(parlor::store::MatchId(last), None, None).await?;
        let version = loaded.ok_or("a copy is missing")?.position.version;
        assert_eq!(version, PLAYED as u64 + 1, "a copy is like what it is a copy of");
        let players = Players { instances: vec![channels], roam: false };
        Ok(Self { redis, players, _server: server })
    }

    /// How much memory its server uses, in bytes.
    async fn memory(&self) -> Result<u64, Failure> {
        let mut info = redis::cmd("INFO");
        let info: String = info.arg("memory").query_async(&mut self.redis.connect().await?).await?;
        let used = info.lines().find_map(|line| line.strip_prefix("used_memory:"));
        Ok(used.ok_or("no figure of memory")?.parse()?)
    }
}

/// Prints the table.
pub async fn measure(args: &Args) -> Result<(), Failure> {
    let contenders = [Contender::start(FEW).await?, Contender::start(args.stored).await?];
    let bytes = contenders[1].memory().await? as f64 - contenders[0].memory().await? as f64;
    let each = bytes / (args.stored - FEW) as f64;
    let title = format!(
        "actions with {} matches of {each:.0} bytes stored, {:.2} GiB",
        args.stored,
        bytes / f64::from(1 << 30)
    );
    head(&title, "actions/s", "few");
    let mut turns = Vec::new();
    let mut micros = [Vec::new(), Vec::new()];
    for (contender, matches) in contenders.iter().zip([FEW, args.stored]) {
        let mut first = Turns::new(format!("{matches} matches"))?;
        contender.players.turn(slice(args) / 2, &mut first).await?;
        first.forget();
        turns.push(first);
    }
    for _ in 0..args.rounds {
        for ((contender, turns), micros) in contenders.iter().zip(&mut turns).zip(&mut micros) {
            let (cpu, count) = (contender.redis.process.cpu(), turns.count());
            contender.players.turn(slice(args), turns).await?;
            let cpu = contender.redis.process.cpu().saturating_sub(cpu);
            micros.push(cpu.as_secs_f64() * 1e6 / (turns.count() - count) as f64);
        }
    }
    for it in &turns {
        println!("{}", it.line(&turns[0]));
    }
    let [few, many] = &micros;
    println!(
        "processor time of Redis for an action: {:.1} µs and {:.1} µs, ratio {}",
        crate::load::ratio::median(few),
        crate::load::ratio::median(many),
        Ratios::of(many, few)
    );
    Ok(())
}
