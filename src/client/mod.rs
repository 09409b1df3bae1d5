//! A client for Rust programs: it creates, joins, acts and follows, and hides from its caller that
//! servers come and go.
//!
//! Every change carries an id that is made up once and sent with each try, so whatever may be tried
//! again is tried again, at the same server or another, without ever being done twice. A stream
//! that breaks is resumed where it was.

mod follow;
mod retry;

use std::time::Duration;

use tonic::metadata::{Ascii, MetadataValue};
use tonic::transport::{Channel, Endpoint};
use tonic::{Request, Response, Status};
use tonic_types::StatusExt as _;
use uuid::Uuid;

pub use self::follow::{Follow, Followed};
pub use self::retry::Patience;
use crate::proto::catalog_service_client::CatalogServiceClient;
use crate::proto::match_service_client::MatchServiceClient;
use crate::proto::{
    CreateMatchRequest, CreateMatchResponse, GameAction, GetGameRequest, GetGameResponse,
    GetMatchRequest, GetViewRequest, JoinMatchRequest, JoinMatchResponse, ListGamesRequest,
    ListGamesResponse, Match, RenewTokenRequest, RenewTokenResponse, SubmitActionRequest,
    SubmitActionResponse, View,
};

/// How long one try may take.
const TRY: Duration = Duration::from_secs(5);
/// How long it may take to connect.
const CONNECT: Duration = Duration::from_secs(2);
/// How often a quiet connection is asked whether it is still there.
const KEEPALIVE: Duration = Duration::from_secs(10);

/// A client of one service, at one or several addresses.
#[derive(Clone, Debug)]
pub struct Client {
    matches: MatchServiceClient<Channel>,
    catalog: CatalogServiceClient<Channel>,
    patience: Patience,
    api_key: Option<MetadataValue<Ascii>>,
}

/// Why a client could not be made.
#[derive(Debug, thiserror::Error)]
pub enum BadClient {
    /// The address is not a URL.
    #[error("not an address, as in http://127.0.0.1:50051: {0}")]
    Address(#[from] tonic::transport::Error),
    /// The key or token cannot be sent.
    #[error("a key or token has characters that cannot be sent")]
    Secret,
}

impl Client {
    /// A client for the service at these addresses, among which it spreads its calls. It connects
    /// when it is first used.
    ///
    /// # Errors
    /// [`BadClient::Address`].
    pub fn new<A: AsRef<str>>(addresses: &[A]) -> Result<Self, BadClient> {
        let endpoints = addresses.iter().map(|address| {
            Ok(Endpoint::from_shared(address.as_ref().to_owned())?
                .connect_timeout(CONNECT)
                .tcp_nodelay(true)
                .http2_keep_alive_interval(KEEPALIVE)
                .keep_alive_timeout(KEEPALIVE)
                .keep_alive_while_idle(true))
        });
        let endpoints: Vec<Endpoint> = endpoints.collect::<Result<_, BadClient>>()?;
        let channel = match <[Endpoint; 1]>::try_from(endpoints) {
            Ok([endpoint]) => endpoint.connect_lazy(),
            Err(endpoints) => Channel::balance_list(endpoints.into_iter()),
        };
        Ok(Self {
            matches: MatchServiceClient::new(channel.clone()),
            catalog: CatalogServiceClient::new(channel),
            patience: Patience::default(),
            api_key: None,
        })
    }

    /// The same client with another patience.
    #[must_use]
    pub fn with_patience(mut self, patience: Patience) -> Self {
        self.patience = patience;
        self
    }

    /// The same client with an API key.
    ///
    /// # Errors
    /// [`BadClient::Secret`].
    pub fn with_api_key(mut self, key: &str) -> Result<Self, BadClient> {
        self.api_key = Some(secret(key)?);
        Ok(self)
    }

    /// Lists the games.
    ///
    /// # Errors
    /// The service's.
    pub async fn list_games(&self) -> Result<ListGamesResponse, Status> {
        self.patience
            .tries(|| {
                let mut catalog = self.catalog.clone();
                async move { catalog.list_games(timed(ListGamesRequest {})).await }
            })
            .await
    }

    /// Describes one game.
    ///
    /// # Errors
    /// The service's.
    pub async fn get_game(&self, game_id: &str) -> Result<GetGameResponse, Status> {
        let request = GetGameRequest { game_id: game_id.to_owned() };
        self.patience
            .tries(|| {
                let (mut catalog, request) = (self.catalog.clone(), timed(request.clone()));
                async move { catalog.get_game(request).await }
            })
            .await
    }

    /// Creates a match. A request id that is left empty is made up.
    ///
    /// # Errors
    /// The service's.
    pub async fn create_match(
        &self,
        mut request: CreateMatchRequest,
    ) -> Result<CreateMatchResponse, Status> {
        fill(&mut request.request_id);
        self.patience
            .tries(|| {
                let (mut matches, mut request) = (self.matches.clone(), timed(request.clone()));
                if let Some(key) = &self.api_key {
                    request.metadata_mut().insert("x-api-key", key.clone());
                }
                async move { matches.create_match(request).await }
            })
            .await
    }

    /// Takes an open seat. A request id that is left empty is made up.
    ///
    /// # Errors
    /// The service's.
    pub async fn join_match(
        &self,
        mut request: JoinMatchRequest,
    ) -> Result<JoinMatchResponse, Status> {
        fill(&mut request.request_id);
        self.patience
            .tries(|| {
                let (mut matches, request) = (self.matches.clone(), timed(request.clone()));
                async move { matches.join_match(request).await }
            })
            .await
    }

    /// What can be done with a match: with a seat's token everything that the seat can, with a
    /// spectator's or without one, watch.
    ///
    /// # Errors
    /// [`BadClient::Secret`].
    pub fn at(&self, match_id: &str, token: Option<&str>) -> Result<AtMatch, BadClient> {
        let bearer = token.map(|token| secret(&format!("Bearer {token}"))).transpose()?;
        Ok(AtMatch { client: self.clone(), match_id: match_id.to_owned(), bearer })
    }
}

/// A place at a match: a seat, or among the spectators.
#[derive(Clone, Debug)]
pub struct AtMatch {
    client: Client,
    match_id: String,
    bearer: Option<MetadataValue<Ascii>>,
}

impl AtMatch {
    /// Answers a decision; without one, whatever is open.
    ///
    /// # Errors
    /// The service's.
    pub async fn act(
        &self,
        action: GameAction,
        decision: Option<u64>,
    ) -> Result<SubmitActionResponse, Status> {
        self.act_as(Uuid::new_v4(), action, decision).await
    }

    /// Like [`AtMatch::act`], under an id of the caller's making: whoever does not know whether an
    /// action was carried out can send it again under the same.
    ///
    /// # Errors
    /// The service's.
    pub async fn act_as(
        &self,
        action_id: Uuid,
        action: GameAction,
        decision: Option<u64>,
    ) -> Result<SubmitActionResponse, Status> {
        let request = SubmitActionRequest {
            match_id: self.match_id.clone(),
            action_id: action_id.to_string(),
            action: Some(action),
            decision,
        };
        self.ask(
            request,
            |mut matches, request| async move { matches.submit_action(request).await },
        )
        .await
    }

    /// What is seen from here now.
    ///
    /// # Errors
    /// The service's.
    pub async fn view(&self) -> Result<View, Status> {
        let request = GetViewRequest { match_id: self.match_id.clone() };
        let response = self
            .ask(request, |mut matches, request| async move { matches.get_view(request).await })
            .await?;
        Ok(response.view.unwrap_or_default())
    }

    /// What is public about the match.
    ///
    /// # Errors
    /// The service's.
    pub async fn get_match(&self) -> Result<Match, Status> {
        let request = GetMatchRequest { match_id: self.match_id.clone() };
        let response = self
            .ask(request, |mut matches, request| async move { matches.get_match(request).await })
            .await?;
        Ok(response.r#match.unwrap_or_default())
    }

    /// Replaces the seat's token by a new one.
    ///
    /// # Errors
    /// The service's.
    pub async fn renew_token(&self) -> Result<RenewTokenResponse, Status> {
        let request = RenewTokenRequest {
            request_id: Uuid::new_v4().to_string(),
            match_id: self.match_id.clone(),
        };
        self.ask(request, |mut matches, request| async move { matches.renew_token(request).await })
            .await
    }

    /// Follows the match from where it is now.
    #[must_use]
    pub fn follow(&self) -> Follow {
        Follow::new(self.clone(), None)
    }

    /// Follows the match from its first version on.
    #[must_use]
    pub fn follow_from_the_start(&self) -> Follow {
        Follow::new(self.clone(), Some(0))
    }

    /// Asks the service, again where that may help.
    async fn ask<M: Clone, R, F>(
        &self,
        message: M,
        call: impl Fn(MatchServiceClient<Channel>, Request<M>) -> F,
    ) -> Result<R, Status>
    where
        F: Future<Output = Result<Response<R>, Status>>,
    {
        let call = || call(self.client.matches.clone(), self.request(message.clone()));
        self.client.patience.tries(call).await
    }

    /// A request with the token and the time that one try may take.
    fn request<T>(&self, message: T) -> Request<T> {
        let mut request = timed(message);
        self.identify(&mut request);
        request
    }

    fn identify<T>(&self, request: &mut Request<T>) {
        if let Some(bearer) = &self.bearer {
            request.metadata_mut().insert("authorization", bearer.clone());
        }
    }
}

/// The reason in a status, if the service gave one.
#[must_use]
pub fn reason(status: &Status) -> Option<String> {
    status.get_error_details().error_info().map(|info| info.reason.clone())
}

/// A status in words for people: its message and reason, and a line for each thing that its details
/// name.
#[must_use]
pub fn explain(status: &Status) -> String {
    let details = status.get_error_details();
    let reason = details.error_info().map_or("no reason", |info| &info.reason);
    let fields = details.bad_request().into_iter().flat_map(|bad| &bad.field_violations);
    let rules = details.precondition_failure().into_iter().flat_map(|failed| &failed.violations);
    let named = fields
        .map(|field| format!("{}: {}", field.field, field.description))
        .chain(rules.map(|rule| format!("{}: {}", rule.subject, rule.description)));
    let first = format!("{} ({reason})", status.message());
    std::iter::once(first).chain(named).collect::<Vec<_>>().join("\n")
}

fn timed<T>(message: T) -> Request<T> {
    let mut request = Request::new(message);
    request.set_timeout(TRY);
    request
}

fn fill(request_id: &mut String) {
    if request_id.is_empty() {
        *request_id = Uuid::new_v4().to_string();
    }
}

fn secret(text: &str) -> Result<MetadataValue<Ascii>, BadClient> {
    let mut value: MetadataValue<Ascii> = text.parse().map_err(|_| BadClient::Secret)?;
    value.set_sensitive(true);
    Ok(value)
}
