//! `banana`: after the trick, you put the card set aside for this one, the Banana Peel, into another
//! player's stash; nothing if it is out already this hand.

use super::super::question::{Choice, Question, Source, Turn};
use super::super::spots::Spot;
use super::super::{Action, Candy, Event};
use crate::rules::{SeatSet, Sink};

pub(super) fn begins(game: &Candy, me: Source) -> Turn {
    if !me.card.sets_aside().is_some_and(|peel| game.aside.contains(peel)) {
        return Turn::Nothing;
    }
    let mut others = SeatSet::all(game.seats);
    others.remove(me.seat);
    Turn::must(me.seat, me.card, Choice::Seat(others))
}

pub(super) fn works(
    game: &mut Candy,
    asked: Question,
    answer: Action,
    sink: &mut impl Sink<Event>,
) {
    if let (Action::ChooseSeat(seat), Some(peel)) = (answer, asked.card.sets_aside()) {
        game.moves(asked.card, peel, Spot::Aside, Spot::Stash(seat), sink);
    }
}

#[cfg(test)]
mod tests {
    use crate::games::candy::tests::scene::Scene;

    #[test]
    fn the_peel_goes_into_another_players_stash() {
        Scene::new(&["banana", "peanut-chew", "fruit-chew"]).plays(
            "
            0 plays banana
            1 plays peanut-chew
            2 plays fruit-chew -> banana asks 0
            0 declines: must_choose
            0 chooses seat 0: not_a_choice
            0 chooses seat 2
                -> banana-peel to stash 2; banana works; 1 takes [fruit-chew peanut-chew banana];
                   1 leads
        ",
        );
        Scene::new(&["banana", "peanut-chew"]).last_trick().plays(
            "
            0 plays banana
            1 plays peanut-chew
                -> banana-peel to stash 1; banana works; 1 takes [peanut-chew banana]; points 0 0;
                   dealt
        ",
        );
    }

    #[test]
    fn it_finds_nothing_while_the_peel_is_out() {
        Scene::new(&["banana", "peanut-chew"]).stash(0, "banana-peel").plays(
            "
            0 plays banana
            1 plays peanut-chew -> banana finds nothing; 1 takes [peanut-chew banana]; 1 leads
        ",
        );
        Scene::new(&["banana", "peanut-chew"]).leftover("banana-peel").plays(
            "
            0 plays banana
            1 plays peanut-chew -> banana finds nothing; 1 takes [peanut-chew banana]; 1 leads
        ",
        );
    }

    #[test]
    fn face_down_it_works_even_if_it_has_left_the_trick() {
        Scene::new(&["flashlight-tag", "banana", "hole-in-the-bag"]).plays(
            "
            0 plays flashlight-tag
            1 plays banana
            2 plays hole-in-the-bag
                -> face down; banana revealed; hole-in-the-bag revealed; 2 picks
            2 picks hole-in-the-bag
            2 chooses banana -> banana to leftovers; hole-in-the-bag works; banana asks 1
            1 chooses seat 0
                -> banana-peel to stash 0; banana works; 2 takes [hole-in-the-bag flashlight-tag];
                   2 leads
        ",
        );
    }

    #[test]
    fn the_peel_can_be_taken_only_from_the_next_trick_on() {
        let hands = ["banana", "sticky-fingers", "tropical-nougat-bar"];
        Scene::new(&hands).stash(2, "fruit-chew").plays(
            "
            0 plays banana
            1 plays sticky-fingers
            2 plays tropical-nougat-bar
            2 picks sticky-fingers
            1 chooses fruit-chew -> fruit-chew to stash 1; sticky-fingers works; banana asks 0
            0 chooses seat 2
                -> banana-peel to stash 2; banana works;
                   2 takes [tropical-nougat-bar sticky-fingers banana]; 2 leads
        ",
        );
    }

    #[test]
    fn a_peel_that_comes_into_a_hand_is_a_prank_like_any_other() {
        Scene::new(&["banana-peel", "coconut-bar", "fruit-chew"]).plays(
            "
            0 plays banana-peel
            1 plays coconut-bar
            2 plays fruit-chew -> 1 takes [fruit-chew coconut-bar banana-peel]; 0 leads
        ",
        );
    }
}
