//! Why a game does not accept an action.

/// The rule that an action breaks.
///
/// Each game declares its refusals as constants, named like the rule, and lists them in its
/// catalog. Text and id are constant, so that neither can tell anything about hidden cards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Refusal {
    /// The stable name of the rule, unique in its game.
    pub rule: &'static str,
    /// The rule in a sentence, for a player.
    pub text: &'static str,
}

impl Refusal {
    /// It is not for this seat to answer now. Every game has this refusal.
    pub const NOT_TO_ACT: Self = Self::new("not_to_act", "it is not for this seat to answer now");

    /// A refusal with the stable name of its rule and a sentence for the player.
    #[must_use]
    pub const fn new(rule: &'static str, text: &'static str) -> Self {
        Self { rule, text }
    }
}
