//! Each achievement: earned, and just missed.

use super::{CHERRY, PLAIN, SCREAM, cards, lay, play, seat, step, table};
use crate::games::neapolitan::{Achievement, Event, Neapolitan, Options};
use crate::rules::{BySeat, Game as _, Viewer};

/// Who achieved what, as in `0 scream, 2 exact_order`.
fn achieved(events: &[Event]) -> String {
    let achieved = events.iter().filter_map(|event| match event {
        Event::Achieved { seat, achievement } => Some(format!("{seat} {}", achievement.id())),
        _ => None,
    });
    achieved.collect::<Vec<_>>().join(", ")
}

fn has(events: &[Event], expected: &str) -> bool {
    achieved(events).split(", ").any(|achieved| achieved == expected)
}

/// A table of three before the last trick.
fn three(options: Options, wins: &str) -> Neapolitan {
    table(options, "VCS", wins, &["V1", "V2", "V3"])
}

const LAST_TRICK: &str = "0 plays V1\n1 plays V2\n2 plays V3 => 2 CSV";

/// Plays the last trick of a round, which seat 2 wins.
fn last_trick(game: &mut Neapolitan) -> Vec<Event> {
    game.stack = super::sequence("VCS");
    play(game, LAST_TRICK)
}

#[test]
fn exact_order_is_the_trick_goal_and_no_trick_less_or_more() {
    let events = last_trick(&mut three(PLAIN, "010122"));
    assert_eq!(achieved(&events), "2 exact_order");
    let events = last_trick(&mut three(PLAIN, "010222"));
    assert_eq!(achieved(&events), "", "two, one and four");
    let mut game = three(CHERRY, "010122");
    play(&mut game, "0 declines\n1 declines\n2 declares");
    assert!(has(&last_trick(&mut game), "2 exact_order"), "declared or not");
}

#[test]
fn front_loaded_is_the_first_tricks_up_to_the_goal_and_a_point() {
    let events = last_trick(&mut three(PLAIN, "000111"));
    assert_eq!(achieved(&events), "0 exact_order, 0 front_loaded, 1 exact_order");
    assert!(!has(&last_trick(&mut three(PLAIN, "001011")), "0 front_loaded"), "one came later");
    assert!(!has(&last_trick(&mut three(PLAIN, "000011")), "0 front_loaded"), "one too many");
    let mut game = three(CHERRY, "000111");
    play(&mut game, "0 declares\n1 declines\n2 declines");
    let events = last_trick(&mut game);
    assert!(has(&events, "0 exact_order"));
    assert!(!has(&events, "0 front_loaded"), "a point was lost");
}

#[test]
fn no_ice_cream_is_a_round_without_a_trick() {
    assert!(has(&last_trick(&mut three(PLAIN, "111111")), "0 no_ice_cream"));
    assert!(!has(&last_trick(&mut three(PLAIN, "011111")), "0 no_ice_cream"));
}

#[test]
fn no_ice_cream_twice_takes_two_rounds_in_a_row() {
    // A score below 0 keeps the match going.
    let next = |game: &mut Neapolitan, wins: &str| {
        game.scores = BySeat::from_vec(vec![-9; 3]).expect("three seats");
        lay(game, wins, &["V1", "V2", "V3"]);
        has(&last_trick(game), "0 no_ice_cream_twice")
    };
    let mut game = three(PLAIN, "");
    assert!(!next(&mut game, "111111"));
    assert!(next(&mut game, "111111"));

    let mut game = three(PLAIN, "");
    assert!(!next(&mut game, "111111"));
    assert!(!next(&mut game, "011111"), "a trick between them");
    assert!(!next(&mut game, "111111"));
    assert!(next(&mut game, "111111"));
}

#[test]
fn no_pass_no_ice_cream_is_known_once_all_seven_cards_were_played() {
    let hands = ["V1 C1", "V2 C2", "V3 C3"];
    let mut game = table(PLAIN, "VCS", "11111", &hands);
    let events = play(&mut game, "0 plays V1\n1 plays V2\n2 plays V3 => 2 CSV");
    assert_eq!(achieved(&events), "");
    let events = play(&mut game, "2 plays C3\n0 plays C1\n1 plays C2 => 2 SVC");
    assert_eq!(achieved(&events), "0 no_ice_cream, 0 no_pass_no_ice_cream");

    for (options, pass) in [(PLAIN, "P"), (SCREAM, "P:SVC")] {
        let hand = format!("{pass} C1");
        let mut game = table(options, "VCS", "11111", &[&hand, "V2 C2", "V3 C3"]);
        play(&mut game, &format!("0 plays {pass}\n1 plays V2\n2 plays V3 => 2 CSV"));
        let events = play(&mut game, "2 plays C3\n0 plays C1\n1 plays C2 => 2 SVC");
        assert_eq!(achieved(&events), "0 no_ice_cream", "a Pass was dealt");
    }
}

#[test]
fn a_pass_of_an_earlier_round_does_not_count() {
    let mut game = table(PLAIN, "VCS", "111111", &["P", "V2", "V3"]);
    play(&mut game, "0 plays P\n1 plays V2\n2 plays V3 => 2 CSV");
    lay(&mut game, "111111", &["V1", "V2", "V3"]);
    assert!(has(&last_trick(&mut game), "0 no_pass_no_ice_cream"));
}

#[test]
fn tie_broken_by_strongest_is_a_victory_alone_against_others() {
    // After the last trick the stack is CSV.
    for (scores, first, second, expected) in [
        ([2, 2, 0], "C1 C2", "C3 S1", true),
        ([2, 1, 0], "C1 C2", "C3 S1", false),
        ([2, 2, 0], "C1 S1", "C3", false),
        ([2, 2, 0], "C1", "C3", false),
    ] {
        let mut game = three(PLAIN, "000111");
        game.scores = BySeat::from_vec(scores.to_vec()).expect("three seats");
        game.piles[seat(0)] = cards(first);
        game.piles[seat(1)] = cards(second);
        let events = last_trick(&mut game);
        assert!(game.outcome().is_some());
        let earned = has(&events, "0 tie_broken_by_strongest");
        assert_eq!(earned, expected, "{first} against {second}");
        assert!(!has(&events, "1 tie_broken_by_strongest"));
    }
}

#[test]
fn scream_is_a_trick_won_with_a_variant_pass() {
    let mut game = table(SCREAM, "VCS", "", &["V1", "V2", "P:VCS"]);
    let events = play(&mut game, "0 plays V1\n1 plays V2\n2 plays P:VCS => 2 SCV");
    assert_eq!(achieved(&events), "2 scream");
    let mut game = table(SCREAM, "VCS", "", &["V1", "V2", "P:VSC"]);
    let events = play(&mut game, "0 plays V1\n1 plays V2\n2 plays P:VSC => 1 CSV");
    assert_eq!(achieved(&events), "");
}

#[test]
fn last_scream_is_the_last_trick_of_a_round() {
    let round = "0 plays V1\n1 plays V2\n2 plays P:VCS => 2 SCV";
    let mut game = table(SCREAM, "VCS", "001122", &["V1", "V2", "P:VCS"]);
    let events = play(&mut game, round);
    assert!(has(&events, "2 scream") && has(&events, "2 last_scream"));
    let mut game = table(SCREAM, "VCS", "00112", &["V1 C1", "V2 C2", "P:VCS C3"]);
    let mut events = play(&mut game, round);
    events.extend(play(&mut game, "2 plays C3\n0 plays C1\n1 plays C2 => 2 SVC"));
    assert!(has(&events, "2 scream") && !has(&events, "2 last_scream"));
}

#[test]
fn scream_too_late_loses_with_the_sequence_of_the_trick_before() {
    let hands = ["V1 S1 S2", "V2 S3 S4", "V3 P:VCS C5"];
    let first = "0 plays V1\n1 plays V2\n2 plays V3 => 2 CSV";
    let mut game = table(SCREAM, "VCS", "", &hands);
    play(&mut game, first);
    let events = play(&mut game, "2 plays P:VCS\n0 plays S1\n1 plays S3 => 1 CVS");
    assert_eq!(achieved(&events), "2 scream_too_late");

    let mut game = table(SCREAM, "VCS", "", &hands);
    play(&mut game, first);
    play(&mut game, "2 plays C5\n0 plays S1\n1 plays S3 => 2 SVC");
    let events = play(&mut game, "2 plays P:VCS\n0 plays S2\n1 plays S4 => 1 VCS");
    assert_eq!(achieved(&events), "", "two tricks too late");
}

#[test]
fn scream_too_late_needs_a_card_that_lost() {
    // Strawberry wins at the bottom of the stack, so the sequence stays and the card matches.
    let mut game = table(SCREAM, "VCS", "", &["S1 V1", "S2 V2", "S3 P:VCS"]);
    play(&mut game, "0 plays S1\n1 plays S2\n2 plays S3 => 2 VCS");
    let events = play(&mut game, "2 plays P:VCS\n0 plays V1\n1 plays V2 => 2 SCV");
    assert_eq!(achieved(&events), "2 scream");
}

#[test]
fn scream_too_late_stays_within_a_round() {
    let mut game = table(SCREAM, "VCS", "001122", &["V1", "V2", "V3"]);
    last_trick(&mut game);
    lay(&mut game, "", &["P:VCS", "S1", "S2"]);
    let events = play(&mut game, "0 plays P:VCS\n1 plays S1\n2 plays S2 => 2 CVS");
    assert_eq!(achieved(&events), "");
}

#[test]
fn cherry_is_a_declaration_that_came_true() {
    for (wins, answer, expected) in
        [("111111", "declares", true), ("111111", "declines", false), ("011111", "declares", false)]
    {
        let mut game = three(CHERRY, wins);
        play(&mut game, &format!("0 {answer}\n1 declines\n2 declines"));
        let events = last_trick(&mut game);
        assert_eq!(has(&events, "0 cherry"), expected, "{wins} {answer}");
        assert_eq!(has(&events, "0 cherry_no_pass"), expected, "{wins} {answer}");
    }
}

#[test]
fn cherry_no_pass_is_missed_with_a_pass_in_the_hand() {
    let mut game = table(CHERRY, "VCS", "111111", &["P", "V2", "V3"]);
    play(&mut game, "0 declares\n1 declines\n2 declines");
    let events = play(&mut game, "0 plays P\n1 plays V2\n2 plays V3 => 2 CSV");
    assert!(has(&events, "0 cherry") && !has(&events, "0 cherry_no_pass"));
}

#[test]
fn cherry_finish_is_a_victory_in_the_round_of_the_declaration() {
    for (answer, score, expected) in [("declares", 0, true), ("declines", 1, false)] {
        let mut game = three(CHERRY, "111111");
        game.scores[seat(0)] = score;
        play(&mut game, &format!("0 {answer}\n1 declines\n2 declines"));
        let events = last_trick(&mut game);
        let winners = game.outcome().expect("over").winners;
        assert!(winners.contains(seat(0)));
        assert_eq!(has(&events, "0 cherry_finish"), expected);
    }
}

#[test]
fn cherry_finish_is_also_a_shared_victory_but_no_lost_tie() {
    let mut game = table(CHERRY, "VCS", "222222", &["V1", "V2", "V3"]);
    play(&mut game, "0 declares\n1 declares\n2 declines");
    let events = last_trick(&mut game);
    assert_eq!(game.outcome().expect("over").reason, "shared");
    assert!(has(&events, "0 cherry_finish") && has(&events, "1 cherry_finish"));

    let mut game = three(CHERRY, "111222");
    game.scores[seat(1)] = 2;
    game.piles[seat(1)] = cards("C1");
    play(&mut game, "0 declares\n1 declines\n2 declines");
    let events = last_trick(&mut game);
    assert_eq!(game.outcome().expect("over").reason, "strongest_flavor");
    assert!(has(&events, "0 cherry") && !has(&events, "0 cherry_finish"));
    assert!(has(&events, "1 tie_broken_by_strongest"));
}

#[test]
fn cherry_finish_needs_the_end_and_not_only_the_points() {
    let mut game = three(Options { more_scoops: true, ..CHERRY }, "111111");
    play(&mut game, "0 declares\n1 declines\n2 declines");
    let events = last_trick(&mut game);
    assert_eq!(game.outcome(), None, "stamped, but not at the end");
    assert!(has(&events, "0 cherry") && !has(&events, "0 cherry_finish"));
}

#[test]
fn an_achievement_is_announced_once_a_match_and_stays_in_the_view() {
    let mut game = three(PLAIN, "111111");
    assert!(has(&last_trick(&mut game), "0 no_ice_cream"));
    lay(&mut game, "111111", &["V1", "V2", "V3"]);
    game.scores[seat(0)] = 1;
    let events = last_trick(&mut game);
    assert!(game.outcome().is_some());
    assert_eq!(achieved(&events), "0 no_ice_cream_twice");
    for viewer in [Viewer::Seat(seat(1)), Viewer::Spectator] {
        let seats = game.view(viewer).seats;
        let listed: Vec<_> = seats[seat(0)].achievements.iter().map(Achievement::id).collect();
        assert_eq!(listed, ["no_ice_cream", "no_ice_cream_twice", "no_pass_no_ice_cream"]);
    }
}

#[test]
fn a_round_that_the_limit_of_actions_cuts_off_brings_nothing() {
    let mut game = three(PLAIN, "111111");
    game.actions = 9_999;
    assert_eq!(achieved(&step(&mut game, "0 plays V1")), "");
    assert!(game.outcome().is_some());
}
