//! `candy_lockjaw`: the next card of the trick is played face down and has no effect; nothing as the
//! trick's last card, or if it was played face down itself.

use super::super::trick::Later;

pub(super) fn demands(later: &mut Later) {
    later.next_mute = true;
}

#[cfg(test)]
mod tests {
    use crate::games::candy::tests::scene::Scene;

    #[test]
    fn the_next_card_alone_is_face_down_and_mute() {
        Scene::new(&["candy-lockjaw", "double-dip", "caramel-square"]).plays(
            "
            0 plays candy-lockjaw -> candy-lockjaw works
            1 plays double-dip -> mute
            2 plays caramel-square
                -> double-dip revealed; double-dip is mute;
                   2 takes [caramel-square double-dip candy-lockjaw]; 2 leads
        ",
        );
    }

    #[test]
    fn a_muted_card_keeps_its_rank_suits_and_kind() {
        Scene::new(&["candy-lockjaw", "sugar-rush", "fruit-chew"]).plays(
            "
            0 plays candy-lockjaw
            1 plays sugar-rush
            2 plays fruit-chew
                -> sugar-rush revealed; sugar-rush is mute;
                   1 takes [fruit-chew sugar-rush candy-lockjaw]; 1 leads
        ",
        );
        Scene::new(&["candy-lockjaw", "egged-house", "fruit-chew"]).plays(
            "
            0 plays candy-lockjaw
            1 plays egged-house
            2 plays fruit-chew
                -> egged-house revealed; 0 takes [fruit-chew egged-house candy-lockjaw]; 2 leads
        ",
        );
    }

    #[test]
    fn it_finds_nothing_as_the_last_card() {
        Scene::new(&["fruit-chew", "candy-lockjaw"]).last_trick().plays(
            "
            0 plays fruit-chew
            1 plays candy-lockjaw
                -> candy-lockjaw finds nothing; 1 takes [fruit-chew candy-lockjaw]; points 0 1;
                   dealt
        ",
        );
    }

    #[test]
    fn beside_flashlight_tag_the_order_matters() {
        Scene::new(&["flashlight-tag", "candy-lockjaw", "double-dip"]).plays(
            "
            0 plays flashlight-tag
            1 plays candy-lockjaw -> face down
            2 plays double-dip
                -> face down; candy-lockjaw revealed; candy-lockjaw finds nothing;
                   double-dip revealed; double-dip works;
                   1 takes [double-dip flashlight-tag candy-lockjaw] twice; 1 leads
        ",
        );
        Scene::new(&["candy-lockjaw", "flashlight-tag", "double-dip"]).plays(
            "
            0 plays candy-lockjaw
            1 plays flashlight-tag -> mute
            2 plays double-dip
                -> flashlight-tag revealed; flashlight-tag is mute; double-dip works;
                   0 takes [double-dip flashlight-tag candy-lockjaw] twice; 0 leads
        ",
        );
    }
}
