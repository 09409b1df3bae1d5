//! The trace of every action, as a collector gets it.

use std::collections::BTreeSet;
use std::time::Duration;

use parlor::proto::catalog_service_client::CatalogServiceClient;
use parlor::proto::game_options::Game;
use parlor::proto::{
    GameAction, ListGamesRequest, NeapolitanOptions, NeonOptions, StreamViewRequest,
    SubmitActionRequest,
};
use tonic::{Code, Request};
use uuid::Uuid;

use crate::collector::{Collector, attributes, trace_id, tree};
use crate::instance::Table;
use crate::process::Process;
use crate::redis_server::RedisServer;

/// The span of the caller in all tests here.
const CALLER: &str = "00f067aa0ba902b7";

/// The seat that is to act first, with one of its decisions, and a legal action of it.
async fn next(table: &Table) -> (usize, GameAction, u64) {
    let decision = table.seats[0].view().await.expect("a view").decisions[0];
    let seat = decision.seat as usize;
    let view = table.seats[seat].view().await.expect("a view");
    (seat, view.legal_actions[0].clone(), decision.decision)
}

/// A request of this seat, which belongs to the trace of this number.
fn submit(
    table: &Table,
    seat: usize,
    action: GameAction,
    trace: u128,
) -> Request<SubmitActionRequest> {
    let message = SubmitActionRequest {
        match_id: table.id.clone(),
        action_id: Uuid::new_v4().to_string(),
        action: Some(action),
        decision: None,
    };
    traced(message, &table.created.seat_tokens[seat].token, trace)
}

fn traced<T>(message: T, token: &str, trace: u128) -> Request<T> {
    let mut request = Request::new(message);
    let parent = format!("00-{}-{CALLER}-01", trace_id(trace));
    request.metadata_mut().insert("authorization", format!("Bearer {token}").parse().unwrap());
    request.metadata_mut().insert("traceparent", parent.parse().unwrap());
    request
}

/// A server over this store that sends the traces of its callers here, and none of its own.
fn server(redis: &RedisServer, collector: &Collector) -> Process {
    server_with(redis, collector, "--deadline=2s")
}

/// The same, with another deadline for calls that name none.
fn server_with(redis: &RedisServer, collector: &Collector, deadline: &str) -> Process {
    Process::start(&[
        deadline,
        &format!("--store={}", redis.url()),
        &format!("--otlp-endpoint={}", collector.url),
        "--trace-sampling=0",
    ])
}

/// What was done in this trace, as the collector has it.
fn trace(collector: &Collector, number: u128) -> String {
    let id = number.to_be_bytes();
    let spans: Vec<_> = collector.spans().into_iter().filter(|span| span.trace_id == id).collect();
    tree(&spans, &hex::decode(CALLER).unwrap())
}

/// A table for two at this server.
async fn table(server: &Process) -> Table {
    Table::create(&server.client(), Game::Neon(NeonOptions::default()), 2).await
}

#[tokio::test]
async fn an_action_is_one_tree_from_its_caller_to_its_announcement() {
    let (redis, collector) = (RedisServer::start().await, Collector::start().await);
    let (warm, cold) = (server(&redis, &collector), server(&redis, &collector));
    let table = table(&warm).await;

    let (seat, action, _) = next(&table).await;
    let answer = warm.raw().await.submit_action(submit(&table, seat, action, 1)).await;
    let answer = answer.expect("accepted");
    assert_eq!(answer.metadata().get("x-trace-id").unwrap(), trace_id(1).as_str());
    let (seat, action, _) = next(&table).await;
    cold.raw().await.submit_action(submit(&table, seat, action, 2)).await.expect("accepted");
    let log = warm.stop().await;
    cold.stop().await;

    let accepted = "\
parlor.v1.MatchService/SubmitAction rpc.response.status_code=OK
  change
    rules
    commit db.operation.name=commit db.system.name=redis
    announce
";
    assert_eq!(trace(&collector, 1), accepted);
    let loads = "  change\n    load db.operation.name=load db.system.name=redis\n";
    assert_eq!(trace(&collector, 2), accepted.replace("  change\n", loads));

    let spans = collector.spans();
    let rpc = spans.iter().find(|span| span.trace_id == 1_u128.to_be_bytes());
    let rpc = spans
        .iter()
        .find(|span| span.trace_id == rpc.unwrap().trace_id && span.name.ends_with("SubmitAction"));
    let attributes = attributes(rpc.expect("its span"));
    assert_eq!(attributes["rpc.system.name"], "grpc");
    assert_eq!(attributes["rpc.method"], "parlor.v1.MatchService/SubmitAction");
    assert_eq!(trace_of_line(&log, "SubmitAction"), trace_id(1));
    // The match was created in a trace that began here.
    assert!(spans.iter().all(|span| !span.name.ends_with("CreateMatch")), "none are recorded");
    assert_eq!(trace_of_line(&log, "CreateMatch").len(), 32);
}

/// The trace that the first line with this word names.
fn trace_of_line(log: &str, word: &str) -> String {
    let line = log.lines().find(|line| line.contains(word)).expect("a line");
    let line: serde_json::Value = serde_json::from_str(line).expect("JSON");
    line["trace_id"].as_str().expect("an id").to_owned()
}

#[tokio::test]
async fn a_refusal_is_judged_twice_where_the_first_time_was_from_the_cache() {
    let (redis, collector) = (RedisServer::start().await, Collector::start().await);
    let server = server(&redis, &collector);
    let table = table(&server).await;
    let (seat, action, _) = next(&table).await;

    let refused = server.raw().await.submit_action(submit(&table, 1 - seat, action, 1)).await;
    let refused = refused.expect_err("not its turn");
    assert_eq!(refused.metadata().get("x-trace-id").unwrap(), trace_id(1).as_str());
    server.stop().await;
    assert_eq!(
        trace(&collector, 1),
        "\
parlor.v1.MatchService/SubmitAction parlor.reason=NOT_YOUR_TURN rpc.response.status_code=FAILED_PRECONDITION
  change
    rules
    load db.operation.name=load db.system.name=redis
    rules
"
    );
}

#[tokio::test]
async fn a_repeated_action_is_found_and_its_first_answer_made_again() {
    let (redis, collector) = (RedisServer::start().await, Collector::start().await);
    let server = server(&redis, &collector);
    let table = table(&server).await;
    let (seat, action, _) = next(&table).await;
    let first = submit(&table, seat, action, 1);
    let token = table.created.seat_tokens[seat].token.clone();
    let again = traced(first.get_ref().clone(), &token, 2);
    let mut raw = server.raw().await;
    raw.submit_action(first).await.expect("accepted");
    assert!(raw.submit_action(again).await.expect("the same answer").into_inner().replayed);
    server.stop().await;
    assert_eq!(
        trace(&collector, 2),
        "\
parlor.v1.MatchService/SubmitAction rpc.response.status_code=OK
  change
    rules
    load db.operation.name=load db.system.name=redis
    log db.operation.name=log db.system.name=redis
    load db.operation.name=load db.system.name=redis
"
    );
}

#[tokio::test]
async fn a_conflict_is_decided_anew_in_the_same_tree() {
    let (redis, collector) = (RedisServer::start().await, Collector::start().await);
    let (one, other) = (server(&redis, &collector), server(&redis, &collector));
    // Everyone is asked at once; the first server does not hear of the answer given at the other.
    let game = NeapolitanOptions { cherry_on_top: true, ..NeapolitanOptions::default() };
    let table = Table::create(&one.client(), Game::Neapolitan(game), 3).await;
    let mut actions = Vec::new();
    for seat in &table.seats {
        actions.push(seat.view().await.expect("a view").legal_actions[0].clone());
    }
    let there = other.raw().await.submit_action(submit(&table, 0, actions[0].clone(), 1)).await;
    there.expect("accepted");
    let here = one.raw().await.submit_action(submit(&table, 1, actions[1].clone(), 2)).await;
    assert_eq!(here.expect("accepted").into_inner().version, 3);
    one.stop().await;
    assert_eq!(
        trace(&collector, 2),
        "\
parlor.v1.MatchService/SubmitAction rpc.response.status_code=OK
  change
    rules
    commit db.operation.name=commit db.system.name=redis
    load db.operation.name=load db.system.name=redis
    rules
    commit db.operation.name=commit db.system.name=redis
    announce
"
    );
}

#[tokio::test]
async fn a_change_goes_on_in_the_trace_of_a_caller_who_waited_no_longer() {
    let (redis, collector) = (RedisServer::start().await, Collector::start().await);
    // The server's deadline, as a caller with one of its own may not wait for the answer.
    let server = server_with(&redis, &collector, "--deadline=100ms");
    let table = table(&server).await;
    let (seat, action, _) = next(&table).await;
    let request = submit(&table, seat, action, 1);
    redis.pause();
    let late = server.raw().await.submit_action(request).await.expect_err("too late");
    assert_eq!(late.code(), Code::DeadlineExceeded);
    redis.go_on();
    server.stop().await;
    assert_eq!(
        trace(&collector, 1),
        "\
parlor.v1.MatchService/SubmitAction error.type=DEADLINE_EXCEEDED parlor.reason=OUTCOME_UNKNOWN rpc.response.status_code=DEADLINE_EXCEEDED FAILED
  change
    rules
    commit db.operation.name=commit db.system.name=redis
    announce
"
    );
    let spans = collector.spans();
    let end = |name: &str| {
        let span = spans
            .iter()
            .find(|span| span.trace_id == 1_u128.to_be_bytes() && span.name.ends_with(name));
        span.expect("its span").end_time_unix_nano
    };
    assert!(end("SubmitAction") < end("commit"), "the call does not last as long as the change");
}

#[tokio::test]
async fn a_delivery_is_a_span_of_its_own_linked_to_the_action() {
    let (redis, collector) = (RedisServer::start().await, Collector::start().await);
    let server = server(&redis, &collector);
    let table = table(&server).await;
    let mut raw = server.raw().await;
    let watch = StreamViewRequest { match_id: table.id.clone(), ..StreamViewRequest::default() };
    let token = &table.created.seat_tokens[1].token;
    let mut stream = raw.stream_view(traced(watch, token, 1)).await.expect("a stream").into_inner();
    stream.message().await.expect("a message").expect("a snapshot");
    let (seat, action, _) = next(&table).await;
    raw.submit_action(submit(&table, seat, action, 2)).await.expect("accepted");
    stream.message().await.expect("a message").expect("an update");
    server.stop().await;

    let spans = collector.spans();
    let action =
        spans.iter().find(|span| span.trace_id == 2_u128.to_be_bytes() && span.name == "change");
    let action = action.expect("the action's span");
    let deliveries: Vec<_> = spans.iter().filter(|span| span.name == "deliver").collect();
    assert_eq!(deliveries.len(), 1);
    let [link] = deliveries[0].links.as_slice() else { panic!("{:?}", deliveries[0]) };
    assert_eq!((&link.trace_id, &link.span_id), (&action.trace_id, &action.span_id));
    assert_ne!(deliveries[0].trace_id, action.trace_id);
    assert_eq!(attributes(deliveries[0])["parlor.version"], "2");
    let opened = trace(&collector, 1);
    assert!(opened.starts_with("parlor.v1.MatchService/StreamView rpc.response.status_code=OK\n"));
    let began = action.start_time_unix_nano;
    let opening = spans.iter().find(|span| span.name.ends_with("StreamView")).unwrap();
    assert!(opening.end_time_unix_nano < began, "the stream's span ends when it has begun");
}

#[tokio::test]
async fn what_its_caller_does_not_record_is_not_recorded_and_still_has_an_id() {
    let collector = Collector::start().await;
    let endpoint = format!("--otlp-endpoint={}", collector.url);
    let server = Process::start(&[&endpoint, "--trace-sampling=1"]);
    let table = table(&server).await;
    let (seat, action, _) = next(&table).await;
    let mut request = submit(&table, seat, action, 7);
    let parent = format!("00-{}-{CALLER}-00", trace_id(7));
    request.metadata_mut().insert("traceparent", parent.parse().unwrap());
    let answer = server.raw().await.submit_action(request).await.expect("accepted");
    assert_eq!(answer.metadata().get("x-trace-id").unwrap(), trace_id(7).as_str());
    let log = server.stop().await;
    assert_eq!(trace_of_line(&log, "SubmitAction"), trace_id(7));
    assert_eq!(trace(&collector, 7), "");
    let spans = collector.spans();
    let created = spans.iter().filter(|span| span.name.ends_with("CreateMatch"));
    assert_eq!(created.count(), 1, "a trace that begins here is recorded");
}

/// Which of these traces are recorded by a server that decides itself, of half of all; callers ask it to
/// record those with even numbers, and not to record the others.
async fn recorded_of(traces: impl Iterator<Item = u128>) -> BTreeSet<u128> {
    let collector = Collector::start().await;
    let endpoint = format!("--otlp-endpoint={}", collector.url);
    let server = Process::start(&[&endpoint, "--trace-decision=own", "--trace-sampling=0.5"]);
    let mut catalog = CatalogServiceClient::connect(server.url.clone()).await.expect("it listens");
    for trace in traces {
        let flag = if trace % 2 == 0 { "01" } else { "00" };
        let parent = format!("00-{}-{CALLER}-{flag}", trace_id(trace));
        let mut request = Request::new(ListGamesRequest {});
        request.metadata_mut().insert("traceparent", parent.parse().unwrap());
        let answer = catalog.list_games(request).await.expect("an answer");
        assert_eq!(answer.metadata().get("x-trace-id").unwrap(), trace_id(trace).as_str());
    }
    let log = server.stop().await;
    assert_eq!(trace_of_line(&log, "ListGames"), trace_id(1), "of the first call");
    let ids = collector.spans().into_iter().map(|span| span.trace_id.try_into().expect("an id"));
    ids.map(u128::from_be_bytes).collect()
}

#[tokio::test]
async fn a_caller_that_is_not_to_decide_does_not_and_all_instances_decide_alike() {
    // By their ids alone, as everyone can reckon, all of these would be recorded.
    let traces = || 1..=64;
    let recorded = recorded_of(traces()).await;
    for asked in [0, 1] {
        let of_those = recorded.iter().filter(|trace| *trace % 2 == asked).count();
        assert!((8..=24).contains(&of_those), "{recorded:?}");
    }
    assert_eq!(recorded_of(traces()).await, recorded);
}

#[tokio::test]
async fn without_a_collector_no_answer_has_a_trace() {
    let server = Process::start(&[]);
    let table = table(&server).await;
    let (seat, action, _) = next(&table).await;
    let answer = server.raw().await.submit_action(submit(&table, seat, action, 1)).await;
    assert!(answer.expect("accepted").metadata().get("x-trace-id").is_none());
    let log = server.stop().await;
    assert!(log.contains("SubmitAction") && !log.contains("trace_id"), "{log}");
}

#[tokio::test]
async fn a_collector_that_is_dead_or_stuck_changes_nothing_for_callers() {
    let stuck = Collector::stuck().await;
    for url in ["http://127.0.0.1:9", &stuck.url] {
        let endpoint = format!("--otlp-endpoint={url}");
        let server = Process::start(&[&endpoint, "--trace-sampling=1"]);
        // More spans than the queue takes. What waited for the collector would take longer.
        let client = server.client();
        for _ in 0..20 {
            let table = Table::create(&client, Game::Neon(NeonOptions::default()), 2).await;
            let playing = tokio::time::timeout(Duration::from_secs(3), table.play(40));
            assert_eq!(playing.await.expect("in no more time than usual"), 40);
        }
        let began = tokio::time::Instant::now();
        server.stop().await;
        assert!(began.elapsed() < Duration::from_secs(8), "{url}: {:?}", began.elapsed());
    }
}
