//! Tables for tests, and a language in which a test plays a step a line.
//!
//! A line is `0 plays peanut-chew`, or with another verb of [`action`]. It may end in `: rule`, for
//! an action that this rule refuses, or in `-> …`, for all that the step does beside the action
//! itself, separated by semicolons and in the words of [`told`] and [`Scene::asks`]. What is told can
//! go on over lines: an arrow, or what follows a semicolon, continues a step.

use crate::games::candy::card::{Card, CardSet};
use crate::games::candy::flavor::Flavor;
use crate::games::candy::spots::Spot;
use crate::games::candy::suit::Suit;
use crate::games::candy::trick::{Side, Trick};
use crate::games::candy::{Action, Candy, EffectResult, Event, Options, Stage};
use crate::games::conformance::Trial as _;
use crate::rules::{BySeat, Game as _, NoEvents, Seat, SeatCount, Seed, Setup, Viewer};

/// A table in the middle of a hand.
pub struct Scene {
    pub game: Candy,
}

pub fn card(id: &str) -> Card {
    Card::from_id(id).unwrap_or_else(|| panic!("no card {id}"))
}

pub fn cards(ids: &str) -> CardSet {
    ids.split_whitespace().map(card).collect()
}

pub fn flavor(id: &str) -> Flavor {
    Flavor::from_id(id).unwrap_or_else(|| panic!("no Flavor {id}"))
}

pub fn seat(number: u8) -> Seat {
    Seat::new(number).expect("a seat")
}

impl Scene {
    /// These hands at the beginning of a hand's first trick, which seat 0 leads; no stashes and no
    /// leftovers. The deck is whatever lies on the table.
    pub fn new(hands: &[&str]) -> Self {
        let seats = SeatCount::new(hands.len() as u8).expect("a table");
        let options = Options {
            king_sized: true,
            lost_treats: true,
            first_dealer: seats.iter().next_back(),
            ..Options::default()
        };
        let setup = Setup::new::<Candy>(options, seats).expect("good options");
        let mut game = Candy::start(&setup, &Seed::new([0; 32]), &mut NoEvents);
        game.hands = BySeat::from_fn(seats, |seat| cards(hands[seat.index()]));
        game.leftover.clear();
        Self { game }.settled()
    }

    /// The same table with this stash of a seat.
    pub fn stash(mut self, number: u8, ids: &str) -> Self {
        self.game.stashes[seat(number)] = cards(ids);
        self.settled()
    }

    /// The same table with these leftovers, top first.
    pub fn leftover(mut self, ids: &str) -> Self {
        self.game.leftover = ids.split_whitespace().map(card).collect();
        self.settled()
    }

    /// The same table in the last trick of the hand.
    pub fn last_trick(mut self) -> Self {
        self.game.completed = 12;
        self
    }

    /// The same table with these tricks won so far.
    pub fn tricks(mut self, tricks: &[u8]) -> Self {
        self.game.tricks = BySeat::from_fn(self.game.seats, |seat| tricks[seat.index()]);
        self
    }

    /// The same table led by another seat.
    pub fn led_by(mut self, number: u8) -> Self {
        self.game.trick = Trick::led_by(seat(number));
        self
    }

    /// Makes the deck of what lies on the table, with what it needs aside.
    fn settled(mut self) -> Self {
        let game = &mut self.game;
        let all: CardSet = game
            .seats
            .iter()
            .map(|seat| game.hands[seat] | game.stashes[seat])
            .chain([game.leftover.iter().copied().collect()])
            .fold(CardSet::NONE, |all, cards| all | cards);
        game.decks.aside = all.iter().filter_map(Card::sets_aside).collect();
        game.decks.treats = all - game.decks.aside;
        game.aside = game.decks.aside - all;
        game.check_invariants();
        self
    }

    /// Plays a step a line.
    pub fn plays(mut self, lines: &str) -> Self {
        let mut steps: Vec<String> = Vec::new();
        for line in lines.lines().map(str::trim).filter(|line| !line.is_empty()) {
            match steps.last_mut() {
                Some(step) if line.starts_with("->") || step.ends_with(';') => {
                    *step += " ";
                    *step += line;
                }
                _ => steps.push(line.to_owned()),
            }
        }
        for step in &steps {
            self.step(step);
        }
        self
    }

    fn step(&mut self, line: &str) {
        let (step, told_to_be) =
            line.split_once("->").map_or((line, None), |(step, told)| (step, Some(told.trim())));
        let (step, refused) =
            step.split_once(": ").map_or((step, None), |(step, rule)| (step, Some(rule.trim())));
        let (who, what) = step.trim().split_once(' ').expect("who and what");
        let who = seat(who.parse().expect("a seat"));
        let mut events = Vec::new();
        let action = action(what);
        let repeated = self.repeated(who, action);
        let result = self.game.play(who, &action, &mut events);
        assert_eq!(result.err().map(|refusal| refusal.rule), refused, "{line}");
        if refused.is_none() && repeated.is_some() {
            assert_eq!(events.first(), repeated.as_ref(), "{line}");
        }
        if let Some(told_to_be) = told_to_be {
            let told: Vec<_> = events.iter().filter_map(told).chain(self.asks()).collect();
            assert_eq!(told.join("; "), told_to_be, "{line}");
        }
        if !events.iter().any(|event| matches!(event, Event::Dealt { .. })) {
            self.game.check_invariants();
        }
        for viewer in self.game.seats.iter().map(Viewer::Seat).chain([Viewer::Spectator]) {
            self.game.view(viewer);
        }
    }

    /// The event that only repeats the action, where there is one: it comes first.
    fn repeated(&self, seat: Seat, action: Action) -> Option<Event> {
        match action {
            Action::Keep(flavor) => Some(Event::FlavorKept { seat, flavor }),
            Action::Play(card) => {
                Some(Event::Played { seat, card, side: self.game.trick.next_side() })
            }
            Action::Resolve(card) => Some(Event::Picked { card }),
            Action::Name(suit) => {
                self.game.asked.map(|question| Event::Named { card: question.card, suit })
            }
            _ => None,
        }
    }

    /// Who is asked something other than to play: `sweet-tooth asks 0`, or `1 picks`.
    fn asks(&self) -> Option<String> {
        match (self.game.asked, self.game.stage) {
            (Some(question), _) => Some(format!("{:?} asks {}", question.card, question.seat)),
            (None, Stage::Resolving) => self.game.trick.winner.map(|seat| format!("{seat} picks")),
            _ => None,
        }
    }

    /// The leftovers, top first.
    pub fn leftovers(&self) -> String {
        self.game.leftover.iter().map(|card| card.id()).collect::<Vec<_>>().join(" ")
    }

    /// What the seat may do.
    pub fn legal(&self, number: u8) -> Vec<Action> {
        let mut actions = Vec::new();
        self.game.legal(seat(number), &mut actions);
        actions
    }
}

/// The action in these words.
fn action(words: &str) -> Action {
    let words: Vec<_> = words.split(' ').collect();
    let number = |word: &str| seat(word.parse().expect("a seat"));
    match words[..] {
        ["keeps", id] => Action::Keep(flavor(id)),
        ["plays", id] => Action::Play(card(id)),
        ["picks", id] => Action::Resolve(card(id)),
        ["chooses", "seat", to] => Action::ChooseSeat(number(to)),
        ["chooses", id] => Action::Choose(card(id)),
        ["swaps", take, "for", give] => Action::Swap { take: card(take), give: card(give) },
        ["gives", id, "to", to] => Action::Give { card: card(id), seat: number(to) },
        ["names", suit] => {
            let suit = Suit::ALL.into_iter().find(|other| other.id() == suit);
            Action::Name(suit.expect("a suit"))
        }
        ["declines"] => Action::Decline,
        _ => panic!("not an action: {words:?}"),
    }
}

/// An event in words; nothing for what only repeats the action.
fn told(event: &Event) -> Option<String> {
    Some(match event {
        Event::Dealt { .. } => "dealt".to_owned(),
        Event::Played { side: Side::Down, .. } => "face down".to_owned(),
        Event::Played { side: Side::Mute, .. } => "mute".to_owned(),
        Event::Revealed { card, .. } => format!("{card:?} revealed"),
        Event::TurnedUp { card, .. } => format!("{card:?} turned up"),
        Event::Moved { card, to, .. } => format!("{card:?} {}", place(*to)),
        Event::Effect { card, result, .. } => match result {
            EffectResult::Worked => format!("{card:?} works"),
            EffectResult::Declined => format!("{card:?} declined"),
            EffectResult::Nothing => format!("{card:?} finds nothing"),
            EffectResult::Mute => format!("{card:?} is mute"),
        },
        Event::TrickTaken { winner, tricks, cards, next_leader } => {
            let ids: Vec<_> = cards.iter().map(Card::id).collect();
            let times = if *tricks == 1 { "" } else { " twice" };
            let next = next_leader.map_or(String::new(), |seat| format!("; {seat} leads"));
            format!("{winner} takes [{}]{times}{next}", ids.join(" "))
        }
        Event::HandScored { results, .. } => {
            let points: Vec<_> = results.values().map(|result| result.points.to_string()).collect();
            format!("points {}", points.join(" "))
        }
        Event::Ended { ending } => format!("ends by {}", ending.reason()),
        Event::FlavorKept { .. }
        | Event::Played { side: Side::Up, .. }
        | Event::Picked { .. }
        | Event::Named { .. } => return None,
    })
}

fn place(spot: Spot) -> String {
    match spot {
        Spot::Hand(seat) => format!("to hand {seat}"),
        Spot::Trick => "into the trick".to_owned(),
        Spot::Stash(seat) => format!("to stash {seat}"),
        Spot::Leftover => "to leftovers".to_owned(),
        Spot::Beside => "beside".to_owned(),
        Spot::Held => "held".to_owned(),
        Spot::Aside => "aside".to_owned(),
    }
}
