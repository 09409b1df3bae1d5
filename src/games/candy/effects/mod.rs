//! What cards do beside rank and suits: one file an effect, with its tests.
//!
//! A card in `cards.json` names its effect by id; the file of that name holds the effect. This
//! module says only when each effect has its turn and hands over to its file. A new effect is a
//! file, a line in each of the lists that the compiler asks for, and its card in the data.

mod banana;
mod bobbing;
mod bon_bombs;
mod candy_check;
mod candy_lockjaw;
mod double_dip;
mod fair_trade;
mod flashlight_tag;
mod grab_bags;
mod hole_in_the_bag;
mod known_allergens;
mod leftover_candy;
mod lollipops;
mod marshmallow_test;
mod party_favors;
mod pin_the_tail;
mod possible_allergens;
mod share_size;
mod sticky_fingers;
mod sugar_rush;
mod sweet_tooth;
mod weird_tasting_punch;

use super::question::{Question, Source, Turn};
use super::trick::{Later, Play};
use super::{Action, Candy, Event};
use crate::rules::Sink;

/// What a card does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "each is documented in the file of its name")]
pub enum Effect {
    Lollipops,
    DoubleDip,
    SweetTooth,
    GrabBags,
    LeftoverCandy,
    Bobbing,
    PinTheTail,
    StickyFingers,
    FairTrade,
    HoleInTheBag,
    PartyFavors,
    CandyCheck,
    SugarRush,
    FlashlightTag,
    WeirdTastingPunch,
    ShareSize,
    Banana,
    KnownAllergens,
    PossibleAllergens,
    MarshmallowTest,
    CandyLockjaw,
    BonBombs,
}

/// When an effect has its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Timing {
    /// As soon as its card lies face up: before the next card is played, or as it is revealed.
    Immediate,
    /// While later cards are played to the same trick; nothing for a card played face down.
    LaterCards,
    /// When the winner is found.
    Winner,
    /// In an order that the winner picks, before the trick is taken.
    AfterTrick,
    /// When the trick is taken.
    TrickTaken,
    /// When the hand is scored, however the card was played.
    HandEnd,
}

impl Effect {
    /// All effects, in the order of their cards.
    pub const ALL: [Self; 22] = [
        Self::Lollipops,
        Self::DoubleDip,
        Self::SweetTooth,
        Self::GrabBags,
        Self::LeftoverCandy,
        Self::Bobbing,
        Self::PinTheTail,
        Self::StickyFingers,
        Self::FairTrade,
        Self::HoleInTheBag,
        Self::PartyFavors,
        Self::CandyCheck,
        Self::SugarRush,
        Self::FlashlightTag,
        Self::WeirdTastingPunch,
        Self::ShareSize,
        Self::Banana,
        Self::KnownAllergens,
        Self::PossibleAllergens,
        Self::MarshmallowTest,
        Self::CandyLockjaw,
        Self::BonBombs,
    ];

    /// The stable id, as in the card data.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Self::Lollipops => "lollipops",
            Self::DoubleDip => "double_dip",
            Self::SweetTooth => "sweet_tooth",
            Self::GrabBags => "grab_bags",
            Self::LeftoverCandy => "leftover_candy",
            Self::Bobbing => "bobbing",
            Self::PinTheTail => "pin_the_tail",
            Self::StickyFingers => "sticky_fingers",
            Self::FairTrade => "fair_trade",
            Self::HoleInTheBag => "hole_in_the_bag",
            Self::PartyFavors => "party_favors",
            Self::CandyCheck => "candy_check",
            Self::SugarRush => "sugar_rush",
            Self::FlashlightTag => "flashlight_tag",
            Self::WeirdTastingPunch => "weird_tasting_punch",
            Self::ShareSize => "share_size",
            Self::Banana => "banana",
            Self::KnownAllergens => "known_allergens",
            Self::PossibleAllergens => "possible_allergens",
            Self::MarshmallowTest => "marshmallow_test",
            Self::CandyLockjaw => "candy_lockjaw",
            Self::BonBombs => "bon_bombs",
        }
    }

    /// The effect of this id.
    #[must_use]
    pub fn from_id(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|effect| effect.id() == id)
    }

    /// When it has its turn.
    #[must_use]
    pub const fn timing(self) -> Timing {
        match self {
            Self::LeftoverCandy | Self::WeirdTastingPunch => Timing::Immediate,
            Self::GrabBags | Self::FlashlightTag | Self::CandyLockjaw => Timing::LaterCards,
            Self::Bobbing | Self::PinTheTail => Timing::Winner,
            Self::SweetTooth
            | Self::StickyFingers
            | Self::FairTrade
            | Self::HoleInTheBag
            | Self::PartyFavors
            | Self::CandyCheck
            | Self::ShareSize
            | Self::Banana
            | Self::KnownAllergens
            | Self::PossibleAllergens
            | Self::MarshmallowTest
            | Self::BonBombs => Timing::AfterTrick,
            Self::DoubleDip | Self::SugarRush => Timing::TrickTaken,
            Self::Lollipops => Timing::HandEnd,
        }
    }

    /// [`Timing::LaterCards`]: what it demands of later cards.
    pub(super) fn demands(self, later: &mut Later) {
        match self {
            Self::GrabBags => grab_bags::demands(later),
            Self::FlashlightTag => flashlight_tag::demands(later),
            Self::CandyLockjaw => candy_lockjaw::demands(later),
            _ => {}
        }
    }

    /// Whether it says who wins: [`Timing::Winner`].
    pub(super) fn decides_the_winner(self) -> bool {
        self.timing() == Timing::Winner
    }

    /// [`Timing::Winner`]: the place of the play that wins.
    pub(super) fn winner(self, plays: &[Play]) -> Option<usize> {
        match self {
            Self::Bobbing => bobbing::winner(plays),
            Self::PinTheTail => pin_the_tail::winner(plays),
            _ => None,
        }
    }

    /// The effect that must have had its turn before this one.
    pub(super) const fn waits_for(self) -> Option<Self> {
        match self {
            Self::PossibleAllergens => Some(possible_allergens::WAITS_FOR),
            _ => None,
        }
    }

    /// [`Timing::TrickTaken`]: how many more tricks the trick counts for.
    pub(super) const fn extra_tricks(self) -> u8 {
        match self {
            Self::DoubleDip => double_dip::EXTRA_TRICKS,
            _ => 0,
        }
    }

    /// [`Timing::TrickTaken`]: whether who played it leads next.
    pub(super) const fn leads_next(self) -> bool {
        matches!(self, Self::SugarRush)
    }

    /// [`Timing::HandEnd`]: what it is worth in a stash.
    pub(super) const fn points(self) -> u8 {
        match self {
            Self::Lollipops => lollipops::POINTS,
            _ => 0,
        }
    }

    /// Whether a card is set aside for it.
    pub(super) const fn needs_a_card_set_aside(self) -> bool {
        matches!(self, Self::Banana)
    }

    /// [`Timing::Immediate`] and [`Timing::AfterTrick`]: begins its turn.
    pub(super) fn begins(self, game: &mut Candy, me: Source, sink: &mut impl Sink<Event>) -> Turn {
        match self {
            Self::SweetTooth => sweet_tooth::begins(game, me),
            Self::LeftoverCandy => leftover_candy::begins(game, me, sink),
            Self::StickyFingers => sticky_fingers::begins(game, me),
            Self::FairTrade => fair_trade::begins(game, me),
            Self::HoleInTheBag => hole_in_the_bag::begins(game, me),
            Self::PartyFavors => party_favors::begins(game, me, sink),
            Self::CandyCheck => candy_check::begins(game, me, sink),
            Self::WeirdTastingPunch => weird_tasting_punch::begins(game, me, sink),
            Self::ShareSize => share_size::begins(game, me),
            Self::Banana => banana::begins(game, me),
            Self::KnownAllergens => known_allergens::begins(game, me),
            Self::PossibleAllergens => possible_allergens::begins(game, me, sink),
            Self::MarshmallowTest => marshmallow_test::begins(game, me),
            Self::BonBombs => bon_bombs::begins(game, me),
            Self::Lollipops
            | Self::DoubleDip
            | Self::GrabBags
            | Self::Bobbing
            | Self::PinTheTail
            | Self::SugarRush
            | Self::FlashlightTag
            | Self::CandyLockjaw => Turn::Nothing,
        }
    }

    /// Carries out an answer to what it asked, if it is not declined.
    pub(super) fn works(
        self,
        game: &mut Candy,
        asked: Question,
        answer: Action,
        sink: &mut impl Sink<Event>,
    ) {
        match self {
            Self::SweetTooth => sweet_tooth::works(game, asked, answer, sink),
            Self::LeftoverCandy => leftover_candy::works(game, asked, answer, sink),
            Self::StickyFingers => sticky_fingers::works(game, asked, answer, sink),
            Self::FairTrade => fair_trade::works(game, asked, answer, sink),
            Self::HoleInTheBag => hole_in_the_bag::works(game, asked, answer, sink),
            Self::ShareSize => share_size::works(game, asked, answer, sink),
            Self::Banana => banana::works(game, asked, answer, sink),
            Self::KnownAllergens => known_allergens::works(game, asked, answer, sink),
            Self::MarshmallowTest => marshmallow_test::works(game, asked, answer, sink),
            Self::BonBombs => bon_bombs::works(game, asked, answer, sink),
            Self::Lollipops
            | Self::DoubleDip
            | Self::GrabBags
            | Self::Bobbing
            | Self::PinTheTail
            | Self::PartyFavors
            | Self::CandyCheck
            | Self::SugarRush
            | Self::FlashlightTag
            | Self::WeirdTastingPunch
            | Self::PossibleAllergens
            | Self::CandyLockjaw => {}
        }
    }
}
