//! The registry: the one list of games.
//!
//! A game is a folder here, a proto file, one line in `registry!` below, and one arm in each of
//! the four messages of `games.proto`; an arm that is missing does not compile.
//!
//! The registry makes of all games one more, [`AnyGame`]: a sum that is itself a [`Game`], so that
//! whoever is generic over a game can serve them all.

pub mod candy;
pub mod neapolitan;
pub mod neon;
pub mod wire;

#[cfg(test)]
mod conformance;

use serde::{Deserialize, Serialize};

use crate::games::wire::{BadField, Wire};
use crate::proto;
use crate::rules::{
    BadOption, Catalog, Game, Mapped, Outcome, Refusal, Seat, SeatCount, SeatSet, Seed, Setup,
    Sink, Viewer,
};

/// The action is one of another game than this match's.
pub const OTHER_GAME: Refusal =
    Refusal::new("other_game", "this is an action of another game than the match's");

/// Something to do with a game that is known only when the program runs.
pub trait WithGame {
    /// What comes of it.
    type Output;

    /// Does it.
    fn with<G: Registered>(self) -> Self::Output;
}

/// What the registry asks of a game; in tests also that it can be tried.
#[cfg(not(test))]
pub trait Registered: Wire<Options: Default + Into<AnyOptions>> {}
#[cfg(not(test))]
impl<G: Wire<Options: Default + Into<AnyOptions>>> Registered for G {}
/// What the registry asks of a game; in tests also that it can be tried.
#[cfg(test)]
pub trait Registered: Wire<Options: Default + Into<AnyOptions>> + conformance::Trial {}
#[cfg(test)]
impl<G: Wire<Options: Default + Into<AnyOptions>> + conformance::Trial> Registered for G {}

/// Makes the sum of all games, one line a game: its id, its name in the sum and in the messages,
/// its type.
///
/// Stored matches hold a game's place in this list: new games go to the end.
macro_rules! registry {
    ($($id:literal: $Name:ident = $Type:ty;)+) => {
        /// A match of any game.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[expect(missing_docs, reason = "each is the game of that name")]
        #[expect(clippy::large_enum_variant, reason = "a state is held in place, not on the heap")]
        pub enum AnyGame { $($Name($Type),)+ }

        /// A game and its options.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[expect(missing_docs, reason = "each is the game of that name")]
        pub enum AnyOptions { $($Name(<$Type as Game>::Options),)+ }

        $(
            impl From<<$Type as Game>::Options> for AnyOptions {
                fn from(options: <$Type as Game>::Options) -> Self {
                    Self::$Name(options)
                }
            }
        )+

        /// An action of any game.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[expect(missing_docs, reason = "each is the game of that name")]
        pub enum AnyAction { $($Name(<$Type as Game>::Action),)+ }

        /// An event of any game.
        #[derive(Clone, Debug, PartialEq)]
        #[expect(missing_docs, reason = "each is the game of that name")]
        pub enum AnyEvent { $($Name(<$Type as Game>::Event),)+ }

        /// What a viewer sees of an event of any game.
        #[derive(Clone, Debug, PartialEq)]
        #[expect(missing_docs, reason = "each is the game of that name")]
        pub enum AnySeen { $($Name(<$Type as Game>::Seen),)+ }

        /// What a viewer sees of any game.
        #[derive(Clone, Debug, PartialEq)]
        #[expect(missing_docs, reason = "each is the game of that name")]
        #[expect(clippy::large_enum_variant, reason = "a view is made to be written at once")]
        pub enum AnyView { $($Name(<$Type as Game>::View),)+ }

        /// The ids of all games.
        pub const IDS: &[&str] = &[$($id),+];

        /// The catalogs of all games.
        pub fn catalogs() -> [&'static Catalog; IDS.len()] {
            [$(<$Type>::catalog(&<$Type as Game>::Options::default())),+]
        }

        /// Does something with the game of this id, if there is one.
        pub fn with_game<W: WithGame>(id: &str, work: W) -> Option<W::Output> {
            match id {
                $($id => Some(work.with::<$Type>()),)+
                _ => None,
            }
        }

        impl Game for AnyGame {
            type Options = AnyOptions;
            type Action = AnyAction;
            type Event = AnyEvent;
            type Seen = AnySeen;
            type View = AnyView;

            fn check(options: &AnyOptions, seats: SeatCount) -> Vec<BadOption> {
                match options {
                    $(AnyOptions::$Name(options) => <$Type>::check(options, seats),)+
                }
            }

            fn catalog(options: &AnyOptions) -> &'static Catalog {
                match options {
                    $(AnyOptions::$Name(options) => <$Type>::catalog(options),)+
                }
            }

            fn kind(action: &AnyAction) -> &'static str {
                match action { $(AnyAction::$Name(action) => <$Type>::kind(action),)+ }
            }

            fn start(setup: &Setup<AnyOptions>, seed: &Seed, sink: &mut impl Sink<AnyEvent>) -> Self {
                match setup.options() {
                    $(AnyOptions::$Name(options) => {
                        let mut sink = Mapped::new(sink, AnyEvent::$Name);
                        Self::$Name(<$Type>::start(&setup.inner(options.clone()), seed, &mut sink))
                    })+
                }
            }

            fn redeal(
                setup: &Setup<AnyOptions>,
                seed: &Seed,
                n: u32,
                sink: &mut impl Sink<AnyEvent>,
            ) {
                match setup.options() {
                    $(AnyOptions::$Name(options) => {
                        let mut sink = Mapped::new(sink, AnyEvent::$Name);
                        <$Type>::redeal(&setup.inner(options.clone()), seed, n, &mut sink);
                    })+
                }
            }

            fn to_act(&self) -> SeatSet {
                match self { $(Self::$Name(game) => game.to_act(),)+ }
            }

            fn legal(&self, seat: Seat, into: &mut Vec<AnyAction>) {
                match self {
                    $(Self::$Name(game) => {
                        let mut actions = Vec::new();
                        game.legal(seat, &mut actions);
                        into.extend(actions.into_iter().map(AnyAction::$Name));
                    })+
                }
            }

            fn play(
                &mut self,
                seat: Seat,
                action: &AnyAction,
                sink: &mut impl Sink<AnyEvent>,
            ) -> Result<(), Refusal> {
                match (self, action) {
                    $((Self::$Name(game), AnyAction::$Name(action)) => {
                        game.play(seat, action, &mut Mapped::new(sink, AnyEvent::$Name))
                    })+
                    _ => Err(OTHER_GAME),
                }
            }

            fn outcome(&self) -> Option<Outcome> {
                match self { $(Self::$Name(game) => game.outcome(),)+ }
            }

            fn view(&self, viewer: Viewer) -> AnyView {
                match self { $(Self::$Name(game) => AnyView::$Name(game.view(viewer)),)+ }
            }

            fn seen(event: &AnyEvent, viewer: Viewer) -> Option<AnySeen> {
                match event {
                    $(AnyEvent::$Name(event) => <$Type>::seen(event, viewer).map(AnySeen::$Name),)+
                }
            }
        }

        impl Wire for AnyGame {
            type OptionsMessage = proto::GameOptions;
            type ActionMessage = proto::GameAction;
            type EventMessage = proto::GameEvent;
            type ViewMessage = proto::GameView;

            fn read_options(message: &proto::GameOptions) -> Result<AnyOptions, BadField> {
                use proto::game_options::Game as Arm;
                match &message.game {
                    $(Some(Arm::$Name(options)) => <$Type>::read_options(options)
                        .map(AnyOptions::$Name)
                        .map_err(|bad| bad.within($id)),)+
                    None => Err(BadField::new("game", "not set, or a game this server does not have")),
                }
            }

            fn write_options(options: &AnyOptions) -> proto::GameOptions {
                use proto::game_options::Game as Arm;
                let game = match options {
                    $(AnyOptions::$Name(options) => Arm::$Name(<$Type>::write_options(options)),)+
                };
                proto::GameOptions { game: Some(game) }
            }

            fn read_action(message: &proto::GameAction) -> Result<AnyAction, BadField> {
                use proto::game_action::Game as Arm;
                match &message.game {
                    $(Some(Arm::$Name(action)) => <$Type>::read_action(action)
                        .map(AnyAction::$Name)
                        .map_err(|bad| bad.within($id)),)+
                    None => Err(BadField::new("game", "not set, or a game this server does not have")),
                }
            }

            fn write_action(action: &AnyAction) -> proto::GameAction {
                use proto::game_action::Game as Arm;
                let game = match action {
                    $(AnyAction::$Name(action) => Arm::$Name(<$Type>::write_action(action)),)+
                };
                proto::GameAction { game: Some(game) }
            }

            fn write_event(seen: &AnySeen) -> proto::GameEvent {
                use proto::game_event::Game as Arm;
                let game = match seen {
                    $(AnySeen::$Name(seen) => Arm::$Name(<$Type>::write_event(seen)),)+
                };
                proto::GameEvent { game: Some(game) }
            }

            fn is_deal(event: &proto::GameEvent) -> bool {
                use proto::game_event::Game as Arm;
                match &event.game {
                    $(Some(Arm::$Name(event)) => <$Type>::is_deal(event),)+
                    None => false,
                }
            }

            fn write_view(view: &AnyView) -> proto::GameView {
                use proto::game_view::Game as Arm;
                let game = match view {
                    $(AnyView::$Name(view) => Arm::$Name(<$Type>::write_view(view)),)+
                };
                proto::GameView { game: Some(game) }
            }
        }
    };
}

registry! {
    "neon": Neon = neon::Neon;
    "neapolitan": Neapolitan = neapolitan::Neapolitan;
    "candy": Candy = candy::Candy;
}
