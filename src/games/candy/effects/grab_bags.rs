//! `grab_bags`: nobody later in the trick has to follow suit; nothing if it was played face down.

use super::super::trick::Later;

pub(super) fn demands(later: &mut Later) {
    later.need_not_follow = true;
}

#[cfg(test)]
mod tests {
    use crate::games::candy::tests::scene::Scene;

    #[test]
    fn nobody_later_has_to_follow_suit() {
        Scene::new(&["coconut-bar", "grab-bags", "coconut-kiss peanut-chew"]).plays(
            "
            0 plays coconut-bar
            1 plays grab-bags -> grab-bags works
            2 plays peanut-chew -> 0 takes [peanut-chew coconut-bar grab-bags]; 0 leads
        ",
        );
        Scene::new(&["coconut-bar", "lollipops", "coconut-kiss peanut-chew"]).plays(
            "
            0 plays coconut-bar
            1 plays lollipops
            2 plays peanut-chew: follow_suit
        ",
        );
    }

    #[test]
    fn it_lasts_for_one_trick() {
        Scene::new(&["grab-bags coconut-bar", "peanut-chew coconut-kiss mint-cookie"]).plays(
            "
            0 plays grab-bags -> grab-bags works
            1 plays peanut-chew -> 1 takes [peanut-chew grab-bags]; 1 leads
            1 plays coconut-kiss
            0 plays coconut-bar -> 0 takes [coconut-bar coconut-kiss]; 0 leads
        ",
        );
        Scene::new(&["grab-bags coconut-bar", "fruit-chew coconut-kiss peanut-cup"]).plays(
            "
            0 plays grab-bags
            1 plays fruit-chew -> 0 takes [fruit-chew grab-bags]; 0 leads
            0 plays coconut-bar
            1 plays peanut-cup -> 1 takes [coconut-bar peanut-cup]; 1 leads
        ",
        );
        Scene::new(&["grab-bags coconut-bar", "fruit-chew coconut-kiss peanut-chew"]).plays(
            "
            0 plays grab-bags
            1 plays fruit-chew
            0 plays coconut-bar
            1 plays peanut-chew: follow_suit
        ",
        );
    }

    #[test]
    fn it_finds_nothing_as_the_last_card() {
        Scene::new(&["coconut-bar", "grab-bags"]).last_trick().plays(
            "
            0 plays coconut-bar
            1 plays grab-bags
                -> grab-bags finds nothing; 0 takes [coconut-bar grab-bags]; points 1 0; dealt
        ",
        );
    }

    #[test]
    fn face_down_or_mute_it_frees_nobody() {
        let hands = ["coconut-bar", "flashlight-tag", "grab-bags", "coconut-kiss peanut-chew"];
        Scene::new(&hands).plays(
            "
            0 plays coconut-bar
            1 plays flashlight-tag
            2 plays grab-bags -> face down
            3 plays peanut-chew: follow_suit
            3 plays coconut-kiss
                -> face down; grab-bags revealed; grab-bags finds nothing; coconut-kiss revealed;
                   0 takes [coconut-bar coconut-kiss grab-bags flashlight-tag]; 0 leads
        ",
        );
        Scene::new(&["candy-lockjaw", "grab-bags", "caramel-square peanut-chew"]).plays(
            "
            0 plays candy-lockjaw
            1 plays grab-bags -> mute
            2 plays peanut-chew: follow_suit
            2 plays caramel-square
                -> grab-bags revealed; grab-bags is mute;
                   2 takes [caramel-square grab-bags candy-lockjaw]; 2 leads
        ",
        );
    }
}
