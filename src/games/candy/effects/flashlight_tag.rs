//! `flashlight_tag`: all later cards of the trick are played face down and revealed once all have
//! played; nothing if it was played face down itself.

use super::super::trick::Later;

pub(super) fn demands(later: &mut Later) {
    later.face_down = true;
}

#[cfg(test)]
mod tests {
    use crate::games::candy::tests::scene::Scene;

    #[test]
    fn later_cards_are_played_face_down_and_revealed_in_order() {
        let hands = ["coconut-bar", "flashlight-tag", "coconut-kiss peanut-chew", "mint-cookie"];
        Scene::new(&hands).plays(
            "
            0 plays coconut-bar
            1 plays flashlight-tag -> flashlight-tag works
            2 plays peanut-chew: follow_suit
            2 plays coconut-kiss -> face down
            3 plays mint-cookie
                -> face down; coconut-kiss revealed; mint-cookie revealed;
                   0 takes [mint-cookie coconut-bar coconut-kiss flashlight-tag]; 0 leads
        ",
        );
    }

    #[test]
    fn the_suits_of_face_down_cards_oblige_nobody() {
        Scene::new(&["flashlight-tag", "peanut-chew", "coconut-kiss peanut-cup"]).plays(
            "
            0 plays flashlight-tag
            1 plays peanut-chew -> face down
            2 plays coconut-kiss
                -> face down; peanut-chew revealed; coconut-kiss revealed;
                   1 takes [peanut-chew coconut-kiss flashlight-tag]; 1 leads
        ",
        );
    }

    #[test]
    fn it_finds_nothing_as_the_last_card_and_lasts_for_one_trick() {
        Scene::new(&["coconut-bar", "flashlight-tag"]).last_trick().plays(
            "
            0 plays coconut-bar
            1 plays flashlight-tag
                -> flashlight-tag finds nothing; 0 takes [coconut-bar flashlight-tag]; points 1 0;
                   dealt
        ",
        );
        Scene::new(&["flashlight-tag coconut-bar", "peanut-chew fruit-chew"]).plays(
            "
            0 plays flashlight-tag
            1 plays peanut-chew
            1 plays fruit-chew
            0 plays coconut-bar -> 0 takes [fruit-chew coconut-bar]; 0 leads
        ",
        );
    }

    #[test]
    fn under_lockjaw_it_hides_nothing() {
        Scene::new(&["candy-lockjaw", "flashlight-tag", "peanut-chew"]).plays(
            "
            0 plays candy-lockjaw
            1 plays flashlight-tag -> mute
            2 plays peanut-chew
                -> flashlight-tag revealed; flashlight-tag is mute;
                   0 takes [peanut-chew flashlight-tag candy-lockjaw]; 0 leads
        ",
        );
    }
}
