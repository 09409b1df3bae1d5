//! `pin_the_tail`: the last played card with a rank above 0 wins.

use super::super::trick::Play;

pub(super) fn winner(plays: &[Play]) -> Option<usize> {
    plays.iter().rposition(|play| play.card.rank() > 0)
}
