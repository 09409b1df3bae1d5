//! The match service.

use std::net::IpAddr;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::time::Duration;

use futures_util::{FutureExt as _, Stream, stream};
use tonic::{Request, Response, Status};
use uuid::Uuid;

use super::deadline::Deadline;
use super::errors::{Fault, invalid_field, panicked};
use super::fields::{Fields, match_id};
use super::identity::{self, ApiKeys};
use super::messages::{write_events, write_match, write_message, write_view};
use super::places::{Place, Places};
use super::rates::Rates;
use super::resume;
use super::streams::{OpenStream, delivery};
use super::tokens::TokenKeys;
use crate::connections::Peer;
use crate::games::AnyGame;
use crate::games::wire::{BadField, Wire as _, read_seat, read_seat_count, write_seat};
use crate::matches::{
    Answer, Beginning, Caller, Create, Created, EndReason, Join, JoinCode, Joined, Matches,
    Message, NewPlayer, Record, Submit, Visibility, Watcher,
};
use crate::proto;
use crate::proto::match_service_server::MatchService;
use crate::rules::{BySeat, Game, Seat, SeatCount, Viewer};
use crate::store::MatchId;

/// The match service over the matches of a store.
#[derive(Clone, Debug)]
pub struct Service {
    /// The matches.
    pub matches: Matches<AnyGame>,
    /// What tokens are signed with.
    pub tokens: TokenKeys,
    /// For how long tokens are good.
    pub token_life: Duration,
    /// Who may create matches.
    pub api_keys: ApiKeys,
    /// The streams that are open.
    pub places: Places,
    /// How often callers did what.
    pub rates: Rates,
}

type Replies = Pin<Box<dyn Stream<Item = Result<proto::StreamViewResponse, Status>> + Send>>;

#[tonic::async_trait]
impl MatchService for Service {
    async fn create_match(
        &self,
        request: Request<proto::CreateMatchRequest>,
    ) -> Result<Response<proto::CreateMatchResponse>, Status> {
        let principal = self.api_keys.principal(request.metadata());
        let principal = principal.map_err(|status| self.counted(&request, status))?;
        let creator = if self.api_keys.is_open() {
            address(&request).map_or_else(String::new, |address| address.to_string())
        } else {
            principal.clone()
        };
        self.rates.create(&creator)?;
        let create = read_create(request.get_ref(), principal)?;
        Deadline::of(request.extensions())
            .keep(Fault::OUTCOME_UNKNOWN, async {
                self.created(&self.matches.create(create).await?).map(Response::new)
            })
            .await
    }

    async fn join_match(
        &self,
        request: Request<proto::JoinMatchRequest>,
    ) -> Result<Response<proto::JoinMatchResponse>, Status> {
        let join = read_join(request.get_ref())?;
        Deadline::of(request.extensions())
            .keep(Fault::OUTCOME_UNKNOWN, async {
                self.joined(&self.matches.join(join).await?).map(Response::new)
            })
            .await
    }

    async fn renew_token(
        &self,
        request: Request<proto::RenewTokenRequest>,
    ) -> Result<Response<proto::RenewTokenResponse>, Status> {
        let message = request.get_ref();
        let id = match_id(&message.match_id)?;
        let (seat, epoch) = self.seat(&request, id)?;
        let mut fields = Fields::default();
        let request_id = fields.uuid("request_id", &message.request_id);
        let Some(request_id) = request_id else { return Err(fields.status()) };
        Deadline::of(request.extensions())
            .keep(Fault::OUTCOME_UNKNOWN, async {
                let answer = self.matches.renew(id, seat, epoch, request_id).await?;
                Ok(Response::new(proto::RenewTokenResponse {
                    seat_token: Some(self.seat_token(id, &answer.frame.live.record, seat)?),
                    replayed: answer.replayed,
                }))
            })
            .await
    }

    async fn submit_action(
        &self,
        request: Request<proto::SubmitActionRequest>,
    ) -> Result<Response<proto::SubmitActionResponse>, Status> {
        let id = match_id(&request.get_ref().match_id)?;
        let (seat, epoch) = self.seat(&request, id)?;
        self.rates.act(id, seat)?;
        let submit = read_submit(request.get_ref(), seat, epoch)?;
        Deadline::of(request.extensions())
            .keep(Fault::OUTCOME_UNKNOWN, async {
                let answer = self.matches.submit(id, submit).await?;
                Ok(Response::new(submitted(&answer, seat)))
            })
            .await
    }

    async fn get_view(
        &self,
        request: Request<proto::GetViewRequest>,
    ) -> Result<Response<proto::GetViewResponse>, Status> {
        let id = match_id(&request.get_ref().match_id)?;
        let caller = self.caller(&request, id)?;
        Deadline::of(request.extensions())
            .keep(Fault::DEADLINE_EXCEEDED, async {
                let (live, viewer) = self.matches.look(id, caller).await?;
                let view = Some(write_view(&live.view(viewer)));
                Ok(Response::new(proto::GetViewResponse { view }))
            })
            .await
    }

    async fn get_match(
        &self,
        request: Request<proto::GetMatchRequest>,
    ) -> Result<Response<proto::GetMatchResponse>, Status> {
        let id = match_id(&request.get_ref().match_id)?;
        let caller = self.caller(&request, id)?;
        Deadline::of(request.extensions())
            .keep(Fault::DEADLINE_EXCEEDED, async {
                let (live, _) = self.matches.look(id, caller).await?;
                let found = Some(write_match(id, &live));
                Ok(Response::new(proto::GetMatchResponse { r#match: found }))
            })
            .await
    }

    type StreamViewStream = Replies;

    async fn stream_view(
        &self,
        request: Request<proto::StreamViewRequest>,
    ) -> Result<Response<Replies>, Status> {
        let id = match_id(&request.get_ref().match_id)?;
        let caller = self.caller(&request, id)?;
        self.rates.open(id, caller, address(&request))?;
        let beginning = self.read_beginning(id, request.get_ref()).map_err(invalid_field)?;
        let place = self.places.take(id, caller)?;
        let deadline = Deadline::of(request.extensions());
        let watcher = deadline
            .keep(Fault::DEADLINE_EXCEEDED, async {
                Ok(self.matches.watch(id, caller, beginning).await?)
            })
            .await?;
        place.settle();
        let pause = self.places.pause();
        Ok(Response::new(replies(watcher, id, self.tokens.clone(), deadline.asked, place, pause)))
    }
}

/// Where a request came from.
fn address<T>(request: &Request<T>) -> Option<IpAddr> {
    request.extensions().get::<Peer>().map(|peer| peer.address.ip())
}

/// What a watcher is told, until the deadline, if there is one, or until it has to make place.
fn replies(
    watcher: Watcher<AnyGame>,
    id: MatchId,
    tokens: TokenKeys,
    deadline: Option<tokio::time::Instant>,
    place: Place,
    pause: Duration,
) -> Replies {
    let late = async move {
        match deadline {
            Some(deadline) => tokio::time::sleep_until(deadline).await,
            None => std::future::pending().await,
        }
    };
    let late = Box::pin(late.shared());
    Box::pin(stream::unfold(Some((watcher, OpenStream::new(), place)), move |watched| {
        let (tokens, late) = (tokens.clone(), late.clone());
        let telling = async move {
            let (mut watcher, mut open, place) = watched?;
            let next = tokio::select! {
                biased;
                () = late => {
                    open.is_late();
                    return Some((Err(Fault::DEADLINE_EXCEEDED.status()), None));
                }
                () = place.superseded() => watcher.leave(EndReason::Superseded).map(Ok),
                next = watcher.next() => next,
            };
            let next = match next? {
                Ok(next) => next,
                Err(error) => {
                    open.fails();
                    return Some((Err(error.into()), None));
                }
            };
            if let Message::End(reason) = next {
                open.ends(reason);
            }
            let _delivery = delivery(&watcher, id, &next);
            let (version, resume_token) = match watcher.position() {
                Some(position) => (position.version, resume::write(&tokens, id, position)),
                None => (0, Vec::new()),
            };
            let reply = write_message(&next, version, resume_token, pause);
            Some((Ok(reply), Some((watcher, open, place))))
        };
        // As with a call: otherwise the stream is reset without a word.
        let caught = AssertUnwindSafe(telling).catch_unwind();
        caught.map(|told| told.unwrap_or_else(|_| Some((Err(panicked()), None))))
    }))
}

impl Service {
    fn caller<T>(&self, request: &Request<T>, id: MatchId) -> Result<Caller, Status> {
        let caller = identity::caller(&self.tokens, request.metadata(), id);
        caller.map_err(|status| self.counted(request, status))
    }

    fn seat<T>(&self, request: &Request<T>, id: MatchId) -> Result<(Seat, u32), Status> {
        let seat = identity::seat(&self.tokens, request.metadata(), id);
        seat.map_err(|status| self.counted(request, status))
    }

    /// The status, or another one for whoever has guessed too often.
    fn counted<T>(&self, request: &Request<T>, status: Status) -> Status {
        let guesses = [Fault::TOKEN_INVALID, Fault::API_KEY_INVALID];
        if guesses.iter().any(|fault| fault.message == status.message()) {
            self.rates.guess(address(request)).err().unwrap_or(status)
        } else {
            status
        }
    }

    fn read_beginning(
        &self,
        id: MatchId,
        message: &proto::StreamViewRequest,
    ) -> Result<Beginning, BadField> {
        let seen = resume::read(&self.tokens, id, &message.resume_token)?;
        match (seen, message.after_version) {
            (None, None) => Ok(Beginning::Now),
            (Some(seen), None) => Ok(Beginning::Resumed(seen)),
            (None, Some(version)) => Ok(Beginning::After(version)),
            (Some(_), Some(_)) => {
                Err(BadField::new("after_version", "not together with a resume token"))
            }
        }
    }

    fn created(&self, created: &Created<AnyGame>) -> Result<proto::CreateMatchResponse, Status> {
        let Created { id, answer } = created;
        let record = &answer.frame.live.record;
        let creation = &record.creation;
        let taken = record.players.iter().filter(|(_, player)| player.is_some());
        let seat_tokens = taken.map(|(seat, _)| self.seat_token(*id, record, seat));
        Ok(proto::CreateMatchResponse {
            r#match: Some(write_match(*id, &answer.frame.live)),
            seat_tokens: seat_tokens.collect::<Result<_, _>>()?,
            join_code: if record.players.values().all(Option::is_some) {
                String::new()
            } else {
                creation.join_code.to_string()
            },
            spectator_token: match creation.visibility {
                Visibility::Public => String::new(),
                Visibility::Private => {
                    self.tokens.issue(*id, None, creation.created_at / 1000, self.token_life)?
                }
            },
            replayed: answer.replayed,
        })
    }

    fn joined(&self, joined: &Joined<AnyGame>) -> Result<proto::JoinMatchResponse, Status> {
        let live = &joined.answer.frame.live;
        Ok(proto::JoinMatchResponse {
            r#match: Some(write_match(joined.id, live)),
            seat_token: Some(self.seat_token(joined.id, &live.record, joined.seat)?),
            replayed: joined.answer.replayed,
        })
    }

    /// The good token of a seat that is taken.
    fn seat_token(
        &self,
        id: MatchId,
        record: &Record<AnyGame>,
        seat: Seat,
    ) -> Result<proto::SeatToken, Status> {
        let player = record.players[seat].as_ref();
        let (epoch, issued_at) = player.map_or((0, 0), |player| (player.epoch, player.issued_at));
        let token = self.tokens.issue(id, Some((seat, epoch)), issued_at, self.token_life)?;
        Ok(proto::SeatToken { seat: write_seat(seat), token })
    }
}

/// The answer to an action, for the seat that acted.
fn submitted(answer: &Answer<AnyGame>, seat: Seat) -> proto::SubmitActionResponse {
    let Answer { frame, replayed } = answer;
    let viewer = Viewer::Seat(seat);
    proto::SubmitActionResponse {
        version: frame.live.position.version,
        events: write_events(&frame.live.seen(&frame.events, viewer)),
        view: Some(write_view(&frame.live.view(viewer))),
        replayed: *replayed,
    }
}

fn read_create(
    message: &proto::CreateMatchRequest,
    principal: String,
) -> Result<Create<<AnyGame as Game>::Options>, Status> {
    let mut fields = Fields::default();
    let request_id = fields.uuid("request_id", &message.request_id);
    let unset = proto::GameOptions::default();
    let options = AnyGame::read_options(message.options.as_ref().unwrap_or(&unset));
    let options = fields.note(options.map_err(|bad| bad.within("options")));
    let count = fields.note(read_seat_count(message.seats.len(), "seats"));
    if let (Some(options), Some(count)) = (&options, count) {
        for bad in AnyGame::check(options, count) {
            fields.refuse(option_path(AnyGame::catalog(options).id, bad.field), &bad.why);
        }
    }
    let seats = count.map(|count| read_seats(&mut fields, &message.seats, count));
    let visibility = match message.visibility() {
        proto::Visibility::Public => Some(Visibility::Public),
        proto::Visibility::Private => Some(Visibility::Private),
        proto::Visibility::Unspecified => {
            fields.refuse("visibility", "public or private");
            None
        }
    };
    match (request_id, options, seats, visibility) {
        (Some(request_id), Some(options), Some(seats), Some(visibility)) => {
            fields.check()?;
            Ok(Create { request_id, principal, options, seats, visibility })
        }
        _ => Err(fields.status()),
    }
}

/// The path of an option in the request; `seats` stands for the number of seats.
fn option_path(game: &str, option: &str) -> String {
    if option == "seats" { option.to_owned() } else { format!("options.{game}.{option}") }
}

fn read_seats(
    fields: &mut Fields,
    messages: &[proto::NewSeat],
    count: SeatCount,
) -> BySeat<Option<NewPlayer>> {
    BySeat::from_fn(count, |seat| {
        let message = &messages[seat.index()];
        let path = format!("seats[{seat}].");
        let player = fields.player(&path, &message.name, &message.entropy);
        match message.kind() {
            proto::SeatKind::Taken => Some(player),
            proto::SeatKind::Open => {
                if player != NewPlayer::default() {
                    fields
                        .refuse(&path[..path.len() - 1], "an open seat has no name and no entropy");
                }
                None
            }
            proto::SeatKind::Unspecified => {
                fields.refuse(format!("{path}kind"), "open or taken");
                None
            }
        }
    })
}

fn read_join(message: &proto::JoinMatchRequest) -> Result<Join, Status> {
    let mut fields = Fields::default();
    let request_id = fields.uuid("request_id", &message.request_id);
    let join_code = message.join_code.parse::<JoinCode>().ok();
    if join_code.is_none() {
        fields.refuse("join_code", "sixteen letters and digits, as in 7Z3K-9QXM-4T2A-V8CD");
    }
    let seat = fields.note(read_seat(message.seat, "seat"));
    let player = fields.player("", &message.name, &message.entropy);
    match (request_id, join_code, seat) {
        (Some(request_id), Some(join_code), Some(seat)) => {
            fields.check()?;
            Ok(Join { request_id, join_code, seat, player })
        }
        _ => Err(fields.status()),
    }
}

fn read_submit(
    message: &proto::SubmitActionRequest,
    seat: Seat,
    epoch: u32,
) -> Result<Submit<<AnyGame as Game>::Action>, Status> {
    let mut fields = Fields::default();
    let action_id: Option<Uuid> = fields.uuid("action_id", &message.action_id);
    let unset = proto::GameAction::default();
    let action = AnyGame::read_action(message.action.as_ref().unwrap_or(&unset));
    let action = fields.note(action.map_err(|bad| bad.within("action")));
    match (action_id, action) {
        (Some(action_id), Some(action)) => {
            Ok(Submit { seat, epoch, action_id, action, decision: message.decision })
        }
        _ => Err(fields.status()),
    }
}
