//! `sugar_rush`: you lead the next trick, whoever won this one and whatever Pranks say. All there is
//! to it stands in [`Trick::next_leader`](super::super::trick::Trick::next_leader).

#[cfg(test)]
mod tests {
    use crate::games::candy::tests::scene::Scene;

    #[test]
    fn you_lead_next_whoever_won_and_whatever_pranks_say() {
        Scene::new(&["sugar-rush", "toilet-paper", "king-size-bar"]).plays(
            "
            0 plays sugar-rush
            1 plays toilet-paper
            2 plays king-size-bar
                -> sugar-rush works; 2 takes [toilet-paper king-size-bar sugar-rush]; 0 leads
        ",
        );
        Scene::new(&["hole-in-the-bag", "fruit-chew", "sugar-rush"]).plays(
            "
            0 plays hole-in-the-bag
            1 plays fruit-chew
            2 plays sugar-rush
            0 chooses sugar-rush
                -> sugar-rush to leftovers; hole-in-the-bag works; sugar-rush works;
                   2 takes [fruit-chew hole-in-the-bag]; 2 leads
        ",
        );
    }

    #[test]
    fn face_down_it_works_and_mute_it_does_not() {
        Scene::new(&["flashlight-tag", "sugar-rush", "egged-house"]).plays(
            "
            0 plays flashlight-tag
            1 plays sugar-rush
            2 plays egged-house
                -> face down; sugar-rush revealed; egged-house revealed; sugar-rush works;
                   1 takes [egged-house sugar-rush flashlight-tag]; 1 leads
        ",
        );
        Scene::new(&["candy-lockjaw", "sugar-rush", "egged-house"]).plays(
            "
            0 plays candy-lockjaw
            1 plays sugar-rush
            2 plays egged-house
                -> sugar-rush revealed; sugar-rush is mute;
                   1 takes [egged-house sugar-rush candy-lockjaw]; 0 leads
        ",
        );
    }

    #[test]
    fn in_the_last_trick_of_a_hand_it_leads_nothing() {
        Scene::new(&["sugar-rush", "fruit-chew"]).last_trick().plays(
            "
            0 plays sugar-rush
            1 plays fruit-chew
                -> sugar-rush works; 0 takes [fruit-chew sugar-rush]; points 1 0; dealt
        ",
        );
    }
}
