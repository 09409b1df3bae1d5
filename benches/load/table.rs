//! A match of NeoN, all its seats played from here, each move found in the answers to the moves
//! before: nothing else is asked while it is measured.

use parlor::proto::game_action::Game as ActionArm;
use parlor::proto::game_options::Game as OptionsArm;
use parlor::proto::game_view::Game as ViewArm;
use parlor::proto::match_service_client::MatchServiceClient;
use parlor::proto::neon_action::Action;
use parlor::proto::{
    CreateMatchRequest, GameAction, GameOptions, GetViewRequest, NeonAction, NeonChoose,
    NeonOptions, NeonPhase, NeonPlay, NeonView, NewSeat, SeatKind, SubmitActionRequest,
    SubmitActionResponse, View, Visibility,
};
use tonic::Request;
use tonic::metadata::{Ascii, MetadataValue};
use tonic::transport::Channel;
use uuid::Uuid;

use super::Failure;

/// A match and its seats.
pub struct Table {
    pub match_id: String,
    seats: Vec<Seat>,
    /// What was seen last, by whichever seat.
    view: View,
}

struct Seat {
    bearer: MetadataValue<Ascii>,
    /// It changes only when the seat itself plays.
    hand: Vec<u32>,
}

impl Table {
    /// Creates a match with so many seats.
    pub async fn open(
        client: &mut MatchServiceClient<Channel>,
        seats: usize,
    ) -> Result<Self, Failure> {
        let seat = NewSeat { kind: SeatKind::Taken.into(), ..NewSeat::default() };
        let options = NeonOptions { first_player: Some(0) };
        let created = client
            .create_match(CreateMatchRequest {
                request_id: Uuid::new_v4().to_string(),
                options: Some(GameOptions { game: Some(OptionsArm::Neon(options)) }),
                seats: vec![seat; seats],
                visibility: Visibility::Public.into(),
            })
            .await?
            .into_inner();
        let match_id = created.r#match.ok_or("no match")?.match_id;
        let mut table = Self { match_id, seats: Vec::new(), view: View::default() };
        for token in created.seat_tokens.iter().rev() {
            let bearer: MetadataValue<Ascii> = format!("Bearer {}", token.token).parse()?;
            let mut request = Request::new(GetViewRequest { match_id: table.match_id.clone() });
            request.metadata_mut().insert("authorization", bearer.clone());
            let view = client.get_view(request).await?.into_inner().view.ok_or("no view")?;
            let hand = neon(&view).own.as_ref().ok_or("no hand")?.hand.clone();
            table.seats.insert(0, Seat { bearer, hand });
            // In the end the first seat's, which begins: it has the list of what it may do.
            table.view = view;
        }
        Ok(table)
    }

    /// The next move; none when the match is over.
    pub fn next(&self) -> Option<Request<SubmitActionRequest>> {
        let decision = self.view.decisions.first()?;
        let seat = &self.seats[decision.seat as usize];
        // A solo is always allowed, and so is choosing one card.
        let action = self.view.legal_actions.first().cloned().unwrap_or_else(|| {
            let neon = neon(&self.view);
            let action = if neon.phase() == NeonPhase::Choosing {
                Action::Choose(NeonChoose { values: vec![neon.victory_point_cards[0]] })
            } else {
                Action::Play(NeonPlay { values: vec![seat.hand[0]] })
            };
            GameAction { game: Some(ActionArm::Neon(NeonAction { action: Some(action) })) }
        });
        let request = SubmitActionRequest {
            match_id: self.match_id.clone(),
            action_id: Uuid::new_v4().to_string(),
            action: Some(action),
            decision: Some(decision.decision),
        };
        Some(asked(request, &seat.bearer))
    }

    /// Takes note of the answer to it.
    pub fn take(&mut self, answer: SubmitActionResponse) {
        let view = answer.view.unwrap_or_default();
        if let (Some(seat), Some(own)) = (view.seat, &neon(&view).own) {
            self.seats[seat as usize].hand.clone_from(&own.hand);
        }
        self.view = view;
    }
}

/// A request as both the service and the baseline get it.
pub fn asked(
    request: SubmitActionRequest,
    bearer: &MetadataValue<Ascii>,
) -> Request<SubmitActionRequest> {
    let mut request = Request::new(request);
    request.metadata_mut().insert("authorization", bearer.clone());
    request
}

fn neon(view: &View) -> &NeonView {
    let Some(ViewArm::Neon(neon)) = view.game.as_ref().and_then(|game| game.game.as_ref()) else {
        unreachable!("a match of NeoN");
    };
    neon
}
