//! What the suites of all games need to know of this one.

use super::card::{Card, CardSet};
use super::flavor::Flavor;
use super::options::HAND;
use super::printed::PRINTED;
use super::question::Choice;
use super::spots::Spot;
use super::suit::Suit;
use super::trick::Side;
use super::{Action, Candy, Event, Options, Stage};
use crate::games::conformance::{Tells, Trial};
use crate::rules::{ACTION_LIMIT, Game as _, Seat, SeatCount, Setup, Shuffle, Viewer};

/// Every combination of the sets, the bars and the advanced rules, at a table whose size turns, so
/// that each size meets each of them; most to a small score, as the matches are long.
fn combinations() -> Vec<(String, Options, u8)> {
    let mut combinations = Vec::new();
    for number in 0..32_u8 {
        let on = |bit: u8| number >> bit & 1 == 1;
        let options = Options {
            target_score: 8,
            king_sized: on(0),
            lost_treats: on(1),
            alternate_king_size_bar: on(2),
            dont_be_greedy: on(3),
            favorite_flavors: on(4),
            ..Options::default()
        };
        let most = if on(0) || on(1) { 4 } else { 3 };
        let seats = 2 + (number / 4 + number % 4) % most;
        let names = ["king", "lost", "bar", "greedy", "flavors"];
        let names = names.into_iter().zip(0..).filter(|&(_, bit)| on(bit)).map(|(name, _)| name);
        let name = std::iter::once(format!("{seats}-seats")).chain(names.map(str::to_owned));
        combinations.push((name.collect::<Vec<_>>().join("-"), options, seats));
    }
    combinations
}

/// Tables beside the combinations.
fn others() -> Vec<(String, Options, u8)> {
    let all = Options { king_sized: true, lost_treats: true, ..Options::default() };
    let ids = |ids: &[&str]| ids.iter().map(|&id| id.to_owned()).collect::<Vec<_>>();
    // Effects are as frequent as they can be at a table of four. In this very match both kinds of
    // allergens wait beside a third effect, which the suite of refusals needs to see.
    let plain = PRINTED.treats.iter().filter(|card| card.effect().is_none());
    let dense = Options {
        target_score: 13,
        favorite_flavors: true,
        alternate_king_size_bar: true,
        remove_cards: plain.take(84 - 52).map(|card| card.id().to_owned()).collect(),
        first_dealer: Seat::new(0),
        ..all.clone()
    };
    // 69 cards and 3 more, less 7: each of them is dealt to one of five.
    let all_dealt = Options {
        target_score: 8,
        lost_treats: true,
        add_cards: ids(&["hole-in-the-bag", "leftover-candy", "party-favors"]),
        remove_cards: ids(&[
            "toothbrush",
            "pencil-stub",
            "loose-pennies",
            "egged-house",
            "sour-spray",
            "coconut-snowball",
            "gummy-slugs",
        ]),
        ..Options::default()
    };
    let single = Options {
        target_score: 8,
        add_cards: ids(&["king-size-bar-alternate", "candy-lockjaw", "weird-tasting-punch"]),
        remove_cards: ids(&["toilet-paper"]),
        ..Options::default()
    };
    vec![
        ("2-seats-standard".to_owned(), all, 2),
        ("4-seats-dense".to_owned(), dense, 4),
        ("5-seats-all-dealt".to_owned(), all_dealt, 5),
        ("4-seats-single-cards".to_owned(), single, 4),
    ]
}

impl Trial for Candy {
    fn setups() -> Vec<(String, Setup<Options>)> {
        let setups = combinations().into_iter().chain(others()).map(|(name, options, seats)| {
            let seats = SeatCount::new(seats).expect("a table");
            let setup = Setup::new::<Self>(options, seats).expect(&name);
            (name, setup)
        });
        setups.collect()
    }

    fn check_invariants(&self) {
        let mut all = CardSet::NONE;
        let mut count = 0;
        let mut add = |cards: CardSet| {
            all |= cards;
            count += cards.len();
        };
        for seat in self.seats.iter() {
            add(self.hands[seat]);
            add(self.stashes[seat]);
        }
        [self.trick.cards(), self.beside, self.held, self.aside].into_iter().for_each(&mut add);
        self.leftover.iter().for_each(|&card| add(CardSet::only(card)));
        assert_eq!(all, self.decks.treats | self.decks.aside, "no card may be lost");
        assert_eq!(count, all.len(), "no card may be in two places");

        let over = matches!(self.stage, Stage::Over(_));
        let down = self.trick.plays.iter().any(|play| play.down);
        assert!(!down || matches!(self.stage, Stage::Playing | Stage::Revealing) || over);
        assert!(over || self.trick.pending == 0 || self.trick.winner.is_some());
        assert!(self.points.values().all(|&points| points < u16::from(self.target)) || over);
        let hand_is_over = usize::from(self.completed) == HAND;
        assert!(!hand_is_over || (self.held | self.beside).is_empty(), "nothing waits for nobody");
    }

    fn longest() -> usize {
        ACTION_LIMIT as usize
    }

    fn conceivable(&self, seat: Seat) -> Vec<Action> {
        // A few cards from everywhere are as good as all.
        let mut cards: Vec<Card> = self.hands[seat].iter().collect();
        cards.extend(self.trick.cards().iter());
        cards.extend(self.stashes[seat].iter().take(2));
        cards.extend(self.seats.iter().filter_map(|other| self.stashes[other].iter().next()));
        cards.extend(self.leftover.first());
        cards.extend(PRINTED.all.iter().nth(usize::from(self.actions as u8 % 86)));
        let of_card = |&card: &Card| {
            let give = self.stashes[seat].iter().next().unwrap_or(card);
            let take = self.trick.cards().iter().next().unwrap_or(card);
            [
                Action::Play(card),
                Action::Resolve(card),
                Action::Choose(card),
                Action::Swap { take: card, give },
                Action::Swap { take, give: card },
                Action::Give { card, seat },
                Action::Give { card, seat: self.seats.left_of(seat) },
            ]
        };
        let flavors = self.decks.flavors.iter().chain(Flavor::new(0)).map(Action::Keep);
        let seats = (0..6).filter_map(Seat::new).map(Action::ChooseSeat);
        let suits = Suit::ALL.into_iter().map(Action::Name);
        let others = flavors.chain(seats).chain(suits).chain([Action::Decline]);
        cards.iter().flat_map(of_card).chain(others).collect()
    }

    fn twin(&self, viewer: Viewer, shuffle: &mut Shuffle) -> Self {
        let mut twin = self.clone();
        twin.redraw_cards(viewer, shuffle);
        twin.redraw_flavors(viewer, shuffle);
        twin
    }

    fn tells(&self, seat: Seat, action: &Action, viewer: Viewer) -> Tells {
        let mut events = Vec::new();
        let mut after = self.clone();
        if after.play(seat, action, &mut events).is_err() {
            return Tells::Everything;
        }
        if events.iter().any(|event| brings_to_light(event, viewer)) {
            return Tells::HiddenCards;
        }
        let returns = self.asked.is_some_and(|question| question.choice == Choice::Hand);
        let down = matches!(action, Action::Play(_)) && self.trick.next_side() != Side::Up;
        let hidden = returns || down || matches!(action, Action::Keep(_));
        if hidden && !viewer.is(seat) { Tells::ThatItHappened } else { Tells::Everything }
    }
}

/// Whether the viewer sees a card that it did not know before.
fn brings_to_light(event: &Event, viewer: Viewer) -> bool {
    match *event {
        Event::Revealed { seat, .. } => !viewer.is(seat),
        Event::Moved { from: Spot::Leftover, to: Spot::Hand(seat), .. } => viewer.is(seat),
        Event::TurnedUp { .. } | Event::Moved { from: Spot::Leftover, .. } => true,
        Event::HandScored { ref results, .. } => {
            results.values().any(|result| result.flavor.is_some())
        }
        _ => false,
    }
}

impl Candy {
    /// Deals what the viewer cannot see anew: other hands, others' face-down cards, and the
    /// leftover stash.
    fn redraw_cards(&mut self, viewer: Viewer, shuffle: &mut Shuffle) {
        let others = self.seats.iter().filter(|&seat| !viewer.is(seat));
        let mut unknown: Vec<Card> = self.leftover.to_vec();
        unknown.extend(others.clone().flat_map(|seat| self.hands[seat].iter()));
        let hidden = self.trick.plays.iter().filter(|play| play.down && !viewer.is(play.seat));
        unknown.extend(hidden.map(|play| play.card));
        unknown.sort_unstable();
        shuffle.shuffle(&mut unknown);

        let mut unknown = unknown.into_iter();
        let mut draw = |count: usize| unknown.by_ref().take(count).collect::<Vec<_>>();
        self.leftover = draw(self.leftover.len()).into_iter().collect();
        for seat in others {
            self.hands[seat] = draw(self.hands[seat].len().into()).into_iter().collect();
        }
        for play in &mut self.trick.plays {
            if play.down && !viewer.is(play.seat) {
                let [card] = draw(1)[..] else { panic!("as many as before") };
                (play.card, play.lies) = (card, Some(card));
            }
        }
    }

    /// Deals the Flavors anew that the viewer does not hold, and lets others keep any of theirs.
    fn redraw_flavors(&mut self, viewer: Viewer, shuffle: &mut Shuffle) {
        let own = viewer.seat().map(|seat| self.flavors[seat].clone()).unwrap_or_default();
        let mut unknown: Vec<Flavor> =
            self.decks.flavors.iter().filter(|flavor| !own.contains(flavor)).collect();
        shuffle.shuffle(&mut unknown);
        let mut unknown = unknown.into_iter();
        for seat in self.seats.iter().filter(|&seat| !viewer.is(seat)) {
            let count = self.flavors[seat].len();
            self.flavors[seat] = unknown.by_ref().take(count).collect();
            if self.kept[seat].is_some() {
                let any = shuffle.below(self.flavors[seat].len() as u32) as usize;
                self.kept[seat] = Some(self.flavors[seat][any]);
            }
        }
    }
}
