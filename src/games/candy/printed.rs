//! What is printed on the cards: `cards.json`, read and checked once.
//!
//! The rulebook does not list the cards, so they are data that an owner of the printed deck can
//! correct without reading code. The rules know kinds, suits and effects, never a card by its name.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use serde::Deserialize;

use super::card::{Card, CardSet, MAX_CARDS};
use super::effects::{Effect, Timing};
use super::flavor::MAX_FLAVORS;
use super::suit::{Suit, SuitSet};

/// The cards as they are printed.
pub static PRINTED: LazyLock<Printed> =
    LazyLock::new(|| Printed::read(include_str!("cards.json")).expect("the card data is sound"));

/// What a card is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Has suits, and follows them.
    #[default]
    Treat,
    /// Costs a point in a stash and passes the lead to the right.
    Prank,
    /// Worth nothing, harmless.
    NonCandy,
    /// Goes with every suit.
    King,
}

impl Kind {
    /// The kind's stable id, as in the card data.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Self::Treat => "treat",
            Self::Prank => "prank",
            Self::NonCandy => "non_candy",
            Self::King => "king",
        }
    }
}

/// The color of a card's rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "each is the color of that name")]
pub enum Color {
    Black,
    Green,
    Orange,
    Purple,
    Blue,
    Yellow,
    Gold,
}

impl Color {
    /// The color's stable id, as in the card data.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Self::Black => "black",
            Self::Green => "green",
            Self::Orange => "orange",
            Self::Purple => "purple",
            Self::Blue => "blue",
            Self::Yellow => "yellow",
            Self::Gold => "gold",
        }
    }
}

/// What a card is sold with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Set {
    /// In every deck.
    Base,
    /// The King Sized expansion.
    KingSized,
    /// The other King-Size Bar of that expansion.
    KingSizedAlternateBar,
    /// The Lost Treats expansion.
    LostTreats,
    /// In no deck: set aside for another card's effect.
    SetAside,
}

impl Set {
    /// The set's stable id, as in the card data.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Self::Base => "base",
            Self::KingSized => "king_sized",
            Self::KingSizedAlternateBar => "king_sized_alternate_bar",
            Self::LostTreats => "lost_treats",
            Self::SetAside => "set_aside",
        }
    }
}

/// Where an attribute of a card comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// The rulebook says it.
    Rulebook,
    /// The rulebook says something of it; the rest was filled in.
    RulebookInPart,
    /// Public descriptions of the game say it.
    Public,
    /// No source says it; it was filled in.
    FilledIn,
}

impl Origin {
    /// The origin in words that follow the attribute's name.
    const fn words(self) -> &'static str {
        match self {
            Self::Rulebook => "from the rulebook",
            Self::RulebookInPart => "from the rulebook in part, the rest filled in",
            Self::Public => "from public descriptions",
            Self::FilledIn => "filled in",
        }
    }
}

/// Where each attribute of a card comes from, as far as it has the attribute. Set, kind, rank and
/// the number of cards come from the rulebook or from public descriptions.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Origins {
    name: Origin,
    color: Option<Origin>,
    suits: Option<Origin>,
    effect: Option<Origin>,
    matches: Option<Origin>,
}

impl Origins {
    /// A sentence for people, beginning with the attributes that need no origin.
    #[must_use]
    pub fn sentence(self, others: &str) -> String {
        let named = [
            ("name", Some(self.name)),
            ("color", self.color),
            ("suits", self.suits),
            ("effect", self.effect),
            ("what it matches", self.matches),
        ];
        let mut sentence = format!("{others}: from the rulebook or public descriptions");
        for (attribute, origin) in named {
            if let Some(origin) = origin {
                sentence.extend(["; ", attribute, ": ", origin.words()]);
            }
        }
        sentence
    }
}

/// What the rules need of a card, small and close together.
#[derive(Clone, Copy, Debug, Default)]
pub struct Face {
    /// Its kind.
    pub kind: Kind,
    /// Its rank.
    pub rank: i8,
    /// Its suits.
    pub suits: SuitSet,
    /// Its effect.
    pub effect: Option<Effect>,
    /// The card that is set aside for its effect.
    pub sets_aside: Option<Card>,
    /// The Treats that share a suit with it.
    pub sharing: CardSet,
}

/// What people read of a card.
#[derive(Clone, Debug)]
pub struct Text {
    /// Its stable id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// What it is sold with.
    pub set: Set,
    /// The color of its rank.
    pub color: Color,
    /// What it does; empty for a card without an effect.
    pub effect: String,
    /// The card whose place it takes in the deck.
    pub replaces: Option<Card>,
    /// Where its attributes come from.
    pub from: Origins,
}

/// A Flavor card as it is printed.
#[derive(Clone, Debug)]
pub struct FlavorText {
    /// Its stable id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// What it is sold with.
    pub set: Set,
    /// What it scores for.
    pub text: String,
    /// Every card that it scores for.
    pub matches: CardSet,
    /// The place in the list of the Flavor that it replaces.
    pub replaces: Option<usize>,
    /// Where its attributes come from.
    pub from: Origins,
}

/// All that is printed.
#[derive(Debug)]
pub struct Printed {
    /// Every card.
    pub all: CardSet,
    /// The Treats.
    pub treats: CardSet,
    /// The Pranks.
    pub pranks: CardSet,
    /// The cards whose effect is worth points in a stash when the hand ends.
    pub at_hand_end: CardSet,
    /// What the rules need, by the card's place.
    pub faces: [Face; MAX_CARDS],
    /// What people read, by the card's place.
    pub texts: Vec<Text>,
    /// The card of each id.
    pub ids: HashMap<String, Card>,
    /// The Flavors.
    pub flavors: Vec<FlavorText>,
}

/// The file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(rename = "about")]
    _about: Vec<String>,
    cards: Vec<CardLine>,
    flavors: Vec<FlavorLine>,
}

/// A card in the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CardLine {
    id: String,
    name: String,
    set: Set,
    kind: Kind,
    color: Color,
    rank: i8,
    suits: Vec<Suit>,
    effect: Option<String>,
    #[serde(default)]
    text: String,
    sets_aside: Option<String>,
    replaces: Option<String>,
    from: Origins,
}

/// A Flavor in the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FlavorLine {
    id: String,
    name: String,
    set: Set,
    matches: Matches,
    text: String,
    replaces: Option<String>,
    from: Origins,
}

/// What a Flavor scores for.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Matches {
    /// Every card with this suit.
    Suit(Suit),
    /// Every Treat of this color.
    TreatColor(Color),
    /// Every card with so many suits.
    SuitCount(u8),
}

impl Matches {
    fn card(self, face: &Face, text: &Text) -> bool {
        match self {
            Self::Suit(suit) => face.suits.contains(suit),
            Self::TreatColor(color) => face.kind == Kind::Treat && text.color == color,
            Self::SuitCount(count) => face.suits.len() == count,
        }
    }
}

impl Printed {
    /// Reads the file and checks that the rules can rely on it.
    ///
    /// # Errors
    /// The first thing that is wrong, with the id of its card.
    fn read(file: &str) -> Result<Self, String> {
        let file: File = serde_json::from_str(file).map_err(|error| error.to_string())?;
        check_ids(&file)?;
        let ids = file.cards.iter().map(|line| line.id.clone()).zip((0..).map(Card::at)).collect();
        let mut faces = [Face::default(); MAX_CARDS];
        for (face, line) in faces.iter_mut().zip(&file.cards) {
            *face = read_face(line, &ids)?;
        }
        let count = file.cards.len();
        let set = |of: &dyn Fn(&Face) -> bool| -> CardSet {
            CardSet::first(count).iter().filter(|card| of(&faces[card.index()])).collect()
        };
        let treats = set(&|face| face.kind == Kind::Treat);
        let pranks = set(&|face| face.kind == Kind::Prank);
        let at_hand_end =
            set(&|face| face.effect.is_some_and(|effect| effect.timing() == Timing::HandEnd));
        let sharing = faces.map(|face| treats & set(&|other| other.suits.shares(face.suits)));
        faces.iter_mut().zip(sharing).for_each(|(face, sharing)| face.sharing = sharing);
        let texts = file.cards.into_iter().map(|line| read_text(line, &ids));
        let texts = texts.collect::<Result<Vec<_>, _>>()?;
        let flavors = read_flavors(file.flavors, &faces, &texts)?;
        let all = CardSet::first(count);
        Ok(Self { all, treats, pranks, at_hand_end, faces, texts, ids, flavors })
    }
}

fn check_ids(file: &File) -> Result<(), String> {
    if file.cards.len() > MAX_CARDS || file.flavors.len() > MAX_FLAVORS {
        return Err(format!("more than {MAX_CARDS} cards or {MAX_FLAVORS} flavors"));
    }
    let mut seen = HashSet::new();
    let ids = file.cards.iter().map(|card| &card.id);
    for id in ids.chain(file.flavors.iter().map(|flavor| &flavor.id)) {
        let well_formed = id.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-'));
        if id.is_empty() || !well_formed {
            return Err(format!("{id:?}: an id is lower case letters, digits and hyphens"));
        }
        if !seen.insert(id) {
            return Err(format!("{id}: the id is there twice"));
        }
    }
    Ok(())
}

fn find(id: Option<&String>, ids: &HashMap<String, Card>) -> Result<Option<Card>, String> {
    id.map(|id| ids.get(id).copied().ok_or(format!("{id}: no card has this id"))).transpose()
}

fn read_face(line: &CardLine, ids: &HashMap<String, Card>) -> Result<Face, String> {
    let wrong = |what: &str| Err(format!("{}: {what}", line.id));
    let effect = match &line.effect {
        None => None,
        Some(id) => match Effect::from_id(id) {
            None => return wrong(&format!("there is no effect {id}")),
            effect => effect,
        },
    };
    let sets_aside = find(line.sets_aside.as_ref(), ids)?;
    let suits: SuitSet = line.suits.iter().copied().collect();
    if usize::from(suits.len()) != line.suits.len() {
        return wrong("a suit is there twice");
    }
    if effect.is_some() == line.text.is_empty() || effect.is_some() != line.from.effect.is_some() {
        return wrong("effect, text and the effect's origin go together");
    }
    if line.suits.is_empty() == line.from.suits.is_some() || line.from.color.is_none() {
        return wrong("suits and color have an origin each");
    }
    if effect.is_some_and(Effect::needs_a_card_set_aside) != sets_aside.is_some() {
        return wrong("this effect and `sets_aside` go together");
    }
    let fits = match line.kind {
        Kind::Treat => line.rank > 0 && !line.suits.is_empty(),
        Kind::King => line.rank > 0,
        Kind::NonCandy => line.rank == 0 && line.suits.is_empty(),
        Kind::Prank => line.rank == -1 && line.suits.is_empty(),
    };
    if !fits {
        return wrong("rank and suits do not fit the kind");
    }
    let CardLine { kind, rank, .. } = *line;
    Ok(Face { kind, rank, suits, effect, sets_aside, sharing: CardSet::NONE })
}

fn read_text(line: CardLine, ids: &HashMap<String, Card>) -> Result<Text, String> {
    let replaces = find(line.replaces.as_ref(), ids)?;
    let CardLine { id, name, set, color, text: effect, from, .. } = line;
    Ok(Text { id, name, set, color, effect, replaces, from })
}

fn read_flavors(
    lines: Vec<FlavorLine>,
    faces: &[Face],
    texts: &[Text],
) -> Result<Vec<FlavorText>, String> {
    let places: HashMap<String, usize> =
        lines.iter().enumerate().map(|(place, line)| (line.id.clone(), place)).collect();
    let flavors = lines.into_iter().map(|line| {
        let matches = CardSet::first(texts.len())
            .iter()
            .filter(|card| line.matches.card(&faces[card.index()], &texts[card.index()]))
            .collect();
        let replaces = line.replaces.map(|id| {
            places.get(&id).copied().ok_or_else(|| format!("{id}: no Flavor has this id"))
        });
        let FlavorLine { id, name, set, text, from, .. } = line;
        Ok(FlavorText { id, name, set, text, matches, replaces: replaces.transpose()?, from })
    });
    flavors.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: &str = r#"{"id": "plain", "name": "Plain", "set": "base", "kind": "treat",
        "color": "black", "rank": 1, "suits": ["mint"],
        "from": {"name": "filled_in", "color": "filled_in", "suits": "filled_in"}}"#;

    /// What is wrong with a file of this one card, changed in one place.
    fn wrong(was: &str, is: &str) -> String {
        assert!(PLAIN.contains(was), "{was}");
        let card = PLAIN.replace(was, is);
        let file = format!(r#"{{"about": [], "cards": [{card}], "flavors": []}}"#);
        Printed::read(&file).map_or_else(|error| error, |_| "nothing".to_owned())
    }

    #[test]
    fn mistakes_in_the_card_data_are_found_when_it_is_read() {
        for (was, is, found) in [
            ("plain", "plain", "nothing"),
            ("\"plain\"", "\"Plain\"", "\"Plain\": an id is lower case letters"),
            ("mint", "liquorice", "unknown variant `liquorice`"),
            ("\"mint\"", "\"mint\", \"mint\"", "plain: a suit is there twice"),
            ("treat", "trick", "unknown variant `trick`"),
            ("black", "pink", "unknown variant `pink`"),
            ("base", "bass", "unknown variant `bass`"),
            ("\"rank\": 1", "\"rank\": 0", "plain: rank and suits do not fit"),
            ("[\"mint\"]", "[]", "plain: suits and color have an origin"),
            ("\"rank\": 1,", "\"rank\": 1, \"effect\": \"nap\",", "plain: there is no effect nap"),
            ("\"rank\": 1,", "\"rank\": 1, \"effect\": \"banana\",", "plain: effect, text and"),
            ("\"rank\": 1,", "\"rank\": 1, \"text\": \"Nap.\",", "plain: effect, text and"),
            ("\"rank\": 1,", "\"rank\": 1, \"sets_aside\": \"plain\",", "plain: this effect and"),
            ("\"rank\": 1,", "\"rank\": 1, \"replaces\": \"none\",", "none: no card has this id"),
            ("\"rank\": 1,", "\"rank\": 1, \"value\": 1,", "unknown field `value`"),
        ] {
            let error = wrong(was, is);
            assert!(error.starts_with(found), "{is}: {error}");
        }
    }

    #[test]
    fn an_id_that_is_there_twice_is_found() {
        let file = format!(r#"{{"about": [], "cards": [{PLAIN}, {PLAIN}], "flavors": []}}"#);
        assert_eq!(Printed::read(&file).expect_err("twice"), "plain: the id is there twice");
    }

    #[test]
    fn every_effect_is_printed_on_a_card() {
        for effect in Effect::ALL {
            let printed = PRINTED.all.iter().filter(|card| card.effect() == Some(effect)).count();
            assert_eq!(printed, 1, "{}", effect.id());
        }
    }

    #[test]
    fn the_sets_have_as_many_cards_as_the_rulebook_says() {
        let count = |set| PRINTED.texts.iter().filter(|text| text.set == set).count();
        let sets = [Set::Base, Set::KingSized, Set::LostTreats, Set::KingSizedAlternateBar];
        assert_eq!(sets.map(count), [57, 15, 12, 1]);
        let flavors = |set| PRINTED.flavors.iter().filter(|flavor| flavor.set == set).count();
        assert_eq!((flavors(Set::Base), flavors(Set::LostTreats)), (15, 2));
    }

    #[test]
    fn kinds_and_ranks_are_as_the_rulebook_and_public_descriptions_say() {
        let ranks = |set, kind, color: Option<Color>| {
            let cards = PRINTED.all.iter().filter(|card| {
                let text = card.text();
                let colored = color.is_none_or(|color| color == text.color);
                text.set == set && card.kind() == kind && colored
            });
            cards.map(Card::rank).collect::<Vec<_>>()
        };
        let to_12 = (1..=12).collect::<Vec<_>>();
        for color in [Color::Black, Color::Green, Color::Orange, Color::Purple] {
            assert_eq!(ranks(Set::Base, Kind::Treat, Some(color)), to_12, "{color:?}");
        }
        assert_eq!(ranks(Set::LostTreats, Kind::Treat, Some(Color::Blue)), to_12);
        assert_eq!(ranks(Set::KingSized, Kind::King, None), (1..=13).collect::<Vec<_>>());
        for (set, kind, expected) in [
            (Set::Base, Kind::Prank, &[-1; 4][..]),
            (Set::Base, Kind::NonCandy, &[0; 4]),
            (Set::Base, Kind::King, &[13]),
            (Set::KingSizedAlternateBar, Kind::King, &[13]),
            (Set::KingSized, Kind::NonCandy, &[0; 2]),
            (Set::SetAside, Kind::Prank, &[-1]),
        ] {
            assert_eq!(ranks(set, kind, None), expected, "{set:?} {kind:?}");
        }
        for treat in PRINTED.treats.iter() {
            assert!((1..=3).contains(&treat.suits().len()), "{treat:?}");
        }
    }
}
