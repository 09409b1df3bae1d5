//! Following, winning tricks, and the flavor stack.

use super::{PLAIN, SCREAM, cards, play, playable, seat, step, table};
use crate::games::neapolitan::{Event, Phase, TRICKS};
use crate::rules::{Game as _, Viewer};

#[test]
fn in_a_trick_of_one_flavor_the_highest_number_wins() {
    let mut game = table(PLAIN, "VCS", "", &["V4", "V6", "P"]);
    play(
        &mut game,
        "
        0 plays V4
        1 plays V6
        2 plays P => 1 CSV
    ",
    );
    let mut game = table(PLAIN, "CSV", "", &["V4", "P", "V3"]);
    play(
        &mut game,
        "
        0 plays V4
        1 plays P
        2 plays V3 => 0 CSV
    ",
    );
}

#[test]
fn the_highest_card_of_the_strongest_flavor_in_the_trick_wins() {
    let mut game = table(PLAIN, "VSC", "", &["C8", "V1", "V5", "C2"]);
    play(
        &mut game,
        "
        0 plays C8
        1 plays V1
        2 plays V5
        3 plays C2 => 2 SCV
    ",
    );
    let mut game = table(PLAIN, "SVC", "", &["C8", "V1", "V5", "C2"]);
    play(
        &mut game,
        "
        0 plays C8
        1 plays V1
        2 plays V5
        3 plays C2 => 2 SCV
    ",
    );
}

#[test]
fn the_flavor_that_won_goes_to_the_bottom_and_the_others_keep_their_order() {
    for (stack, after) in [("VCS", "VSC"), ("CVS", "VSC"), ("VSC", "VSC"), ("SCV", "SVC")] {
        let mut game = table(PLAIN, stack, "", &["C1", "C2", "P"]);
        play(&mut game, &format!("0 plays C1\n1 plays C2\n2 plays P => 1 {after}"));
    }
}

#[test]
fn a_hand_with_the_lead_flavor_plays_it_or_a_pass() {
    let mut game = table(PLAIN, "VCS", "", &["V4 C1", "V6 V7 C2 S3 P P", "C5 S6 P"]);
    step(&mut game, "0 plays V4");
    assert_eq!(playable(&game, 1), "V6 V7 P", "equal cards are listed once");
    play(
        &mut game,
        "
        1 plays C2: follow_lead
        1 plays S3: follow_lead
        1 plays V5: not_in_hand
        1 plays P
    ",
    );
    assert_eq!(playable(&game, 2), "C5 S6 P", "a hand without it plays what it likes");
    step(&mut game, "2 plays S6 => 0 CSV");
}

#[test]
fn the_flavor_to_follow_stays_whatever_is_played_after_it() {
    let mut game = table(PLAIN, "VCS", "", &["C4", "V6", "C5 V1 S1", "S2"]);
    step(&mut game, "0 plays C4");
    step(&mut game, "1 plays V6");
    assert_eq!(playable(&game, 2), "C5");
}

#[test]
fn any_variant_pass_may_be_played_instead_of_following() {
    let mut game = table(SCREAM, "VCS", "", &["V4", "V6 C2 P:SVC P:VCS", "V5"]);
    step(&mut game, "0 plays V4");
    assert_eq!(playable(&game, 1), "V6 P:VCS P:SVC");
}

#[test]
fn a_pass_card_never_sets_the_lead_suit() {
    let mut game = table(PLAIN, "VCS", "", &["P V1", "P C2 V2", "C5 S6 V3", "S7 C8 V4"]);
    assert_eq!(playable(&game, 0), "V1 P", "any card may be led");
    step(&mut game, "0 plays P");
    assert_eq!(playable(&game, 1), "V2 C2 P");
    step(&mut game, "1 plays P");
    assert_eq!(playable(&game, 2), "V3 C5 S6", "no lead suit after Pass cards alone");
    step(&mut game, "2 plays S6");
    assert_eq!(playable(&game, 3), "S7", "the first card that is no Pass sets it");
    step(&mut game, "3 plays S7 => 3 VCS");
}

#[test]
fn a_variant_pass_never_sets_the_lead_suit_even_when_it_wins() {
    let mut game = table(SCREAM, "VCS", "", &["P:VCS", "C2 V2", "C5 S6 V3"]);
    step(&mut game, "0 plays P:VCS");
    assert_eq!(playable(&game, 1), "V2 C2");
    step(&mut game, "1 plays C2");
    assert_eq!(playable(&game, 2), "C5");
    step(&mut game, "2 plays C5 => 0 SCV");
}

#[test]
fn a_variant_pass_with_the_sequence_of_the_stack_wins_and_reverses_it() {
    let mut game = table(SCREAM, "CVS", "", &["V4", "V6", "P:CVS"]);
    play(
        &mut game,
        "
        0 plays V4
        1 plays V6
        2 plays P:CVS => 2 SVC
    ",
    );
    assert_eq!(game.to_act().iter().collect::<Vec<_>>(), [seat(2)], "it leads");
    assert_eq!(game.piles[seat(2)], cards("V4 V6 P:CVS"));
}

#[test]
fn a_variant_pass_that_matches_wins_whatever_follows() {
    let mut game = table(SCREAM, "VCS", "", &["V1", "P:VCS", "V9", "V8"]);
    play(
        &mut game,
        "
        0 plays V1
        1 plays P:VCS
        2 plays V9
        3 plays V8 => 1 SCV
    ",
    );
}

#[test]
fn two_variant_passes_never_match_in_one_trick() {
    let mut game = table(SCREAM, "VCS", "", &["P:VCS", "P:SCV", "V9", "P:CSV"]);
    play(
        &mut game,
        "
        0 plays P:VCS
        1 plays P:SCV
        2 plays V9
        3 plays P:CSV => 0 SCV
    ",
    );
}

#[test]
fn a_variant_pass_that_does_not_match_is_a_pass_like_any_other() {
    let mut game = table(SCREAM, "VCS", "", &["P:VSC", "S1", "P:SCV"]);
    play(
        &mut game,
        "
        0 plays P:VSC
        1 plays S1
        2 plays P:SCV => 1 VCS
    ",
    );
}

#[test]
fn the_winner_of_a_trick_leads_the_next_one_also_into_the_next_round() {
    let mut game = table(PLAIN, "VCS", "01201", &["V1 C1", "V2 C2", "V3 C3"]);
    let events = play(
        &mut game,
        "
        1 plays V2: not_to_act
        0 plays V1
        1 plays V2
        2 plays V3 => 2 CSV
        0 plays C1: not_to_act
        2 plays C3
        0 plays C1
        1 plays C2 => 2 SVC
    ",
    );
    let tricks = events.iter().filter_map(|event| match event {
        Event::TrickWon { trick, .. } => Some(*trick),
        _ => None,
    });
    assert_eq!(tricks.collect::<Vec<_>>(), [6, 7], "the last two of the round");
    assert_eq!((game.round, game.tricks), (2, 0));
    assert!(game.hands.values().all(|hand| hand.len() == TRICKS));
    assert_eq!(game.to_act().iter().collect::<Vec<_>>(), [seat(2)]);
    assert_eq!(format!("{:?}", game.stack), "SVC", "the stack stays as it is");
}

#[test]
fn declaring_is_refused_while_cards_are_played() {
    let mut game = table(PLAIN, "VCS", "", &["V1", "V2", "V3"]);
    play(
        &mut game,
        "
        0 declares: time_to_play
        0 declines: time_to_play
        1 declares: not_to_act
    ",
    );
}

#[test]
fn each_card_of_a_hand_shows_the_rule_that_forbids_it() {
    let mut game = table(PLAIN, "VCS", "", &["V4 C1", "V6 C2 P", "C5 V1"]);
    step(&mut game, "0 plays V4");
    let forbidden = |number| {
        let own = game.view(Viewer::Seat(seat(number))).own.expect("a player");
        own.hand
            .into_iter()
            .map(|(card, refusal)| {
                format!("{card:?} {}", refusal.map_or("", |refusal| refusal.rule))
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(forbidden(1), ["V6 ", "C2 follow_lead", "P "]);
    assert_eq!(forbidden(2), ["V1 not_to_act", "C5 not_to_act"]);
    assert_eq!(game.view(Viewer::Spectator).own, None);
}

#[test]
fn a_view_shows_the_trick_and_the_last_one_until_the_next_hand_is_dealt() {
    let mut game = table(PLAIN, "VCS", "01201", &["V1 C1", "V2 C2", "V3 C3"]);
    play(&mut game, "0 plays V1\n1 plays V2\n2 plays V3 => 2 CSV\n2 plays C3");
    let view = game.view(Viewer::Spectator);
    assert_eq!((view.phase, view.trick), (Phase::Playing, 7));
    assert_eq!((view.leader, view.turn), (seat(2), Some(seat(0))));
    assert_eq!(format!("{:?}", view.plays), "[2 C3]");
    let last = view.last_trick.expect("a trick was won");
    assert_eq!(format!("{:?} {:?}", last.plays, last.stack), "[0 V1, 1 V2, 2 V3] VCS");
    assert_eq!(last.winner, seat(2));
    assert_eq!(view.seats.map(|_, seat| seat.tricks).as_slice(), [2, 2, 2]);
    assert_eq!(view.seats.map(|_, seat| seat.hand_size).as_slice(), [1, 1, 0]);

    play(&mut game, "0 plays C1\n1 plays C2 => 2 SVC");
    let view = game.view(Viewer::Spectator);
    assert_eq!((view.round, view.trick, view.last_trick), (2, 1, None));
    assert!(view.seats.values().all(|seat| seat.tricks == 0));
}
