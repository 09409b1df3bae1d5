//! `parlor simulate`, as someone at a terminal meets it.

use std::process::{Command, Output};

use serde_json::Value;

const EXIT_CONFIG: i32 = 78;

fn simulate(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_parlor"));
    command.arg("simulate").args(args).output().expect("the command starts")
}

fn summary(args: &[&str]) -> Value {
    let output = simulate(&[args, &["--json"]].concat());
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).expect("a JSON object")
}

/// The lines that tell what is wrong.
fn mistakes(args: &[&str]) -> Vec<String> {
    let output = simulate(args);
    assert_eq!(output.status.code(), Some(EXIT_CONFIG), "{output:?}");
    assert!(output.stdout.is_empty(), "{output:?}");
    let text = String::from_utf8(output.stderr).expect("text");
    let mut lines = text.lines().map(str::to_owned);
    assert_eq!(lines.next().as_deref(), Some("parlor: these settings cannot be:"));
    lines.collect()
}

/// The names of an object's fields.
fn names(object: &Value) -> Vec<&str> {
    object.as_object().expect("an object").keys().map(String::as_str).collect()
}

#[test]
fn the_same_seed_gives_the_same_summary_on_any_number_of_threads() {
    let on_threads = |seed: &str, threads: &str| {
        let args = ["neon", "--seats=5", "--matches=300", "--seed", seed, "--threads", threads];
        let mut summary = summary(&args);
        summary.as_object_mut().expect("an object").remove("speed").expect("the speed");
        summary
    };
    let one = on_threads("7", "1");
    assert_eq!(on_threads("7", "2"), one);
    assert_eq!(on_threads("7", "5"), one);
    assert_ne!(on_threads("8", "2")["actions"], one["actions"]);
}

#[test]
fn the_summary_as_json_has_the_fields_that_the_help_names() {
    let args = ["neon", "--seats=3", "-o", "first_player=1", "--matches=50", "--threads=2"];
    let summary = summary(&args);
    let mut fields = names(&summary);
    fields.sort_unstable();
    assert_eq!(
        fields,
        [
            "actions", "by_seat", "game", "length", "matches", "options", "outcomes", "seats",
            "seed", "speed", "unwon"
        ]
    );
    assert_eq!(summary["game"], "neon");
    assert_eq!(summary["seats"], 3);
    assert_eq!(summary["options"], serde_json::json!({ "first_player": 1 }));
    assert_eq!(summary["matches"], 50);
    assert_eq!(summary["seed"], 0);
    assert_eq!(summary["unwon"], 0);
    assert_eq!(summary["speed"]["threads"], 2);
    assert_eq!(names(&summary["speed"]), ["actions_per_sec", "matches_per_sec", "secs", "threads"]);
    assert_eq!(
        names(&summary["length"]),
        ["max", "mean", "min", "p25", "p5", "p50", "p75", "p95", "p99"]
    );
    let by_seat = summary["by_seat"].as_array().expect("a list");
    assert_eq!(by_seat.len(), 3);
    let outcomes = summary["outcomes"].as_object().expect("an object");
    assert_eq!(outcomes.values().filter_map(Value::as_u64).sum::<u64>(), 50);
    let won: u64 = by_seat.iter().filter_map(|seat| seat["won"].as_u64()).sum();
    assert_eq!(outcomes["score"], won, "each match is won by one seat or shared");
    for (number, seat) in by_seat.iter().enumerate() {
        assert_eq!(names(seat), ["score", "seat", "shared", "won"]);
        assert_eq!(names(&seat["score"]), ["max", "mean", "min"]);
        assert_eq!(seat["seat"], number);
    }
}

#[test]
fn a_summary_for_people_names_what_was_simulated() {
    let output = simulate(&["neon", "--seats=4", "--matches=20"]);
    assert!(output.status.success(), "{output:?}");
    assert!(output.stderr.is_empty(), "no bar where nobody watches");
    let text = String::from_utf8(output.stdout).expect("text");
    assert!(text.starts_with("neon, 4 seats"), "{text}");
    for word in ["matches/s", "actions/s", "Length", "Outcomes", "Seats"] {
        assert!(text.contains(word), "{word}: {text}");
    }
}

#[test]
fn an_unknown_game_is_refused_with_the_known_ones() {
    let [mistake] = &mistakes(&["chess"])[..] else { panic!("one mistake") };
    assert!(mistake.contains("`chess`"), "{mistake}");
    assert!(parlor::games::IDS.iter().all(|id| mistake.contains(id)), "{mistake}");
}

#[test]
fn how_a_list_is_written_is_told_and_read_so() {
    let list = r#"["one", "other"]"#;
    let told = mistakes(&["candy", "-o", "add_cards=lollipops"]);
    assert!(told[0].contains(&format!("as in {list}")), "{told:?}");
    let told = mistakes(&["candy", "-o", &format!("add_cards={list}")]);
    let cards: Vec<_> = told.iter().filter_map(|line| line.split('"').nth(1)).collect();
    assert_eq!(cards, ["one", "other"], "{told:?}");
}

#[test]
fn every_mistake_is_told_at_once_and_names_what_it_is_about() {
    let mistakes = mistakes(&[
        "neon",
        "--matches=none",
        "--seed=-1",
        "--threads=0",
        "-o",
        "first_player=red",
        "-o",
        "jokers=2",
        "-o",
        "first_player=1",
        "-o",
        "short",
    ]);
    let about: Vec<_> = mistakes.iter().filter_map(|line| line.split(':').next()).collect();
    assert_eq!(
        about,
        [
            "-o first_player",
            "-o jokers",
            "-o first_player",
            "-o short",
            "--matches",
            "--seed",
            "--threads"
        ]
    );
    assert!(mistakes[0].contains("takes a seat"), "it says what would do: {mistakes:?}");
    assert!(mistakes[1].contains("first_player"), "it names what there is: {mistakes:?}");
}

#[test]
fn options_that_do_not_fit_the_table_are_all_told() {
    let mistakes = mistakes(&["neon", "--seats=1", "-o", "first_player=4", "--matches=0"]);
    let about: Vec<_> = mistakes.iter().filter_map(|line| line.split(':').next()).collect();
    assert_eq!(about, ["--matches", "--seats", "-o first_player"]);
}
