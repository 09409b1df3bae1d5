//! The course of a trick once cards lie in it: revealing, the winner, the order of effects, and
//! taking the trick.

use super::effects::{Effect, Timing};
use super::question::Source;
use super::trick::{Play, Trick};
use super::turns::report_effect;
use super::{Action, Candy, EffectResult, Ending, Event, Stage, options};
use crate::rules::{ACTION_LIMIT, Refusal, Sink};

pub(super) const TIME_TO_RESOLVE: Refusal =
    Refusal::new("time_to_resolve", "it is time to say which effect is next");
pub(super) const NOT_WAITING: Refusal =
    Refusal::new("not_waiting", "no effect of this card waits for its turn");
pub(super) const OTHER_FIRST: Refusal =
    Refusal::new("other_first", "another effect must come before this one");

impl Candy {
    /// Takes all steps that nobody is asked about, until somebody is or the match is over.
    pub(super) fn go_on(&mut self, sink: &mut impl Sink<Event>) {
        while self.asked.is_none() {
            match self.stage {
                Stage::Flavors | Stage::Over(_) => break,
                Stage::Playing if self.trick.plays.len() < self.seats.size() => break,
                Stage::Playing => self.stage = Stage::Revealing,
                Stage::Revealing => self.reveal_next(sink),
                Stage::Resolving => {
                    if !self.resolve_next(sink) {
                        break;
                    }
                }
            }
        }
        if self.actions >= ACTION_LIMIT && !matches!(self.stage, Stage::Over(_)) {
            self.asked = None;
            self.end(Ending::ActionLimit, sink);
        }
    }

    /// Reveals the first card that lies face down; once there is none, finds the winner.
    fn reveal_next(&mut self, sink: &mut impl Sink<Event>) {
        let Some(play) = self.trick.plays.iter_mut().find(|play| play.down) else {
            self.find_winner(sink);
            return;
        };
        play.down = false;
        let play = *play;
        sink.report(|| Event::Revealed { seat: play.seat, card: play.card, side: play.side });
        self.lies_face_up(play, sink);
    }

    /// Says who wins, and which effects wait for their turn.
    fn find_winner(&mut self, sink: &mut impl Sink<Event>) {
        let decider = self.trick.decider().map(|(card, _)| card);
        for place in 0..self.trick.plays.len() {
            let play = self.trick.plays[place];
            match play.effect().map(Effect::timing) {
                Some(Timing::AfterTrick) => self.trick.pending |= 1 << place,
                Some(Timing::Winner) => {
                    let counts = decider == Some(play.card);
                    let result = if counts { EffectResult::Worked } else { EffectResult::Nothing };
                    let me = Source { card: play.card, seat: play.seat };
                    report_effect(me, result, sink);
                }
                _ => {}
            }
        }
        self.trick.winner = Some(self.trick.winning_play().seat);
        self.stage = Stage::Resolving;
    }

    /// Takes the winner's word on which effect is next.
    pub(super) fn pick_effect(
        &mut self,
        action: Action,
        sink: &mut impl Sink<Event>,
    ) -> Result<(), Refusal> {
        let Action::Resolve(card) = action else { return Err(TIME_TO_RESOLVE) };
        let is_it = |play: &&Play| play.card == card;
        let Some(play) = self.trick.waiting().find(is_it).copied() else {
            return Err(NOT_WAITING);
        };
        if !self.trick.ready().any(|ready| ready.card == card) {
            return Err(OTHER_FIRST);
        }
        sink.report(|| Event::Picked { card });
        self.resolve(play, sink);
        Ok(())
    }

    /// Gives the only effect that can be next its turn or, when none is left, the winner the trick;
    /// false if the winner has to pick.
    fn resolve_next(&mut self, sink: &mut impl Sink<Event>) -> bool {
        let (first, second) = {
            let mut ready = self.trick.ready().copied();
            (ready.next(), ready.next())
        };
        match (first, second) {
            (None, _) => self.take_trick(sink),
            (Some(play), None) => self.resolve(play, sink),
            (Some(_), Some(_)) => return false,
        }
        true
    }

    fn resolve(&mut self, play: Play, sink: &mut impl Sink<Event>) {
        self.trick.no_longer_waits(play.card);
        self.give_turn(Source { card: play.card, seat: play.seat }, sink);
    }

    /// Gives the winner the trick and what lies beside it, and goes on to the next trick or the end
    /// of the hand.
    fn take_trick(&mut self, sink: &mut impl Sink<Event>) {
        let winner = self.trick.winner.unwrap_or(self.trick.leader);
        for place in 0..self.trick.plays.len() {
            let play = self.trick.plays[place];
            if play.effect().is_some_and(|effect| effect.timing() == Timing::TrickTaken) {
                let me = Source { card: play.card, seat: play.seat };
                report_effect(me, EffectResult::Worked, sink);
            }
        }
        let tricks = self.trick.worth();
        let cards = self.trick.cards() | self.beside;
        self.tricks[winner] += tricks;
        self.stashes[winner] |= cards;
        self.beside = std::mem::take(&mut self.held);
        self.last_trick = Some(self.trick.as_last(winner));
        self.completed += 1;
        let next = self.trick.next_leader(winner, self.seats);
        let over = usize::from(self.completed) == options::HAND;
        sink.report(|| Event::TrickTaken {
            winner,
            tricks,
            cards,
            next_leader: (!over).then_some(next),
        });
        self.trick = Trick::led_by(next);
        self.stage = Stage::Playing;
        if over {
            self.end_hand(sink);
        }
    }
}
