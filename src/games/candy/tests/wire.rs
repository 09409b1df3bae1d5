//! Messages that cannot be read, and the catalog.

use crate::games::candy::{Candy, Options};
use crate::games::wire::Wire as _;
use crate::proto;
use crate::proto::candy_action::Action as Arm;
use crate::rules::Game as _;

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
}

#[test]
fn the_catalog_has_every_card_and_says_where_it_comes_from() {
    let catalog = Candy::catalog(&Options::default());
    assert_eq!(catalog.cards.len(), 86 + 17);
    let card = |id: &str| catalog.cards.iter().find(|card| card.id == id).expect("a card");
    let punch = card("weird-tasting-punch");
    assert_eq!((punch.kind.as_str(), punch.rank), ("non_candy", Some(0)));
    assert!(punch.text.contains("leftover stash"));
    assert_eq!(
        punch.source,
        "set, kind and rank: from the rulebook or public descriptions; name: from the rulebook; \
         color: filled in; effect: from the rulebook in part, the rest filled in"
    );
    assert_eq!(card("flavor-mint").kind, "flavor");
    assert_eq!(card("salted-nut-roll").suits, ["caramel", "peanut", "nougat"]);
}
