//! NeoN's values as messages.

use super::{Action, Cards, Neon, Options, Own, Phase, Play, Seen, Value, View};
use crate::games::wire::{BadField, Wire, read_seat, write_seat};
use crate::proto;
use crate::proto::neon_action::Action as ActionArm;
use crate::proto::neon_event::Event as EventArm;

impl Wire for Neon {
    type OptionsMessage = proto::NeonOptions;
    type ActionMessage = proto::NeonAction;
    type EventMessage = proto::NeonEvent;
    type ViewMessage = proto::NeonView;

    fn read_options(message: &proto::NeonOptions) -> Result<Options, BadField> {
        Ok(Options { first_player: read_seat(message.first_player, "first_player")? })
    }

    fn write_options(options: &Options) -> proto::NeonOptions {
        proto::NeonOptions { first_player: options.first_player.map(write_seat) }
    }

    fn read_action(message: &proto::NeonAction) -> Result<Action, BadField> {
        match &message.action {
            Some(ActionArm::Play(play)) => {
                read_cards(&play.values, "play.values").map(Action::Play)
            }
            Some(ActionArm::Choose(choose)) => {
                read_cards(&choose.values, "choose.values").map(Action::Choose)
            }
            None => Err(BadField::new("action", "not set, or an action this server does not know")),
        }
    }

    fn write_action(action: &Action) -> proto::NeonAction {
        let action = match *action {
            Action::Play(cards) => ActionArm::Play(proto::NeonPlay { values: write_cards(cards) }),
            Action::Choose(cards) => {
                ActionArm::Choose(proto::NeonChoose { values: write_cards(cards) })
            }
        };
        proto::NeonAction { action: Some(action) }
    }

    fn write_event(seen: &Seen) -> proto::NeonEvent {
        let event = match seen {
            &Seen::Dealt { table, hand, hand_size, second_hand_size } => {
                EventArm::Dealt(proto::NeonDealt {
                    victory_point_cards: write_cards(table),
                    hand: write_cards(hand.unwrap_or_default()),
                    hand_size: hand_size.into(),
                    second_hand_size: second_hand_size.into(),
                })
            }
            &Seen::RoundBegan { round, first } => EventArm::RoundBegan(proto::NeonRoundBegan {
                round: round.into(),
                first_player: write_seat(first),
            }),
            &Seen::Played(play) => EventArm::Played(write_play(play)),
            &Seen::SecondHandTaken { seat, cards } => {
                EventArm::SecondHandTaken(proto::NeonSecondHandTaken {
                    seat: write_seat(seat),
                    hand: write_cards(cards.unwrap_or_default()),
                })
            }
            &Seen::Chose { seat, cards } => EventArm::Chose(proto::NeonChose {
                seat: write_seat(seat),
                values: write_cards(cards),
            }),
            &Seen::RoundEnded { removed, table } => EventArm::RoundEnded(proto::NeonRoundEnded {
                removed: write_cards(removed),
                victory_point_cards: write_cards(table),
            }),
            Seen::Ended { results } => EventArm::Ended(proto::NeonEnded {
                results: results.values().map(|&result| write_result(result)).collect(),
            }),
        };
        proto::NeonEvent { event: Some(event) }
    }

    fn is_deal(event: &proto::NeonEvent) -> bool {
        matches!(event.event, Some(EventArm::Dealt(_)))
    }

    fn write_view(view: &View) -> proto::NeonView {
        proto::NeonView {
            round: view.round.into(),
            phase: match view.phase {
                Phase::Playing => proto::NeonPhase::Playing,
                Phase::Choosing => proto::NeonPhase::Choosing,
                Phase::Over => proto::NeonPhase::Over,
            }
            .into(),
            first_player: write_seat(view.first),
            victory_point_cards: write_cards(view.table),
            plays: view.plays.iter().map(|&play| write_play(play)).collect(),
            choosers: view.choosers.iter().map(|&seat| write_seat(seat)).collect(),
            seats: view
                .seats
                .values()
                .map(|seat| proto::NeonSeatView {
                    hand_size: seat.hand_size.into(),
                    second_hand_size: seat.second_hand_size.into(),
                    pile_size: seat.pile_size.into(),
                    result: seat.result.map(write_result),
                })
                .collect(),
            own: view.own.map(|Own { hand, pile }| proto::NeonOwnCards {
                hand: write_cards(hand),
                pile: write_cards(pile),
            }),
        }
    }
}

fn read_cards(values: &[u32], field: &'static str) -> Result<Cards, BadField> {
    let values = values.iter().enumerate().map(|(i, &number)| {
        Value::new(number)
            .ok_or_else(|| BadField::new(format!("{field}[{i}]"), "a card's value is 1 to 6"))
    });
    let values = values.collect::<Result<Vec<_>, _>>()?;
    Cards::from_values(values)
        .ok_or_else(|| BadField::new(field, "more cards of one value than the deck has"))
}

fn write_cards(cards: Cards) -> Vec<u32> {
    cards.values().map(|value| value.get().into()).collect()
}

fn write_play(Play { seat, cards }: Play) -> proto::NeonPlayed {
    proto::NeonPlayed { seat: write_seat(seat), values: write_cards(cards) }
}

fn write_result(result: super::SeatResult) -> proto::NeonResult {
    proto::NeonResult { pile: write_cards(result.pile), score: result.score }
}
