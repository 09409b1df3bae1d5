//! NeoN described for frontends.

use std::sync::LazyLock;

use super::cards::{COPIES, Value};
use super::{choosing, playing};
use crate::rules::{Catalog, CatalogCard, CatalogItem, CatalogOption, OptionKind, Refusal};

/// Every refusal there is.
const REFUSALS: [Refusal; 10] = [
    Refusal::NOT_TO_ACT,
    playing::TIME_TO_PLAY,
    playing::NOT_A_COMBINATION,
    playing::NOT_IN_HAND,
    playing::ONLY_SETS,
    playing::ONLY_RUNS,
    choosing::TIME_TO_CHOOSE,
    choosing::NOT_ON_TABLE,
    choosing::ONE_CARD,
    choosing::ONE_OR_A_PAIR,
];

pub(super) static CATALOG: LazyLock<Catalog> = LazyLock::new(|| Catalog {
    id: "neon",
    name: "NeoN",
    summary: "Play solos, sets and runs; the biggest and highest play chooses first among the \
              victory points, and what was played is what can be won next.",
    rules_version: 1,
    seats: 2..=6,
    options: vec![CatalogOption {
        name: "first_player",
        text: "The seat that plays first.",
        kind: OptionKind::Seat,
    }],
    cards: Value::ALL
        .into_iter()
        .map(|value| CatalogCard {
            id: value.get().to_string(),
            name: value.get().to_string(),
            copies: COPIES.into(),
            rank: Some(value.get().into()),
            ..CatalogCard::default()
        })
        .collect(),
    actions: vec![
        CatalogItem { id: "play", text: "Play one combination of cards from the hand." },
        CatalogItem { id: "choose", text: "Put victory point cards from the table on the pile." },
    ],
    refusals: REFUSALS.into_iter().map(CatalogItem::from).collect(),
    achievements: Vec::new(),
    outcomes: vec![
        CatalogItem { id: "score", text: "The highest score won." },
        CatalogItem { id: "shared", text: "Several have the highest score and share the victory." },
    ],
});
