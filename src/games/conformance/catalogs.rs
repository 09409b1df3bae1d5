//! What the catalogs promise to frontends.

use std::collections::HashSet;

use prost::Message as _;
use prost_types::{DescriptorProto, FileDescriptorSet};

use super::{Suite, for_each_game};
use crate::games::Registered;
use crate::proto::DESCRIPTORS;

/// The message of this name.
fn message(name: &str) -> DescriptorProto {
    let all = FileDescriptorSet::decode(DESCRIPTORS).expect("descriptors");
    let mut messages = all.file.into_iter().flat_map(|file| file.message_type);
    messages.find(|message| message.name() == name).expect(name)
}

/// The names of the fields of the message that this game has in that of all games.
fn fields(of_all_games: &str, game: &str) -> Vec<String> {
    let arms = message(of_all_games).field;
    let arm = arms.iter().find(|arm| arm.name() == game).expect(game);
    let name = arm.type_name().rsplit('.').next().expect("a name");
    message(name).field.iter().map(|field| field.name().to_owned()).collect()
}

#[test]
fn options_and_actions_have_the_names_that_the_messages_have() {
    struct Names;
    impl Suite for Names {
        fn run<G: Registered>() {
            let catalog = G::catalog(&G::Options::default());
            let options: Vec<_> = catalog.options.iter().map(|option| option.name).collect();
            assert_eq!(options, fields("GameOptions", catalog.id));
            let actions: Vec<_> = catalog.actions.iter().map(|action| action.id).collect();
            assert_eq!(actions, fields("GameAction", catalog.id));
        }
    }
    for_each_game::<Names>();
}

#[test]
fn an_id_stands_for_one_thing_and_has_a_text() {
    struct Ids;
    impl Suite for Ids {
        fn run<G: Registered>() {
            let catalog = G::catalog(&G::Options::default());
            let cards: HashSet<_> = catalog.cards.iter().map(|card| &card.id).collect();
            assert_eq!(cards.len(), catalog.cards.len(), "{}", catalog.id);
            for items in
                [&catalog.actions, &catalog.refusals, &catalog.achievements, &catalog.outcomes]
            {
                let ids: HashSet<_> = items.iter().map(|item| item.id).collect();
                assert_eq!(ids.len(), items.len(), "{}: {ids:?}", catalog.id);
                assert!(items.iter().all(|item| !item.text.is_empty()), "{}", catalog.id);
            }
        }
    }
    for_each_game::<Ids>();
}
