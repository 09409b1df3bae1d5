//! Declaring to win no trick: the rulebook's variant "The Cherry On Top".
//!
//! Every seat that has a card for it left answers before the first lead of a round. An answer is
//! final; what it was, nobody sees before the last one is in.

use serde::{Deserialize, Serialize};

use super::{Event, Neapolitan, Options};
use crate::rules::{Refusal, Seat, SeatSet, Sink};

pub(super) const TIME_TO_DECLARE: Refusal = Refusal::new(
    "time_to_declare",
    "before the first lead, each seat that still can says whether it declares",
);

/// The answers of a round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Declarations {
    /// Who was asked in this round.
    asked: SeatSet,
    /// Who has not answered yet.
    awaited: SeatSet,
    /// Who declared: a secret as long as anyone is awaited.
    declared: SeatSet,
}

/// How a seat stands to the declarations of a round, as everyone sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Declaration {
    /// It was not asked, as it has no declaration left or the variant is not played.
    #[default]
    NotAsked,
    /// It has not answered yet.
    Awaited,
    /// It has answered; what, comes to light with the last answer.
    Answered,
    /// It declared to win no trick in this round.
    Declared,
    /// It declined.
    Declined,
}

impl Declarations {
    /// Asks these seats.
    pub(super) fn ask(asked: SeatSet) -> Self {
        Self { asked, awaited: asked, declared: SeatSet::EMPTY }
    }

    pub(super) fn asked(self) -> SeatSet {
        self.asked
    }

    pub(super) fn awaited(self) -> SeatSet {
        self.awaited
    }

    /// Whether the seat has declared, as everyone knows.
    pub(super) fn has_declared(self, seat: Seat) -> bool {
        self.of(seat) == Declaration::Declared
    }

    /// What everyone sees of the seat's answer.
    pub(super) fn of(self, seat: Seat) -> Declaration {
        if !self.asked.contains(seat) {
            Declaration::NotAsked
        } else if self.awaited.contains(seat) {
            Declaration::Awaited
        } else if !self.awaited.is_empty() {
            Declaration::Answered
        } else if self.declared.contains(seat) {
            Declaration::Declared
        } else {
            Declaration::Declined
        }
    }

    /// The answer that the seat gave in this round, for that seat alone.
    pub(super) fn own_answer(self, seat: Seat) -> Option<bool> {
        let answered = self.asked.contains(seat) && !self.awaited.contains(seat);
        answered.then(|| self.declared.contains(seat))
    }

    /// Takes the answer of a seat that is awaited.
    fn answer(&mut self, seat: Seat, declares: bool) {
        self.awaited.remove(seat);
        if declares {
            self.declared.insert(seat);
        }
    }

    /// The same answers, but those of the given seats, which have answered, drawn anew.
    #[cfg(test)]
    pub(super) fn redrawn(mut self, seats: SeatSet, mut declares: impl FnMut() -> bool) -> Self {
        for seat in seats.iter() {
            self.declared.remove(seat);
            if declares() {
                self.declared.insert(seat);
            }
        }
        self
    }
}

/// How often each seat may declare in a match.
pub(super) fn declarations_a_match(options: Options) -> u8 {
    match (options.cherry_on_top, options.more_scoops) {
        (false, _) => 0,
        (true, false) => 1,
        (true, true) => 2,
    }
}

impl Neapolitan {
    /// The seats that can declare in a round that begins.
    pub(super) fn can_declare(&self) -> SeatSet {
        self.seats.iter().filter(|&seat| self.cherries[seat] > 0).collect()
    }

    /// Takes an answer; the last one brings all of them to light.
    pub(super) fn answer(&mut self, seat: Seat, declares: bool, sink: &mut impl Sink<Event>) {
        self.declarations.answer(seat, declares);
        sink.report(|| Event::Answered { seat, declares });
        if !self.declarations.awaited.is_empty() {
            return;
        }
        let Declarations { asked, declared, .. } = self.declarations;
        for seat in declared.iter() {
            self.cherries[seat] -= 1;
        }
        sink.report(|| Event::Revealed {
            declared,
            declined: asked.iter().filter(|&seat| !declared.contains(seat)).collect(),
        });
    }
}
