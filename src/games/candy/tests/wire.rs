//! Messages: what cannot be read, what is written, and the catalog.

use crate::games::candy::playing::FOLLOW_SUIT;
use crate::games::candy::question::{Choice, Question};
use crate::games::candy::spots::Spot;
use crate::games::candy::suit::Suit;
use crate::games::candy::tests::scene::{Scene, card, cards, flavor, seat};
use crate::games::candy::trick::Side;
use crate::games::candy::view::Own;
use crate::games::candy::{
    Action, Candy, EffectResult, Ending, HandResult, Options, Seen, Stage, View,
};
use crate::games::wire::Wire as _;
use crate::proto;
use crate::proto::candy_action::Action as Arm;
use crate::proto::candy_event::Event as EventArm;
use crate::rules::{BySeat, Game as _, SeatCount, SeatSet, Viewer};

#[test]
fn an_action_that_names_what_there_is_not_tells_the_field() {
    let id = || "licorice".to_owned();
    let known = || "banana".to_owned();
    for (arm, field) in [
        (None, "action"),
        (Some(Arm::PlayCard(proto::CandyPlayCard { card_id: id() })), "play_card.card_id"),
        (
            Some(Arm::PlayCard(proto::CandyPlayCard { card_id: "flavor-mint".to_owned() })),
            "play_card.card_id",
        ),
        (
            Some(Arm::KeepFlavor(proto::CandyKeepFlavor { flavor_id: known() })),
            "keep_flavor.flavor_id",
        ),
        (
            Some(Arm::SwapCards(proto::CandySwapCards {
                trick_card_id: known(),
                stash_card_id: id(),
            })),
            "swap_cards.stash_card_id",
        ),
        (Some(Arm::GiveCard(proto::CandyGiveCard { card_id: known(), seat: 6 })), "give_card.seat"),
        (Some(Arm::ChooseSeat(proto::CandyChooseSeat { seat: 300 })), "choose_seat.seat"),
        (Some(Arm::NameSuit(proto::CandyNameSuit { suit: 0 })), "name_suit.suit"),
        (Some(Arm::NameSuit(proto::CandyNameSuit { suit: 11 })), "name_suit.suit"),
    ] {
        let bad = Candy::read_action(&proto::CandyAction { action: arm });
        assert_eq!(bad.expect_err(field).field, field);
    }
}

#[test]
fn options_that_are_left_out_have_their_defaults() {
    let read = Candy::read_options(&proto::CandyOptions::default());
    assert_eq!(read.expect("good options"), Options::default());
    assert_eq!(Options::default().target_score, 31, "the standard game");
}

#[test]
fn the_catalog_has_every_card_and_says_where_it_comes_from() {
    let catalog = Candy::catalog(&Options::default());
    assert_eq!(catalog.cards.len(), 86 + 17);
    let card = |id: &str| catalog.cards.iter().find(|card| card.id == id).expect("a card");
    let punch = card("weird-tasting-punch");
    assert_eq!((punch.kind.as_str(), punch.rank), ("non_candy", Some(0)));
    assert_eq!((punch.color.as_str(), punch.set.as_str()), ("gold", "king_sized"));
    assert!(punch.text.contains("leftover stash"));
    assert_eq!(
        punch.source,
        "set, kind and rank: from the rulebook or public descriptions; name: from the rulebook; \
         color: filled in; effect: from the rulebook in part, the rest filled in"
    );
    assert_eq!(card("flavor-mint").kind, "flavor");
    assert_eq!(card("salted-nut-roll").suits, ["caramel", "peanut", "nougat"]);
}

fn ids(ids: &[&str]) -> Vec<String> {
    ids.iter().map(|&id| id.to_owned()).collect()
}

fn numbers<E: Into<i32> + Copy>(values: &[E]) -> Vec<i32> {
    values.iter().map(|&value| value.into()).collect()
}

#[test]
fn a_view_is_written_field_by_field() {
    use proto::{CandyLying as Lying, CandySide as Side};
    let mut game = Scene::new(&[
        "grab-bags coconut-bar",
        "candy-lockjaw",
        "egged-house",
        "flashlight-tag",
        "fruit-chew",
    ])
    .leftover("sour-worms sour-drops")
    .stash(3, "lollipops banana")
    .led_by(1)
    .plays(
        "
        1 plays candy-lockjaw
        2 plays egged-house
        3 plays flashlight-tag
        4 plays fruit-chew
    ",
    )
    .game;
    game.hand = 2;
    game.completed = 4;
    game.target = 13;
    game.dealer = seat(3);
    game.tricks[seat(3)] = 4;
    game.points[seat(3)] = 9;
    game.beside = cards("mint-patty");
    game.held = cards("gummy-bats gummy-rings");
    game.kept[seat(4)] = Some(flavor("flavor-sour"));
    let written = Candy::write_view(&game.view(Viewer::Seat(seat(4))));

    let play = |seat, side: Side, lying: Lying, id: &str| proto::CandyPlay {
        seat,
        side: side.into(),
        lying: lying.into(),
        card_id: id.to_owned(),
    };
    let hidden = |hand_size| proto::CandySeatView { hand_size, ..Default::default() };
    assert_eq!(
        written,
        proto::CandyView {
            hand: 3,
            trick: 5,
            stage: proto::CandyStage::Playing.into(),
            target_score: 13,
            dealer: 3,
            leader: 1,
            plays: vec![
                play(1, Side::Up, Lying::FaceUp, "candy-lockjaw"),
                play(2, Side::Mute, Lying::FaceDown, ""),
                play(3, Side::Up, Lying::FaceUp, "flashlight-tag"),
                play(4, Side::Down, Lying::FaceDown, "fruit-chew"),
            ],
            suits: numbers(&[proto::CandySuit::Caramel]),
            next_side: Side::Down.into(),
            beside_card_ids: ids(&["mint-patty"]),
            held_card_ids: ids(&["gummy-bats", "gummy-rings"]),
            aside_card_ids: ids(&["banana-peel"]),
            leftover_size: 2,
            seats: vec![
                hidden(2),
                hidden(0),
                hidden(0),
                proto::CandySeatView {
                    stash_card_ids: ids(&["lollipops", "banana"]),
                    tricks: 4,
                    points: 9,
                    ..hidden(0)
                },
                proto::CandySeatView { has_kept_flavor: true, ..hidden(0) },
            ],
            own: Some(proto::CandyOwnCards {
                kept_flavor_id: "flavor-sour".to_owned(),
                ..Default::default()
            }),
            ..Default::default()
        }
    );
}

#[test]
fn own_cards_and_a_match_that_is_over_are_written_field_by_field() {
    let (sour, mint) = (flavor("flavor-sour"), flavor("flavor-mint"));
    let mut view = Scene::new(&["fruit-chew", "banana"]).game.view(Viewer::Seat(seat(0)));
    view.completed = 13;
    view.need_not_follow = true;
    view.ending = Some(Ending::Stash);
    view.seats[seat(1)].flavor = Some(mint);
    view.own = Some(Own {
        hand: cards("fruit-chew banana"),
        flavors: vec![sour, mint],
        kept: None,
        forbidden: vec![(card("banana"), FOLLOW_SUIT)],
    });
    let written = Candy::write_view(&view);
    assert_eq!(written.trick, 13, "there is no trick after the last one");
    assert!(written.need_not_follow);
    assert_eq!(written.ending, "stash");
    assert_eq!(
        (written.seats[0].flavor_id.as_str(), written.seats[1].flavor_id.as_str()),
        ("", "flavor-mint")
    );
    assert_eq!(
        written.own,
        Some(proto::CandyOwnCards {
            hand_card_ids: ids(&["fruit-chew", "banana"]),
            flavor_ids: ids(&["flavor-sour", "flavor-mint"]),
            kept_flavor_id: String::new(),
            forbidden: vec![proto::CandyForbidden {
                card_id: "banana".to_owned(),
                rule: "follow_suit".to_owned(),
            }],
        })
    );
}

#[test]
fn the_kind_of_an_action_is_the_name_of_its_arm() {
    let (card, seat) = (card("banana"), seat(1));
    for action in [
        Action::Keep(flavor("flavor-mint")),
        Action::Play(card),
        Action::Resolve(card),
        Action::Choose(card),
        Action::Swap { take: card, give: card },
        Action::Give { card, seat },
        Action::ChooseSeat(seat),
        Action::Name(Suit::Mint),
        Action::Decline,
    ] {
        let written = format!("{:?}", Candy::write_action(&action).action.expect("an arm"));
        let (arm, _) = written.split_once('(').expect("a message in an arm");
        let mut name = String::new();
        for letter in arm.chars() {
            if letter.is_uppercase() && !name.is_empty() {
                name.push('_');
            }
            name.extend(letter.to_lowercase());
        }
        assert_eq!(name, Candy::kind(&action));
    }
}

#[test]
fn a_view_between_two_effects_is_written_field_by_field() {
    let hands = ["hole-in-the-bag", "bon-bombs", "sweet-tooth", "salted-nut-roll"];
    let scene = Scene::new(&hands).plays(
        "
        0 plays hole-in-the-bag
        1 plays bon-bombs
        2 plays sweet-tooth
        3 plays salted-nut-roll
        3 picks hole-in-the-bag
        0 chooses bon-bombs
    ",
    );
    let written = Candy::write_view(&scene.game.view(Viewer::Spectator));
    assert_eq!(written.stage(), proto::CandyStage::Resolving);
    assert_eq!(written.winner, Some(3));
    let waiting: Vec<_> =
        written.waiting.iter().map(|wait| (wait.card_id.as_str(), wait.seat)).collect();
    assert_eq!(waiting, [("bon-bombs", 1), ("sweet-tooth", 2)]);
    assert_eq!(written.plays[1].lying(), proto::CandyLying::Gone);
    assert_eq!(written.plays[1].card_id, "");
    assert_eq!((written.own, written.last_trick), (None, None));

    let scene = scene.plays(
        "
        3 picks bon-bombs
        1 declines
        2 chooses salted-nut-roll
    ",
    );
    let written = Candy::write_view(&scene.game.view(Viewer::Spectator));
    let play = |seat, id: &str| proto::CandyLastPlay { seat, card_id: id.to_owned() };
    assert_eq!(
        written.last_trick,
        Some(proto::CandyLastTrick {
            winner: 3,
            plays: vec![
                play(0, "hole-in-the-bag"),
                play(1, ""),
                play(2, "sweet-tooth"),
                play(3, "salted-nut-roll"),
            ],
        })
    );
}

#[test]
fn what_an_effect_asks_is_written_for_each_kind_of_choice() {
    use proto::candy_question::Choice as Arm;
    let to: SeatSet = [0, 2].into_iter().map(seat).collect();
    let few = cards("fruit-chew banana");
    let few_ids = || ids(&["fruit-chew", "banana"]);
    for (choice, arm) in [
        (Choice::Hand, Arm::Hand(proto::CandyHandChoice {})),
        (Choice::Card(few), Arm::Card(proto::CandyCardChoice { card_ids: few_ids() })),
        (
            Choice::Swap { trick: few, stash: cards("lollipops") },
            Arm::Swap(proto::CandySwapChoice {
                trick_card_ids: few_ids(),
                stash_card_ids: ids(&["lollipops"]),
            }),
        ),
        (
            Choice::Give { cards: few, to },
            Arm::Give(proto::CandyGiveChoice { card_ids: few_ids(), seats: vec![0, 2] }),
        ),
        (Choice::Seat(to), Arm::Player(proto::CandySeatChoice { seats: vec![0, 2] })),
        (Choice::Suit, Arm::Suit(proto::CandySuitChoice {})),
    ] {
        for may in [true, false] {
            let mut game = Scene::new(&["fruit-chew", "banana"]).game;
            game.asked = Some(Question { seat: seat(1), card: card("banana"), choice, may });
            let written = Candy::write_view(&game.view(Viewer::Spectator));
            let expected = proto::CandyQuestion {
                seat: 1,
                card_id: "banana".to_owned(),
                may_decline: may,
                choice: Some(arm.clone()),
            };
            assert_eq!(written.question, Some(expected));
        }
    }
}

#[test]
fn enums_are_written_by_their_names() {
    let named = |name: &str, prefix: &str, value: &str| {
        let (value, _) = value.split_once('(').unwrap_or((value, ""));
        assert_eq!(name, format!("{prefix}_{}", value.to_uppercase()));
    };
    for suit in Suit::ALL {
        let Some(Arm::NameSuit(written)) = Candy::write_action(&Action::Name(suit)).action else {
            panic!("a suit is named");
        };
        named(written.suit().as_str_name(), "CANDY_SUIT", suit.id());
    }
    let scene = Scene::new(&["fruit-chew", "banana"]);
    let view = |change: &dyn Fn(&mut View)| {
        let mut view = scene.game.view(Viewer::Spectator);
        change(&mut view);
        Candy::write_view(&view)
    };
    for stage in [
        Stage::Flavors,
        Stage::Playing,
        Stage::Revealing,
        Stage::Resolving,
        Stage::Over(Ending::Score),
    ] {
        let written = view(&|view| view.stage = stage);
        named(written.stage().as_str_name(), "CANDY_STAGE", &format!("{stage:?}"));
    }
    for side in [Side::Up, Side::Down, Side::Mute] {
        let written = view(&|view| view.next_side = side);
        named(written.next_side().as_str_name(), "CANDY_SIDE", &format!("{side:?}"));
    }
    for result in
        [EffectResult::Worked, EffectResult::Declined, EffectResult::Nothing, EffectResult::Mute]
    {
        let seen = Seen::Effect { card: card("banana"), seat: seat(1), result };
        let Some(EventArm::EffectDone(written)) = Candy::write_event(&seen).event else {
            panic!("an effect is done");
        };
        assert_eq!((written.card_id.as_str(), written.seat), ("banana", 1));
        named(written.result().as_str_name(), "CANDY_EFFECT_RESULT", &format!("{result:?}"));
    }
    for spot in [
        Spot::Hand(seat(1)),
        Spot::Trick,
        Spot::Stash(seat(1)),
        Spot::Leftover,
        Spot::Beside,
        Spot::Held,
        Spot::Aside,
    ] {
        let seen = Seen::Moved { by: card("banana"), card: None, from: spot, to: Spot::Trick };
        let Some(EventArm::Moved(written)) = Candy::write_event(&seen).event else {
            panic!("a card is moved");
        };
        let from = written.from_spot.expect("a spot");
        named(from.kind().as_str_name(), "CANDY_SPOT_KIND", &format!("{spot:?}"));
        let owned = matches!(spot, Spot::Hand(_) | Spot::Stash(_));
        assert_eq!(from.seat, owned.then_some(1), "{spot:?}");
    }
}

#[test]
fn events_of_a_hand_are_written_field_by_field() {
    let id = |id: &str| id.to_owned();
    let sour = flavor("flavor-sour");
    let seats = SeatCount::new(2).expect("a table");
    let result = HandResult {
        tricks: 7,
        tummy_ache: true,
        flavor: Some(sour),
        flavor_points: 5,
        effect_points: 2,
        pranks: 1,
        points: 6,
    };
    for (seen, arm) in [
        (
            Seen::Dealt {
                hand: 2,
                dealer: seat(1),
                own_hand: cards("fruit-chew banana"),
                hand_size: 13,
                leftover_size: 18,
                own_flavors: vec![sour, flavor("flavor-mint")],
            },
            EventArm::Dealt(proto::CandyDealt {
                hand: 3,
                dealer: 1,
                hand_card_ids: ids(&["fruit-chew", "banana"]),
                hand_size: 13,
                leftover_size: 18,
                flavor_ids: ids(&["flavor-sour", "flavor-mint"]),
            }),
        ),
        (
            Seen::FlavorKept { seat: seat(1), flavor: Some(sour) },
            EventArm::FlavorKept(proto::CandyFlavorKept { seat: 1, flavor_id: id("flavor-sour") }),
        ),
        (
            Seen::FlavorKept { seat: seat(1), flavor: None },
            EventArm::FlavorKept(proto::CandyFlavorKept { seat: 1, flavor_id: id("") }),
        ),
        (
            Seen::HandScored {
                results: BySeat::from_fn(seats, |_| result),
                totals: BySeat::from_fn(seats, |seat| 20 + u16::from(seat.number())),
            },
            EventArm::HandScored(proto::CandyHandScored {
                results: [20, 21]
                    .map(|total| proto::CandyHandResult {
                        tricks: 7,
                        tummy_ache: true,
                        flavor_id: id("flavor-sour"),
                        flavor_points: 5,
                        effect_points: 2,
                        pranks: 1,
                        points: 6,
                        total,
                    })
                    .to_vec(),
            }),
        ),
        (
            Seen::Ended { ending: Ending::Shared },
            EventArm::Ended(proto::CandyEnded { ending: id("shared") }),
        ),
    ] {
        assert_eq!(Candy::write_event(&seen).event, Some(arm));
    }
}

#[test]
fn events_of_a_trick_are_written_field_by_field() {
    let id = |id: &str| id.to_owned();
    let banana = card("banana");
    let spot =
        |kind: proto::CandySpotKind, seat| Some(proto::CandySpot { kind: kind.into(), seat });
    for (seen, arm) in [
        (
            Seen::Played { seat: seat(1), card: None, side: Side::Down },
            EventArm::Played(proto::CandyPlayed {
                seat: 1,
                card_id: id(""),
                side: proto::CandySide::Down.into(),
            }),
        ),
        (
            Seen::Played { seat: seat(1), card: Some(banana), side: Side::Up },
            EventArm::Played(proto::CandyPlayed {
                seat: 1,
                card_id: id("banana"),
                side: proto::CandySide::Up.into(),
            }),
        ),
        (
            Seen::Revealed { seat: seat(1), card: banana, side: Side::Mute },
            EventArm::Revealed(proto::CandyRevealed {
                seat: 1,
                card_id: id("banana"),
                side: proto::CandySide::Mute.into(),
            }),
        ),
        (
            Seen::Picked { card: banana },
            EventArm::Picked(proto::CandyPicked { card_id: id("banana") }),
        ),
        (
            Seen::Named { card: banana, suit: Suit::Mint },
            EventArm::Named(proto::CandyNamed {
                card_id: id("banana"),
                suit: proto::CandySuit::Mint.into(),
            }),
        ),
        (
            Seen::TurnedUp { by: banana, card: card("fruit-chew") },
            EventArm::TurnedUp(proto::CandyTurnedUp {
                by_card_id: id("banana"),
                card_id: id("fruit-chew"),
            }),
        ),
        (
            Seen::Moved {
                by: banana,
                card: Some(card("banana-peel")),
                from: Spot::Aside,
                to: Spot::Stash(seat(1)),
            },
            EventArm::Moved(proto::CandyMoved {
                by_card_id: id("banana"),
                card_id: id("banana-peel"),
                from_spot: spot(proto::CandySpotKind::Aside, None),
                to_spot: spot(proto::CandySpotKind::Stash, Some(1)),
            }),
        ),
        (
            Seen::TrickTaken {
                winner: seat(1),
                tricks: 2,
                cards: cards("fruit-chew banana"),
                next_leader: Some(seat(0)),
            },
            EventArm::TrickTaken(proto::CandyTrickTaken {
                winner: 1,
                tricks: 2,
                card_ids: ids(&["fruit-chew", "banana"]),
                next_leader: Some(0),
            }),
        ),
    ] {
        assert_eq!(Candy::write_event(&seen).event, Some(arm));
    }
}
