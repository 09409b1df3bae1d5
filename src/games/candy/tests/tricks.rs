//! Following suit, winning, leading, and effects that meet.

use crate::games::candy::effects::{Effect, Timing};
use crate::games::candy::printed::PRINTED;
use crate::games::candy::tests::scene::{Scene, card, seat};
use crate::games::candy::{Action, Event};
use crate::rules::{Game as _, NoEvents};

#[test]
fn a_treat_must_share_a_suit_with_the_trick_while_one_of_the_hand_does() {
    let scene = Scene::new(&[
        "coconut-bar",
        "cool-coconut-sours",
        "frosty-sour-gummies peanut-chew egged-house lollipops toothbrush",
    ])
    .plays(
        "
        0 plays coconut-bar
        1 plays cool-coconut-sours
        2 plays peanut-chew: follow_suit
        2 plays mint-patty: not_in_hand
    ",
    );
    let playable = ["frosty-sour-gummies", "egged-house", "toothbrush", "lollipops"];
    assert_eq!(scene.legal(2), playable.map(|id| Action::Play(card(id))));
}

#[test]
fn any_treat_may_be_played_when_none_shares_a_suit_or_the_trick_has_none() {
    Scene::new(&["coconut-bar", "frosty-sour-gummies peanut-chew"]).plays(
        "
        0 plays coconut-bar
        1 plays peanut-chew
    ",
    );
    Scene::new(&["egged-house", "toothbrush", "lollipops", "frosty-sour-gummies peanut-chew"])
        .plays(
            "
            0 plays egged-house
            1 plays toothbrush
            2 plays lollipops
            3 plays peanut-chew
        ",
        );
}

#[test]
fn the_king_size_bar_has_every_suit_but_never_obliges_its_holder() {
    Scene::new(&["king-size-bar", "peanut-chew"]).plays(
        "
        0 plays king-size-bar
        1 plays peanut-chew -> 0 takes [peanut-chew king-size-bar]; 0 leads
    ",
    );
    Scene::new(&["coconut-bar", "king-size-bar peanut-chew"]).plays(
        "
        0 plays coconut-bar
        1 plays peanut-chew -> 0 takes [peanut-chew coconut-bar]; 0 leads
    ",
    );
    Scene::new(&["toothbrush", "king-size-bar", "egged-house", "peanut-chew lollipops"]).plays(
        "
        0 plays toothbrush
        1 plays king-size-bar
        2 plays egged-house
        3 plays lollipops -> 1 takes [egged-house toothbrush king-size-bar lollipops]; 0 leads
    ",
    );
}

#[test]
fn the_highest_rank_wins_the_last_played_of_equal_ones() {
    Scene::new(&["chocolate-coin", "tropical-nougat-bar", "salted-nut-roll", "caramel-cup"]).plays(
        "
            0 plays chocolate-coin
            1 plays tropical-nougat-bar
            2 plays salted-nut-roll
            3 plays caramel-cup
                -> 2 takes [chocolate-coin tropical-nougat-bar caramel-cup salted-nut-roll];
                   2 leads
        ",
    );
}

#[test]
fn without_a_rank_above_0_the_leader_wins_and_a_prank_passes_the_lead_to_the_right() {
    Scene::new(&["egged-house", "toothbrush", "toilet-paper"]).plays(
        "
        0 plays egged-house
        1 plays toothbrush
        2 plays toilet-paper -> 0 takes [toilet-paper egged-house toothbrush]; 2 leads
    ",
    );
    Scene::new(&["toothbrush", "pencil-stub", "loose-pennies"]).led_by(1).plays(
        "
        1 plays pencil-stub
        2 plays loose-pennies
        0 plays toothbrush -> 1 takes [toothbrush pencil-stub loose-pennies]; 1 leads
    ",
    );
}

#[test]
fn lockjaw_first_leaves_flashlight_tag_its_text() {
    let hands = [
        "candy-lockjaw",
        "leftover-candy coconut-bar",
        "flashlight-tag",
        "bobbing-for-apples",
        "weird-tasting-punch",
    ];
    Scene::new(&hands).leftover("mint-cookie fruit-chew").plays(
        "
        0 plays candy-lockjaw -> candy-lockjaw works
        1 plays leftover-candy -> mute
        2 plays flashlight-tag -> flashlight-tag works
        3 plays bobbing-for-apples -> face down
        4 plays weird-tasting-punch
            -> face down; leftover-candy revealed; leftover-candy is mute;
               bobbing-for-apples revealed; weird-tasting-punch revealed; mint-cookie beside;
               weird-tasting-punch works; bobbing-for-apples works;
               1 takes [mint-cookie leftover-candy bobbing-for-apples flashlight-tag weird-tasting-punch candy-lockjaw];
               1 leads
    ",
    );
}

#[test]
fn flashlight_tag_first_leaves_lockjaw_nothing() {
    let hands = [
        "flashlight-tag",
        "candy-lockjaw",
        "leftover-candy coconut-bar",
        "bobbing-for-apples",
        "weird-tasting-punch",
    ];
    Scene::new(&hands).leftover("mint-cookie fruit-chew").plays(
        "
        0 plays flashlight-tag
        1 plays candy-lockjaw
        2 plays leftover-candy
        3 plays bobbing-for-apples
        4 plays weird-tasting-punch
            -> face down; candy-lockjaw revealed; candy-lockjaw finds nothing;
               leftover-candy revealed; mint-cookie to hand 2; leftover-candy asks 2
        2 chooses coconut-bar
            -> coconut-bar to leftovers; leftover-candy works; bobbing-for-apples revealed;
               weird-tasting-punch revealed; fruit-chew beside; weird-tasting-punch works;
               bobbing-for-apples works;
               2 takes [fruit-chew leftover-candy bobbing-for-apples flashlight-tag weird-tasting-punch candy-lockjaw];
               2 leads
    ",
    );
}

#[test]
fn under_lockjaw_no_card_has_text_but_lollipops() {
    for other in PRINTED.all.iter() {
        let has_text = other.effect().is_some_and(|effect| effect.timing() != Timing::HandEnd);
        if !has_text || other.effect() == Some(Effect::CandyLockjaw) {
            continue;
        }
        // The last card wins, so that the trick's end tells nothing of the muted one.
        let script = format!(
            "
            0 plays candy-lockjaw -> candy-lockjaw works
            1 plays {other:?} -> mute
            2 plays king-size-bar
        "
        );
        let hands = [
            "candy-lockjaw coconut-kiss",
            &format!("{other:?} egged-house"),
            "king-size-bar fruit-chew",
        ];
        let scene = Scene::new(&hands)
            .leftover("mint-cookie gummy-bats")
            .stash(1, "toilet-paper")
            .stash(2, "sour-worms")
            .plays(&script);
        assert_eq!(scene.leftovers(), "mint-cookie gummy-bats", "{other:?}");
        assert!(scene.game.asked.is_none(), "{other:?}");
        assert_eq!(scene.game.tricks.as_slice(), [0, 0, 1], "{other:?}");
        assert_eq!(scene.game.stashes[seat(2)].len(), 4, "{other:?}");
        assert_eq!(scene.game.trick.leader, seat(2), "{other:?}");
    }
}

#[test]
fn the_winner_picks_the_order_until_one_effect_is_left() {
    Scene::new(&["sweet-tooth", "hole-in-the-bag", "candy-check", "bon-bombs"]).plays(
        "
        0 plays sweet-tooth
        1 plays hole-in-the-bag
        2 plays candy-check
        3 plays bon-bombs -> 2 picks
        0 picks sweet-tooth: not_to_act
        2 plays egged-house: time_to_resolve
        2 picks egged-house: not_waiting
        2 picks candy-check -> candy-check finds nothing; 2 picks
        2 picks candy-check: not_waiting
        2 picks bon-bombs -> bon-bombs asks 3
        3 declines -> bon-bombs declined; 2 picks
        2 picks hole-in-the-bag -> hole-in-the-bag asks 1
        1 chooses bon-bombs
            -> bon-bombs to leftovers; hole-in-the-bag works; sweet-tooth asks 0
        0 declines
            -> sweet-tooth declined; 2 takes [sweet-tooth hole-in-the-bag candy-check]; 2 leads
    ",
    );
}

#[test]
fn two_kinds_of_allergens_alone_leave_no_order_to_pick() {
    Scene::new(&["possible-allergens", "known-allergens"]).leftover("wafer-stick").plays(
        "
        0 plays possible-allergens
        1 plays known-allergens -> known-allergens asks 1
        1 names peanut
            -> known-allergens to leftovers; known-allergens works; wafer-stick turned up;
               possible-allergens to leftovers; wafer-stick to leftovers; possible-allergens works;
               0 takes []; 0 leads
    ",
    );
}

#[test]
fn a_card_that_came_back_through_the_leftovers_works_anew() {
    Scene::new(&["leftover-candy sweet-tooth", "coconut-bar chocolate-coin"])
        .leftover("double-dip")
        .plays(
            "
            0 plays leftover-candy -> double-dip to hand 0; leftover-candy asks 0
            0 chooses sweet-tooth -> sweet-tooth to leftovers; leftover-candy works
            1 plays coconut-bar -> 1 takes [coconut-bar leftover-candy]; 1 leads
            1 plays chocolate-coin
            0 plays double-dip
                -> double-dip works; 1 takes [chocolate-coin double-dip] twice; 1 leads
        ",
        );
}

#[test]
fn an_effect_is_told_of_who_played_its_card_was_asked_for_it_or_has_it() {
    let told = |scene: Scene, number, action| {
        let (mut game, mut events) = (scene.game, Vec::new());
        game.play(seat(number), &action, &mut events).expect("legal");
        events.into_iter().find_map(|event| match event {
            Event::Effect { card, seat, .. } => Some((card.id(), seat.number())),
            _ => None,
        })
    };
    let scene = Scene::new(&["sweet-tooth", "fruit-chew"]).led_by(1).plays("1 plays fruit-chew");
    assert_eq!(told(scene, 0, Action::Play(card("sweet-tooth"))), Some(("sweet-tooth", 0)));
    let scene = Scene::new(&["king-size-bar-alternate", "fruit-chew"]).plays(
        "
        0 plays king-size-bar-alternate
        1 plays fruit-chew
    ",
    );
    assert_eq!(told(scene, 1, Action::Decline), Some(("king-size-bar-alternate", 1)));
    let scene = Scene::new(&["lollipops", "peanut-chew", "toothbrush"]).last_trick().plays(
        "
        0 plays lollipops
        1 plays peanut-chew
    ",
    );
    assert_eq!(told(scene, 2, Action::Play(card("toothbrush"))), Some(("lollipops", 1)));
}

#[test]
fn a_refused_action_changes_nothing() {
    let scene =
        Scene::new(&["coconut-bar", "coconut-kiss peanut-chew"]).plays("0 plays coconut-bar");
    let mut game = scene.game.clone();
    let refused = game.play(seat(1), &Action::Play(card("peanut-chew")), &mut NoEvents);
    assert!(refused.is_err());
    assert_eq!(game, scene.game);
}
