//! Secrecy, judged on bytes: what a viewer cannot know changes nothing of what it is sent.
//!
//! Two states that differ only in what a viewer cannot know are played side by side. As long as
//! nothing hidden comes to light, the viewer must get the same bytes from both: views, events,
//! legal actions, refusals.

use prost::Message as _;

use super::{Suite, Tells, any, any_move, for_each_game, legal, seed};
use crate::games::Registered;
use crate::rules::{NoEvents, Viewer};

/// Pairs of states to compare, for each game.
const PAIRS: usize = 12_000;

/// Everything that a viewer is sent about a state, as bytes.
fn sent<G: Registered>(game: &G, viewer: Viewer) -> Vec<Vec<u8>> {
    let mut sent = vec![G::write_view(&game.view(viewer)).encode_to_vec()];
    sent.push(format!("{:?} {:?}", game.to_act(), game.outcome()).into_bytes());
    if let Viewer::Seat(seat) = viewer {
        let actions = legal(game, seat);
        sent.extend(actions.iter().map(|action| G::write_action(action).encode_to_vec()));
    }
    sent
}

#[test]
fn what_a_viewer_cannot_know_changes_no_byte_it_is_sent() {
    struct Twins;
    impl Suite for Twins {
        fn run<G: Registered>() {
            let setups = G::setups();
            let mut pairs = 0;
            let mut differing = 0;
            for number in 0.. {
                if pairs >= PAIRS {
                    break;
                }
                let mut chance = seed(number).deal(u32::MAX);
                let (name, setup) = any(&setups, &mut chance);
                let viewers: Vec<_> =
                    setup.seats().iter().map(Viewer::Seat).chain([Viewer::Spectator]).collect();
                let viewer = *any(&viewers, &mut chance);

                let mut game = G::start(setup, &seed(number), &mut NoEvents);
                for _ in 0..chance.below(60) {
                    if game.outcome().is_some() {
                        break;
                    }
                    let (seat, action) = any_move(&game, &mut chance);
                    game.play(seat, &action, &mut NoEvents).expect("a legal action");
                }
                if game.outcome().is_some() {
                    continue;
                }
                let mut twin = game.twin(viewer, &mut chance);
                twin.check_invariants();
                differing += usize::from(twin != game);

                loop {
                    pairs += 1;
                    let same = sent(&game, viewer) == sent(&twin, viewer);
                    assert!(same, "{name} seed {number} {viewer}:\n{game:#?}\n{twin:#?}");
                    if let Viewer::Seat(seat) = viewer {
                        for action in game.conceivable(seat) {
                            let one = game.clone().play(seat, &action, &mut NoEvents).err();
                            let other = twin.clone().play(seat, &action, &mut NoEvents).err();
                            assert_eq!(one, other, "{name} seed {number}: {action:?}");
                        }
                    }

                    let (seat, action) = any_move(&game, &mut chance);
                    let twin_actions = legal(&twin, seat);
                    let twin_action = match game.tells(seat, &action, viewer) {
                        Tells::Everything if twin_actions.contains(&action) => action.clone(),
                        Tells::ThatItHappened => any(&twin_actions, &mut chance).clone(),
                        Tells::Everything | Tells::HiddenCards => break,
                    };
                    let (mut events, mut twin_events) = (Vec::new(), Vec::new());
                    game.play(seat, &action, &mut events).expect("a legal action");
                    twin.play(seat, &twin_action, &mut twin_events).expect("a legal action");
                    if game.outcome().is_some() {
                        break;
                    }
                    let seen = |events: &[G::Event]| -> Vec<_> {
                        let seen = events.iter().filter_map(|event| G::seen(event, viewer));
                        seen.map(|seen| G::write_event(&seen)).collect()
                    };
                    let (seen, twin_seen) = (seen(&events), seen(&twin_events));
                    if seen.iter().any(G::is_deal) {
                        break;
                    }
                    let bytes = |seen: &[G::EventMessage]| -> Vec<_> {
                        seen.iter().map(prost::Message::encode_to_vec).collect()
                    };
                    let same = bytes(&seen) == bytes(&twin_seen);
                    assert!(same, "{name} seed {number} {viewer}: {seen:#?}\n{twin_seen:#?}");
                }
            }
            assert!(differing > PAIRS / 100, "only {differing} twins differ from their state");
        }
    }
    for_each_game::<Twins>();
}
