//! The contract of a game.

use std::fmt::Debug;

use serde::{Serialize, de::DeserializeOwned};

use crate::rules::{
    BadOption, Catalog, Outcome, Refusal, Seat, SeatCount, SeatSet, Seed, Setup, Sink, Viewer,
};

/// How many actions a match of a game without a bound of its own may take.
///
/// The last of them is carried out in full; unless it ends the match by the rules, the match then
/// ends without a winner and for the reason `action_limit`.
pub const ACTION_LIMIT: u32 = 10_000;

/// A game in progress: a state, and all that can be asked of it.
///
/// The value is the whole state. It is small and cheap to clone, and knows nothing of clocks,
/// networks or storage. Between actions at least one seat can act, until there is an outcome.
///
/// What a viewer gets is built up from nothing, as [`Game::View`] and [`Game::Seen`], types that
/// have no place for what must stay hidden; it is never the state with something blanked out.
pub trait Game:
    Clone + Debug + PartialEq + Serialize + DeserializeOwned + Send + Sync + 'static
{
    /// What is chosen when a match is created.
    type Options: Clone + Debug + PartialEq + Serialize + DeserializeOwned + Send + Sync + 'static;
    /// One answer of one seat.
    type Action: Clone + Debug + PartialEq + Serialize + DeserializeOwned + Send + Sync + 'static;
    /// Something that happened, with everything about it.
    type Event: Clone + Debug + PartialEq + Send + Sync + 'static;
    /// What one viewer sees of an event.
    type Seen: Clone + Debug + PartialEq + Send + Sync + 'static;
    /// What one viewer sees of the table.
    type View: Clone + Debug + PartialEq + Send + Sync + 'static;

    /// Everything wrong with these options for a table of so many seats; nothing if they are good.
    fn check(options: &Self::Options, seats: SeatCount) -> Vec<BadOption>;

    /// What frontends need to know of the game with these options.
    fn catalog(options: &Self::Options) -> &'static Catalog;

    /// The id of the action's kind in the catalog.
    fn kind(action: &Self::Action) -> &'static str;

    /// Sets up the table and makes deal 0.
    fn start(setup: &Setup<Self::Options>, seed: &Seed, sink: &mut impl Sink<Self::Event>) -> Self;

    /// Reports the events of deal `n` of a match with this seed, whatever was played before it:
    /// exactly those that [`Game::start`] and [`Game::play`] reported for that deal.
    fn redeal(setup: &Setup<Self::Options>, seed: &Seed, n: u32, sink: &mut impl Sink<Self::Event>);

    /// The seats that have an answer to give. None when the match is over.
    fn to_act(&self) -> SeatSet;

    /// Appends every action that the seat may take now, each once, in an order that is documented
    /// and stable. Nothing for a seat that is not to act.
    fn legal(&self, seat: Seat, into: &mut Vec<Self::Action>);

    /// Takes one action, and everything that follows from it without asking.
    ///
    /// # Errors
    /// The rule that the action breaks. The state is then as it was, and nothing was reported.
    fn play(
        &mut self,
        seat: Seat,
        action: &Self::Action,
        sink: &mut impl Sink<Self::Event>,
    ) -> Result<(), Refusal>;

    /// How the match ended, once it has.
    fn outcome(&self) -> Option<Outcome>;

    /// What lies before the viewer now.
    fn view(&self, viewer: Viewer) -> Self::View;

    /// What the viewer sees of an event; nothing, if it must not even know that it happened.
    fn seen(event: &Self::Event, viewer: Viewer) -> Option<Self::Seen>;
}
