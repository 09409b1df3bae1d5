//! How soon the service is back after Redis.

use std::time::Duration;

use parlor::proto::SubmitActionRequest;
use parlor::proto::match_service_client::MatchServiceClient;
use rustix::process::Signal;
use tokio::time::Instant;
use tonic::Request;
use tonic::transport::Channel;

use super::server::Durable;
use crate::Args;
use crate::load::ratio::median;
use crate::load::table::{Table, asked};
use crate::load::{Failure, connect};

/// How long Redis is away: longer than attempts to connect again get ever seldomer.
const AWAY: Duration = Duration::from_secs(5);

/// What happens to Redis.
#[derive(Clone, Copy)]
enum Outage {
    Killed,
    Stopped,
    Demoted,
}

/// Prints the table.
pub async fn measure(args: &Args) -> Result<(), Failure> {
    println!(
        "redis away for {AWAY:?}, {} times\n{:42}{:>14}{:>9}{:>22}",
        args.rounds, "", "back after ms", "most", "slowest answer, ms"
    );
    for (name, outage) in [
        ("ended and started again", Outage::Killed),
        ("stopped in its tracks", Outage::Stopped),
        ("a replica for a while", Outage::Demoted),
    ] {
        let mut redis = Durable::start(&["--appendonly", "yes", "--appendfsync", "no"]).await?;
        let server = super::instances::start(&redis)?;
        let channel = connect(&server.address, 1).await?.remove(0);
        let (mut back, mut slowest) = (Vec::new(), Duration::ZERO);
        for _ in 0..args.rounds {
            let (after, slow) = suffer(outage, &mut redis, &channel, args).await?;
            back.push(after.as_secs_f64() * 1e3);
            slowest = slowest.max(slow);
        }
        println!(
            "{name:42}{:>14.0}{:>9.0}{:>22.0}",
            median(&back),
            back.iter().copied().fold(0.0, f64::max),
            slowest.as_secs_f64() * 1e3
        );
    }
    Ok(())
}

/// How long after Redis an action is carried out again, and how long the slowest call took until then.
async fn suffer(
    outage: Outage,
    redis: &mut Durable,
    channel: &Channel,
    args: &Args,
) -> Result<(Duration, Duration), Failure> {
    let mut client = MatchServiceClient::new(channel.clone());
    let table = Table::open(&mut client, 4).await?;
    let request = table.next().ok_or("a match that is over")?;
    let bearer = request.metadata().get("authorization").ok_or("no token")?.clone();
    let action = request.into_inner();
    let mut connection = redis.connect().await?;
    let mut replica_of = redis::cmd("REPLICAOF");
    match outage {
        Outage::Killed => redis.kill()?,
        Outage::Stopped => redis.signal(Signal::STOP)?,
        Outage::Demoted => {
            replica_of.arg("127.0.0.1").arg(1).exec_async(&mut connection).await?;
        }
    }
    let asked = |action: &SubmitActionRequest| -> Request<SubmitActionRequest> {
        asked(action.clone(), &bearer)
    };
    let call = async |client: &mut MatchServiceClient<Channel>| {
        let began = Instant::now();
        let done = client.submit_action(asked(&action)).await.is_ok();
        tokio::time::sleep(Duration::from_millis(2)).await;
        (done, began.elapsed())
    };
    let mut slowest = Duration::ZERO;
    let (since, away) = (Instant::now(), if args.bench { AWAY } else { AWAY / 50 });
    while since.elapsed() < away {
        let (done, took) = call(&mut client).await;
        if done {
            return Err("an action was carried out without Redis".into());
        }
        slowest = slowest.max(took);
    }
    match outage {
        Outage::Killed => redis.again()?,
        Outage::Stopped => redis.signal(Signal::CONT)?,
        Outage::Demoted => {
            let mut promote = redis::cmd("REPLICAOF");
            promote.arg("NO").arg("ONE").exec_async(&mut connection).await?;
        }
    }
    redis.answers().await?;
    let back = Instant::now();
    loop {
        let (done, took) = call(&mut client).await;
        slowest = slowest.max(took);
        if done {
            return Ok((back.elapsed(), slowest));
        }
    }
}
