//! What the suites of all games need to know of NeoN.

use super::{Action, Cards, Neon, Options, Phase, Value};
use crate::games::conformance::{Tells, Trial};
use crate::rules::{BySeat, Seat, SeatCount, Setup, Shuffle, Viewer};

impl Trial for Neon {
    fn setups() -> Vec<(String, Setup<Options>)> {
        let counts = (2..=6).filter_map(SeatCount::new);
        let setups = counts.flat_map(|seats| {
            let drawn = (format!("{}-seats", seats.get()), Options::default());
            let first_player = seats.iter().next_back();
            let given = (format!("{}-seats-last-first", seats.get()), Options { first_player });
            [drawn, given].map(|(name, options)| {
                (name, Setup::new::<Self>(options, seats).expect("good options"))
            })
        });
        setups.collect()
    }

    fn check_invariants(&self) {
        let held = self.seats.iter().fold(self.table + self.removed, |cards, seat| {
            cards + self.hands[seat] + self.second_hands[seat] + self.piles[seat]
        });
        let all = self.plays.iter().fold(held, |cards, play| cards + play.cards);
        assert_eq!(all, Cards::DECK, "no card may be lost");
        assert!(
            self.seats
                .iter()
                .all(|seat| { !self.hands[seat].is_empty() || self.second_hands[seat].is_empty() })
        );
        assert_eq!(self.phase == Phase::Choosing, !self.to_choose.is_empty());
    }

    fn longest() -> usize {
        // Each round plays at least one card, and each play brings at most one choice.
        2 * 60
    }

    fn conceivable(&self, _seat: Seat) -> Vec<Action> {
        let sets = Value::ALL
            .into_iter()
            .flat_map(|value| (1..=10).map(move |count| Cards::of(value, count)));
        let runs = Value::ALL.into_iter().flat_map(|low| {
            Value::ALL
                .into_iter()
                .filter(move |&high| high > low)
                .map(move |high| Cards::run(low, high))
        });
        let [one, two, .., six] = Value::ALL;
        let odd = [
            Cards::NONE,
            Cards::of(one, 1) + Cards::of(six, 1),
            Cards::of(two, 2) + Cards::of(one, 1),
            Cards::DECK,
        ];
        sets.chain(runs)
            .chain(odd)
            .flat_map(|cards| [Action::Play(cards), Action::Choose(cards)])
            .collect()
    }

    fn twin(&self, viewer: Viewer, shuffle: &mut Shuffle) -> Self {
        let mut twin = self.clone();
        let own = |seat: Seat| viewer.is(seat);
        // Unknown are all hands but the viewer's, all second hands, what was removed unseen and
        // unchosen, and the piles of others.
        let mut unknown: Vec<Value> = self.removed.values().collect();
        for seat in self.seats.iter() {
            unknown.extend(self.second_hands[seat].values());
            if !own(seat) {
                unknown.extend(self.hands[seat].values().chain(self.piles[seat].values()));
            }
        }
        shuffle.shuffle(&mut unknown);
        let mut unknown = unknown.into_iter();
        let mut draw = |count: u8| unknown.by_ref().take(count.into()).collect::<Cards>();
        twin.removed = draw(self.removed.len());
        twin.second_hands = BySeat::from_fn(self.seats, |seat| draw(self.second_hands[seat].len()));
        for seat in self.seats.iter().filter(|&seat| !own(seat)) {
            twin.hands[seat] = draw(self.hands[seat].len());
            twin.piles[seat] = draw(self.piles[seat].len());
        }
        twin
    }

    fn tells(&self, seat: Seat, action: &Action, viewer: Viewer) -> Tells {
        let takes_up = match *action {
            Action::Play(cards) => cards == self.hands[seat] && !self.second_hands[seat].is_empty(),
            Action::Choose(_) => false,
        };
        if takes_up && viewer.is(seat) { Tells::HiddenCards } else { Tells::Everything }
    }
}
