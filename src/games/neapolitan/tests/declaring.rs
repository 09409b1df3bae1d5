//! The Cherry On Top: who is asked, and what the others see of the answers.

use super::{CHERRY, PLAIN, lay, legal, play, seat, step, table};
use crate::games::neapolitan::{Action, Declaration, Event, Neapolitan, Options, Phase, Seen};
use crate::rules::{Game as _, Seat, SeatSet, Viewer};

/// The numbers of the seats that have an answer to give.
fn to_act(game: &Neapolitan) -> Vec<u8> {
    game.to_act().iter().map(Seat::number).collect()
}

fn declarations(game: &Neapolitan, viewer: Viewer) -> Vec<Declaration> {
    game.view(viewer).seats.values().map(|seat| seat.declaration).collect()
}

#[test]
fn all_seats_answer_in_any_order_before_the_first_lead() {
    let mut game = table(CHERRY, "VCS", "", &["V1", "V2", "V3"]);
    assert_eq!(game.phase(), Phase::Declaring);
    assert_eq!(to_act(&game), [0, 1, 2]);
    assert_eq!(legal(&game, 1), [Action::Declare, Action::Decline]);
    assert_eq!(game.view(Viewer::Spectator).turn, None);
    play(
        &mut game,
        "
        0 plays V1: time_to_declare
        2 declares
        2 declines: not_to_act
        2 plays V3: not_to_act
        0 declines
        1 declares
    ",
    );
    assert_eq!(game.phase(), Phase::Playing);
    assert_eq!(to_act(&game), [0]);
}

#[test]
fn an_answer_shows_only_as_given_until_the_last_one_reveals_all() {
    use Declaration::{Answered, Awaited, Declared, Declined};
    let mut game = table(CHERRY, "VCS", "", &["V1", "V2", "V3"]);
    let mut other = game.clone();
    let events = step(&mut game, "2 declares");
    let other_events = step(&mut other, "2 declines");
    for viewer in [Viewer::Seat(seat(0)), Viewer::Spectator] {
        assert_eq!(game.view(viewer), other.view(viewer));
        let seen = |events: &[Event]| events.iter().map(|e| e.seen_by(viewer)).collect::<Vec<_>>();
        assert_eq!(seen(&events), seen(&other_events));
        assert_eq!(seen(&events), [Seen::Answered { seat: seat(2) }]);
        assert_eq!(declarations(&game, viewer), [Awaited, Awaited, Answered]);
    }
    let own = |game: &Neapolitan, number| {
        game.view(Viewer::Seat(seat(number))).own.expect("a player").declares
    };
    assert_eq!((own(&game, 2), own(&other, 2), own(&game, 0)), (Some(true), Some(false), None));
    assert_eq!(game.view(Viewer::Spectator).seats[seat(2)].cherries, 1, "not used yet");

    step(&mut game, "0 declines");
    let events = step(&mut game, "1 declines");
    let revealed = Event::Revealed {
        declared: [seat(2)].into_iter().collect(),
        declined: [seat(0), seat(1)].into_iter().collect(),
    };
    assert_eq!(events, [Event::Answered { seat: seat(1), declares: false }, revealed]);
    assert_eq!(declarations(&game, Viewer::Spectator), [Declined, Declined, Declared]);
    assert_eq!(game.cherries.as_slice(), [1, 1, 0]);
}

#[test]
fn only_seats_with_a_declaration_left_are_asked() {
    use Declaration::{Awaited, Declined, NotAsked};
    let mut game = table(CHERRY, "VCS", "000111", &["V1", "V2", "V3"]);
    play(
        &mut game,
        "
        0 declares
        1 declines
        2 declines
        0 plays V1
        1 plays V2
        2 plays V3 => 2 CSV
    ",
    );
    assert_eq!(game.round, 2);
    assert_eq!(to_act(&game), [1, 2], "whoever declared has none left, successful or not");
    assert_eq!(declarations(&game, Viewer::Spectator), [NotAsked, Awaited, Awaited]);
    step(&mut game, "0 declares: not_to_act");
    assert_eq!(game.view(Viewer::Seat(seat(0))).own.expect("a player").declares, None);

    let events = play(&mut game, "1 declines\n2 declines");
    let declined = [seat(1), seat(2)].into_iter().collect();
    assert_eq!(events.last(), Some(&Event::Revealed { declared: SeatSet::EMPTY, declined }));
    assert_eq!(declarations(&game, Viewer::Spectator), [NotAsked, Declined, Declined]);
}

#[test]
fn nobody_is_asked_when_no_declaration_is_left_or_none_is_played_with() {
    let game = table(PLAIN, "VCS", "", &["V1", "V2", "V3"]);
    assert_eq!(game.phase(), Phase::Playing);

    let mut game = table(CHERRY, "VCS", "000111", &["V1", "V2", "V3"]);
    let events = play(
        &mut game,
        "
        0 declares
        1 declares
        2 declares
        0 plays V1
        1 plays V2
        2 plays V3 => 2 CSV
    ",
    );
    assert_eq!((game.round, game.phase()), (2, Phase::Playing));
    let asked = events.iter().find_map(|event| match event {
        Event::RoundBegan { asked, .. } => Some(asked.len()),
        _ => None,
    });
    assert_eq!(asked, Some(0));
}

#[test]
fn with_more_scoops_each_seat_may_declare_twice_but_once_a_round() {
    let options = Options { more_scoops: true, ..CHERRY };
    let mut game = table(options, "VCS", "000111", &["V1", "V2", "V3"]);
    let round = "
        0 declares
        0 declares: not_to_act
        1 declines
        2 declines
        0 plays V1
        1 plays V2
        2 plays V3";
    play(&mut game, &format!("{round} => 2 CSV"));
    assert_eq!(to_act(&game), [0, 1, 2]);
    lay(&mut game, "000111", &["V1", "V2", "V3"]);
    play(&mut game, &format!("{round} => 2 CSV"));
    assert_eq!(to_act(&game), [1, 2]);
    assert_eq!(game.cherries.as_slice(), [0, 2, 2]);
    assert_eq!(game.scores[seat(0)], -2, "there is no lowest score");
}
