//! An effect's turn: it begins, may ask, and works, whichever effect it is.

use super::question::{Question, Source, Turn};
use super::{Action, Candy, EffectResult, Event};
use crate::rules::{Refusal, Sink};

impl Candy {
    /// Gives an effect its turn; what it asks waits for an answer, unless only one is possible.
    pub(super) fn give_turn(&mut self, me: Source, sink: &mut impl Sink<Event>) {
        let Some(effect) = me.card.effect() else { return };
        match effect.begins(self, me, sink) {
            Turn::Nothing => report_effect(me, EffectResult::Nothing, sink),
            Turn::Done => report_effect(me, EffectResult::Worked, sink),
            Turn::Asks(question) => match question.only_answer(self.hands[question.seat]) {
                Some(answer) => self.carry_out(question, answer, sink),
                None => self.asked = Some(question),
            },
        }
    }

    /// Takes an answer to what an effect asks.
    pub(super) fn answer(
        &mut self,
        question: Question,
        answer: Action,
        sink: &mut impl Sink<Event>,
    ) -> Result<(), Refusal> {
        question.check(answer, self.hands[question.seat])?;
        self.asked = None;
        self.carry_out(question, answer, sink);
        Ok(())
    }

    fn carry_out(&mut self, question: Question, answer: Action, sink: &mut impl Sink<Event>) {
        if let Some(effect) = question.card.effect() {
            effect.works(self, question, answer, sink);
        }
        let result =
            if answer == Action::Decline { EffectResult::Declined } else { EffectResult::Worked };
        let me = Source { card: question.card, seat: question.seat };
        report_effect(me, result, sink);
    }
}

/// Reports what came of an effect's turn.
pub(super) fn report_effect(
    Source { card, seat }: Source,
    result: EffectResult,
    sink: &mut impl Sink<Event>,
) {
    sink.report(|| Event::Effect { card, seat, result });
}
