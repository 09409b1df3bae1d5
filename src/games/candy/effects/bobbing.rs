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

#[cfg(test)]
mod tests {
    use crate::games::candy::tests::scene::Scene;

    #[test]
    fn the_lowest_rank_above_0_wins_the_last_played_of_equal_ones() {
        Scene::new(&["chocolate-coin", "bobbing-for-apples", "coconut-bar", "toothbrush"]).plays(
            "
            0 plays chocolate-coin
            1 plays bobbing-for-apples
            2 plays coconut-bar
            3 plays toothbrush
                -> bobbing-for-apples works;
                   2 takes [coconut-bar chocolate-coin toothbrush bobbing-for-apples]; 2 leads
        ",
        );
        Scene::new(&["bobbing-for-apples", "fruit-chew", "toothbrush"]).plays(
            "
            0 plays bobbing-for-apples
            1 plays fruit-chew
            2 plays toothbrush
                -> bobbing-for-apples works;
                   1 takes [fruit-chew toothbrush bobbing-for-apples]; 1 leads
        ",
        );
    }

    #[test]
    fn face_down_it_decides_and_mute_it_does_not() {
        Scene::new(&["flashlight-tag", "bobbing-for-apples", "chocolate-coin"]).last_trick().plays(
            "
            0 plays flashlight-tag
            1 plays bobbing-for-apples
            2 plays chocolate-coin
                -> face down; bobbing-for-apples revealed; chocolate-coin revealed;
                   bobbing-for-apples works;
                   1 takes [chocolate-coin bobbing-for-apples flashlight-tag]; points 0 1 0; dealt
        ",
        );
        Scene::new(&["candy-lockjaw", "bobbing-for-apples"]).plays(
            "
            0 plays candy-lockjaw
            1 plays bobbing-for-apples
                -> mute; bobbing-for-apples revealed; bobbing-for-apples is mute;
                   0 takes [bobbing-for-apples candy-lockjaw]; 0 leads
        ",
        );
    }

    #[test]
    fn a_later_pin_the_tail_overrules_it() {
        let hands = [
            "bobbing-for-apples",
            "pin-the-tail-on-the-black-cat",
            "peanut-chew",
            "chocolate-coin",
        ];
        Scene::new(&hands).plays(
            "
            0 plays bobbing-for-apples
            1 plays pin-the-tail-on-the-black-cat
            2 plays peanut-chew
            3 plays chocolate-coin
                -> bobbing-for-apples finds nothing; pin-the-tail-on-the-black-cat works;
                   3 takes [peanut-chew chocolate-coin bobbing-for-apples pin-the-tail-on-the-black-cat];
                   3 leads
        ",
        );
        let hands = [
            "bobbing-for-apples",
            "candy-lockjaw",
            "pin-the-tail-on-the-black-cat",
            "peanut-chew",
            "chocolate-coin",
        ];
        Scene::new(&hands).plays(
            "
            0 plays bobbing-for-apples
            1 plays candy-lockjaw
            2 plays pin-the-tail-on-the-black-cat -> mute
            3 plays peanut-chew
            4 plays chocolate-coin
                -> pin-the-tail-on-the-black-cat revealed; pin-the-tail-on-the-black-cat is mute;
                   bobbing-for-apples works;
                   3 takes [peanut-chew chocolate-coin bobbing-for-apples pin-the-tail-on-the-black-cat candy-lockjaw];
                   3 leads
        ",
        );
    }
}
