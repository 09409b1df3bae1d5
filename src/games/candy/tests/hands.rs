//! Flavors, scoring, and how a match ends.

use crate::games::candy::tests::scene::{Scene, cards, flavor, seat};
use crate::games::candy::{Candy, Ending, Event, Options, Stage};
use crate::games::conformance::{Trial as _, any_move};
use crate::rules::{
    ACTION_LIMIT, BySeat, Game as _, NoEvents, Seat, SeatCount, SeatSet, Seed, Setup, Viewer,
};

/// The winners of a match that is over, and the reason.
fn outcome(scene: &Scene) -> (Vec<u8>, &'static str) {
    let outcome = scene.game.outcome().expect("over");
    (outcome.winners.iter().map(Seat::number).collect(), outcome.reason)
}

/// The same table with this target.
fn target(mut scene: Scene, target: u8) -> Scene {
    scene.game.target = target;
    scene
}

/// The same table with these Flavors kept.
fn kept(mut scene: Scene, flavors: &[&str]) -> Scene {
    scene.game.kept = BySeat::from_fn(scene.game.seats, |seat| Some(flavor(flavors[seat.index()])));
    scene
}

fn greedy(mut scene: Scene) -> Scene {
    scene.game.dont_be_greedy = true;
    scene
}

#[test]
fn a_hand_scores_tricks_less_pranks_but_never_less_than_nothing() {
    Scene::new(&["fruit-chew", "peanut-chew"])
        .stash(0, "toilet-paper smashed-pumpkin toothpaste-smear egged-house banana-peel banana")
        .tricks(&[4, 8])
        .last_trick()
        .plays(
            "
            0 plays fruit-chew
            1 plays peanut-chew -> 1 takes [fruit-chew peanut-chew]; points 0 9; dealt
        ",
        );
}

#[test]
fn who_alone_won_the_most_tricks_has_a_tummy_ache() {
    let last = |tricks: &[u8]| {
        let scene = Scene::new(&["peanut-chew", "fruit-chew", "coconut-kiss"])
            .stash(0, "mint-cookie mint-patty starlight-mint toilet-paper")
            .tricks(tricks)
            .last_trick();
        greedy(kept(scene, &["flavor-mint", "flavor-sour", "flavor-orange"]))
    };
    last(&[4, 4, 4]).plays(
        "
        0 plays peanut-chew
        1 plays fruit-chew
        2 plays coconut-kiss
            -> 0 takes [fruit-chew peanut-chew coconut-kiss]; points 2 4 4; dealt
    ",
    );
    last(&[4, 5, 3]).plays(
        "
        0 plays peanut-chew
        1 plays fruit-chew
        2 plays coconut-kiss
            -> 0 takes [fruit-chew peanut-chew coconut-kiss]; points 7 5 3; dealt
    ",
    );
}

#[test]
fn a_trick_that_counts_twice_counts_twice_for_a_tummy_ache() {
    let scene = Scene::new(&["double-dip", "peanut-chew"]).tricks(&[5, 4]).last_trick();
    greedy(scene).plays(
        "
        0 plays double-dip
        1 plays peanut-chew
            -> double-dip works; 1 takes [peanut-chew double-dip] twice; points 5 0; dealt
    ",
    );
}

#[test]
fn a_flavor_scores_for_its_suit_color_or_number_of_suits() {
    for (id, points) in [
        ("flavor-chocolate", 2), // the bar of chocolate and the King-Size Bar
        ("flavor-black", 1),     // no Prank, though it is black
        ("flavor-blue", 1),
        ("flavor-single", 1), // neither the bar, which has ten, nor a card without suits
        ("flavor-triple", 1),
        ("flavor-gummy", 1),
    ] {
        let stash = "coconut-bar king-size-bar toilet-paper banana salted-nut-roll lollipops";
        let scene = Scene::new(&["fruit-chew", "peanut-chew"]).stash(0, stash).last_trick();
        let scene = kept(scene, &[id, "flavor-sour"]);
        // Two points for lollipops, none for tricks, one less for the Prank.
        scene.plays(&format!(
            "
            0 plays fruit-chew
            1 plays peanut-chew
                -> 1 takes [fruit-chew peanut-chew]; lollipops works; points {} 1; dealt
        ",
            points + 2 - 1
        ));
    }
}

#[test]
fn flavors_are_kept_in_secret_and_revealed_when_the_hand_is_scored() {
    let options = Options { favorite_flavors: true, ..Options::default() };
    let seats = SeatCount::new(3).expect("a table");
    let setup = Setup::new::<Candy>(options, seats).expect("good options");
    let mut game = Candy::start(&setup, &Seed::new([5; 32]), &mut NoEvents);
    assert_eq!(game.to_act(), SeatSet::all(seats), "all choose at once");

    let [own, other] = [0, 1].map(|number| game.flavors[seat(number)][1]);
    let mut events = Vec::new();
    let mut keep = |game: &mut Candy, number, flavor| {
        let action = crate::games::candy::Action::Keep(flavor);
        game.play(seat(number), &action, &mut events).map_err(|refusal| refusal.rule)
    };
    let choice = |game: &Candy| game.view(Viewer::Seat(seat(0))).own.expect("a player").flavors;
    assert_eq!(keep(&mut game, 0, other), Err("not_dealt"));
    assert_eq!(choice(&game)[..], game.flavors[seat(0)][..]);
    assert_eq!(keep(&mut game, 0, own), Ok(()));
    assert_eq!(choice(&game), [], "there is nothing left to choose");
    assert_eq!(keep(&mut game, 0, own), Err("not_to_act"), "an answer given is final");
    assert!(!game.to_act().contains(seat(0)), "that a seat has answered is public");
    assert_eq!(game.view(Viewer::Seat(seat(0))).own.expect("a player").kept, Some(own));
    let view = game.view(Viewer::Seat(seat(1)));
    assert!(view.seats[seat(0)].has_kept);
    assert_eq!(view.seats[seat(0)].flavor, None);
    let last = game.flavors[seat(2)][0];
    assert_eq!(keep(&mut game, 2, last), Ok(()));
    assert_eq!(keep(&mut game, 1, other), Ok(()));
    assert_eq!(game.stage, Stage::Playing);
    let kept = |viewer| {
        let seen = events.iter().filter_map(|event| Candy::seen(event, viewer));
        format!("{:?}", seen.collect::<Vec<_>>())
    };
    assert!(kept(Viewer::Seat(seat(1))).contains(other.id()));
    assert!(!kept(Viewer::Seat(seat(1))).contains(own.id()));
    assert!(!kept(Viewer::Spectator).contains("flavor-"));

    let mut events = Vec::new();
    while !events.iter().any(|event| matches!(event, Event::HandScored { .. })) {
        let actor = game.to_act().iter().next().expect("someone");
        let mut actions = Vec::new();
        game.legal(actor, &mut actions);
        game.play(actor, &actions[0], &mut events).expect("a legal action");
    }
    let scored = events.iter().find_map(|event| match event {
        Event::HandScored { results, .. } => Some(results),
        _ => None,
    });
    assert_eq!(scored.expect("scored")[seat(0)].flavor, Some(own));
}

#[test]
fn the_deal_passes_to_the_left_and_the_next_seat_leads() {
    let seats = SeatCount::new(3).expect("a table");
    let options = Options { first_dealer: Some(seat(1)), target_score: 100, ..Options::default() };
    let setup = Setup::new::<Candy>(options, seats).expect("good options");
    let mut game = Candy::start(&setup, &Seed::new([6; 32]), &mut NoEvents);
    for (hand, dealer) in [(0, 1), (1, 2), (2, 0), (3, 1)] {
        assert_eq!((game.hand, game.dealer), (hand, seat(dealer)));
        assert_eq!(game.trick.leader, seats.left_of(game.dealer));
        while game.hand == hand {
            let actor = game.to_act().iter().next().expect("someone");
            let mut actions = Vec::new();
            game.legal(actor, &mut actions);
            game.play(actor, &actions[0], &mut NoEvents).expect("a legal action");
        }
        game.check_invariants();
    }
}

#[test]
fn but_for_points_nothing_of_a_hand_is_left_in_the_next() {
    let options = Options {
        target_score: 100,
        favorite_flavors: true,
        king_sized: true,
        lost_treats: true,
        ..Options::default()
    };
    let setup = Setup::new::<Candy>(options, SeatCount::new(5).expect("a table"));
    let (setup, seed) = (setup.expect("good options"), Seed::new([8; 32]));
    let mut game = Candy::start(&setup, &seed, &mut NoEvents);
    let mut chance = seed.deal(u32::MAX);
    let mut played = 0;
    for hand in 1..4 {
        while game.hand < hand {
            let (seat, action) = any_move(&game, &mut chance);
            game.play(seat, &action, &mut NoEvents).expect("a legal action");
            played += 1;
        }
        let mut fresh = Candy::first_hand(&setup, &seed);
        fresh.deal(hand);
        (fresh.points, fresh.actions) = (game.points, played);
        assert_eq!(game, fresh);
    }
}

#[test]
fn the_highest_total_wins_once_someone_reaches_the_target() {
    let scene = Scene::new(&["fruit-chew", "peanut-chew"]).tricks(&[4, 0]).last_trick();
    let mut scene = target(scene, 13);
    scene.game.points = BySeat::from_fn(scene.game.seats, |seat| [10, 12][seat.index()]);
    let scene = scene.plays(
        "
        0 plays fruit-chew
        1 plays peanut-chew -> 1 takes [fruit-chew peanut-chew]; points 4 1; ends by score
        0 plays fruit-chew: not_to_act
    ",
    );
    assert_eq!(outcome(&scene), (vec![0], "score"));
    assert_eq!(scene.game.outcome().expect("over").scores.as_slice(), [14, 13]);
}

#[test]
fn of_equal_totals_the_bigger_stash_wins_and_then_the_victory_is_shared() {
    let last = |stash: &str| {
        let scene = Scene::new(&["fruit-chew", "peanut-chew", "coconut-kiss"])
            .stash(0, stash)
            .tricks(&[1, 0, 0])
            .last_trick();
        target(scene, 1)
    };
    let scene = last("gummy-bats mint-cookie sour-worms toothbrush").plays(
        "
        0 plays fruit-chew
        1 plays peanut-chew
        2 plays coconut-kiss
            -> 1 takes [fruit-chew peanut-chew coconut-kiss]; points 1 1 0; ends by stash
    ",
    );
    assert_eq!(outcome(&scene), (vec![0], "stash"));
    let scene = last("gummy-bats mint-cookie sour-worms").plays(
        "
        0 plays fruit-chew
        1 plays peanut-chew
        2 plays coconut-kiss
            -> 1 takes [fruit-chew peanut-chew coconut-kiss]; points 1 1 0; ends by shared
    ",
    );
    assert_eq!(outcome(&scene), (vec![0, 1], "shared"));
}

#[test]
fn the_biggest_stash_of_another_does_not_break_a_tie() {
    let scene = Scene::new(&["fruit-chew", "peanut-chew", "coconut-kiss"])
        .stash(0, "gummy-bats")
        .stash(2, "mint-cookie sour-worms toothbrush pencil-stub")
        .tricks(&[1, 0, 0])
        .last_trick();
    let scene = target(scene, 1).plays(
        "
        0 plays fruit-chew
        1 plays peanut-chew
        2 plays coconut-kiss
            -> 1 takes [fruit-chew peanut-chew coconut-kiss]; points 1 1 0; ends by stash
    ",
    );
    assert_eq!(outcome(&scene), (vec![1], "stash"));
}

#[test]
fn kept_flavors_lie_open_after_the_last_hand() {
    let scene = target(Scene::new(&["fruit-chew", "peanut-chew"]).last_trick(), 1);
    let scene = kept(scene, &["flavor-mint", "flavor-sour"]).plays(
        "
        0 plays fruit-chew
        1 plays peanut-chew
    ",
    );
    let view = scene.game.view(Viewer::Spectator);
    assert_eq!(view.ending, Some(Ending::Score));
    assert_eq!(view.seats[seat(0)].flavor, Some(flavor("flavor-mint")));
}

/// The same table one action before the limit.
fn nearly_over(mut scene: Scene) -> Scene {
    scene.game.actions = ACTION_LIMIT - 1;
    scene
}

#[test]
fn the_last_action_of_all_is_carried_out_and_ends_the_match_without_a_winner() {
    let scene = nearly_over(kept(
        Scene::new(&["leftover-candy coconut-bar", "fruit-chew"]).leftover("mint-cookie"),
        &["flavor-mint", "flavor-sour"],
    ))
    .plays(
        "
        0 plays leftover-candy -> mint-cookie to hand 0; ends by action_limit
        0 chooses mint-cookie: not_to_act
    ",
    );
    assert_eq!(outcome(&scene), (vec![], "action_limit"));
    assert_eq!(scene.game.hands[seat(0)], cards("coconut-bar mint-cookie"));
    assert_eq!(scene.game.view(Viewer::Spectator).seats[seat(0)].flavor, None, "not revealed");
}

#[test]
fn at_the_limit_a_hand_is_scored_but_no_other_is_dealt() {
    let scene = Scene::new(&["fruit-chew", "peanut-chew"]).tricks(&[0, 2]).last_trick();
    let mut scene = kept(scene, &["flavor-mint", "flavor-sour"]);
    scene.game.actions = ACTION_LIMIT - 2;
    let scene = scene.plays(
        "
        0 plays fruit-chew
        1 plays peanut-chew -> 1 takes [fruit-chew peanut-chew]; points 0 3; ends by action_limit
    ",
    );
    assert_eq!(outcome(&scene), (vec![], "action_limit"));
    assert_eq!(scene.game.outcome().expect("over").scores.as_slice(), [0, 3]);
    let view = scene.game.view(Viewer::Spectator);
    assert_eq!(view.seats[seat(1)].flavor, Some(flavor("flavor-sour")), "revealed by scoring");
}

#[test]
fn a_match_that_its_rules_end_at_the_limit_has_a_winner() {
    let mut scene = target(Scene::new(&["fruit-chew", "peanut-chew"]).last_trick(), 1);
    scene.game.actions = ACTION_LIMIT - 2;
    let scene = scene.plays(
        "
        0 plays fruit-chew
        1 plays peanut-chew -> 1 takes [fruit-chew peanut-chew]; points 0 1; ends by score
    ",
    );
    assert_eq!(outcome(&scene), (vec![1], "score"));
}
