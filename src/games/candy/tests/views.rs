//! What each viewer sees of the table.

use crate::games::candy::playing::FOLLOW_SUIT;
use crate::games::candy::suit::Suit;
use crate::games::candy::tests::scene::{Scene, card, cards, seat};
use crate::games::candy::trick::Side;
use crate::games::candy::view::Lying;
use crate::games::candy::{Event, Seen};
use crate::rules::{Game as _, Viewer};

const OWN: Viewer = Viewer::Seat(match crate::rules::Seat::new(1) {
    Some(seat) => seat,
    None => panic!("a seat"),
});

#[test]
fn a_face_down_card_is_known_to_its_player_alone() {
    let scene = Scene::new(&["flashlight-tag", "peanut-chew", "fruit-chew"]).plays(
        "
        0 plays flashlight-tag
        1 plays peanut-chew
    ",
    );
    for (viewer, known) in
        [(OWN, Some(card("peanut-chew"))), (Viewer::Seat(seat(2)), None), (Viewer::Spectator, None)]
    {
        let view = scene.game.view(viewer);
        assert_eq!(view.plays[0].lies, Lying::FaceUp(card("flashlight-tag")));
        assert_eq!(view.plays[1].lies, Lying::FaceDown(known));
        assert!(view.suits.is_empty(), "a face-down card shows no suit");
        assert_eq!(view.next_side, Side::Down);
    }
}

#[test]
fn what_is_played_face_down_is_told_to_its_player_alone() {
    let played = |side, viewer| match (Event::Played { seat: seat(1), card: card("banana"), side })
        .seen_by(viewer)
    {
        Seen::Played { seat, card, side } => (seat, card, side),
        other => panic!("another event: {other:?}"),
    };
    for side in [Side::Up, Side::Down, Side::Mute] {
        assert_eq!(played(side, OWN), (seat(1), Some(card("banana")), side));
        for viewer in [Viewer::Seat(seat(0)), Viewer::Spectator] {
            let known = (side == Side::Up).then_some(card("banana"));
            assert_eq!(played(side, viewer), (seat(1), known, side));
        }
    }
}

#[test]
fn each_card_that_may_not_be_played_is_listed_with_the_rule_on_its_players_turn() {
    let scene = Scene::new(&[
        "coconut-bar",
        "coconut-kiss peanut-chew toothbrush leftover-candy",
        "fruit-chew macaroon",
    ])
    .leftover("mint-cookie");
    assert!(scene.game.view(OWN).own.expect("a player").forbidden.is_empty());
    let scene = scene.plays("0 plays coconut-bar");
    let view = scene.game.view(OWN);
    assert_eq!(view.suits, [Suit::Chocolate, Suit::Coconut].into_iter().collect());
    assert_eq!(view.own.expect("a player").forbidden, [(card("peanut-chew"), FOLLOW_SUIT)]);
    let forbidden_to_other =
        |scene: &Scene| scene.game.view(Viewer::Seat(seat(2))).own.expect("a player").forbidden;
    assert_eq!(forbidden_to_other(&scene), [], "not its turn");
    assert_eq!(scene.game.view(Viewer::Spectator).own, None);
    let scene =
        scene.plays("1 plays leftover-candy -> mint-cookie to hand 1; leftover-candy asks 1");
    assert_eq!(forbidden_to_other(&scene), [], "not its turn while an effect asks");
    let scene = scene.plays("1 chooses mint-cookie");
    assert_eq!(forbidden_to_other(&scene), [(card("fruit-chew"), FOLLOW_SUIT)]);
}

#[test]
fn a_view_shows_what_effects_have_done_and_whom_they_ask() {
    let scene = Scene::new(&["sweet-tooth", "fair-trade", "tropical-nougat-bar"])
        .stash(1, "egged-house")
        .plays(
            "
            0 plays sweet-tooth
            1 plays fair-trade
            2 plays tropical-nougat-bar -> 2 picks
        ",
        );
    let view = scene.game.view(Viewer::Spectator);
    assert_eq!(view.waiting, [(card("sweet-tooth"), seat(0)), (card("fair-trade"), seat(1))]);
    assert_eq!(view.winner, Some(seat(2)));
    let scene = scene.plays(
        "
        2 picks fair-trade
        1 swaps tropical-nougat-bar for egged-house
    ",
    );
    let view = scene.game.view(Viewer::Spectator);
    assert_eq!(view.plays[2].lies, Lying::TradedIn(card("egged-house")));
    let question = view.asked.expect("sweet-tooth asks");
    assert_eq!((question.seat, question.card, question.may), (seat(0), card("sweet-tooth"), true));
    assert!(view.waiting.is_empty());
    assert_eq!(view.seats[seat(1)].stash, cards("tropical-nougat-bar"));
}

#[test]
fn a_card_that_left_the_last_trick_for_the_leftovers_is_hidden_in_it() {
    let scene = Scene::new(&[
        "hole-in-the-bag coconut-kiss",
        "peanut-chew lollipops",
        "tropical-nougat-bar fruit-chew",
    ])
    .plays(
        "
        0 plays hole-in-the-bag
        1 plays peanut-chew
        2 plays tropical-nougat-bar
        0 chooses peanut-chew
    ",
    );
    let view = scene.game.view(Viewer::Spectator);
    let last = view.last_trick.expect("a trick");
    let plays: Vec<_> = last.plays.iter().map(|&(_, card)| card).collect();
    let [hole, nougat] = ["hole-in-the-bag", "tropical-nougat-bar"].map(card);
    assert_eq!(plays, [Some(hole), None, Some(nougat)]);
    assert_eq!((last.winner, view.leftover_size), (seat(2), 1));
    assert_eq!(view.completed, 1);
}

#[test]
fn cards_beside_the_trick_and_held_over_are_shown() {
    let hands = ["weird-tasting-punch fruit-chew", "marshmallow-test mint-cookie"];
    let scene = Scene::new(&hands).leftover("coconut-bar sour-worms").plays(
        "
        0 plays weird-tasting-punch
        1 plays marshmallow-test
    ",
    );
    let view = scene.game.view(Viewer::Spectator);
    assert_eq!((view.beside, view.leftover_size), (cards("coconut-bar"), 1));
    let scene = scene.plays("1 chooses weird-tasting-punch");
    let view = scene.game.view(Viewer::Spectator);
    assert_eq!(view.beside, cards("marshmallow-test weird-tasting-punch"), "for the next winner");
    assert_eq!(view.seats[seat(1)].stash, cards("coconut-bar"));
}

#[test]
fn what_leftover_candy_draws_and_returns_is_known_to_its_player_alone() {
    use crate::games::candy::{Action, Candy};
    let mut scene =
        Scene::new(&["leftover-candy coconut-bar", "fruit-chew"]).leftover("mint-cookie");
    let mut events = Vec::new();
    scene.game.play(seat(0), &Action::Play(card("leftover-candy")), &mut events).expect("legal");
    scene.game.play(seat(0), &Action::Choose(card("coconut-bar")), &mut events).expect("legal");
    let moved = |viewer| -> Vec<_> {
        let seen = events.iter().filter_map(|event| Candy::seen(event, viewer));
        seen.filter_map(|seen| match seen {
            Seen::Moved { card, .. } => Some(card),
            _ => None,
        })
        .collect()
    };
    let known = ["mint-cookie", "coconut-bar"].map(|id| Some(card(id)));
    assert_eq!(moved(Viewer::Seat(seat(0))), known);
    assert_eq!(moved(OWN), [None, None]);
    assert_eq!(moved(Viewer::Spectator), [None, None]);
}
