//! `parlor play`: random players at a server, through the client that every Rust program can use.

use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::Path;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rand::RngExt as _;
use rand::rngs::ThreadRng;
use rand::seq::IndexedRandom as _;
use serde::Serialize;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tonic::{Code, Status};
use uuid::Uuid;

use crate::cli::PlayArgs;
use crate::client::{AtMatch, Client, Follow, Followed, reason};
use crate::config::{Mistakes, text_or_file};
use crate::dial::dial;
use crate::games::wire::Wire as _;
use crate::games::{AnyGame, AnyOptions, IDS, Registered, WithGame, with_game};
use crate::options;
use crate::proto::{
    CreateMatchRequest, GameAction, GameOptions, JoinMatchRequest, MatchState, NewSeat, Outcome,
    Seat, SeatKind, SeatToken, SubmitActionResponse, Update, View, Visibility,
};

/// After this long without anything new a player says for whom it waits; sooner, if it waits less than
/// ten times as long.
const QUIET: Duration = Duration::from_secs(10);

/// What ends a play too soon.
pub(crate) type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Plays as the command line says, and writes what happens.
///
/// # Errors
/// The server's, and those of the file that is written to.
pub async fn play(args: PlayArgs) -> Result<(), Failure> {
    let client = with_key(dial(&args.at)?, args.api_key.as_deref())?;
    let log = Log::new(args.record.as_deref())?;
    let table = match &args.join {
        Some(code) => join(&client, code, &args.name).await?,
        None => create(&client, &args).await?,
    };
    log.say(&format!("match {}", table.match_id));
    if let Some(outcome) = table.play_out(&client, &log, args.wait).await? {
        log.say(&format!(
            "over: {:?} won ({}), scores {:?}",
            outcome.winners, outcome.reason, outcome.scores
        ));
    }
    Ok(())
}

/// The client with this API key, if there is one, which may be in a file.
///
/// # Errors
/// The file's, and of what cannot be sent.
pub(crate) fn with_key(client: Client, key: Option<&str>) -> Result<Client, Failure> {
    let Some(key) = key else { return Ok(client) };
    Ok(client.with_api_key(&text_or_file(key)?)?)
}

/// A match, and the seats of it that are played here.
pub(crate) struct Table {
    match_id: String,
    seats: Vec<SeatToken>,
}

impl Table {
    /// Takes all seats of a new match.
    pub(crate) async fn create(
        client: &Client,
        options: GameOptions,
        seats: u8,
        name: &str,
    ) -> Result<Self, Failure> {
        let seat =
            NewSeat { kind: SeatKind::Taken.into(), name: name.to_owned(), ..NewSeat::default() };
        let created = client
            .create_match(CreateMatchRequest {
                request_id: String::new(),
                options: Some(options),
                seats: vec![seat; seats.into()],
                visibility: Visibility::Public.into(),
            })
            .await?;
        let match_id = created.r#match.unwrap_or_default().match_id;
        Ok(Self { match_id, seats: created.seat_tokens })
    }

    /// Plays until the match is over, and gives its outcome. Fails when a seat has to wait for longer
    /// than this.
    pub(crate) async fn play_out(
        &self,
        client: &Client,
        log: &Log,
        wait: Duration,
    ) -> Result<Option<Outcome>, Failure> {
        let mut players = JoinSet::new();
        for SeatToken { seat, token } in &self.seats {
            let at = client.at(&self.match_id, Some(token))?;
            players.spawn(Player { at, seat: *seat, log: log.clone(), wait }.play());
        }
        while let Some(played) = players.join_next().await {
            played??;
        }
        let token = self.seats.first().map(|seat| seat.token.as_str());
        Ok(client.at(&self.match_id, token)?.get_match().await?.outcome)
    }
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

async fn create(client: &Client, args: &PlayArgs) -> Result<Table, Failure> {
    let read = with_game(&args.game, ReadOptions(&args.options));
    let known = || format!("no game `{}`: there is {}", args.game, IDS.join(", "));
    let (options, fewest) = read.ok_or_else(known)??;
    let seats = args.seats.unwrap_or(fewest);
    Table::create(client, AnyGame::write_options(&options), seats, &args.name).await
}

async fn join(client: &Client, code: &str, name: &str) -> Result<Table, Failure> {
    let request = JoinMatchRequest {
        join_code: code.to_owned(),
        name: name.to_owned(),
        entropy: chance().random::<[u8; 16]>().to_vec(),
        ..JoinMatchRequest::default()
    };
    let joined = client.join_match(request).await?;
    let match_id = joined.r#match.unwrap_or_default().match_id;
    Ok(Table { match_id, seats: joined.seat_token.into_iter().collect() })
}

/// A player at one seat.
struct Player {
    at: AtMatch,
    seat: u32,
    log: Log,
    /// For how long it waits for the others.
    wait: Duration,
}

impl Player {
    /// Follows the match and answers every decision, until it is over.
    async fn play(self) -> Result<(), Failure> {
        let mut follow = self.at.follow();
        while let Some(told) = self.told(&mut follow).await? {
            self.log.record(self.seat, &Line::from(&told));
            let (Followed::Snapshot { view, .. } | Followed::Update { view, .. }) = told;
            if view.state() == MatchState::Playing {
                self.answer(&view).await?;
            }
        }
        self.log.record(self.seat, &Line::Ended { resumed: follow.resumed() });
        Ok(())
    }

    /// Waits for what there is next. Says for whom it waits when that takes a while, and gives up when
    /// it takes too long.
    async fn told(&self, follow: &mut Follow) -> Result<Option<Followed>, Failure> {
        let quiet = QUIET.min(self.wait / 10);
        let mut next = pin!(follow.next());
        if let Ok(told) = timeout(quiet, &mut next).await {
            return Ok(told?);
        }
        let awaited = self.awaited().await?;
        self.log.say(&format!("waiting for {awaited}"));
        let told = timeout(self.wait.saturating_sub(quiet), next).await;
        let wait = humantime::format_duration(self.wait);
        Ok(told.map_err(|_| format!("gave up after waiting {wait} for {awaited}"))??)
    }

    /// For whom and what the match waits, other than this seat.
    async fn awaited(&self) -> Result<String, Status> {
        let (view, table) = (self.at.view().await?, self.at.get_match().await?);
        let open = view.state() == MatchState::Waiting;
        let acts = |number| view.decisions.iter().any(|decision| decision.seat == number);
        let is_awaited = |(seat, number): &(&Seat, u32)| {
            if open { seat.kind() == SeatKind::Open } else { *number != self.seat && acts(*number) }
        };
        // A name is somebody else's text.
        let named = |(seat, number): (&Seat, u32)| match seat.name.as_str() {
            "" => format!("seat {number}"),
            name => format!("seat {number} ({name:?})"),
        };
        let awaited: Vec<_> = table.seats.iter().zip(0..).filter(is_awaited).map(named).collect();
        if awaited.is_empty() {
            return Ok("the server".to_owned());
        }
        let what = if open { "to be taken" } else { "to act" };
        Ok(format!("{} {what}", awaited.join(" and ")))
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
                let line = format!("{:>5}: seat {} {}", answer.version, self.seat, told(action));
                self.log.say(&line);
                let SubmitActionResponse { version, replayed, .. } = *answer;
                Line::Acted { action_id, version, replayed, answer: hexed(answer) }
            }
            Err(status) => {
                Line::Refused { action_id, code: status.code() as i32, reason: reason(status) }
            }
        };
        self.log.record(self.seat, &line);
        match answer {
            // An answer to what it saw before the stream caught up, or to what the store has lost
            // since: what the stream brings next is newer.
            Err(status) if matches!(status.code(), Code::Aborted | Code::OutOfRange) => Ok(()),
            Err(status) => Err(status.into()),
            Ok(_) => Ok(()),
        }
    }
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

/// Where players tell and write what happens; made by default, nowhere.
#[derive(Clone, Default)]
pub(crate) struct Log {
    told: bool,
    file: Option<Arc<Mutex<BufWriter<File>>>>,
}

impl Log {
    /// Tells what happens on standard output, and writes all of it to this file.
    fn new(path: Option<&Path>) -> io::Result<Self> {
        let file = path.map(File::create).transpose()?;
        Ok(Self { told: true, file: file.map(|file| Arc::new(Mutex::new(BufWriter::new(file)))) })
    }

    #[expect(clippy::print_stdout, reason = "this is what the command is for")]
    fn say(&self, line: &str) {
        if self.told {
            println!("{line}");
        }
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
