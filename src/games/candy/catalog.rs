//! The game described for frontends.

use std::sync::LazyLock;

use super::card::Card;
use super::printed::{FlavorText, PRINTED};
use super::{Candy, options, playing, question, resolving};
use crate::rules::{Catalog, CatalogCard, CatalogItem, CatalogOption, OptionKind, Refusal};

/// Every refusal there is.
const REFUSALS: [Refusal; 12] = [
    Refusal::NOT_TO_ACT,
    playing::TIME_TO_KEEP,
    playing::NOT_DEALT,
    playing::TIME_TO_PLAY,
    playing::NOT_IN_HAND,
    playing::FOLLOW_SUIT,
    resolving::TIME_TO_RESOLVE,
    resolving::NOT_WAITING,
    resolving::OTHER_FIRST,
    question::TIME_TO_ANSWER,
    question::NOT_A_CHOICE,
    question::MUST_CHOOSE,
];

pub(super) static CATALOG: LazyLock<Catalog> = LazyLock::new(|| Catalog {
    id: "candy",
    name: "Best Candy on the Block: Rewrapped",
    summary: "Follow one of the suits of a trick, win it with the highest rank, and stash the candy: \
              a point a trick, a point less for every Prank, and whatever is printed on the Kings. \
              The rulebook does not list the cards: the source of each says what was filled in.",
    rules_version: 1,
    seats: Candy::SEATS,
    options: options(),
    cards: cards(),
    actions: actions(),
    refusals: REFUSALS.into_iter().map(CatalogItem::from).collect(),
    achievements: Vec::new(),
    outcomes: outcomes(),
});

fn options() -> Vec<CatalogOption> {
    let target = OptionKind::Number { range: Candy::TARGETS, default: options::STANDARD_TARGET };
    let option = |name, text, kind| CatalogOption { name, text, kind };
    vec![
        option(
            "target_score",
            "The score that ends the match: 31 for a standard game, 13 for a short one.",
            target,
        ),
        option(
            "dont_be_greedy",
            "Who alone wins the most tricks of a hand scores nothing for tricks.",
            OptionKind::Switch,
        ),
        option(
            "favorite_flavors",
            "Each player keeps one of three Flavors in secret and scores for cards that match it.",
            OptionKind::Switch,
        ),
        option(
            "king_sized",
            "13 Kings and 2 Non-Candies with effects are in the deck, which is then enough for five.",
            OptionKind::Switch,
        ),
        option(
            "alternate_king_size_bar",
            "The alternate King-Size Bar takes the place of the original.",
            OptionKind::Switch,
        ),
        option(
            "lost_treats",
            "12 blue Treats are in the deck, which is then enough for five; two Flavors more, and the \
             Single Flavor not.",
            OptionKind::Switch,
        ),
        option(
            "add_cards",
            "Single cards to put into the deck, after the sets and after `remove_cards`.",
            OptionKind::Cards,
        ),
        option(
            "remove_cards",
            "Single cards to leave out of the deck of the chosen sets.",
            OptionKind::Cards,
        ),
        option("first_dealer", "The seat that deals the first hand.", OptionKind::Seat),
    ]
}

fn cards() -> Vec<CatalogCard> {
    PRINTED.all.iter().map(card).chain(PRINTED.flavors.iter().map(flavor)).collect()
}

fn card(card: Card) -> CatalogCard {
    let text = card.text();
    CatalogCard {
        id: text.id.clone(),
        name: text.name.clone(),
        copies: 1,
        kind: card.kind().id().to_owned(),
        color: text.color.id().to_owned(),
        rank: Some(card.rank().into()),
        suits: card.suits().iter().map(|suit| suit.id().to_owned()).collect(),
        text: text.effect.clone(),
        set: text.set.id().to_owned(),
        source: text.from.sentence("set, kind and rank"),
    }
}

fn flavor(flavor: &FlavorText) -> CatalogCard {
    CatalogCard {
        id: flavor.id.clone(),
        name: flavor.name.clone(),
        copies: 1,
        kind: "flavor".to_owned(),
        text: flavor.text.clone(),
        set: flavor.set.id().to_owned(),
        source: flavor.from.sentence("set"),
        ..CatalogCard::default()
    }
}

fn actions() -> Vec<CatalogItem> {
    let item = |id, text| CatalogItem { id, text };
    vec![
        item("keep_flavor", "Keep one of the three Flavors dealt."),
        item("play_card", "Play a card from the hand to the trick."),
        item("resolve_effect", "As winner of a trick, say which effect is next."),
        item("choose_card", "Choose a card for an effect."),
        item("swap_cards", "For an effect, swap a card of the trick with one of the own stash."),
        item("give_card", "For an effect, put a card into a player's stash."),
        item("choose_seat", "Choose a player for an effect."),
        item("name_suit", "Name a suit for an effect."),
        item("decline", "Decline what an effect offers."),
    ]
}

fn outcomes() -> Vec<CatalogItem> {
    let item = |id, text| CatalogItem { id, text };
    vec![
        item("score", "The highest score won."),
        item("stash", "Of the highest scores, the one with the most cards in the stash won."),
        item("shared", "Several have the highest score and as many cards in the stash."),
        item("action_limit", "The match took as many actions as it may and has no winner."),
    ]
}
