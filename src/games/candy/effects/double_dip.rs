//! `double_dip`: the trick counts as two tricks won.

/// What the trick counts for beside itself.
pub(super) const EXTRA_TRICKS: u8 = 1;

#[cfg(test)]
mod tests {
    use crate::games::candy::tests::scene::Scene;

    #[test]
    fn the_trick_counts_twice_for_whoever_wins_it() {
        Scene::new(&["double-dip", "peanut-chew"]).plays(
            "
            0 plays double-dip
            1 plays peanut-chew
                -> double-dip works; 1 takes [peanut-chew double-dip] twice; 1 leads
        ",
        );
        Scene::new(&["flashlight-tag", "double-dip"]).plays(
            "
            0 plays flashlight-tag
            1 plays double-dip
                -> face down; double-dip revealed; double-dip works;
                   1 takes [double-dip flashlight-tag] twice; 1 leads
        ",
        );
    }

    #[test]
    fn the_trick_counts_twice_even_if_the_card_has_left_it() {
        Scene::new(&["double-dip", "hole-in-the-bag"]).plays(
            "
            0 plays double-dip
            1 plays hole-in-the-bag
                -> double-dip to leftovers; hole-in-the-bag works; double-dip works;
                   1 takes [hole-in-the-bag] twice; 1 leads
        ",
        );
    }

    #[test]
    fn under_lockjaw_the_trick_counts_once() {
        Scene::new(&["candy-lockjaw", "double-dip"]).plays(
            "
            0 plays candy-lockjaw
            1 plays double-dip
                -> mute; double-dip revealed; double-dip is mute;
                   0 takes [double-dip candy-lockjaw]; 0 leads
        ",
        );
    }

    #[test]
    fn the_last_trick_of_a_hand_counts_twice_too() {
        Scene::new(&["double-dip", "peanut-chew"]).last_trick().plays(
            "
            0 plays double-dip
            1 plays peanut-chew
                -> double-dip works; 1 takes [peanut-chew double-dip] twice; points 0 2; dealt
        ",
        );
    }
}
