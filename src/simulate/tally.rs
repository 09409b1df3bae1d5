//! What is counted of the matches.

use std::collections::BTreeMap;

use super::players::Played;
use crate::rules::{BySeat, SeatCount};

/// What is counted of the matches: whole numbers only, so that the sum of several tallies is the same
/// in whichever order they are added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tally {
    /// How many matches took so many actions, by the number of actions.
    lengths: Vec<u64>,
    /// How many matches ended for each reason.
    pub(super) outcomes: BTreeMap<&'static str, u64>,
    /// How many matches nobody won.
    pub(super) unwon: u64,
    pub(super) seats: BySeat<SeatTally>,
}

/// What is counted of one seat.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SeatTally {
    /// Matches that it won alone.
    pub(super) won: u64,
    /// Matches that it won together with others.
    pub(super) shared: u64,
    /// The sum of its scores.
    pub(super) score_sum: i64,
    /// Its lowest and its highest score; none before the first match.
    pub(super) score_range: Option<(i32, i32)>,
}

impl Tally {
    /// Nothing counted yet.
    pub(super) fn new(seats: SeatCount) -> Self {
        let outcomes = BTreeMap::new();
        Self { lengths: Vec::new(), outcomes, unwon: 0, seats: BySeat::new(seats) }
    }

    /// Counts a match.
    pub(super) fn add(&mut self, Played { actions, outcome }: &Played) {
        *at(&mut self.lengths, *actions as usize) += 1;
        *self.outcomes.entry(outcome.reason).or_default() += 1;
        self.unwon += u64::from(outcome.winners.is_empty());
        let alone = outcome.winners.len() == 1;
        for (seat, &score) in outcome.scores.iter() {
            let won = outcome.winners.contains(seat);
            self.seats[seat] = self.seats[seat].merge(SeatTally {
                won: u64::from(won && alone),
                shared: u64::from(won && !alone),
                score_sum: score.into(),
                score_range: Some((score, score)),
            });
        }
    }

    /// What both counted.
    pub(super) fn merge(mut self, other: Self) -> Self {
        for (actions, matches) in other.lengths.into_iter().enumerate() {
            *at(&mut self.lengths, actions) += matches;
        }
        for (reason, matches) in other.outcomes {
            *self.outcomes.entry(reason).or_default() += matches;
        }
        self.unwon += other.unwon;
        self.seats = self.seats.map(|seat, tally| tally.merge(other.seats[seat]));
        self
    }

    /// All matches.
    pub(super) fn matches(&self) -> u64 {
        self.lengths.iter().sum()
    }

    /// All actions.
    pub(super) fn actions(&self) -> u64 {
        self.lengths.iter().zip(0..).map(|(matches, actions)| matches * actions).sum()
    }

    /// The fewest actions such that this part of all matches, in percent, took no more; with 0 the
    /// shortest match, with 100 the longest.
    pub(super) fn length(&self, percent: u64) -> u64 {
        let rank = (u128::from(self.matches()) * u128::from(percent)).div_ceil(100).max(1);
        let mut counted = 0;
        let reaches = |matches: &u64| {
            counted += u128::from(*matches);
            counted >= rank
        };
        self.lengths.iter().position(reaches).unwrap_or_default() as u64
    }
}

impl SeatTally {
    fn merge(self, other: Self) -> Self {
        let score_range = match (self.score_range, other.score_range) {
            (Some((low, high)), Some((other_low, other_high))) => {
                Some((low.min(other_low), high.max(other_high)))
            }
            (one, other) => one.or(other),
        };
        Self {
            won: self.won + other.won,
            shared: self.shared + other.shared,
            score_sum: self.score_sum + other.score_sum,
            score_range,
        }
    }
}

/// The count at an index, which the list is made long enough for.
fn at(counts: &mut Vec<u64>, index: usize) -> &mut u64 {
    if counts.len() <= index {
        counts.resize(index + 1, 0);
    }
    &mut counts[index]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::{Outcome, SeatSet};

    fn played(actions: u32, scores: &[i32], winners: &[usize]) -> Played {
        let scores = BySeat::from_vec(scores.to_vec()).expect("a table");
        let seats: Vec<_> = scores.seats().iter().collect();
        let achievements = BySeat::new(scores.seats());
        let winners: SeatSet = winners.iter().map(|&winner| seats[winner]).collect();
        let reason = if winners.len() == 1 { "score" } else { "shared" };
        Played { actions, outcome: Outcome { winners, reason, scores, achievements } }
    }

    #[test]
    fn tallies_add_up_in_any_order() {
        let two = SeatCount::new(2).expect("a table");
        let matches =
            [played(3, &[1, 5], &[1]), played(9, &[4, 4], &[0, 1]), played(4, &[-2, 0], &[])];
        let tallies = matches.map(|played| {
            let mut tally = Tally::new(two);
            tally.add(&played);
            tally
        });
        let [a, b, c] = tallies.clone();
        let forth = a.merge(b).merge(c);
        let [a, b, c] = tallies;
        assert_eq!(c.merge(a.merge(b)), forth);

        assert_eq!((forth.matches(), forth.actions(), forth.unwon), (3, 16, 1));
        assert_eq!(forth.outcomes, BTreeMap::from([("score", 1), ("shared", 2)]));
        let last = SeatTally { won: 1, shared: 1, score_sum: 9, score_range: Some((0, 5)) };
        assert_eq!(forth.seats.values().next_back(), Some(&last));
    }

    #[test]
    fn a_percentile_is_the_length_of_a_match() {
        let mut tally = Tally::new(SeatCount::new(1).expect("a table"));
        for actions in 1..=200 {
            tally.add(&played(actions, &[0], &[0]));
        }
        let lengths = [0, 1, 50, 99, 100].map(|percent| tally.length(percent));
        assert_eq!(lengths, [1, 2, 100, 198, 200]);
    }
}
