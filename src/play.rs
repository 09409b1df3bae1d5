//! `parlor play`: random players at a server, through the client that every Rust program can use.

use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use rand::RngExt as _;
use rand::rngs::ThreadRng;
use rand::seq::IndexedRandom as _;
use serde::Serialize;
use tokio::task::JoinSet;
use tonic::Code;
use uuid::Uuid;

use crate::cli::PlayArgs;
use crate::client::{AtMatch, Client, Followed, reason};
use crate::config::Mistakes;
use crate::dial::dial;
use crate::games::wire::Wire as _;
use crate::games::{AnyGame, AnyOptions, IDS, Registered, WithGame, with_game};
use crate::options;
use crate::proto::{
    CreateMatchRequest, GameAction, JoinMatchRequest, MatchState, NewSeat, SeatKind, SeatToken,
    SubmitActionResponse, Update, View, Visibility,
};

/// What ends a play too soon.
type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Plays as the command line says, and writes what happens.
///
/// # Errors
/// The server's, and those of the file that is written to.
pub async fn play(args: PlayArgs) -> Result<(), Failure> {
    let mut client = dial(&args.at)?;
    if let Some(key) = &args.api_key {
        client = client.with_api_key(key)?;
    }
    let log = Log::new(args.record.as_deref())?;
    let (match_id, seats) = match &args.join {
        Some(code) => join(&client, code, &args.name).await?,
        None => create(&client, &args).await?,
    };
    say(&format!("match {match_id}"));

    let mut players = JoinSet::new();
    for SeatToken { seat, token } in &seats {
        let at = client.at(&match_id, Some(token))?;
        players.spawn(Player { at, seat: *seat, log: log.clone() }.play());
    }
    while let Some(played) = players.join_next().await {
        played??;
    }
    let token = seats.first().map(|seat| seat.token.as_str());
    let over = client.at(&match_id, token)?.get_match().await?;
    if let Some(outcome) = over.outcome {
        say(&format!(
            "over: {:?} won ({}), scores {:?}",
            outcome.winners, outcome.reason, outcome.scores
        ));
    }
    Ok(())
}

/// Reads the options of a game that is known by its id; with the fewest seats that it allows.
struct ReadOptions<'a>(&'a [String]);

impl WithGame for ReadOptions<'_> {
    type Output = Result<(AnyOptions, u8), Mistakes>;

    fn with<G: Registered>(self) -> Self::Output {
        let mut mistakes = Vec::new();
        let options = options::read::<G>(self.0, &mut mistakes);
        let fewest = *G::catalog(&options).seats.start();
        if mistakes.is_empty() { Ok((options.into(), fewest)) } else { Err(Mistakes(mistakes)) }
    }
}

async fn create(client: &Client, args: &PlayArgs) -> Result<(String, Vec<SeatToken>), Failure> {
    let read = with_game(&args.game, ReadOptions(&args.options));
    let known = || format!("no game `{}`: there is {}", args.game, IDS.join(", "));
    let (options, fewest) = read.ok_or_else(known)??;
    let seat =
        NewSeat { kind: SeatKind::Taken.into(), name: args.name.clone(), ..NewSeat::default() };
    let created = client
        .create_match(CreateMatchRequest {
            request_id: String::new(),
            options: Some(AnyGame::write_options(&options)),
            seats: vec![seat; args.seats.unwrap_or(fewest).into()],
            visibility: Visibility::Public.into(),
        })
        .await?;
    Ok((created.r#match.unwrap_or_default().match_id, created.seat_tokens))
}

async fn join(
    client: &Client,
    code: &str,
    name: &str,
) -> Result<(String, Vec<SeatToken>), Failure> {
    let request = JoinMatchRequest {
        join_code: code.to_owned(),
        name: name.to_owned(),
        entropy: chance().random::<[u8; 16]>().to_vec(),
        ..JoinMatchRequest::default()
    };
    let joined = client.join_match(request).await?;
    Ok((joined.r#match.unwrap_or_default().match_id, joined.seat_token.into_iter().collect()))
}

/// A player at one seat.
struct Player {
    at: AtMatch,
    seat: u32,
    log: Log,
}

impl Player {
    /// Follows the match and answers every decision, until it is over.
    async fn play(self) -> Result<(), Failure> {
        let mut follow = self.at.follow();
        while let Some(told) = follow.next().await? {
            self.log.record(self.seat, &Line::from(&told));
            let (Followed::Snapshot { view, .. } | Followed::Update { view, .. }) = told;
            if view.state() == MatchState::Playing {
                self.answer(&view).await?;
            }
        }
        self.log.record(self.seat, &Line::Ended { resumed: follow.resumed() });
        Ok(())
    }

    async fn answer(&self, view: &View) -> Result<(), Failure> {
        let decision = view.decisions.iter().find(|decision| decision.seat == self.seat);
        let action = view.legal_actions.choose(&mut chance());
        let (Some(decision), Some(action)) = (decision, action) else { return Ok(()) };
        let (action_id, decision) = (Uuid::new_v4(), decision.decision);
        self.log.record(self.seat, &Line::Sent { action_id, decision, action: hexed(action) });
        let answer = self.at.act_as(action_id, action.clone(), Some(decision)).await;
        let line = match &answer {
            Ok(answer) => {
                say(&format!("{:>5}: seat {} {}", answer.version, self.seat, told(action)));
                let SubmitActionResponse { version, replayed, .. } = *answer;
                Line::Acted { action_id, version, replayed, answer: hexed(answer) }
            }
            Err(status) => {
                Line::Refused { action_id, code: status.code() as i32, reason: reason(status) }
            }
        };
        self.log.record(self.seat, &line);
        match answer {
            // An answer to what it saw before the stream caught up: the next update brings more.
            Err(status) if status.code() == Code::Aborted => Ok(()),
            Err(status) => Err(status.into()),
            Ok(_) => Ok(()),
        }
    }
}

#[expect(clippy::print_stdout, reason = "this is what the command is for")]
fn say(line: &str) {
    println!("{line}");
}

/// An action as the rules print it.
fn told(action: &GameAction) -> String {
    AnyGame::read_action(action)
        .map_or_else(|bad| bad.why.to_owned(), |action| format!("{action:?}"))
}

#[expect(clippy::disallowed_methods, reason = "how a player chooses is not a part of the match")]
fn chance() -> ThreadRng {
    rand::rng()
}

#[expect(clippy::disallowed_methods, reason = "a recording says when things happened")]
fn now() -> u128 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_micros()
}

fn hexed(message: &impl prost::Message) -> String {
    hex::encode(message.encode_to_vec())
}

/// One line of a recording.
#[derive(Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
enum Line {
    /// A stream began, or began anew; with the view as a `View` message.
    Snapshot { version: u64, forget: bool, view: String },
    /// A stream went on; with events and view as an `Update` message.
    Update { version: u64, update: String },
    /// An action is about to be sent, for the first time.
    Sent { action_id: Uuid, decision: u64, action: String },
    /// An action that was carried out, at this version; with a `SubmitActionResponse` message.
    Acted { action_id: Uuid, version: u64, replayed: bool, answer: String },
    /// An action that was not.
    Refused { action_id: Uuid, code: i32, reason: Option<String> },
    /// All was told, over one stream more than it was resumed.
    Ended { resumed: u32 },
}

impl From<&Followed> for Line {
    fn from(told: &Followed) -> Self {
        match told {
            Followed::Snapshot { view, forget } => {
                Self::Snapshot { version: view.version, forget: *forget, view: hexed(view) }
            }
            Followed::Update { version, events, view } => {
                let update = Update { events: events.clone(), view: Some(view.clone()) };
                Self::Update { version: *version, update: hexed(&update) }
            }
        }
    }
}

/// Where players write what happens.
#[derive(Clone)]
struct Log {
    file: Option<Arc<Mutex<BufWriter<File>>>>,
}

impl Log {
    fn new(path: Option<&std::path::Path>) -> io::Result<Self> {
        let file = path.map(File::create).transpose()?;
        Ok(Self { file: file.map(|file| Arc::new(Mutex::new(BufWriter::new(file)))) })
    }

    fn record(&self, seat: u32, line: &Line) {
        let Some(file) = &self.file else { return };
        let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
        let written = serde_json::to_writer(&mut *file, &OfSeat { at: now(), seat, line });
        let flushed = written.map_err(io::Error::from).and_then(|()| {
            file.write_all(b"\n")?;
            file.flush()
        });
        if let Err(error) = flushed {
            tracing::error!(%error, "the recording could not be written");
        }
    }
}

/// A line, with the seat that it is about, and when it was written in microseconds since 1970.
#[derive(Serialize)]
struct OfSeat<'a> {
    at: u128,
    seat: u32,
    #[serde(flatten)]
    line: &'a Line,
}
