//! `lollipops`: worth points in a stash when the hand ends, tummy ache or not, and however the card
//! was played.

/// What it is worth.
pub(super) const POINTS: u8 = 2;

#[cfg(test)]
mod tests {
    use crate::games::candy::tests::scene::Scene;

    #[test]
    fn lollipops_are_worth_two_points_in_a_stash() {
        Scene::new(&["lollipops", "peanut-chew"]).last_trick().plays(
            "
            0 plays lollipops
            1 plays peanut-chew
                -> 1 takes [peanut-chew lollipops]; lollipops works; points 0 3; dealt
        ",
        );
        Scene::new(&["fruit-chew", "peanut-chew"]).stash(0, "lollipops").last_trick().plays(
            "
            0 plays fruit-chew
            1 plays peanut-chew
                -> 1 takes [fruit-chew peanut-chew]; lollipops works; points 2 1; dealt
        ",
        );
    }

    #[test]
    fn lollipops_count_however_they_were_played() {
        Scene::new(&["candy-lockjaw", "lollipops"]).last_trick().plays(
            "
            0 plays candy-lockjaw
            1 plays lollipops
                -> mute; lollipops revealed; 0 takes [lollipops candy-lockjaw]; lollipops works;
                   points 3 0; dealt
        ",
        );
        Scene::new(&["flashlight-tag", "lollipops"]).last_trick().plays(
            "
            0 plays flashlight-tag
            1 plays lollipops
                -> face down; lollipops revealed; 1 takes [lollipops flashlight-tag];
                   lollipops works; points 0 3; dealt
        ",
        );
    }

    #[test]
    fn lollipops_that_nobody_stashed_are_worth_nothing() {
        Scene::new(&["hole-in-the-bag", "lollipops"]).last_trick().plays(
            "
            0 plays hole-in-the-bag
            1 plays lollipops
                -> lollipops to leftovers; hole-in-the-bag works; 0 takes [hole-in-the-bag];
                   points 1 0; dealt
        ",
        );
    }
}
