//! An instance of the service in this process, on a port of its own.

use std::sync::Arc;

use clap::Parser as _;
use parlor::app::App;
use parlor::cli::Cli;
use parlor::client::{AtMatch, Client};
use parlor::config::Settings;
use parlor::proto::match_service_client::MatchServiceClient;
use parlor::proto::{
    CreateMatchRequest, CreateMatchResponse, GameOptions, MatchState, NewSeat, SeatKind,
    Visibility, game_options,
};
use parlor::store::Store;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tonic::transport::Channel;

/// The key that all instances of a test sign with.
const KEY: &str =
    "--token-keys=test:000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

/// An instance that serves until it is stopped or dropped.
pub struct Instance {
    pub url: String,
    stop: CancellationToken,
    serving: JoinHandle<()>,
}

impl Instance {
    /// Starts an instance over a store, with more flags.
    pub fn start(store: Arc<dyn Store>, flags: &[&str]) -> Self {
        let words = ["parlor", "--listen=127.0.0.1:0", "--drain=5s", KEY];
        // Tests act faster than people, but for those that are about that.
        let limited = flags.iter().any(|flag| flag.contains("-rate"));
        let unlimited: &[&str] = if limited { &[] } else { &["--rate-limits=off"] };
        let words = words.iter().chain(unlimited).chain(flags);
        let cli = Cli::try_parse_from(words).expect("flags that exist");
        let settings = Settings::try_from(&cli.serve).expect("good settings");
        let app = App::over(store, settings).expect("a free port");
        let (url, stop) = (format!("http://{}", app.address()), app.stopper());
        #[expect(clippy::disallowed_methods, reason = "the instance owns the task and ends it")]
        let serving = tokio::spawn(app.serve());
        Self { url, stop, serving }
    }

    /// Its address, as `host:port`.
    pub fn address(&self) -> &str {
        self.url.split_once("://").expect("a URL").1
    }

    /// A client of this instance alone.
    pub fn client(&self) -> Client {
        Client::new(&[&self.url]).expect("an address")
    }

    /// The generated client, for what the other one hides.
    pub async fn raw(&self) -> MatchServiceClient<Channel> {
        MatchServiceClient::connect(self.url.clone()).await.expect("it listens")
    }

    /// Stops it as a signal would, and waits until it has.
    pub async fn stop(mut self) {
        self.stop.cancel();
        (&mut self.serving).await.expect("it stops by itself");
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// A match with every seat taken.
pub struct Table {
    pub created: CreateMatchResponse,
    pub id: String,
    pub seats: Vec<AtMatch>,
}

impl Table {
    /// Creates a match of a game, public and full.
    pub async fn create(client: &Client, game: game_options::Game, seats: usize) -> Self {
        let seat = NewSeat { kind: SeatKind::Taken.into(), ..NewSeat::default() };
        let request = CreateMatchRequest {
            options: Some(GameOptions { game: Some(game) }),
            seats: vec![seat; seats],
            visibility: Visibility::Public.into(),
            ..CreateMatchRequest::default()
        };
        Self::create_as(client, request).await
    }

    /// Creates a match as it is asked for, and sits at the seats that are taken.
    pub async fn create_as(client: &Client, request: CreateMatchRequest) -> Self {
        let created = client.create_match(request).await.expect("created");
        let id = created.r#match.clone().expect("a match").match_id;
        let at = |seat: &parlor::proto::SeatToken| {
            client.at(&id, Some(&seat.token)).expect("a token that can be sent")
        };
        let seats = created.seat_tokens.iter().map(at).collect();
        Self { created, id, seats }
    }

    /// The same seats, at another instance.
    pub fn at(&self, client: &Client) -> Vec<AtMatch> {
        let tokens = self.created.seat_tokens.iter();
        tokens.map(|seat| client.at(&self.id, Some(&seat.token)).expect("a token")).collect()
    }

    /// The same table, sitting at another instance.
    pub fn moved(self, client: &Client) -> Self {
        Self { seats: self.at(client), ..self }
    }

    /// Plays the first legal action of whoever is to act, at most so often; says how often.
    pub async fn play(&self, most: usize) -> usize {
        for played in 0..most {
            let view = self.seats[0].view().await.expect("a view");
            if view.state() != MatchState::Playing {
                return played;
            }
            let decision = view.decisions[0];
            let seat = &self.seats[decision.seat as usize];
            let action = seat.view().await.expect("a view").legal_actions[0].clone();
            seat.act(action, Some(decision.decision)).await.expect("a legal action");
        }
        most
    }
}
