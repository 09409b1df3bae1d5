//! Best of Neapolitan described for frontends.

use std::sync::LazyLock;

use super::achievements::Achievement;
use super::cards::{Card, Face, HIGHEST, PASSES};
use super::scoring::Reason;
use super::sequence::{Flavor, Sequence};
use super::{declaring, playing};
use crate::rules::{Catalog, CatalogCard, CatalogItem, CatalogOption, OptionKind, Refusal};

/// Every refusal there is.
const REFUSALS: [Refusal; 5] = [
    Refusal::NOT_TO_ACT,
    declaring::TIME_TO_DECLARE,
    playing::TIME_TO_PLAY,
    playing::NOT_IN_HAND,
    playing::FOLLOW_LEAD,
];

const SWITCHES: [(&str, &str); 4] = [
    (
        "ice_cream_you_scream",
        "Play with variant Pass cards: one that shows the sequence of the flavor stack wins the \
         trick and turns the stack upside down.",
    ),
    (
        "cherry_on_top",
        "Once a match, each player may declare to win no trick in a round: 3 points if it comes \
         true, 1 less if not.",
    ),
    (
        "more_scoops",
        "Reach the last space twice: the first time, the score starts anew. Each player has two \
         declarations, where these are played with.",
    ),
    ("secret_ingredients", "Nobody sees the two cards that are left over."),
];

const OUTCOMES: [(Reason, &str); 6] = [
    (Reason::OnlyContender, "One player alone reached the end."),
    (
        Reason::StrongestFlavor,
        "Of those that reached the end, the winner had the most cards of the strongest flavor in \
         the round.",
    ),
    (
        Reason::SecondFlavor,
        "Of those that were level with the strongest flavor, the winner had the most cards of the \
         second one in the round.",
    ),
    (
        Reason::WeakestFlavor,
        "Of those that were level with the other flavors, the winner had the most cards of the \
         weakest one in the round.",
    ),
    (Reason::Shared, "Nothing told the last ones apart, so they share the victory."),
    (Reason::ActionLimit, "The match took as many actions as a match may, and nobody won."),
];

pub(super) static CATALOG: LazyLock<Catalog> = LazyLock::new(|| Catalog {
    id: "neapolitan",
    name: "Best of Neapolitan",
    summary: "Win no trick at all or exactly as many as ordered, while the flavor that wins \
              becomes the weakest.",
    rules_version: 1,
    seats: 3..=5,
    options: SWITCHES
        .into_iter()
        .map(|(name, text)| CatalogOption { name, text, kind: OptionKind::Switch })
        .chain([CatalogOption {
            name: "first_leader",
            text: "The seat that leads the first trick.",
            kind: OptionKind::Seat,
        }])
        .collect(),
    cards: cards(),
    actions: vec![
        CatalogItem { id: "play", text: "Play one card from the hand." },
        CatalogItem { id: "declare", text: "Declare to win no trick in this round." },
        CatalogItem { id: "decline", text: "Declare nothing in this round." },
    ],
    refusals: REFUSALS.into_iter().map(CatalogItem::from).collect(),
    achievements: Achievement::ALL.into_iter().map(CatalogItem::from).collect(),
    outcomes: OUTCOMES
        .into_iter()
        .map(|(reason, text)| CatalogItem { id: reason.id(), text })
        .collect(),
});

/// Every card in the box.
fn cards() -> Vec<CatalogCard> {
    let variants = Sequence::ALL.into_iter().map(Card::variant_pass);
    Card::monsters(HIGHEST).chain([Card::PASS]).chain(variants).map(describe).collect()
}

fn describe(card: Card) -> CatalogCard {
    let described = CatalogCard { id: card.id(), copies: 1, ..CatalogCard::default() };
    match card.face() {
        Face::Monster { flavor, number } => CatalogCard {
            name: format!("{} {number}", flavor.name()),
            kind: "monster".to_owned(),
            rank: Some(number.into()),
            suits: vec![flavor.id().to_owned()],
            ..described
        },
        Face::Pass => CatalogCard {
            name: "Pass".to_owned(),
            copies: PASSES.into(),
            kind: "pass".to_owned(),
            text: "Can be played at any time, and never wins.".to_owned(),
            ..described
        },
        Face::VariantPass(sequence) => CatalogCard {
            name: format!("Pass {}", sequence.flavors().map(Flavor::name).join("-")),
            kind: "variant_pass".to_owned(),
            suits: sequence.flavors().map(|flavor| flavor.id().to_owned()).into(),
            text: "Can be played at any time. It wins the trick and turns the flavor stack upside \
                   down, if it shows the stack's sequence when it is played; if not, it never wins."
                .to_owned(),
            set: "Ice Cream, You Scream".to_owned(),
            ..described
        },
    }
}
