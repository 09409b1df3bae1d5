//! Keeping a Flavor, and playing cards to a trick: the rulebook's "Hand Gameplay Breakdown".

use super::effects::Timing;
use super::question::Source;
use super::trick::{Play, Side};
use super::turns::report_effect;
use super::{Action, Candy, EffectResult, Event, Stage};
use crate::rules::{Refusal, Seat, SeatSet, Sink};

pub(super) const TIME_TO_KEEP: Refusal =
    Refusal::new("time_to_keep", "it is time to keep one of the three Flavors");
pub(super) const NOT_DEALT: Refusal =
    Refusal::new("not_dealt", "this Flavor is not one of the three dealt");
pub(super) const TIME_TO_PLAY: Refusal =
    Refusal::new("time_to_play", "it is time to play a card to the trick");
pub(super) const NOT_IN_HAND: Refusal = Refusal::new("not_in_hand", "this card is not in the hand");
pub(super) const FOLLOW_SUIT: Refusal = Refusal::new(
    "follow_suit",
    "a Treat must share a suit with the trick while a Treat of the hand does",
);

impl Candy {
    /// Who has not kept a Flavor yet.
    pub(super) fn still_to_keep(&self) -> SeatSet {
        self.seats.iter().filter(|&seat| self.kept[seat].is_none()).collect()
    }

    pub(super) fn keep(
        &mut self,
        seat: Seat,
        action: Action,
        sink: &mut impl Sink<Event>,
    ) -> Result<(), Refusal> {
        let Action::Keep(flavor) = action else { return Err(TIME_TO_KEEP) };
        if !self.flavors[seat].contains(&flavor) {
            return Err(NOT_DEALT);
        }
        self.kept[seat] = Some(flavor);
        sink.report(|| Event::FlavorKept { seat, flavor });
        if self.still_to_keep().is_empty() {
            self.stage = Stage::Playing;
        }
        Ok(())
    }

    pub(super) fn play_card(
        &mut self,
        seat: Seat,
        action: Action,
        sink: &mut impl Sink<Event>,
    ) -> Result<(), Refusal> {
        let Action::Play(card) = action else { return Err(TIME_TO_PLAY) };
        let hand = self.hands[seat];
        if !hand.contains(card) {
            return Err(NOT_IN_HAND);
        }
        if !self.trick.playable(hand).contains(card) {
            return Err(FOLLOW_SUIT);
        }
        let side = self.trick.next_side();
        let down = side != Side::Up;
        let play = Play { seat, card, side, down, lies: Some(card), buried: false };
        self.trick.later.next_mute = false;
        self.trick.plays.push(play);
        self.hands[seat].remove(card);
        sink.report(|| Event::Played { seat, card, side });
        if !down {
            self.lies_face_up(play, sink);
        }
        Ok(())
    }

    /// What a card does as it comes to lie face up.
    pub(super) fn lies_face_up(&mut self, play: Play, sink: &mut impl Sink<Event>) {
        let Some(effect) = play.card.effect() else { return };
        let me = Source { card: play.card, seat: play.seat };
        match effect.timing() {
            Timing::HandEnd => {}
            _ if play.side == Side::Mute => report_effect(me, EffectResult::Mute, sink),
            Timing::Immediate => self.give_turn(me, sink),
            Timing::LaterCards => {
                let works = play.side == Side::Up && self.trick.plays.len() < self.seats.size();
                if works {
                    effect.demands(&mut self.trick.later);
                }
                let result = if works { EffectResult::Worked } else { EffectResult::Nothing };
                report_effect(me, result, sink);
            }
            Timing::Winner | Timing::AfterTrick | Timing::TrickTaken => {}
        }
    }
}
