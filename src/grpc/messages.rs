//! Matches, views and events as messages.

use std::time::Duration;

use crate::games::AnyGame;
use crate::games::wire::{Wire as _, write_seat};
use crate::matches::{
    EndReason, Live, MatchView, Message, Player, Record, Seen, SnapshotReason, State, Visibility,
};
use crate::proto;
use crate::proto::event::Event as EventArm;
use crate::proto::stream_view_response::Message as MessageArm;
use crate::rules::{Game as _, Outcome, Viewer};
use crate::store::{MatchId, Version};

/// What is public about a match.
pub(super) fn write_match(id: MatchId, live: &Live<AnyGame>) -> proto::Match {
    let record: &Record<AnyGame> = &live.record;
    let creation = &record.creation;
    let options = creation.setup.options();
    let millis = creation.created_at;
    proto::Match {
        match_id: id.to_string(),
        version: live.position.version,
        game_id: AnyGame::catalog(options).id.to_owned(),
        options: Some(AnyGame::write_options(options)),
        rules_version: creation.rules_version,
        seats: record.players.values().map(|player| write_player(player.as_ref())).collect(),
        visibility: match creation.visibility {
            Visibility::Public => proto::Visibility::Public,
            Visibility::Private => proto::Visibility::Private,
        }
        .into(),
        state: write_state(record.state()).into(),
        create_time: Some(prost_types::Timestamp {
            seconds: i64::try_from(millis / 1000).unwrap_or(i64::MAX),
            nanos: (millis % 1000) as i32 * 1_000_000,
        }),
        commitment: creation.secret.commitment().to_vec(),
        secret: record.revealed_secret().map_or_else(Vec::new, |secret| secret.reveal().to_vec()),
        outcome: record.outcome().as_ref().map(write_outcome),
    }
}

fn write_player(player: Option<&Player>) -> proto::Seat {
    let kind = if player.is_some() { proto::SeatKind::Taken } else { proto::SeatKind::Open };
    let Player { name, entropy, .. } = player.cloned().unwrap_or_default();
    proto::Seat { kind: kind.into(), entropy, name }
}

fn write_state(state: State) -> proto::MatchState {
    match state {
        State::Waiting => proto::MatchState::Waiting,
        State::Playing => proto::MatchState::Playing,
        State::Over => proto::MatchState::Over,
    }
}

fn write_outcome(outcome: &Outcome) -> proto::Outcome {
    proto::Outcome {
        winners: outcome.winners.iter().map(write_seat).collect(),
        reason: outcome.reason.to_owned(),
        scores: outcome.scores.values().copied().collect(),
        achievements: outcome
            .achievements
            .iter()
            .flat_map(|(seat, ids)| ids.iter().map(move |id| (write_seat(seat), *id)))
            .map(|(seat, id)| proto::SeatAchievement { seat, achievement_id: id.to_owned() })
            .collect(),
    }
}

/// What a viewer sees.
pub(super) fn write_view(view: &MatchView<AnyGame>) -> proto::View {
    let decisions = view.decisions.iter().filter_map(|(seat, decision)| {
        decision.map(|decision| proto::Decision { decision, seat: write_seat(seat) })
    });
    proto::View {
        version: view.version,
        seat: match view.viewer {
            Viewer::Seat(seat) => Some(write_seat(seat)),
            Viewer::Spectator => None,
        },
        state: write_state(view.state).into(),
        game: view.game.as_ref().map(AnyGame::write_view),
        decisions: decisions.collect(),
        legal_actions: view.legal.iter().map(AnyGame::write_action).collect(),
        outcome: view.outcome.as_ref().map(write_outcome),
    }
}

/// What a viewer sees of events.
pub(super) fn write_events(seen: &[Seen<AnyGame>]) -> Vec<proto::Event> {
    seen.iter().map(write_event).collect()
}

fn write_event(seen: &Seen<AnyGame>) -> proto::Event {
    let event = match seen {
        Seen::SeatTaken(seat, player) => EventArm::SeatTaken(proto::SeatTaken {
            seat: write_seat(*seat),
            taken: Some(write_player(Some(player))),
        }),
        Seen::Started(commitment) => {
            EventArm::MatchStarted(proto::MatchStarted { commitment: commitment.to_vec() })
        }
        Seen::Game(seen) => EventArm::Game(AnyGame::write_event(seen)),
        Seen::Ended(outcome, secret) => EventArm::MatchEnded(proto::MatchEnded {
            outcome: Some(write_outcome(outcome)),
            secret: secret.reveal().to_vec(),
        }),
    };
    proto::Event { event: Some(event) }
}

/// A message of a stream, at this version; a viewer that is told to leave is to pause for so long.
pub(super) fn write_message(
    message: &Message<AnyGame>,
    version: Version,
    resume_token: Vec<u8>,
    pause: Duration,
) -> proto::StreamViewResponse {
    let message = match message {
        Message::Snapshot(view, reason) => MessageArm::Snapshot(proto::Snapshot {
            view: Some(write_view(view)),
            reason: match reason {
                SnapshotReason::Initial => proto::SnapshotReason::Initial,
                SnapshotReason::HistoryForked => proto::SnapshotReason::HistoryForked,
            }
            .into(),
        }),
        Message::Update(seen, view) => MessageArm::Update(proto::Update {
            events: write_events(seen),
            view: Some(write_view(view)),
        }),
        Message::Heartbeat => MessageArm::Heartbeat(proto::Heartbeat {}),
        Message::End(reason) => MessageArm::End(proto::End {
            reason: match reason {
                EndReason::MatchOver => proto::EndReason::MatchOver,
                EndReason::MatchExpired => proto::EndReason::MatchExpired,
                EndReason::Draining | EndReason::Unreadable => proto::EndReason::Draining,
                EndReason::TokenRevoked => proto::EndReason::TokenRevoked,
                EndReason::MaxAge => proto::EndReason::StreamMaxAge,
                EndReason::Superseded => proto::EndReason::StreamSuperseded,
            }
            .into(),
            after_ms: match reason {
                EndReason::Draining | EndReason::Unreadable => {
                    u32::try_from(pause.as_millis()).unwrap_or(u32::MAX)
                }
                _ => 0,
            },
        }),
    };
    proto::StreamViewResponse { version, resume_token, message: Some(message) }
}
