//! An instance that takes more memory than it may: what it goes on with, what it turns away, and that
//! it takes callers in again once others have left.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use parlor::client::reason;
use parlor::games::neon::{Neon, Options};
use parlor::matches::{Create, Matches, NewPlayer, Settings, SystemChance, SystemClock};
use parlor::proto::game_options::Game;
use parlor::proto::match_service_client::MatchServiceClient;
use parlor::proto::{
    CreateMatchRequest, GameOptions, GetMatchRequest, NeonOptions, NewSeat, SeatKind,
    StreamViewRequest, StreamViewResponse, Visibility,
};
use parlor::rules::{BySeat, Seat, SeatCount};
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpStream;
use tonic::transport::Channel;
use tonic::{Code, Status, Streaming};
use tonic_types::StatusExt as _;
use uuid::Uuid;

use crate::durability::calls;
use crate::instance::Table;
use crate::metrics::get;
use crate::process::Process;
use crate::redis_server::RedisServer;
use crate::within;

/// So many streams a connection carries.
const STREAMS: usize = 100;

/// As long as it may take to fill the memory of a slow build on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Those who look on at a match, on connections of their own.
struct Crowd<'a> {
    server: &'a Process,
    match_id: &'a str,
    streams: Vec<Streaming<StreamViewResponse>>,
}

impl Crowd<'_> {
    /// Lets more and more come until somebody is turned away.
    async fn grow(&mut self) -> Result<(), tonic::transport::Error> {
        let mut all_came = true;
        while all_came {
            let client = MatchServiceClient::connect(self.server.url.clone()).await?;
            let came = join_all((0..STREAMS).map(|_| self.come(client.clone()))).await;
            all_came = came.iter().all(Result::is_ok);
            self.streams.extend(came.into_iter().flatten());
        }
        Ok(())
    }

    async fn come(
        &self,
        mut client: MatchServiceClient<Channel>,
    ) -> Result<Streaming<StreamViewResponse>, Status> {
        let match_id = self.match_id.to_owned();
        let request = StreamViewRequest { match_id, ..StreamViewRequest::default() };
        let mut stream = client.stream_view(request).await?.into_inner();
        stream.message().await?;
        Ok(stream)
    }
}

fn new_match() -> CreateMatchRequest {
    let seat = NewSeat { kind: SeatKind::Taken.into(), ..NewSeat::default() };
    CreateMatchRequest {
        request_id: Uuid::new_v4().to_string(),
        options: Some(GameOptions { game: Some(Game::Neon(NeonOptions::default())) }),
        seats: vec![seat; 2],
        visibility: Visibility::Public.into(),
    }
}

/// Whether a new connection is closed as soon as it is accepted, and not only when it says nothing.
async fn is_closed(address: &str) -> bool {
    let mut late = TcpStream::connect(address).await.expect("it listens");
    let heard = tokio::time::timeout(Duration::from_secs(1), late.read(&mut [0; 1])).await;
    heard.is_ok_and(|heard| !matches!(heard, Ok(1..)))
}

#[tokio::test]
async fn who_comes_new_is_turned_away_and_who_plays_goes_on_until_there_is_memory_again() {
    let server = Process::start(&[
        "--memory=96MiB",
        "--streams=off",
        "--spectators=off",
        "--admin-listen=127.0.0.1:0",
    ]);
    let admin = server.admin().expect("it says where its metrics are");
    let table = Table::create(&server.client(), Game::Neon(NeonOptions::default()), 2).await;
    let mut raw = server.raw().await;
    let mut crowd = Crowd { server: &server, match_id: &table.id, streams: Vec::new() };
    let mut watching = crowd.come(raw.clone()).await.expect("there is memory");

    // What was needed for a moment only is given back, and lets some more in.
    let refused = within(PATIENCE, "nobody is let in", async || {
        // There may be no room for a connection.
        let _ = crowd.grow().await;
        let stream = crowd.come(raw.clone()).await.err()?;
        let created = raw.create_match(new_match()).await.err()?;
        is_closed(server.address()).await.then_some([stream, created])
    });
    for status in refused.await {
        assert_eq!(status.code(), Code::Unavailable, "{status}");
        assert_eq!(reason(&status).as_deref(), Some("OVERLOADED"));
        let delay = status.get_error_details().retry_info().and_then(|info| info.retry_delay);
        assert!(delay.is_some_and(|delay| delay <= Duration::from_secs(1)));
    }

    assert_eq!(table.play(1).await, 1);
    watching.message().await.expect("it goes on").expect("an update");
    let (_, text) = get(&admin, "/metrics").await;
    assert!(text.contains("parlor_limits{limit=\"memory\"} 100663296\n"), "{text}");
    assert!(text.contains("parlor_calls_shed_total{reason=\"memory\"} "), "{text}");
    assert!(!text.contains("reason=\"in_flight\""), "{text}");

    drop(crowd);
    within(PATIENCE, "there is memory again", async || {
        let mut new = MatchServiceClient::connect(server.url.clone()).await.ok()?;
        let match_id = table.id.clone();
        new.get_match(GetMatchRequest { match_id }).await.ok()?;
        new.create_match(new_match()).await.ok()
    })
    .await;
    let log = server.stop().await;
    assert!(!log.contains("OVERLOADED"), "who is turned away has no line: {log}");
    let count = |words: &str| log.matches(words).count();
    let full = count("memory is full");
    assert!((1..5).contains(&full) && count("there is memory again") == full, "{log}");
}

#[tokio::test]
async fn what_was_forgotten_is_read_again() {
    let redis = RedisServer::start().await;
    let store = Arc::new(redis.store().await);
    let (clock, chance) = (Arc::new(SystemClock), Arc::new(SystemChance));
    let matches = Matches::<Neon>::new(store, clock, chance, Settings::default());
    let create = Create {
        request_id: Uuid::new_v4(),
        principal: String::new(),
        options: Options::default(),
        seats: BySeat::from_fn(SeatCount::new(2).unwrap(), |_| Some(NewPlayer::default())),
        visibility: parlor::matches::Visibility::Public,
    };
    let id = matches.create(create).await.expect("created").id;
    let mut scripts = Vec::new();
    for epoch in 0..3 {
        let before = calls(&redis, "evalsha").await;
        let seat = Seat::new(0).unwrap();
        matches.renew(id, seat, epoch, Uuid::new_v4()).await.expect("renewed");
        scripts.push(calls(&redis, "evalsha").await - before);
        if epoch == 0 {
            matches.forget();
        }
    }
    assert_eq!(scripts, [1, 2, 1], "a commit, a load and a commit, a commit");
}
