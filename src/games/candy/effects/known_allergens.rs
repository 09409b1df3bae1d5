//! `known_allergens`: after the trick, you name any of the ten suits; every card in the trick with it
//! goes to the bottom of the leftover stash, in playing order. Skipped if no card in the trick has a
//! suit.

use super::super::question::{Choice, Question, Source, Turn};
use super::super::{Action, Candy, Event};
use crate::rules::Sink;

pub(super) fn begins(game: &Candy, me: Source) -> Turn {
    if game.trick.suits().is_empty() {
        return Turn::Nothing;
    }
    Turn::must(me.seat, me.card, Choice::Suit)
}

pub(super) fn works(
    game: &mut Candy,
    asked: Question,
    answer: Action,
    sink: &mut impl Sink<Event>,
) {
    if let Action::Name(suit) = answer {
        sink.report(|| Event::Named { card: asked.card, suit });
        game.buries(asked.card, |card| card.suits().contains(suit), sink);
    }
}

#[cfg(test)]
mod tests {
    use crate::games::candy::tests::scene::Scene;

    #[test]
    fn every_card_with_the_named_suit_leaves_the_trick_in_playing_order() {
        let hands = ["known-allergens", "salted-nut-roll", "fruit-chew"];
        let scene = Scene::new(&hands).leftover("coconut-kiss").plays(
            "
            0 plays known-allergens
            1 plays salted-nut-roll
            2 plays fruit-chew -> known-allergens asks 0
            0 declines: must_choose
            0 chooses fruit-chew: time_to_answer
            0 names peanut
                -> known-allergens to leftovers; salted-nut-roll to leftovers;
                   known-allergens works; 1 takes [fruit-chew]; 1 leads
        ",
        );
        assert_eq!(scene.leftovers(), "coconut-kiss known-allergens salted-nut-roll");
        Scene::new(&["known-allergens", "coconut-bar"]).plays(
            "
            0 plays known-allergens
            1 plays coconut-bar
            0 names mint -> known-allergens works; 1 takes [coconut-bar known-allergens]; 1 leads
        ",
        );
    }

    #[test]
    fn it_finds_nothing_once_no_card_of_the_trick_has_a_suit() {
        Scene::new(&["known-allergens", "sweet-tooth", "candy-check"]).plays(
            "
            0 plays known-allergens
            1 plays sweet-tooth
            2 plays candy-check
            2 picks sweet-tooth
            1 chooses known-allergens -> known-allergens to stash 1; sweet-tooth works; 2 picks
            2 picks known-allergens
                -> known-allergens finds nothing; candy-check finds nothing;
                   2 takes [sweet-tooth candy-check]; 2 leads
        ",
        );
    }

    #[test]
    fn an_emptied_trick_still_counts() {
        Scene::new(&["known-allergens", "peanut-chew"]).last_trick().plays(
            "
            0 plays known-allergens
            1 plays peanut-chew
            0 names peanut
                -> known-allergens to leftovers; peanut-chew to leftovers; known-allergens works;
                   1 takes []; points 0 1; dealt
        ",
        );
    }

    #[test]
    fn face_down_it_works_once_all_is_revealed() {
        Scene::new(&["flashlight-tag", "known-allergens"]).plays(
            "
            0 plays flashlight-tag
            1 plays known-allergens -> face down; known-allergens revealed; known-allergens asks 1
            1 names peanut
                -> known-allergens to leftovers; known-allergens works; 1 takes [flashlight-tag];
                   1 leads
        ",
        );
    }

    #[test]
    fn beside_a_fair_trade_the_order_matters() {
        Scene::new(&["known-allergens", "fair-trade"]).stash(1, "peanut-chew").plays(
            "
            0 plays known-allergens
            1 plays fair-trade
            1 picks known-allergens
            0 names peanut
                -> known-allergens to leftovers; known-allergens works; fair-trade finds nothing;
                   1 takes [fair-trade]; 1 leads
        ",
        );
        Scene::new(&["known-allergens", "fair-trade"]).stash(1, "peanut-chew").plays(
            "
            0 plays known-allergens
            1 plays fair-trade
            1 picks fair-trade
            1 swaps known-allergens for peanut-chew
                -> known-allergens to stash 1; peanut-chew into the trick; fair-trade works;
                   known-allergens asks 0
            0 names peanut
                -> peanut-chew to leftovers; known-allergens works; 1 takes [fair-trade]; 1 leads
        ",
        );
    }
}
