//! Random play over all options and numbers of seats.

use std::fmt::Write as _;

use super::{Suite, any_move, for_each_game, legal, seed};
use crate::games::Registered;
use crate::rules::{NoEvents, Refusal, SeatSet, Viewer};

/// Matches of each setup.
const MATCHES: u64 = 6;

#[test]
fn random_play_keeps_the_invariants_and_ends() {
    struct Plays;
    impl Suite for Plays {
        fn run<G: Registered>() {
            for (name, setup) in G::setups() {
                for number in 0..MATCHES {
                    let mut game = G::start(&setup, &seed(number), &mut NoEvents);
                    let mut chance = seed(number).deal(u32::MAX);
                    let mut actions = 0;
                    while game.outcome().is_none() {
                        game.check_invariants();
                        assert!(!game.to_act().is_empty(), "{name} seed {number}: nobody can act");
                        let (seat, action) = any_move(&game, &mut chance);
                        let kind = G::kind(&action);
                        let kinds = &G::catalog(setup.options()).actions;
                        assert!(kinds.iter().any(|known| known.id == kind), "{name}: {kind}");
                        game.play(seat, &action, &mut NoEvents).expect("a legal action");
                        actions += 1;
                        assert!(actions <= G::longest(), "{name} seed {number}: no end");
                    }
                    game.check_invariants();
                    assert_eq!(game.to_act(), SeatSet::EMPTY, "{name} seed {number}");
                    let outcome = game.outcome().expect("it is over");
                    let reasons = &G::catalog(setup.options()).outcomes;
                    assert!(reasons.iter().any(|reason| reason.id == outcome.reason));
                }
            }
        }
    }
    for_each_game::<Plays>();
}

#[test]
fn exactly_the_listed_actions_are_accepted_and_a_refusal_changes_nothing() {
    struct Accepts;
    impl Suite for Accepts {
        fn run<G: Registered>() {
            let mut refusals = std::collections::HashSet::new();
            for (name, setup) in G::setups() {
                let catalog = G::catalog(setup.options());
                let mut game = G::start(&setup, &seed(7), &mut NoEvents);
                let mut chance = seed(7).deal(u32::MAX);
                loop {
                    for seat in setup.seats().iter() {
                        let listed = legal(&game, seat);
                        let to_act = game.to_act().contains(seat);
                        assert_eq!(!listed.is_empty(), to_act, "{name}: who can act has actions");
                        for (i, action) in listed.iter().enumerate() {
                            assert!(!listed[..i].contains(action), "{name}: {action:?} twice");
                        }
                        let conceivable = game.conceivable(seat);
                        for action in conceivable.iter().chain(&listed) {
                            let mut after = game.clone();
                            let mut events = Vec::new();
                            match after.play(seat, action, &mut events) {
                                Ok(()) => assert!(
                                    listed.contains(action),
                                    "{name}: {action:?} of seat {seat} is accepted but not listed"
                                ),
                                Err(refusal) => {
                                    assert!(
                                        !listed.contains(action),
                                        "{name}: {action:?} of seat {seat} is listed, but {refusal:?}"
                                    );
                                    assert_eq!(after, game, "{name}: a refusal changed the state");
                                    assert!(events.is_empty(), "{name}: a refusal has events");
                                    assert_eq!(!to_act, refusal == Refusal::NOT_TO_ACT);
                                    let known = &catalog.refusals;
                                    assert!(known.iter().any(|item| item.id == refusal.rule));
                                    refusals.insert(refusal.rule);
                                }
                            }
                        }
                    }
                    if game.outcome().is_some() {
                        break;
                    }
                    let (seat, action) = any_move(&game, &mut chance);
                    game.play(seat, &action, &mut NoEvents).expect("a legal action");
                }
            }
            let catalog = G::catalog(&G::Options::default());
            for refusal in &catalog.refusals {
                let never = "in no state of the trial; let `conceivable` have a case of it";
                assert!(refusals.contains(refusal.id), "{}: {} {never}", catalog.id, refusal.id);
            }
        }
    }
    for_each_game::<Accepts>();
}

#[test]
fn a_match_can_be_stored_and_loaded_at_every_step() {
    struct Stores;
    impl Suite for Stores {
        fn run<G: Registered>() {
            for (name, setup) in G::setups() {
                let options = postcard::to_allocvec(setup.options()).expect("stored");
                let loaded: G::Options = postcard::from_bytes(&options).expect("loaded");
                assert_eq!(&loaded, setup.options());

                let mut game = G::start(&setup, &seed(3), &mut NoEvents);
                let mut chance = seed(3).deal(u32::MAX);
                while game.outcome().is_none() {
                    let stored = postcard::to_allocvec(&game).expect("stored");
                    let loaded: G = postcard::from_bytes(&stored).expect("loaded");
                    assert_eq!(loaded, game, "{name}");
                    assert!(stored.len() <= 8 * 1024, "{name}: {} bytes", stored.len());
                    for cut in 0..stored.len() {
                        // Whatever a part of a stored match reads as, it must not panic.
                        let _ = postcard::from_bytes::<G>(&stored[..cut]);
                    }
                    game = loaded;
                    let (seat, action) = any_move(&game, &mut chance);
                    game.play(seat, &action, &mut NoEvents).expect("a legal action");
                }
            }
        }
    }
    for_each_game::<Stores>();
}

#[test]
fn options_and_actions_read_back_as_they_were_written() {
    struct Travels;
    impl Suite for Travels {
        fn run<G: Registered>() {
            for (name, setup) in G::setups() {
                let written = G::write_options(setup.options());
                assert_eq!(&G::read_options(&written).expect(&name), setup.options());
                let mut game = G::start(&setup, &seed(5), &mut NoEvents);
                let mut chance = seed(5).deal(u32::MAX);
                while game.outcome().is_none() {
                    for seat in game.to_act().iter() {
                        for action in legal(&game, seat) {
                            let written = G::write_action(&action);
                            assert_eq!(G::read_action(&written).expect(&name), action);
                        }
                    }
                    let (seat, action) = any_move(&game, &mut chance);
                    game.play(seat, &action, &mut NoEvents).expect("a legal action");
                }
            }
        }
    }
    for_each_game::<Travels>();
}

#[test]
fn each_deal_can_be_made_again_from_the_seed() {
    struct Redeals;
    impl Suite for Redeals {
        fn run<G: Registered>() {
            for (name, setup) in G::setups() {
                let mut events = Vec::new();
                let mut game = G::start(&setup, &seed(9), &mut events);
                let mut chance = seed(9).deal(u32::MAX);
                while game.outcome().is_none() {
                    let (seat, action) = any_move(&game, &mut chance);
                    game.play(seat, &action, &mut events).expect("a legal action");
                }
                let written = |events: &[G::Event], viewer| -> Vec<_> {
                    let seen = events.iter().filter_map(|event| G::seen(event, viewer));
                    seen.map(|seen| G::write_event(&seen)).collect()
                };
                for viewer in setup.seats().iter().map(Viewer::Seat).chain([Viewer::Spectator]) {
                    let mut dealt = written(&events, viewer);
                    dealt.retain(G::is_deal);
                    assert!(!dealt.is_empty(), "{name}: {viewer} sees no deal");
                    let mut again = Vec::new();
                    for deal in 0.. {
                        if again.len() >= dealt.len() {
                            break;
                        }
                        let mut events = Vec::new();
                        G::redeal(&setup, &seed(9), deal, &mut events);
                        again.extend(written(&events, viewer));
                    }
                    assert_eq!(again, dealt, "{name}: {viewer}");
                }
            }
        }
    }
    for_each_game::<Redeals>();
}

#[test]
fn a_seed_never_shows_in_what_is_printed_for_people() {
    struct Prints;
    impl Suite for Prints {
        fn run<G: Registered>() {
            for (_, setup) in G::setups() {
                let secret = crate::rules::Seed::new([0xab; 32]);
                let game = G::start(&setup, &secret, &mut NoEvents);
                let mut printed = String::new();
                write!(printed, "{game:?}").expect("printed");
                assert!(!printed.contains("171, 171"), "the seed is printed");
            }
        }
    }
    for_each_game::<Prints>();
}
