//! What the suites of all games need to know of Best of Neapolitan.

use super::cards::HIGHEST;
use super::{
    Action, Card, Cards, Declaration, Flavor, Neapolitan, Numbers, Options, Phase, Sequence, TRICKS,
};
use crate::games::conformance::{Tells, Trial};
use crate::rules::{ACTION_LIMIT, Seat, SeatCount, SeatSet, Seed, Setup, Shuffle, Viewer};

/// Every combination of the variants, each with a name: the letters of those that are played.
fn variants() -> impl Iterator<Item = (String, Options)> {
    (0..16_u8).map(|bits| {
        let options = Options {
            ice_cream_you_scream: bits & 1 != 0,
            cherry_on_top: bits & 2 != 0,
            more_scoops: bits & 4 != 0,
            secret_ingredients: bits & 8 != 0,
            first_leader: None,
        };
        let played = ["-scream", "-cherry", "-more", "-secret"];
        let name = played.into_iter().enumerate().filter(|(i, _)| bits >> i & 1 == 1);
        (name.map(|(_, name)| name).collect(), options)
    })
}

impl Trial for Neapolitan {
    fn setups() -> Vec<(String, Setup<Options>)> {
        let counts = (3..=5).filter_map(SeatCount::new);
        let setups = counts.flat_map(|seats| {
            variants().map(move |(variant, mut options)| {
                // With the last option the leader is given, so that both ways are tried.
                options.first_leader =
                    seats.iter().next_back().filter(|_| options.secret_ingredients);
                let setup = Setup::new::<Self>(options, seats).expect("good options");
                (format!("{}-seats{variant}", seats.get()), setup)
            })
        });
        setups.collect()
    }

    fn check_invariants(&self) {
        let Numbers { highest, passes, points_goal, .. } = Numbers::of(self.seats);
        let mut all: Vec<Card> = self.trick.cards().chain(self.leftovers).collect();
        for seat in self.seats.iter() {
            all.extend(self.hands[seat].iter().chain(self.piles[seat].iter()));
            let played = u8::from(self.trick.plays(self.seats).any(|play| play.seat == seat));
            assert_eq!(self.hands[seat].len() + self.tricks + played, TRICKS);
        }
        all.sort_unstable();
        let passes_in_play = all.split_off(Flavor::ALL.len() * usize::from(highest));
        assert!(all.into_iter().eq(Card::monsters(highest)), "no Monster may be lost");
        assert_eq!(passes_in_play.len(), usize::from(passes), "no Pass may be lost");
        let scream = self.options.ice_cream_you_scream;
        assert!(passes_in_play.iter().all(|pass| pass.sequence().is_some() == scream));
        assert!(passes_in_play.windows(2).all(|two| !scream || two[0] != two[1]));

        assert_eq!(self.seats.iter().map(|seat| self.won[seat].count()).sum::<u8>(), self.tricks);
        assert!(self.scores.values().all(|&score| score <= points_goal));
        assert!(self.phase() == Phase::Over || self.tricks < TRICKS);
        assert!(self.phase() != Phase::Declaring || self.tricks == 0);
    }

    fn longest() -> usize {
        ACTION_LIMIT as usize
    }

    fn conceivable(&self, _seat: Seat) -> Vec<Action> {
        let variants = Sequence::ALL.into_iter().map(Card::variant_pass);
        let cards = Card::monsters(HIGHEST).chain(variants).chain([Card::PASS]);
        cards.map(Action::Play).chain([Action::Declare, Action::Decline]).collect()
    }

    fn twin(&self, viewer: Viewer, shuffle: &mut Shuffle) -> Self {
        let mut twin = self.clone();
        twin.seed = Seed::new(std::array::from_fn(|_| shuffle.below(256) as u8));
        // Unknown are all hands but the viewer's, leftovers that lie face down, and with them which
        // of the variant Pass cards were drawn.
        let others = || self.seats.iter().filter(|&seat| !viewer.is(seat));
        let mut unknown: Vec<Card> = others().flat_map(|seat| self.hands[seat].iter()).collect();
        if self.options.secret_ingredients {
            unknown.extend(self.leftovers);
        }
        if self.options.ice_cream_you_scream {
            self.redraw_variants(&mut unknown, shuffle);
        }
        shuffle.shuffle(&mut unknown);
        let mut unknown = unknown.into_iter();
        if self.options.secret_ingredients {
            twin.leftovers = twin.leftovers.map(|_| unknown.next().expect("enough cards"));
        }
        for seat in others() {
            twin.hands[seat] = unknown.by_ref().take(self.hands[seat].len().into()).collect();
        }
        let hidden: SeatSet =
            others().filter(|&s| self.declarations.of(s) == Declaration::Answered).collect();
        twin.declarations = self.declarations.redrawn(hidden, || shuffle.below(2) == 0);
        twin
    }

    fn tells(&self, seat: Seat, action: &Action, viewer: Viewer) -> Tells {
        let hidden =
            |other: Seat| !viewer.is(other) && self.declarations.of(other) == Declaration::Answered;
        let last = self.declarations.awaited() == SeatSet::only(seat);
        match action {
            Action::Play(_) => Tells::Everything,
            _ if last && self.seats.iter().any(hidden) => Tells::HiddenCards,
            _ if last || viewer.is(seat) => Tells::Everything,
            _ => Tells::ThatItHappened,
        }
    }
}

impl Neapolitan {
    /// Puts other variant Pass cards in the place of those among the unknown cards: any that may
    /// have been drawn instead.
    fn redraw_variants(&self, unknown: &mut [Card], shuffle: &mut Shuffle) {
        let hidden: Cards = unknown.iter().copied().collect();
        let in_play = self.seats.iter().fold(
            self.leftovers.into_iter().chain(self.trick.cards()).collect::<Vec<_>>(),
            |mut cards, seat| {
                cards.extend(self.hands[seat].iter().chain(self.piles[seat].iter()));
                cards
            },
        );
        let mut possible: Vec<Card> = Sequence::ALL
            .into_iter()
            .map(Card::variant_pass)
            .filter(|card| hidden.contains(*card) || !in_play.contains(card))
            .collect();
        shuffle.shuffle(&mut possible);
        let places = unknown.iter_mut().filter(|card| card.sequence().is_some());
        places.zip(possible).for_each(|(place, card)| *place = card);
    }
}
