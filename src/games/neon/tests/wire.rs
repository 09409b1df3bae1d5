//! What travels: what is not well formed, what a viewer is sent, and what the catalog says.

use super::{cards, play, seat, table};
use crate::games::neon::{Action, Neon, Options, Play, SeatResult, Seen};
use crate::games::wire::Wire as _;
use crate::proto;
use crate::proto::neon_action::Action as ActionArm;
use crate::proto::neon_event::Event as EventArm;
use crate::rules::{BySeat, Game as _, Viewer};

fn action(arm: ActionArm) -> proto::NeonAction {
    proto::NeonAction { action: Some(arm) }
}

#[test]
fn an_action_names_its_cards_in_any_order() {
    let play = action(ActionArm::Play(proto::NeonPlay { values: vec![4, 2, 3] }));
    assert_eq!(Neon::read_action(&play), Ok(Action::Play(cards("234"))));
    let choose = action(ActionArm::Choose(proto::NeonChoose { values: vec![5, 5] }));
    assert_eq!(Neon::read_action(&choose), Ok(Action::Choose(cards("55"))));
}

#[test]
fn a_value_that_no_card_has_names_the_field_at_fault() {
    for (values, field) in
        [(vec![1, 7], "values[1]"), (vec![0], "values[0]"), (vec![6; 11], "values")]
    {
        let play = action(ActionArm::Play(proto::NeonPlay { values: values.clone() }));
        let bad = Neon::read_action(&play).expect_err(field);
        assert_eq!(bad.field, format!("play.{field}"));
        let choose = action(ActionArm::Choose(proto::NeonChoose { values }));
        let bad = Neon::read_action(&choose).expect_err(field);
        assert_eq!(bad.field, format!("choose.{field}"));
    }
    let empty = proto::NeonAction { action: None };
    assert_eq!(Neon::read_action(&empty).expect_err("no action").field, "action");
}

#[test]
fn a_view_says_of_everything_what_it_is() {
    let mut game = table(3, "1355", &["6", "6612"]);
    game.second_hands[seat(1)] = cards("44455");
    game.piles[seat(0)] = cards("22");
    game.piles[seat(1)] = cards("136");
    play(&mut game, "0 plays 6\n1 plays 66\n1 plays 1\n1 chooses 55");
    let played = |seat, values: &[u32]| proto::NeonPlayed { seat, values: values.to_vec() };
    let mut expected = proto::NeonView {
        round: 3,
        phase: proto::NeonPhase::Choosing.into(),
        first_player: 0,
        victory_point_cards: vec![1, 3],
        plays: vec![played(0, &[6]), played(1, &[6, 6]), played(1, &[1])],
        choosers: vec![0, 1],
        seats: vec![
            proto::NeonSeatView { pile_size: 2, ..proto::NeonSeatView::default() },
            proto::NeonSeatView { hand_size: 1, second_hand_size: 5, pile_size: 5, result: None },
        ],
        own: Some(proto::NeonOwnCards { hand: vec![2], pile: vec![1, 3, 5, 5, 6] }),
    };
    assert_eq!(Neon::write_view(&game.view(Viewer::Seat(seat(1)))), expected);
    expected.own = None;
    assert_eq!(Neon::write_view(&game.view(Viewer::Spectator)), expected);

    play(&mut game, "0 chooses 3\n1 chooses 1");
    let result = |pile: &[u32], score| Some(proto::NeonResult { pile: pile.to_vec(), score });
    expected.phase = proto::NeonPhase::Over.into();
    expected.victory_point_cards = vec![1, 6, 6, 6];
    expected.plays.clear();
    expected.choosers.clear();
    expected.seats[0].pile_size = 3;
    expected.seats[0].result = result(&[2, 2, 3], 7);
    expected.seats[1].pile_size = 6;
    expected.seats[1].result = result(&[1, 1, 3, 5, 5, 6], 21 + 6);
    assert_eq!(Neon::write_view(&game.view(Viewer::Spectator)), expected);

    let game = table(1, "123", &["11", "22", "33"]);
    assert_eq!(Neon::write_view(&game.view(Viewer::Spectator)).phase(), proto::NeonPhase::Playing);
}

#[test]
fn an_event_says_of_everything_what_it_is() {
    let results = vec![SeatResult { pile: cards("366"), score: 17 }];
    for (seen, arm) in [
        (
            Seen::Dealt {
                table: cards("1566"),
                hand: Some(cards("22")),
                hand_size: 14,
                second_hand_size: 13,
            },
            EventArm::Dealt(proto::NeonDealt {
                victory_point_cards: vec![1, 5, 6, 6],
                hand: vec![2, 2],
                hand_size: 14,
                second_hand_size: 13,
            }),
        ),
        (
            Seen::RoundBegan { round: 2, first: seat(1) },
            EventArm::RoundBegan(proto::NeonRoundBegan { round: 2, first_player: 1 }),
        ),
        (
            Seen::Played(Play { seat: seat(3), cards: cards("456") }),
            EventArm::Played(proto::NeonPlayed { seat: 3, values: vec![4, 5, 6] }),
        ),
        (
            Seen::SecondHandTaken { seat: seat(1), cards: Some(cards("13")) },
            EventArm::SecondHandTaken(proto::NeonSecondHandTaken { seat: 1, hand: vec![1, 3] }),
        ),
        (
            Seen::SecondHandTaken { seat: seat(1), cards: None },
            EventArm::SecondHandTaken(proto::NeonSecondHandTaken { seat: 1, hand: vec![] }),
        ),
        (
            Seen::Chose { seat: seat(2), cards: cards("55") },
            EventArm::Chose(proto::NeonChose { seat: 2, values: vec![5, 5] }),
        ),
        (
            Seen::RoundEnded { removed: cards("1"), table: cards("23") },
            EventArm::RoundEnded(proto::NeonRoundEnded {
                removed: vec![1],
                victory_point_cards: vec![2, 3],
            }),
        ),
        (
            Seen::Ended { results: BySeat::from_vec(results).expect("a seat") },
            EventArm::Ended(proto::NeonEnded {
                results: vec![proto::NeonResult { pile: vec![3, 6, 6], score: 17 }],
            }),
        ),
    ] {
        assert_eq!(Neon::write_event(&seen).event, Some(arm));
    }
}

#[test]
fn the_catalog_has_ten_cards_of_each_value() {
    let catalog = Neon::catalog(&Options::default());
    let cards: Vec<_> =
        catalog.cards.iter().map(|card| (card.id.as_str(), card.rank, card.copies)).collect();
    let values = ["1", "2", "3", "4", "5", "6"].into_iter().zip(1..);
    let expected: Vec<_> = values.map(|(id, rank)| (id, Some(rank), 10)).collect();
    assert_eq!(cards, expected);
}
