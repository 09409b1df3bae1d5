//! What happens when the real command is told to stop.

use parlor::proto::game_options::Game;
use parlor::proto::match_service_client::MatchServiceClient;
use parlor::proto::stream_view_response::Message;
use parlor::proto::{EndReason, NeonOptions, StreamViewRequest};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::{Duration, Instant};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;

use crate::eventually;
use crate::instance::Table;
use crate::metrics::get;
use crate::process::Process;

#[tokio::test]
async fn it_is_unready_says_why_streams_end_and_exits_well_in_time_whoever_is_stuck() {
    let mut process = Process::start(&["--drain=2s", "--rate-limits=off"]);
    let table = Table::create(&process.client(), Game::Neon(NeonOptions::default()), 2).await;
    let mut watching = MatchServiceClient::connect(process.url.clone()).await.unwrap();
    let request = StreamViewRequest { match_id: table.id.clone(), ..StreamViewRequest::default() };
    let mut stream = watching.stream_view(request).await.unwrap().into_inner();
    stream.message().await.unwrap().expect("a snapshot");
    let channel = tonic::transport::Endpoint::from_shared(process.url.clone()).unwrap();
    let mut health = HealthClient::new(channel.connect().await.unwrap());
    let service = "parlor.v1.MatchService".to_owned();
    let mut ready = health.watch(HealthCheckRequest { service }).await.unwrap().into_inner();
    assert_eq!(ready.message().await.unwrap().expect("a state").status, 1);
    // One that holds its connection and never reads or answers.
    let mut stuck = TcpStream::connect(process.address()).await.unwrap();
    stuck.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0").await.unwrap();
    assert_ne!(stuck.read(&mut [0; 64]).await.unwrap(), 0);

    let since = Instant::now();
    process.terminate();
    assert_eq!(ready.message().await.unwrap().expect("a state").status, 2, "not serving");
    let end = stream.message().await.unwrap().expect("an end");
    let Some(Message::End(told)) = end.message else { panic!("no end: {end:?}") };
    assert_eq!(told.reason(), EndReason::Draining);
    assert!(!end.resume_token.is_empty() && told.after_ms < 5000);
    let ended = process.ended().await;
    assert_eq!(ended.code(), Some(0));
    assert!(since.elapsed() < Duration::from_secs(4), "{:?}", since.elapsed());
}

#[tokio::test]
async fn it_stops_well_from_the_moment_it_says_that_it_runs() {
    for _ in 0..30 {
        // Which also looks at how it ended.
        Process::start(&[]).stop().await;
    }
}

#[tokio::test]
async fn it_goes_on_for_a_while_so_that_those_who_send_calls_here_can_notice() {
    let delay = Duration::from_millis(700);
    let flags = ["--drain-delay=700ms", "--drain=5s", "--admin-listen=127.0.0.1:0"];
    let mut process = Process::start(&flags);
    let admin = process.admin().expect("a port for operators");
    let table = Table::create(&process.client(), Game::Neon(NeonOptions::default()), 2).await;
    let mut watching = process.raw().await;
    let request = StreamViewRequest { match_id: table.id.clone(), ..StreamViewRequest::default() };
    let mut stream = watching.stream_view(request).await.unwrap().into_inner();
    stream.message().await.unwrap().expect("a snapshot");

    let since = Instant::now();
    process.terminate();
    eventually("it is not ready", async || (get(&admin, "/readyz").await.0 == 503).then_some(()))
        .await;
    // Over a connection that is new, and to the streams that there are.
    let elsewhere = Table { seats: table.at(&process.client()), ..table };
    assert_eq!(elsewhere.play(1).await, 1);
    let update = stream.message().await.unwrap().expect("an update");
    assert!(matches!(update.message, Some(Message::Update(_))), "{update:?}");
    let end = stream.message().await.unwrap().expect("an end");
    assert!(matches!(end.message, Some(Message::End(_))), "{end:?}");
    assert!(since.elapsed() >= delay, "{:?}", since.elapsed());
    assert_eq!(process.ended().await.code(), Some(0));
}
