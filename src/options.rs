//! A game's options on the command line: `-o name=value`, for every command that plays.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::games::Registered;

/// The options given as `name=value`, and the defaults for all others.
///
/// Every option can be left out, so each is first read alone: what goes wrong then is about it.
pub fn read<G: Registered>(given: &[String], mistakes: &mut Vec<String>) -> G::Options {
    let catalog = G::catalog(&G::Options::default());
    let mut names = BTreeSet::new();
    let mut good = Map::new();
    for text in given {
        let Some((name, value)) = text.split_once('=') else {
            mistakes.push(format!("-o {text}: no value; options are given as name=value"));
            continue;
        };
        if !names.insert(name) {
            mistakes.push(format!("-o {name}: given more than once"));
            continue;
        }
        let value: Value = serde_json::from_str(value).unwrap_or_else(|_| value.into());
        let option = Map::from_iter([(name.to_owned(), value)]);
        match serde_json::from_value::<G::Options>(Value::Object(option.clone())) {
            Ok(_) => good.extend(option),
            Err(error) => {
                let option = catalog.options.iter().find(|option| option.name == name);
                let takes = option.map(|option| format!("takes {}; ", option.kind));
                mistakes.push(format!("-o {name}: {}{error}", takes.unwrap_or_default()));
            }
        }
    }
    serde_json::from_value(Value::Object(good)).unwrap_or_else(|error| {
        mistakes.push(format!("-o: these options do not go together: {error}"));
        G::Options::default()
    })
}
