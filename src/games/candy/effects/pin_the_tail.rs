//! `pin_the_tail`: the last played card with a rank above 0 wins.

use super::super::trick::Play;

pub(super) fn winner(plays: &[Play]) -> Option<usize> {
    plays.iter().rposition(|play| play.card.rank() > 0)
}

#[cfg(test)]
mod tests {
    use crate::games::candy::tests::scene::Scene;

    #[test]
    fn the_last_played_card_with_a_rank_above_0_wins() {
        let hands = ["pin-the-tail-on-the-black-cat", "chocolate-coin", "fruit-chew", "toothbrush"];
        Scene::new(&hands).plays(
            "
            0 plays pin-the-tail-on-the-black-cat
            1 plays chocolate-coin
            2 plays fruit-chew
            3 plays toothbrush
                -> pin-the-tail-on-the-black-cat works;
                   2 takes [fruit-chew chocolate-coin toothbrush pin-the-tail-on-the-black-cat];
                   2 leads
        ",
        );
        Scene::new(&["chocolate-coin", "pin-the-tail-on-the-black-cat"]).last_trick().plays(
            "
            0 plays chocolate-coin
            1 plays pin-the-tail-on-the-black-cat
                -> pin-the-tail-on-the-black-cat works;
                   1 takes [chocolate-coin pin-the-tail-on-the-black-cat]; points 0 1; dealt
        ",
        );
    }

    #[test]
    fn a_later_bobbing_overrules_it() {
        let hands = [
            "pin-the-tail-on-the-black-cat",
            "bobbing-for-apples",
            "peanut-chew",
            "chocolate-coin",
        ];
        Scene::new(&hands).plays(
            "
            0 plays pin-the-tail-on-the-black-cat
            1 plays bobbing-for-apples
            2 plays peanut-chew
            3 plays chocolate-coin
                -> pin-the-tail-on-the-black-cat finds nothing; bobbing-for-apples works;
                   2 takes [peanut-chew chocolate-coin bobbing-for-apples pin-the-tail-on-the-black-cat];
                   2 leads
        ",
        );
    }

    #[test]
    fn face_down_it_decides_and_mute_it_does_not() {
        Scene::new(&["flashlight-tag", "chocolate-coin", "pin-the-tail-on-the-black-cat"]).plays(
            "
            0 plays flashlight-tag
            1 plays chocolate-coin
            2 plays pin-the-tail-on-the-black-cat
                -> face down; chocolate-coin revealed; pin-the-tail-on-the-black-cat revealed;
                   pin-the-tail-on-the-black-cat works;
                   2 takes [chocolate-coin pin-the-tail-on-the-black-cat flashlight-tag]; 2 leads
        ",
        );
        Scene::new(&["candy-lockjaw", "pin-the-tail-on-the-black-cat"]).plays(
            "
            0 plays candy-lockjaw
            1 plays pin-the-tail-on-the-black-cat
                -> mute; pin-the-tail-on-the-black-cat revealed;
                   pin-the-tail-on-the-black-cat is mute;
                   0 takes [pin-the-tail-on-the-black-cat candy-lockjaw]; 0 leads
        ",
        );
    }
}
