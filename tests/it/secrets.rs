//! No hand, seed, token, code or key leaves the service by logs, spans, metrics or errors.
//!
//! Whole matches of every game are played at the shipped binary, wrong in every way that a caller
//! can be wrong. Then all that it said must be made of words that are known beforehand, which no
//! card is, and hold none of the secrets that were planted.

use std::collections::BTreeSet;

use clap::Parser as _;
use parlor::cli::Cli;
use parlor::config::Settings;
use parlor::games::{AnyGame, IDS, Registered, WithGame, catalogs, wire::Wire as _, with_game};
use parlor::grpc::errors::Fault;
use parlor::proto::stream_view_response::Message;
use parlor::proto::{
    CreateMatchRequest, CreateMatchResponse, GameOptions, GetMatchRequest, GetViewRequest,
    JoinMatchRequest, MatchState, NewSeat, SeatKind, StreamViewRequest, SubmitActionRequest, View,
    Visibility,
};
use tonic::{Request, Status};
use tonic_types::StatusExt as _;
use uuid::Uuid;

use crate::collector::{Collector, attributes};
use crate::metrics::get;
use crate::process::{KEY, Process};
use crate::redis_server::RedisServer;

/// What all planted secrets begin with, and nothing that may be told.
const CANARY: &str = "CANARY";
const API_KEY: &str = "CANARY-api-key-0123456789";

/// After so many actions of a match, callers do nothing wrong any more.
const WRONG: usize = 12;

/// All that must not be told, and all that was told to callers whose calls failed.
#[derive(Default)]
struct Told {
    secrets: BTreeSet<String>,
    errors: Vec<Status>,
}

impl Told {
    fn fails<T>(&mut self, answer: Result<T, Status>) {
        self.errors.push(answer.err().expect("this is wrong"));
    }

    /// Bytes that must not be told, in no way that they could be written.
    fn hide(&mut self, bytes: &[u8]) {
        let encoded = hex::encode(bytes);
        self.secrets.extend([encoded.to_uppercase(), encoded]);
        let listed = format!("{bytes:?}");
        self.secrets.insert(listed.trim_matches(['[', ']']).to_owned());
    }

    /// A token, whole and its parts.
    fn hide_token(&mut self, token: &str) {
        let parts = token.split('.').map(str::to_owned);
        // The first part is the same for all and says only how it is signed.
        self.secrets.extend(parts.skip(1).chain([token.to_owned()]));
    }
}

/// The options of a game that is known by its id, and the fewest seats.
struct Defaults;

impl WithGame for Defaults {
    type Output = (GameOptions, usize);

    fn with<G: Registered>(self) -> Self::Output {
        let options = G::Options::default();
        let seats = usize::from(*G::catalog(&options).seats.start());
        (AnyGame::write_options(&options.into()), seats)
    }
}

fn with(message: CreateMatchRequest, key: &str) -> Request<CreateMatchRequest> {
    let mut request = Request::new(message);
    request.metadata_mut().insert("x-api-key", key.parse().unwrap());
    request
}

fn bearer<T>(message: T, token: &str) -> Request<T> {
    let mut request = Request::new(message);
    request.metadata_mut().insert("authorization", format!("Bearer {token}").parse().unwrap());
    // Not a trace, and not to be repeated anywhere.
    request.metadata_mut().insert("traceparent", "CANARY-trace".parse().unwrap());
    request
}

/// A match of this game with every seat taken, the last of them by a join code.
async fn create(
    server: &Process,
    game: &str,
    told: &mut Told,
) -> (CreateMatchResponse, Vec<String>) {
    let mut raw = server.raw().await;
    let (options, seats) = with_game(game, Defaults).expect("a game of the registry");
    let mut new: Vec<_> = (0..seats)
        .map(|seat| NewSeat {
            kind: SeatKind::Taken.into(),
            name: format!("CANARY-player-{seat}"),
            entropy: format!("CANARY-entropy-{seat}").into_bytes(),
        })
        .collect();
    new[seats - 1] = NewSeat { kind: SeatKind::Open.into(), ..NewSeat::default() };
    let message = CreateMatchRequest {
        request_id: Uuid::new_v4().to_string(),
        options: Some(options),
        seats: new,
        visibility: Visibility::Private.into(),
    };
    told.fails(raw.create_match(message.clone()).await);
    told.fails(raw.create_match(with(message.clone(), "CANARY-wrong-key")).await);
    let unnamed = CreateMatchRequest { request_id: "CANARY-request".to_owned(), ..message.clone() };
    told.fails(raw.create_match(with(unnamed, API_KEY)).await);
    let created = raw.create_match(with(message, API_KEY)).await.expect("created").into_inner();

    let join = |code: &str, name: &str| JoinMatchRequest {
        request_id: Uuid::new_v4().to_string(),
        join_code: code.to_owned(),
        seat: None,
        entropy: b"CANARY-entropy".to_vec(),
        name: name.to_owned(),
    };
    told.fails(raw.join_match(join("CANARY-join-code", "CANARY")).await);
    told.fails(raw.join_match(join(&created.join_code, &"CANARY".repeat(20))).await);
    let joined = raw.join_match(join(&created.join_code, "CANARY-guest")).await.expect("joined");
    told.fails(raw.join_match(join(&created.join_code, "CANARY-late")).await);

    let mut tokens: Vec<_> = created.seat_tokens.iter().map(|seat| seat.token.clone()).collect();
    tokens.push(joined.into_inner().seat_token.expect("a token").token);
    tokens.iter().chain([&created.spectator_token]).for_each(|token| told.hide_token(token));
    told.secrets.insert(created.join_code.clone());
    told.secrets.insert(created.join_code.replace('-', ""));
    (created, tokens)
}

/// Plays a match to its end, with all that callers do wrong at its beginning.
async fn play(server: &Process, game: &str, told: &mut Told) -> String {
    let (created, tokens) = create(server, game, told).await;
    let id = created.r#match.expect("a match").match_id;
    let mut raw = server.raw().await;
    let look = GetViewRequest { match_id: id.clone() };
    let watch = StreamViewRequest { match_id: id.clone(), ..StreamViewRequest::default() };
    told.fails(raw.get_view(look.clone()).await);
    told.fails(raw.stream_view(bearer(watch.clone(), "CANARY-token")).await);
    let mut stream = raw.stream_view(bearer(watch, &tokens[0])).await.expect("ok").into_inner();

    let mut played = 0;
    loop {
        let view = raw.get_view(bearer(look.clone(), &tokens[0])).await.expect("a view");
        let view = view.into_inner().view.expect("a view");
        if view.state() != MatchState::Playing {
            break;
        }
        let seat = view.decisions[0].seat as usize;
        let view = raw.get_view(bearer(look.clone(), &tokens[seat])).await.expect("a view");
        let view = view.into_inner().view.expect("a view");
        let token = &tokens[seat];
        if played < WRONG {
            act_wrong(server, &id, &view, token, &tokens[(seat + 1) % tokens.len()], told).await;
        }
        // Any legal action, but the same ones each time.
        let action = view.legal_actions[(played * 7 + 3) % view.legal_actions.len()].clone();
        let request = SubmitActionRequest {
            match_id: id.clone(),
            action_id: Uuid::new_v4().to_string(),
            action: Some(action),
            decision: None,
        };
        raw.submit_action(bearer(request, token)).await.expect("legal");
        played += 1;
    }
    while let Some(message) = stream.message().await.expect("a message") {
        assert!(!matches!(message.message, Some(Message::Heartbeat(_))), "it does not end");
    }
    let over = raw.get_match(bearer(GetMatchRequest { match_id: id.clone() }, &tokens[0])).await;
    let over = over.expect("a match").into_inner().r#match.expect("a match");
    assert_eq!(over.secret.len(), 32, "it is revealed");
    told.hide(&over.secret);
    id
}

/// Everything that can be wrong with an action.
async fn act_wrong(
    server: &Process,
    id: &str,
    view: &View,
    token: &str,
    other: &str,
    told: &mut Told,
) {
    let mut raw = server.raw().await;
    let action = view.legal_actions[0].clone();
    let request = SubmitActionRequest {
        match_id: id.to_owned(),
        action_id: Uuid::new_v4().to_string(),
        action: Some(action),
        decision: None,
    };
    let garbled = format!("{token}CANARY");
    told.fails(raw.submit_action(bearer(request.clone(), &garbled)).await);
    told.fails(raw.submit_action(request.clone()).await);
    let bad = SubmitActionRequest { match_id: "CANARY-match".to_owned(), ..request.clone() };
    told.fails(raw.submit_action(bearer(bad, token)).await);
    let elsewhere = SubmitActionRequest { match_id: Uuid::new_v4().to_string(), ..request.clone() };
    told.fails(raw.submit_action(bearer(elsewhere, token)).await);
    let bad = SubmitActionRequest { action_id: "CANARY-action".to_owned(), ..request.clone() };
    told.fails(raw.submit_action(bearer(bad, token)).await);
    let unset = SubmitActionRequest { action: None, ..request.clone() };
    told.fails(raw.submit_action(bearer(unset, token)).await);
    let ahead = SubmitActionRequest { decision: Some(1_000_000), ..request.clone() };
    told.fails(raw.submit_action(bearer(ahead, token)).await);
    // Another seat tries what this one holds: refused by turn, or by rule where both are to act.
    let theirs = raw.submit_action(bearer(request, other)).await;
    told.errors.extend(theirs.err());
}

#[tokio::test]
async fn what_is_logged_traced_counted_and_refused_has_no_secret_in_it() {
    let (redis, collector) = (RedisServer::start().await, Collector::start().await);
    let server = Process::start(&[
        &format!("--store={}", redis.url()),
        &format!("--otlp-endpoint={}", collector.url),
        &format!("--api-keys=tester:{API_KEY}"),
        "--trace-sampling=1",
        "--admin-listen=127.0.0.1:0",
        "--log=info,parlor=trace",
    ]);
    let mut told = Told::default();
    told.secrets.extend([CANARY.to_owned(), KEY.to_owned(), ":secret@".to_owned()]);
    told.hide(&hex::decode(KEY).unwrap());
    let mut ids = BTreeSet::new();
    for game in IDS {
        ids.insert(play(&server, game, &mut told).await);
    }
    let admin = server.admin().expect("it says where its metrics are");
    let (_, metrics) = get(&admin, "/metrics").await;
    let log = server.stop().await;

    let errors = format!("{:?}", told.errors);
    let spans = collector.text();
    for (what, text) in
        [("logs", &log), ("spans", &spans), ("metrics", &metrics), ("errors", &errors)]
    {
        assert!(text.len() > 1000, "there are {what}");
        for secret in &told.secrets {
            assert!(!text.contains(secret), "{secret} is in the {what}");
        }
    }
    let words = words();
    log.lines().for_each(|line| check_line(line, &words, &ids));
    check_spans(&collector, &words, &ids);
    metrics.lines().for_each(|line| check_sample(line, &words));
    told.errors.iter().for_each(check_status);
}

/// All words that may be told: names of methods, codes, games, actions and reasons.
fn words() -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    for service in ["MatchService/CreateMatch", "MatchService/JoinMatch", "MatchService/GetView"]
        .into_iter()
        .chain(["MatchService/GetMatch", "MatchService/SubmitAction", "MatchService/StreamView"])
    {
        words.insert(format!("parlor.v1.{service}"));
    }
    words.extend(Fault::ALL.iter().map(|fault| fault.reason.to_owned()));
    words.extend(Fault::ALL.iter().map(|fault| format!("{:?}", fault.code)));
    for catalog in catalogs() {
        words.insert(catalog.id.to_owned());
        words.extend(catalog.actions.iter().map(|action| action.id.to_owned()));
        words.extend(catalog.outcomes.iter().map(|outcome| outcome.id.to_owned()));
    }
    let others = "grpc Ok OK redis claim create load commit log ok failed \
        memory shared per-core done repeated conflict stale here elsewhere heard missed match_over \
        left commands announcements ERROR INVALID_ARGUMENT NOT_FOUND PERMISSION_DENIED \
        FAILED_PRECONDITION OUT_OF_RANGE UNAUTHENTICATED missing invalid expired scope revoked \
        none everysec always replicated";
    words.extend(others.split_whitespace().map(str::to_owned));
    let defaults = Settings::try_from(&Cli::parse_from(["parlor"]).serve).expect("good settings");
    words.extend(defaults.limits_in_force().into_iter().map(|(limit, _)| limit.to_owned()));
    words
}

fn is_number(text: &str) -> bool {
    text == "+Inf" || text.parse::<f64>().is_ok()
}

fn is_trace(text: &str) -> bool {
    text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn check_line(line: &str, words: &BTreeSet<String>, ids: &BTreeSet<String>) {
    let fields: serde_json::Map<String, serde_json::Value> =
        serde_json::from_str(line).expect("a JSON object a line");
    for (key, value) in &fields {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let is_known = match key.as_str() {
            "timestamp" | "level" | "target" => true,
            "message" => {
                [
                "call",
                "call failed",
                "call refused",
                "stopping",
                "connected",
                "announcements are heard",
            ]
            .contains(&text.as_str())
                // Said at the start, before there is a match.
                || text.starts_with("less is kept than is asked for: ")
            }
            "durability" => text == "always",
            "millis" | "lane" => is_number(&text),
            "host" => text.parse::<std::net::SocketAddr>().is_ok(),
            "trace_id" => is_trace(&text),
            "match_id" => ids.contains(&text),
            "method" | "code" | "reason" => text.is_empty() || words.contains(&text),
            _ => false,
        };
        assert!(is_known, "{key}={text}: {line}");
    }
}

fn check_spans(collector: &Collector, words: &BTreeSet<String>, ids: &BTreeSet<String>) {
    let spans = collector.spans();
    assert!(spans.iter().any(|span| span.name == "deliver"));
    for span in spans {
        let names = ["change", "rules", "announce", "deliver"];
        assert!(names.contains(&span.name.as_str()) || words.contains(&span.name), "{span:?}");
        assert!(span.events.is_empty(), "{span:?}");
        for (key, text) in attributes(&span) {
            let is_known = match key.as_str() {
                "parlor.match_id" => ids.contains(&text) || Uuid::parse_str(&text).is_ok(),
                "parlor.version" => is_number(&text),
                "rpc.system.name"
                | "rpc.method"
                | "rpc.response.status_code"
                | "error.type"
                | "parlor.reason"
                | "db.system.name"
                | "db.operation.name" => words.contains(&text),
                _ => false,
            };
            assert!(is_known, "{key}={text}: {span:?}");
        }
    }
}

fn check_sample(line: &str, words: &BTreeSet<String>) {
    if line.starts_with('#') || line.starts_with("target_info") {
        return;
    }
    let Some((_, labels)) = line.split_once('{') else { return };
    let (labels, _) = labels.rsplit_once('}').expect("labels have an end");
    for label in labels.split(',') {
        let (key, value) = label.split_once('=').expect("a name and a value");
        let value = value.trim_matches('"');
        let is_known = words.contains(value) || is_number(value);
        assert!(is_known || key == "version", "{label}: {line}");
    }
}

fn check_status(status: &Status) {
    let fault = Fault::ALL.iter().find(|fault| fault.message == status.message());
    let fault = fault.unwrap_or_else(|| panic!("{status:?}"));
    let details = status.get_error_details();
    assert_eq!(details.error_info().map(|info| info.reason.as_str()), Some(fault.reason));
    for violation in details.precondition_failure().iter().flat_map(|failure| &failure.violations) {
        let mut known = catalogs().into_iter().flat_map(|catalog| &catalog.refusals);
        let known = known.any(|refusal| {
            refusal.id == violation.subject && refusal.text == violation.description
        });
        assert!(known || violation.subject == "other_game", "{violation:?}");
    }
}
