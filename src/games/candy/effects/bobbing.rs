//! `bobbing`: the lowest rank above 0 wins, the last played of equal ones.

use std::cmp::Reverse;

use super::super::trick::Play;

pub(super) fn winner(plays: &[Play]) -> Option<usize> {
    let ranks = plays.iter().map(|play| play.card.rank()).enumerate();
    // Of equal keys, `max_by_key` finds the last.
    ranks
        .filter(|&(_, rank)| rank > 0)
        .max_by_key(|&(_, rank)| Reverse(rank))
        .map(|(place, _)| place)
}
