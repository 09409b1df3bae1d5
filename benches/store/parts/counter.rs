//! A game in which every seat may always act, so that any number of writers can want the same match.

use std::sync::LazyLock;

use parlor::rules::{
    BadOption, Catalog, Game, Outcome, Refusal, Seat, SeatCount, SeatSet, Seed, Setup, Sink, Viewer,
};
use serde::{Deserialize, Serialize};

/// How often it was acted in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Counter {
    seats: SeatCount,
    count: u64,
}

static CATALOG: LazyLock<Catalog> = LazyLock::new(|| Catalog {
    id: "counter",
    name: "Counter",
    summary: "Everyone counts.",
    rules_version: 1,
    seats: 1..=6,
    options: Vec::new(),
    cards: Vec::new(),
    actions: Vec::new(),
    refusals: Vec::new(),
    achievements: Vec::new(),
    outcomes: Vec::new(),
});

impl Game for Counter {
    type Options = ();
    type Action = ();
    type Event = ();
    type Seen = ();
    type View = ();

    fn check((): &(), _: SeatCount) -> Vec<BadOption> {
        Vec::new()
    }

    fn catalog((): &()) -> &'static Catalog {
        &CATALOG
    }

    fn kind((): &()) -> &'static str {
        "count"
    }

    fn start(setup: &Setup<()>, _: &Seed, _: &mut impl Sink<()>) -> Self {
        Self { seats: setup.seats(), count: 0 }
    }

    fn redeal(_: &Setup<()>, _: &Seed, _: u32, _: &mut impl Sink<()>) {}

    fn to_act(&self) -> SeatSet {
        SeatSet::all(self.seats)
    }

    fn legal(&self, _: Seat, into: &mut Vec<()>) {
        into.push(());
    }

    fn play(&mut self, _: Seat, (): &(), _: &mut impl Sink<()>) -> Result<(), Refusal> {
        self.count += 1;
        Ok(())
    }

    fn outcome(&self) -> Option<Outcome> {
        None
    }

    fn view(&self, _: Viewer) {}

    fn seen((): &(), _: Viewer) -> Option<()> {
        Some(())
    }
}
