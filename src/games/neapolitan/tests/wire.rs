//! What travels: what is not well formed, what a viewer is sent, and what the catalog says.

use super::{CHERRY, MORE, PLAIN, SCREAM, SECRET, card, cards, play, seat, sequence, step, table};
use crate::games::neapolitan::{
    Achievement, Action, Card, End, Neapolitan, Options, Play, Reason, SeatScore, Seen,
};
use crate::games::wire::Wire as _;
use crate::proto;
use crate::proto::neapolitan_action::Action as ActionArm;
use crate::proto::neapolitan_card::Card as CardArm;
use crate::proto::neapolitan_event::Event as EventArm;
use crate::rules::{BySeat, Game as _, Seat, SeatSet, Viewer};

const VANILLA: i32 = proto::NeapolitanFlavor::Vanilla as i32;
const CHOCOLATE: i32 = proto::NeapolitanFlavor::Chocolate as i32;
const STRAWBERRY: i32 = proto::NeapolitanFlavor::Strawberry as i32;

fn monster(flavor: i32, number: u32) -> proto::NeapolitanCard {
    let monster = proto::NeapolitanMonster { flavor, number };
    proto::NeapolitanCard { card: Some(CardArm::Monster(monster)) }
}

fn pass() -> proto::NeapolitanCard {
    proto::NeapolitanCard { card: Some(CardArm::Pass(proto::NeapolitanPass {})) }
}

fn variant_pass(flavors: &[i32]) -> proto::NeapolitanCard {
    let pass = proto::NeapolitanVariantPass { flavors: flavors.into() };
    proto::NeapolitanCard { card: Some(CardArm::VariantPass(pass)) }
}

fn played(seat: u32, card: proto::NeapolitanCard) -> proto::NeapolitanPlayed {
    proto::NeapolitanPlayed { seat, card: Some(card) }
}

fn seats(numbers: &[u8]) -> SeatSet {
    numbers.iter().filter_map(|&number| Seat::new(number)).collect()
}

#[test]
fn each_option_is_read_from_the_field_of_its_name() {
    let none = proto::NeapolitanOptions::default();
    for (message, options) in [
        (none, PLAIN),
        (proto::NeapolitanOptions { ice_cream_you_scream: true, ..none }, SCREAM),
        (proto::NeapolitanOptions { cherry_on_top: true, ..none }, CHERRY),
        (proto::NeapolitanOptions { more_scoops: true, ..none }, MORE),
        (proto::NeapolitanOptions { secret_ingredients: true, ..none }, SECRET),
        (
            proto::NeapolitanOptions { first_leader: Some(2), ..none },
            Options { first_leader: Some(seat(2)), ..PLAIN },
        ),
    ] {
        assert_eq!(Neapolitan::read_options(&message), Ok(options));
    }
}

#[test]
fn a_view_says_of_everything_what_it_is() {
    let options = Options { ice_cream_you_scream: true, more_scoops: true, ..CHERRY };
    let hands = ["V1 C1 S9", "V2 C2 S8", "P:VCS C3 S7", "V4 C4 S6"];
    let mut game = table(options, "VCS", "0333", &hands);
    play(&mut game, "0 declares\n1 declines\n2 declines\n3 declines");
    game.round = 5;
    game.scores = BySeat::from_vec(vec![-1, 1, 2, 3]).expect("four seats");
    game.stamped.insert(seat(3));
    game.cherries = BySeat::from_vec(vec![1, 2, 0, 2]).expect("four seats");
    game.leftovers = [card("V9"), card("P:CVS")];
    play(&mut game, "0 plays V1\n1 plays V2\n2 plays P:VCS\n3 plays V4 => 2 SCV");
    play(&mut game, "2 plays C3\n3 plays C4");

    let seat_view = |hand_size, tricks_won, score, declared: bool| proto::NeapolitanSeatView {
        hand_size,
        tricks_won,
        score,
        declaration: if declared { 4 } else { 5 },
        ..proto::NeapolitanSeatView::default()
    };
    let hand_card = |card, forbidden_by: &str| proto::NeapolitanHandCard {
        card: Some(card),
        forbidden_by: forbidden_by.to_owned(),
    };
    let expected = proto::NeapolitanView {
        round: 5,
        trick: 6,
        phase: 2,
        flavor_stack: vec![STRAWBERRY, CHOCOLATE, VANILLA],
        leader: 2,
        turn: Some(0),
        plays: vec![played(2, monster(CHOCOLATE, 3)), played(3, monster(CHOCOLATE, 4))],
        last_trick: Some(proto::NeapolitanTrick {
            plays: vec![
                played(0, monster(VANILLA, 1)),
                played(1, monster(VANILLA, 2)),
                played(2, variant_pass(&[VANILLA, CHOCOLATE, STRAWBERRY])),
                played(3, monster(VANILLA, 4)),
            ],
            winner: 2,
            flavor_stack: vec![VANILLA, CHOCOLATE, STRAWBERRY],
        }),
        leftovers: vec![monster(VANILLA, 9), variant_pass(&[CHOCOLATE, VANILLA, STRAWBERRY])],
        trick_goal: 2,
        points_goal: 4,
        seats: vec![
            proto::NeapolitanSeatView { cherries_left: 1, ..seat_view(2, 1, -1, true) },
            proto::NeapolitanSeatView { cherries_left: 2, ..seat_view(2, 0, 1, false) },
            proto::NeapolitanSeatView {
                achievements: vec!["scream".to_owned()],
                ..seat_view(1, 1, 2, false)
            },
            proto::NeapolitanSeatView {
                cherries_left: 2,
                loyalty_stamped: true,
                ..seat_view(1, 3, 3, false)
            },
        ],
        end: None,
        own: Some(proto::NeapolitanOwn {
            hand: vec![
                hand_card(monster(CHOCOLATE, 1), ""),
                hand_card(monster(STRAWBERRY, 9), "follow_lead"),
            ],
            declares: Some(true),
        }),
    };
    assert_eq!(Neapolitan::write_view(&game.view(Viewer::Seat(seat(0)))), expected);
    let expected = proto::NeapolitanView { own: None, ..expected };
    assert_eq!(Neapolitan::write_view(&game.view(Viewer::Spectator)), expected);
}

#[test]
fn a_view_says_how_far_the_match_is() {
    let sent = |game: &Neapolitan| Neapolitan::write_view(&game.view(Viewer::Spectator));
    let mut game = table(CHERRY, "VCS", "000111", &["V1", "V2", "V3"]);
    step(&mut game, "1 declines");
    let view = sent(&game);
    assert_eq!((view.phase, view.turn), (1, None));
    let declarations: Vec<_> = view.seats.iter().map(|seat| seat.declaration).collect();
    assert_eq!(declarations, [2, 3, 2], "awaited, answered, awaited");

    let mut game = table(PLAIN, "VCS", "000111", &["V1", "V2", "V3"]);
    assert_eq!(sent(&game).seats[0].declaration, 1, "not asked");
    game.scores[seat(0)] = 2;
    play(&mut game, "0 plays V1\n1 plays V2\n2 plays V3 => 2 CSV");
    let view = sent(&game);
    assert_eq!((view.phase, view.turn), (3, None));
    let reason = "only_contender".to_owned();
    assert_eq!(view.end, Some(proto::NeapolitanEnd { winners: vec![0], reason }));
}

#[test]
fn an_event_says_of_everything_what_it_is() {
    let results = vec![SeatScore { tricks: 5, points: -1, score: -2 }];
    let end = End { winners: seats(&[0, 2]), reason: Reason::Shared };
    for (seen, arm) in [
        (
            Seen::SetUp { stack: sequence("CVS"), leader: seat(2) },
            EventArm::SetUp(proto::NeapolitanSetUp {
                flavor_stack: vec![CHOCOLATE, VANILLA, STRAWBERRY],
                leader: 2,
            }),
        ),
        (
            Seen::Dealt {
                deal: 4,
                hand: Some(cards("S2 V7 P P")),
                hand_size: 7,
                leftovers: Some([card("P"), card("C1")]),
            },
            EventArm::Dealt(proto::NeapolitanDealt {
                deal: 4,
                hand: vec![monster(VANILLA, 7), monster(STRAWBERRY, 2), pass(), pass()],
                hand_size: 7,
                leftovers: vec![pass(), monster(CHOCOLATE, 1)],
            }),
        ),
        (
            Seen::Dealt { deal: 0, hand: None, hand_size: 7, leftovers: None },
            EventArm::Dealt(proto::NeapolitanDealt {
                hand_size: 7,
                ..proto::NeapolitanDealt::default()
            }),
        ),
        (
            Seen::RoundBegan { round: 3, leader: seat(1), asked: seats(&[0, 2]) },
            EventArm::RoundBegan(proto::NeapolitanRoundBegan {
                round: 3,
                leader: 1,
                asked: vec![0, 2],
            }),
        ),
        (
            Seen::Answered { seat: seat(4) },
            EventArm::Answered(proto::NeapolitanAnswered { seat: 4 }),
        ),
        (
            Seen::Revealed { declared: seats(&[1]), declined: seats(&[0, 2]) },
            EventArm::Revealed(proto::NeapolitanRevealed {
                declared: vec![1],
                declined: vec![0, 2],
            }),
        ),
        (
            Seen::Played(Play { seat: seat(3), card: card("S11") }),
            EventArm::Played(played(3, monster(STRAWBERRY, 11))),
        ),
        (
            Seen::TrickWon { trick: 7, winner: seat(2), stack: sequence("SVC") },
            EventArm::TrickWon(proto::NeapolitanTrickWon {
                trick: 7,
                winner: 2,
                flavor_stack: vec![STRAWBERRY, VANILLA, CHOCOLATE],
            }),
        ),
        (
            Seen::RoundScored { results: BySeat::from_vec(results).expect("a seat") },
            EventArm::RoundScored(proto::NeapolitanRoundScored {
                results: vec![proto::NeapolitanSeatScore { tricks_won: 5, points: -1, score: -2 }],
            }),
        ),
        (Seen::Stamped { seat: seat(1) }, EventArm::Stamped(proto::NeapolitanStamped { seat: 1 })),
        (
            Seen::Achieved { seat: seat(1), achievement: Achievement::Cherry },
            EventArm::Achieved(proto::NeapolitanAchieved {
                seat: 1,
                achievement: "cherry".to_owned(),
            }),
        ),
        (
            Seen::Ended { end, scores: BySeat::from_vec(vec![3, -2, 3]).expect("three seats") },
            EventArm::Ended(proto::NeapolitanEnded {
                end: Some(proto::NeapolitanEnd {
                    winners: vec![0, 2],
                    reason: "shared".to_owned(),
                }),
                scores: vec![3, -2, 3],
            }),
        ),
    ] {
        assert_eq!(Neapolitan::write_event(&seen).event, Some(arm));
    }
}

#[test]
fn an_action_is_read_as_what_it_says() {
    let play = |card| ActionArm::Play(proto::NeapolitanPlay { card: Some(card) });
    for (arm, action) in [
        (play(monster(CHOCOLATE, 11)), Action::Play(card("C11"))),
        (play(monster(STRAWBERRY, 1)), Action::Play(card("S1"))),
        (play(pass()), Action::Play(Card::PASS)),
        (play(variant_pass(&[STRAWBERRY, VANILLA, CHOCOLATE])), Action::Play(card("P:SVC"))),
        (ActionArm::Declare(proto::NeapolitanDeclare {}), Action::Declare),
        (ActionArm::Decline(proto::NeapolitanDecline {}), Action::Decline),
    ] {
        let message = proto::NeapolitanAction { action: Some(arm) };
        assert_eq!(Neapolitan::read_action(&message), Ok(action));
    }
}

#[test]
fn a_card_that_cannot_be_names_the_field_at_fault() {
    for (card, field) in [
        (proto::NeapolitanCard::default(), "play.card"),
        (monster(0, 4), "play.card.monster.flavor"),
        (monster(4, 4), "play.card.monster.flavor"),
        (monster(1, 0), "play.card.monster.number"),
        (monster(1, 12), "play.card.monster.number"),
        (monster(1, u32::MAX), "play.card.monster.number"),
        (variant_pass(&[1, 2]), "play.card.variant_pass.flavors"),
        (variant_pass(&[1, 2, 2]), "play.card.variant_pass.flavors"),
        (variant_pass(&[1, 2, 0]), "play.card.variant_pass.flavors"),
        (variant_pass(&[1, 2, 3, 1]), "play.card.variant_pass.flavors"),
    ] {
        let play = proto::NeapolitanPlay { card: Some(card) };
        let action = proto::NeapolitanAction { action: Some(ActionArm::Play(play)) };
        assert_eq!(Neapolitan::read_action(&action).expect_err(field).field, field);
    }
    let empty = proto::NeapolitanAction { action: None };
    assert_eq!(Neapolitan::read_action(&empty).expect_err("no action").field, "action");
}

#[test]
fn the_catalog_has_every_card_of_the_box_and_every_achievement() {
    let catalog = Neapolitan::catalog(&PLAIN);
    assert_eq!(catalog.cards.iter().map(|card| card.copies).sum::<u32>(), 33 + 4 + 6);
    let achievements: Vec<_> = catalog.achievements.iter().map(|item| item.id).collect();
    assert_eq!(achievements, Achievement::ALL.map(Achievement::id));

    let described = |id: &str| {
        let card = catalog.cards.iter().find(|card| card.id == id).expect(id);
        let suits = card.suits.join(" ");
        (card.name.as_str(), card.kind.as_str(), card.rank, suits, card.copies)
    };
    let suits = "strawberry".to_owned();
    assert_eq!(described("strawberry_4"), ("Strawberry 4", "monster", Some(4), suits, 1));
    assert_eq!(described("pass"), ("Pass", "pass", None, String::new(), 4));
    let suits = "chocolate vanilla strawberry".to_owned();
    assert_eq!(
        described("pass_chocolate_vanilla_strawberry"),
        ("Pass Chocolate-Vanilla-Strawberry", "variant_pass", None, suits, 1)
    );
}
