//! Rules about the code, held by reading it: who may know whom, and how files are written.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// What a part of the crate may know.
struct Layer {
    /// Its module, as a path; `*` stands for a game's folder.
    of: &'static str,
    /// The other modules of this crate that it may name; its own it always may.
    may: &'static [&'static str],
    /// What it never names of what is not ours.
    never: &'static [&'static str],
}

/// Whatever does not follow from its arguments alone.
const IMPURE: &[&str] = &[
    "async_trait",
    "futures_util",
    "getrandom",
    "http",
    "hyper",
    "rand",
    "std::env",
    "std::fs",
    "std::io",
    "std::net",
    "std::process",
    "std::sync::Mutex",
    "std::thread",
    "std::time",
    "tokio",
    "tokio_stream",
    "tokio_util",
    "tonic",
    "tower",
    "tracing",
    "uuid",
];

/// How messages travel.
const TRANSPORT: &[&str] = &["http", "hyper", "prost", "prost_types", "tonic", "tower"];

/// The layers; a module belongs to the first that fits it.
const LAYERS: &[Layer] = &[
    Layer { of: "rules", may: &[], never: IMPURE },
    // What tries every game in tests, and what the registry and the messages need of it.
    Layer {
        of: "games::conformance",
        may: &["games", "proto", "rules"],
        never: &["tokio", "tonic"],
    },
    Layer { of: "games::wire", may: &["rules"], never: IMPURE },
    Layer { of: "games::*::conversions", may: &["games::wire", "proto", "rules"], never: IMPURE },
    Layer {
        of: "games::*::tests",
        may: &["games::conformance", "games::wire", "proto", "rules"],
        never: &["tokio", "tonic"],
    },
    Layer { of: "games::*::trial", may: &["games::conformance", "rules"], never: IMPURE },
    Layer { of: "games::*", may: &["rules"], never: IMPURE },
    Layer { of: "games", may: &["proto", "rules"], never: IMPURE },
    Layer { of: "store::redis", may: &["store", "trace"], never: TRANSPORT },
    Layer { of: "store", may: &[], never: TRANSPORT },
    Layer { of: "trace", may: &[], never: TRANSPORT },
    Layer { of: "matches", may: &["rules", "store", "trace"], never: TRANSPORT },
    Layer { of: "memory", may: &[], never: TRANSPORT },
    Layer { of: "connections", may: &["memory"], never: &[] },
    Layer {
        of: "grpc",
        may: &["connections", "games", "matches", "memory", "proto", "rules", "store", "trace"],
        never: &[],
    },
    Layer { of: "proto", may: &[], never: &[] },
    Layer { of: "client", may: &["proto"], never: &[] },
    Layer {
        of: "simulate",
        may: &["cli", "config", "games", "options", "rules"],
        never: &["tokio", "tonic"],
    },
    Layer { of: "telemetry", may: &["config", "trace"], never: &[] },
];

/// Libraries that some parts alone know.
const KNOWN_TO_FEW: &[(&str, &[&str])] = &[
    ("redis", &["store::redis"]),
    ("opentelemetry", &["telemetry", "trace"]),
    ("opentelemetry_otlp", &["telemetry"]),
    ("opentelemetry_prometheus", &["telemetry"]),
    ("opentelemetry_sdk", &["telemetry"]),
    ("prometheus", &["telemetry"]),
];

/// Modules that put the layers together.
const TOP: &[&str] = &[
    "", "admin", "app", "cli", "config", "dial", "info", "options", "play", "probe", "simulate",
    "verify",
];

/// Names that say nothing of what a module is for.
const EMPTY_NAMES: &[&str] = &["common", "helper", "helpers", "manager", "misc", "util", "utils"];

/// A file longer than this is no longer read in one sitting.
const MAX_LINES: usize = 650;

/// Versions below which something in them was wrong.
const LEAST_VERSIONS: &[(&str, [u64; 3])] = &[
    ("h2", [0, 4, 16]),
    ("rustls", [0, 23, 18]),
    ("tokio", [1, 44, 2]),
    ("tonic", [0, 14, 7]),
    ("tracing-subscriber", [0, 3, 20]),
];

#[test]
fn every_module_knows_only_what_its_layer_may() {
    let games = games();
    let mut wrong = Vec::new();
    for file in rust_files("src") {
        let module = module_of(&file);
        for what in violations(&module, &read(&file), &games) {
            wrong.push(format!("{}: {what}", file.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_rust_file_says_first_what_it_is_for() {
    let files: Vec<_> = every_rust_file().filter(|file| !read(file).starts_with("//! ")).collect();
    assert!(files.is_empty(), "{files:?}");
}

#[test]
fn every_rust_file_is_read_in_one_sitting() {
    let lines = |file: &PathBuf| read(file).lines().count();
    let files: Vec<_> = every_rust_file().filter(|file| lines(file) > MAX_LINES).collect();
    assert!(files.is_empty(), "more than {MAX_LINES} lines: {files:?}");
}

#[test]
fn no_module_has_a_name_that_says_nothing() {
    let named = |file: &PathBuf| {
        let inline = tokens(&bare(&read(file)));
        let inline = inline.windows(2).filter(|pair| pair[0] == "mod").map(|pair| pair[1].clone());
        let path = file.with_extension("");
        let path = path.iter().map(|part| part.to_string_lossy().into_owned());
        path.chain(inline).any(|name| EMPTY_NAMES.contains(&name.as_str()))
    };
    let files: Vec<_> = every_rust_file().filter(named).collect();
    assert!(files.is_empty(), "{files:?}");
}

#[test]
fn nothing_is_put_off() {
    let marks = [["TO", "DO"].concat(), ["FIX", "ME"].concat(), ["XX", "X"].concat()];
    let folders = ["src", "tests", "benches", "proto", "deploy"];
    let files = folders.iter().flat_map(|folder| files_in(folder, |_| true));
    let marked = |file: &PathBuf| {
        let bytes = fs::read(root().join(file)).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        marks.iter().any(|mark| words(&text).any(|word| word == mark))
    };
    let files: Vec<_> = files.filter(marked).collect();
    assert!(files.is_empty(), "{files:?}");
}

#[test]
fn no_dependency_is_older_than_it_may_be() {
    let lock = read(Path::new("Cargo.lock"));
    let mut found = BTreeSet::new();
    for package in lock.split("[[package]]") {
        let value = |key: &str| {
            let lines = &mut package.lines();
            let line = lines.find_map(|line| line.strip_prefix(&format!("{key} = \"")))?;
            line.strip_suffix('"')
        };
        let (Some(name), Some(version)) = (value("name"), value("version")) else { continue };
        let Some((_, least)) = LEAST_VERSIONS.iter().find(|(known, _)| *known == name) else {
            continue;
        };
        let numbers: Vec<u64> = version.split('.').map_while(|part| part.parse().ok()).collect();
        assert!(numbers.as_slice() >= least.as_slice(), "{name} {version} is below {least:?}");
        found.insert(name);
    }
    assert!(found.is_superset(&BTreeSet::from(["h2", "tokio", "tonic"])), "{found:?}");
}

#[test]
fn what_a_layer_may_not_know_is_found_however_it_is_written() {
    let games = ["neon".to_owned(), "other".to_owned()];
    let wrong = |module: &str, code: &str| !violations(module, code, &games).is_empty();
    for (module, code) in [
        ("rules::seat", "use crate::games::neon::Neon;"),
        ("rules::seat", "use std::{fmt, time::Instant};"),
        ("rules::seat", "async fn wait() {}"),
        ("games::neon::playing", "fn f() -> crate::games::other::Other {}"),
        ("games::neon::playing", "use crate::{proto, rules::Seat};"),
        ("games::neon", "use super::other::Other;"),
        ("games::neon::conversions", "use crate::matches::Record;"),
        ("store::memory", "fn f(message: prost_types::Any) {}"),
        ("store", "use crate::rules::Seat;"),
        ("store", "use redis::cmd;"),
        ("matches::submit", "use tonic::Status;"),
        ("matches::submit", "fn f() { let neon = 1; }"),
        ("matches", "use super::{grpc::Service};"),
        ("grpc::errors", "fn f() { ::redis::cmd(\"GET\") }"),
        ("client", "use crate::store::Store;"),
        ("telemetry", "use crate::games;"),
        ("somewhere::new", "fn f() {}"),
    ] {
        assert!(wrong(module, code), "{module}: {code}");
    }
    for (module, code) in [
        ("rules::seat", "// std::time::Instant, crate::games, async\nuse crate::rules::Seed;"),
        ("rules::seat", "const TEXT: &str = \"crate::games tokio::spawn\";"),
        ("games::neon::playing", "use super::{Action, cards::Cards}; use crate::rules::Seat;"),
        ("games::neon::conversions", "use crate::{games::wire::Wire, proto};"),
        ("store::redis::scripts", "use redis::Script; use super::super::Store;"),
        ("grpc::errors", "use crate::{games::AnyGame, matches::Error}; use tonic::Status;"),
        ("matches::submit", "fn f<'a>(c: char) -> bool { c == '\"' || c == '\\'' }"),
    ] {
        assert!(!wrong(module, code), "{module}: {code}");
    }
}

/// What a module of this code knows and may not.
fn violations(module: &str, source: &str, games: &[String]) -> Vec<String> {
    let tokens = tokens(&bare(source));
    let paths = paths(&tokens, module);
    let layer = LAYERS.iter().find(|layer| fits(layer.of, module, games).is_some());
    let mut wrong = Vec::new();
    for (library, few) in KNOWN_TO_FEW {
        let allowed = few.iter().any(|only| within(module, only));
        if !allowed && paths.outside.iter().any(|path| within(path, library)) {
            wrong.push(format!("knows {library}, which only {} may", few.join(" and ")));
        }
    }
    let Some(layer) = layer else {
        if !TOP.iter().any(|top| module == *top || (!top.is_empty() && within(module, top))) {
            wrong.push("is in no layer: say in tests/it/layers.rs what it may know".to_owned());
        }
        return wrong;
    };
    let own = fits(layer.of, module, games).unwrap_or_default();
    let parents = [layer.of.strip_suffix("::conversions"), layer.of.strip_suffix("::tests")];
    let parents = parents.into_iter().chain([layer.of.strip_suffix("::trial")]).flatten();
    let parents: Vec<_> = parents.filter_map(|parent| fits(parent, module, games)).collect();
    for path in &paths.inside {
        let may = layer.may.iter().any(|may| within(path, may));
        if !(may || within(path, &own) || parents.iter().any(|parent| within(path, parent))) {
            wrong.push(format!("knows crate::{path}"));
        }
    }
    for path in &paths.outside {
        if layer.never.iter().any(|never| within(path, never)) {
            wrong.push(format!("knows {path}"));
        }
    }
    if layer.never == IMPURE && tokens.iter().any(|token| token == "async" || token == "await") {
        wrong.push("is async".to_owned());
    }
    if within(module, "matches") || within(module, "store") {
        let names = |token: &&String| games.iter().any(|game| token.to_lowercase().contains(game));
        wrong.extend(tokens.iter().find(names).map(|token| format!("names a game: {token}")));
    }
    wrong
}

/// The part of the module's path that the pattern fits, if it begins with it.
fn fits(pattern: &str, module: &str, games: &[String]) -> Option<String> {
    let parts: Vec<_> = module.split("::").collect();
    let pattern: Vec<_> = pattern.split("::").collect();
    let fit = pattern.len() <= parts.len()
        && pattern.iter().zip(&parts).all(|(want, part)| match *want {
            "*" => games.iter().any(|game| game == part),
            want => want == *part,
        });
    fit.then(|| parts[..pattern.len()].join("::"))
}

/// Whether a path is this one or begins with it.
fn within(path: &str, start: &str) -> bool {
    path.strip_prefix(start).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}

/// The paths that a file names.
#[derive(Default)]
struct Paths {
    /// Those into this crate, without `crate`; only what begins with a module of the top level.
    inside: BTreeSet<String>,
    /// All others, as they are written.
    outside: BTreeSet<String>,
}

fn paths(tokens: &[String], module: &str) -> Paths {
    let mut written = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let goes_on = at > 0 && tokens[at - 1] == "::" && at > 1 && is_name(&tokens[at - 2]);
        if is_name(&tokens[at]) && !goes_on {
            at = expand(tokens, at, &[], &mut written);
        } else {
            at += 1;
        }
    }
    let modules = top_modules();
    let base: Vec<_> = module.split("::").filter(|part| !part.is_empty()).collect();
    let mut paths = Paths::default();
    for path in written {
        let supers = path.iter().take_while(|part| *part == "super").count();
        let inside = match path[0].as_str() {
            "crate" | "parlor" => path[1..].to_vec(),
            "self" | "super" => {
                let up = base.len().saturating_sub(supers);
                let rest = path.iter().skip_while(|part| *part == "super" || *part == "self");
                base[..up].iter().map(ToString::to_string).chain(rest.cloned()).collect()
            }
            _ if path.len() > 1 => {
                paths.outside.insert(path.join("::"));
                continue;
            }
            _ => continue,
        };
        if inside.first().is_some_and(|first| modules.contains(first)) {
            paths.inside.insert(inside.join("::"));
        }
    }
    paths
}

/// Reads the path that begins here, with all branches of its braces, and says where it ends.
fn expand(
    tokens: &[String],
    mut at: usize,
    before: &[String],
    into: &mut Vec<Vec<String>>,
) -> usize {
    let mut path = before.to_vec();
    loop {
        path.push(tokens[at].clone());
        at += 1;
        if tokens.get(at).is_none_or(|token| token != "::") {
            break;
        }
        match tokens.get(at + 1).map(String::as_str) {
            Some("{") => return branches(tokens, at + 2, &path, into),
            Some(next) if is_name(next) => at += 1,
            _ => break,
        }
    }
    into.push(path);
    at
}

fn branches(
    tokens: &[String],
    mut at: usize,
    before: &[String],
    into: &mut Vec<Vec<String>>,
) -> usize {
    into.push(before.to_vec());
    while at < tokens.len() && tokens[at] != "}" {
        at = if is_name(&tokens[at]) { expand(tokens, at, before, into) } else { at + 1 };
    }
    at + 1
}

fn is_name(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}

/// Names, `::`, and every other character by itself.
fn tokens(code: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut glued = false;
    for c in code.chars() {
        let in_name = c.is_alphanumeric() || c == '_';
        match tokens.last_mut() {
            Some(last) if glued && in_name && is_name(last) => last.push(c),
            Some(last) if glued && c == ':' && last == ":" => last.push(c),
            _ if !c.is_whitespace() => tokens.push(c.to_string()),
            _ => {}
        }
        glued = !c.is_whitespace();
    }
    tokens
}

/// The code without its comments and literals.
fn bare(source: &str) -> String {
    let mut code = String::new();
    let mut rest = source;
    while let Some(c) = rest.chars().next() {
        let skipped = comment(rest).or_else(|| text(rest)).or_else(|| character(rest));
        code.push(if skipped.is_some() { ' ' } else { c });
        rest = &rest[skipped.unwrap_or(c.len_utf8())..];
    }
    code
}

/// The length of the comment that begins here.
fn comment(rest: &str) -> Option<usize> {
    if rest.starts_with("//") {
        return Some(rest.find('\n').unwrap_or(rest.len()));
    }
    rest.starts_with("/*").then(|| rest.find("*/").map_or(rest.len(), |end| end + 2))
}

/// The length of the string that begins here, its prefix not included.
fn text(rest: &str) -> Option<usize> {
    let hashes = rest
        .strip_prefix("r#")
        .map_or(0, |rest| 1 + rest.chars().take_while(|&c| c == '#').count());
    if hashes > 0 && rest[1 + hashes..].starts_with('"') {
        let end = format!("\"{}", "#".repeat(hashes));
        let start = 2 + hashes;
        return Some(rest[start..].find(&end).map_or(rest.len(), |at| start + at + end.len()));
    }
    let inside = rest.strip_prefix('"')?;
    let mut escaped = false;
    let end = inside.find(|c| {
        let ends = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        ends
    });
    Some(end.map_or(rest.len(), |end| end + 2))
}

/// The length of the character literal that begins here; a lifetime is none.
fn character(rest: &str) -> Option<usize> {
    let inside = rest.strip_prefix('\'')?;
    let first = inside.chars().next()?;
    if first == '\\' {
        let after = 1 + inside[1..].chars().next()?.len_utf8();
        return inside[after..].find('\'').map(|end| 1 + after + end + 1);
    }
    inside[first.len_utf8()..].starts_with('\'').then(|| first.len_utf8() + 2)
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(file: &Path) -> String {
    fs::read_to_string(root().join(file)).unwrap()
}

/// The games: the folders of `src/games`, but for the one that tries them all.
fn games() -> Vec<String> {
    let mut games = BTreeSet::new();
    for file in rust_files("src/games") {
        let parts: Vec<_> = file.iter().map(|part| part.to_string_lossy().into_owned()).collect();
        if parts.len() > 3 && parts[2] != "conformance" {
            games.insert(parts[2].clone());
        }
    }
    assert!(games.contains("neon"), "{games:?}");
    games.into_iter().collect()
}

fn top_modules() -> BTreeSet<String> {
    let modules = rust_files("src").into_iter().map(|file| module_of(&file));
    modules.filter_map(|module| module.split("::").next().map(str::to_owned)).collect()
}

/// The path of the module that a file holds; empty for those at the top.
fn module_of(file: &Path) -> String {
    let path = file.with_extension("");
    let parts = path.iter().skip(1).map(|part| part.to_string_lossy().into_owned());
    let parts = parts.filter(|part| !matches!(part.as_str(), "lib" | "main" | "mod"));
    parts.collect::<Vec<_>>().join("::")
}

fn every_rust_file() -> impl Iterator<Item = PathBuf> {
    let files = ["src", "tests", "benches"].into_iter().flat_map(rust_files);
    files.chain([PathBuf::from("build.rs")])
}

fn rust_files(folder: &str) -> Vec<PathBuf> {
    files_in(folder, |file| file.extension().is_some_and(|extension| extension == "rs"))
}

/// The files in a folder and all below it, as paths from the root; what is installed left out.
fn files_in(folder: &str, which: impl Fn(&Path) -> bool) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![PathBuf::from(folder)];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(root().join(&folder)) else { continue };
        for entry in entries.map(Result::unwrap) {
            let path = folder.join(entry.file_name());
            if !entry.file_type().unwrap().is_dir() {
                files.extend(which(&path).then_some(path));
            } else if entry.file_name() != "node_modules" {
                folders.push(path);
            }
        }
    }
    files.sort();
    files
}
