//! What is not well formed, and what the catalog says.

use super::PLAIN;
use crate::games::neapolitan::{Achievement, Neapolitan};
use crate::games::wire::Wire as _;
use crate::proto;
use crate::proto::neapolitan_action::Action as ActionArm;
use crate::proto::neapolitan_card::Card as CardArm;
use crate::rules::Game as _;

#[test]
fn a_card_that_cannot_be_names_the_field_at_fault() {
    let monster = |flavor, number| CardArm::Monster(proto::NeapolitanMonster { flavor, number });
    let variant = |flavors: &[i32]| {
        CardArm::VariantPass(proto::NeapolitanVariantPass { flavors: flavors.to_vec() })
    };
    for (card, field) in [
        (None, "play.card"),
        (Some(monster(0, 4)), "play.card.monster.flavor"),
        (Some(monster(4, 4)), "play.card.monster.flavor"),
        (Some(monster(1, 0)), "play.card.monster.number"),
        (Some(monster(1, 12)), "play.card.monster.number"),
        (Some(monster(1, u32::MAX)), "play.card.monster.number"),
        (Some(variant(&[1, 2])), "play.card.variant_pass.flavors"),
        (Some(variant(&[1, 2, 2])), "play.card.variant_pass.flavors"),
        (Some(variant(&[1, 2, 0])), "play.card.variant_pass.flavors"),
        (Some(variant(&[1, 2, 3, 1])), "play.card.variant_pass.flavors"),
    ] {
        let play = proto::NeapolitanPlay { card: Some(proto::NeapolitanCard { card }) };
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
    let options: Vec<_> = catalog.options.iter().map(|option| option.name).collect();
    assert_eq!(
        options,
        [
            "ice_cream_you_scream",
            "cherry_on_top",
            "more_scoops",
            "secret_ingredients",
            "first_leader"
        ]
    );
}
