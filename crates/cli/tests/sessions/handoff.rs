//! Handoffs between sessions of demo agents.

use segue_testkit::{World, conversation, scene};
use serde_json::{Value, json};

use crate::world;

/// Hands a session over to the demo vendor. Returns the report.
fn hand_over(world: &World, name: &str) -> Value {
    world.json(["handoff", name, "--to", "demo", "--json"])
}

#[test]
fn handoff_carries_the_conversation_and_stops_the_old_agent() {
    let world = world();
    let before = scene::start_with_word(&world, "a", "fox");
    let report = hand_over(&world, "a");
    assert_eq!(report["from"], "default/a", "{report:#}");
    assert_eq!(report["to"], "default/a-demo", "{report:#}");
    assert_eq!(report["mode"], "native", "{report:#}");
    assert_eq!((&report["turns_carried"], &report["turns_left_out"]), (&2.into(), &0.into()));
    let next = world.session("a-demo");
    assert_eq!(report["session"], next["id"]);
    assert_eq!(next["cwd"], before["cwd"]);
    assert_ne!(next["vendor_session_id"], before["vendor_session_id"]);
    scene::assert_knows(&world, "a-demo", "fox");
    assert_eq!(world.session("a")["status"], "ended");
}

#[test]
fn handoff_to_an_agent_whose_name_is_a_prefix_of_a_vendor_name_works() {
    let world = world();
    scene::write_agents(&world, "shop", &["dem"]);
    scene::start_with_word(&world, "a", "fox");
    let report = world.json(["handoff", "a", "--to", "dem", "--json"]);
    assert!(report["to"].as_str().unwrap().ends_with("/dem"), "{report:#}");
    assert_eq!(world.session("dem")["agent"], "dem");
}

#[test]
fn handoff_back_carries_only_the_turns_since_the_first_handoff() {
    let world = world();
    let first = scene::start_with_word(&world, "a", "fox");
    hand_over(&world, "a");
    let next = world.session("a-demo");
    conversation::ask(&world, &next, "remember the word hen");
    let report = hand_over(&world, "a-demo");
    assert_eq!(report["to"], "default/a", "{report:#}");
    assert_eq!(report["turns_carried"], 2, "{report:#}");
    let back = world.session("a");
    assert_eq!(back["vendor_session_id"], first["vendor_session_id"]);
    let received = conversation::user_messages(&scene::transcript(&world, &back));
    let words: Vec<&String> = received.iter().filter(|it| it.starts_with("remember")).collect();
    assert_eq!(words, ["remember the word fox", "remember the word hen"]);
    scene::assert_knows(&world, "a", "hen");
    // The third handoff goes to the same session as the first one.
    let report = hand_over(&world, "a");
    assert_eq!(report["to"], "default/a-demo", "{report:#}");
    scene::assert_knows(&world, "a-demo", "hen");
}

#[test]
fn dry_run_shows_the_carried_turns_and_changes_nothing() {
    let world = world();
    scene::start_with_word(&world, "a", "fox");
    let report = world.json(["handoff", "a", "--to", "demo", "--dry-run", "--json"]);
    assert_eq!(report["turns"][0]["text"], "remember the word fox", "{report:#}");
    assert_eq!((&report["content"], &report["redacted"]), (&Value::Null, &json!({})));
    let raw = world.json(["handoff", "a", "--to", "demo", "--dry-run", "--raw", "--json"]);
    assert!(raw["content"].as_str().unwrap().contains("remember the word fox"), "{raw:#}");
    assert_eq!((&report["mode"], &report["session"]), (&"native".into(), &Value::Null));
    let digest =
        world.json(["handoff", "a", "--to", "demo", "--mode", "digest", "--dry-run", "--json"]);
    assert_eq!(digest["mode"], "digest", "{digest:#}");
    assert!(digest["content"].as_str().unwrap().contains("remember the word fox"), "{digest:#}");
    assert_eq!(world.sessions().len(), 1);
    assert_eq!(conversation::transcripts(&world).len(), 1);
    assert!(world.session("a")["pid"].is_u64(), "it still runs");
}

#[test]
fn digest_is_the_first_message_of_the_next_agent() {
    let world = world();
    scene::start_with_word(&world, "a", "fox");
    let report = world.json(["handoff", "a", "--to", "demo", "--mode", "digest", "--json"]);
    assert_eq!(report["mode"], "digest", "{report:#}");
    let next = world.session("a-demo");
    conversation::wait_turns(&world, &next, 1);
    let received = conversation::user_messages(&scene::transcript(&world, &next));
    assert!(received[0].contains("remember the word fox"), "{received:?}");
}

#[test]
fn handoff_of_an_empty_conversation_starts_a_plain_session_with_a_note() {
    let world = world();
    world.ok(["run", "-d", "--name", "a"]);
    let report = hand_over(&world, "a");
    assert_eq!(report["mode"], "plain", "{report:#}");
    assert!(report["note"].as_str().unwrap().contains("was empty"), "{report:#}");
    assert!(world.session("a-demo")["pid"].is_u64());
}

#[test]
fn headless_handoff_continues_with_the_next_message() {
    let world = world();
    world.ok(["run", "--headless", "--name", "a", "remember the word fox"]);
    let report = hand_over(&world, "a");
    assert_eq!(report["mode"], "native", "{report:#}");
    assert_eq!(world.session("a-demo")["status"], "idle");
    let answer = world.ok(["send", "a-demo", "--wait", "what is the word?"]);
    assert!(answer.contains("The word is fox."), "{answer}");
}

#[test]
fn handoff_accepts_a_conversation_started_without_segue() {
    let world = world();
    let id = scene::turn_without_segue(&world, "remember the word fox");
    let from = format!("demo:{id}");
    let dry = world.json(["handoff", &from, "--to", "demo", "--dry-run", "--json"]);
    assert_eq!(dry["turns_carried"], 2, "{dry:#}");
    assert_eq!(world.sessions().len(), 0);
    let report = world.json(["handoff", &from, "--to", "demo", "--name", "b", "--json"]);
    assert_eq!(report["to"], "default/b", "{report:#}");
    scene::assert_knows(&world, "b", "fox");
}

#[test]
fn invalid_handoff_is_refused_and_changes_nothing() {
    let world = world();
    scene::start_with_word(&world, "a", "fox");
    for (arguments, status) in [
        (["handoff", "nobody", "--to", "demo", "--json"], 3),
        (["handoff", "demo:nobody", "--to", "demo", "--json"], 3),
        (["handoff", "a", "--to", "nobody", "--json"], 2),
        (["handoff", "a", "--to", "claude", "--json"], 6),
    ] {
        let outcome = world.segue(arguments);
        assert_eq!(outcome.status, status, "{arguments:?}: {outcome:#?}");
        assert!(outcome.stderr.contains("hint: "), "{outcome:#?}");
    }
    for (name, status) in [("a", 4), ("no name", 2)] {
        let outcome = world.segue(["handoff", "a", "--to", "demo", "--name", name, "--json"]);
        assert_eq!(outcome.status, status, "{name}: {outcome:#?}");
    }
    assert!(world.session("a")["pid"].is_u64(), "it still runs");
    assert_eq!(world.sessions().len(), 1);
}

#[test]
fn refused_handoff_of_a_conversation_without_a_session_creates_none() {
    let world = world();
    scene::start_with_word(&world, "a", "fox");
    let from = format!("demo:{}", scene::turn_without_segue(&world, "remember the word hen"));
    let outcome = world.segue(["handoff", &from, "--to", "demo", "--name", "a", "--json"]);
    assert_eq!(outcome.status, 4, "{outcome:#?}");
    assert_eq!(world.sessions().len(), 1);
}

#[test]
fn handoff_back_to_a_session_that_went_on_meanwhile_adds_the_new_turns_once() {
    let world = world();
    scene::start_with_word(&world, "a", "fox");
    hand_over(&world, "a");
    conversation::ask(&world, &world.session("a-demo"), "remember the word hen");
    world.ok(["resume", "a", "--stopped"]);
    conversation::ask(&world, &world.session("a"), "remember the word owl");
    let report = hand_over(&world, "a-demo");
    assert_eq!(report["to"], "default/a", "{report:#}");
    assert_eq!(report["turns_carried"], 2, "{report:#}");
    let received = conversation::user_messages(&scene::transcript(&world, &world.session("a")));
    assert_eq!(received.iter().filter(|it| it.ends_with("hen")).count(), 1, "{received:?}");
    assert_eq!(received.iter().filter(|it| it.ends_with("fox")).count(), 1, "{received:?}");
}

#[test]
fn long_session_name_is_shortened_to_fit_the_vendor_suffix() {
    let world = world();
    let name = "n".repeat(64);
    scene::start_with_word(&world, &name, "fox");
    let report = hand_over(&world, &name);
    let to = report["to"].as_str().unwrap();
    assert!(to.ends_with("n-demo"), "{report:#}");
}

#[test]
fn handoff_works_after_the_transcript_was_deleted() {
    let world = world();
    let before = scene::start_with_word(&world, "a", "fox");
    world.ok(["stop", "a"]);
    std::fs::remove_file(scene::transcript(&world, &before)).expect("a transcript");
    let report = hand_over(&world, "a");
    assert_eq!(report["mode"], "native", "{report:#}");
    scene::assert_knows(&world, "a-demo", "fox");
}

#[test]
fn digest_has_at_most_as_many_characters_as_its_budget() {
    let world = world();
    scene::start_with_word(&world, "a", "fox");
    let session = world.session("a");
    for number in 0..6 {
        conversation::ask(&world, &session, &format!("{number} {}", "größer 日本 ".repeat(400)));
    }
    world.ok(["stop", "a"]);
    for budget in ["1000", "1001", "4000", "12000"] {
        let report = world.json([
            "handoff",
            "a",
            "--to",
            "demo",
            "--mode",
            "digest",
            "--dry-run",
            "--json",
            "--budget",
            budget,
        ]);
        let digest = report["content"].as_str().expect("a message");
        let maximum: usize = budget.parse().expect("a number");
        assert!(digest.chars().count() <= maximum, "{budget}: {}", digest.chars().count());
        assert!(digest.contains("remember the word fox"), "{budget}: {digest}");
    }
    let refused = world.segue(["handoff", "a", "--to", "demo", "--budget", "10", "--json"]);
    assert_eq!(refused.status, 2, "{refused:#?}");
}

#[test]
fn handoff_of_a_long_conversation_reports_the_omitted_turns() {
    let world = world();
    scene::start_with_word(&world, "a", "fox");
    let session = world.session("a");
    for number in 0..8 {
        conversation::ask(&world, &session, &format!("{number} {}", "words ".repeat(200)));
    }
    let report = world.json(["handoff", "a", "--to", "demo", "--budget", "4000", "--json"]);
    assert_eq!(report["mode"], "native", "{report:#}");
    let (carried, left_out) = (report["turns_carried"].as_u64(), report["turns_left_out"].as_u64());
    assert_eq!(carried.zip(left_out).map(|(a, b)| a + b), Some(18), "{report:#}");
    assert!(left_out > Some(5), "{report:#}");
    assert!(report["chars"].as_u64() <= Some(4000), "{report:#}");
    let received =
        conversation::user_messages(&scene::transcript(&world, &world.session("a-demo")));
    assert!(received[0].starts_with("remember the word fox"), "{received:?}");
    assert!(received[0].contains("left out"), "{received:?}");
    assert!(received[received.len() - 1].starts_with("7 words"), "{received:?}");
}

#[test]
fn handoff_reads_past_a_five_megabyte_line() {
    let world = world();
    let before = scene::start_with_word(&world, "a", "fox");
    world.ok(["stop", "a"]);
    let path = scene::transcript(&world, &before);
    let text = std::fs::read_to_string(&path).expect("a transcript");
    let (huge, at) = ("x".repeat(5 * 1024 * 1024), "2025-01-01T00:00:00Z");
    let records = [
        json!({"type": "user", "text": huge, "at": at}),
        json!({"type": "assistant", "text": "seen", "at": at}),
        json!({"type": "turn_end", "at": at}),
    ];
    let lines: String = records.iter().map(|record| format!("{record}\n")).collect();
    std::fs::write(&path, text + &lines).expect("a transcript");
    for mode in ["native", "digest"] {
        let handoff =
            ["handoff", "a", "--to", "demo", "--mode", mode, "--dry-run", "--raw", "--json"];
        let report = world.json(handoff);
        let content = report["content"].as_str().expect("a content");
        assert!(content.contains("remember the word fox"), "{mode}: {}", content.len());
        assert!(content.contains("left out") && content.contains("seen"), "{mode}");
        assert!(content.len() < 600_000, "{mode}: {}", content.len());
    }
}

#[test]
fn show_story_prints_each_turn_once_across_a_handoff() {
    let world = world();
    scene::start_with_word(&world, "a", "fox");
    hand_over(&world, "a");
    conversation::ask(&world, &world.session("a-demo"), "remember the word hen");
    let story = world.ok(["show", "a-demo", "--story", "--json"]);
    let turns: Vec<Value> =
        story.lines().map(|line| serde_json::from_str(line).expect("a turn")).collect();
    let messages: Vec<&Value> =
        turns.iter().filter(|turn| turn["role"] == "user").map(|turn| &turn["text"]).collect();
    assert_eq!(messages, ["remember the word fox", "remember the word hen"], "{story}");
}

#[test]
fn handoff_back_restarts_a_target_session_that_runs_again() {
    let world = world();
    scene::start_with_word(&world, "a", "fox");
    hand_over(&world, "a");
    conversation::ask(&world, &world.session("a-demo"), "remember the word hen");
    world.resume(["a", "--stopped"]).assert_back("a", "resumed");
    let running = scene::pid(&world.session("a"), "pid");
    hand_over(&world, "a-demo");
    assert_ne!(scene::pid(&world.session("a"), "pid"), running);
    scene::assert_knows(&world, "a", "hen");
}

#[test]
fn concurrent_handoffs_of_one_conversation_add_its_turns_once() {
    let world = world();
    scene::start_with_word(&world, "a", "fox");
    hand_over(&world, "a");
    conversation::ask(&world, &world.session("a-demo"), "remember the word hen");
    let handoffs: Vec<_> =
        (0..4).map(|_| world.start(["handoff", "a-demo", "--to", "demo", "--json"])).collect();
    let statuses: Vec<_> =
        handoffs.into_iter().map(|mut child| child.wait().expect("an end").code()).collect();
    assert!(statuses.contains(&Some(0)), "{statuses:?}");
    assert!(statuses.iter().all(|it| [Some(0), Some(4)].contains(it)), "{statuses:?}");
    let received = conversation::user_messages(&scene::transcript(&world, &world.session("a")));
    assert_eq!(received.iter().filter(|it| it.contains("hen")).count(), 1, "{received:?}");
    scene::assert_knows(&world, "a", "hen");
}

/// Starts the session `a` and sends it this message.
fn start_with_message(world: &World, message: &str) {
    scene::start_with_word(world, "a", "fox");
    conversation::ask(world, &world.session("a"), message);
}

#[test]
fn dry_run_prints_readable_turns_and_counts_secrets_by_kind() {
    let world = world();
    let key = format!("ghp_{}", "0a1B2c3D4e5F6g7H8i9J".repeat(2));
    start_with_message(&world, &format!("the token is {key} and DB_PASS=swordfish works"));
    let shown = world.segue(["handoff", "a", "--to", "demo", "--dry-run"]);
    assert_eq!(shown.status, 0, "{shown:#?}");
    assert!(shown.stdout.contains("1  user"), "{shown:#?}");
    assert!(shown.stdout.contains("DB_PASS=[redacted] works"), "{shown:#?}");
    assert!(!shown.stdout.contains("{\""), "no JSON: {shown:#?}");
    assert!(!shown.stdout.contains("swordfish") && !shown.stdout.contains(&key), "{shown:#?}");
    assert!(
        shown.stderr.contains("github-token") && shown.stderr.contains("password"),
        "{shown:#?}"
    );
    let raw = world.segue(["handoff", "a", "--to", "demo", "--dry-run", "--raw"]);
    assert!(raw.stdout.contains("{\"") && !raw.stdout.contains("swordfish"), "{raw:#?}");
    let report = world.json(["handoff", "a", "--to", "demo", "--dry-run", "--json"]);
    assert!(report["redacted"]["github-token"].as_u64() >= Some(1), "{report:#}");
    assert!(report["redacted"]["password"].as_u64() >= Some(1), "{report:#}");
    let refused = world.segue(["handoff", "a", "--to", "demo", "--raw"]);
    assert_eq!(refused.status, 2, "--raw needs --dry-run: {refused:#?}");
}

#[test]
fn handoff_redacts_values_of_env_files_in_the_folder() {
    let world = world();
    world.write(".env", "DB_PASS=swordfish\nNODE_ENV=production\n");
    world.write(".env.local", "DEPLOY=q7Xb2LmZ9vTr4KpW\n");
    start_with_message(
        &world,
        "we log in with swordfish on production, and deploy with q7Xb2LmZ9vTr4KpW",
    );
    for mode in ["native", "digest"] {
        let handoff = ["handoff", "a", "--to", "demo", "--mode", mode, "--dry-run", "--json"];
        let report = world.json(handoff);
        let shown = report.to_string();
        assert!(!shown.contains("swordfish") && !shown.contains("q7Xb2LmZ"), "{report:#}");
        assert!(shown.contains("production"), "{report:#}");
        assert!(report["redacted"]["env-file-value"].as_u64() >= Some(2), "{report:#}");
    }
    let report = hand_over(&world, "a");
    assert!(report["redacted"]["env-file-value"].as_u64() >= Some(2), "{report:#}");
    let path = scene::transcript(&world, &world.session("a-demo"));
    let carried = std::fs::read_to_string(path).expect("a transcript");
    assert!(carried.contains("production"), "{carried}");
    assert!(!carried.contains("swordfish") && !carried.contains("q7Xb2LmZ"), "{carried}");
}

#[test]
fn handoff_redacts_values_of_secret_environment_variables_of_the_launch() {
    let world = world();
    let value = "plum-tree-4711-blue";
    let mut run = world.command(["run", "-d", "--name", "a", "remember the word fox"]);
    let started = segue_testkit::CommandOutcome::of(run.env("SHOP_TOKEN", value));
    assert_eq!(started.status, 0, "{started:#?}");
    let session = world.session("a");
    conversation::wait_turns(&world, &session, 1);
    conversation::ask(&world, &session, &format!("it is {value} today"));
    // The `handoff` command does not have the variable. Only the holder has it.
    let report = world.json(["handoff", "a", "--to", "demo", "--dry-run", "--json"]);
    assert!(!report.to_string().contains(value), "{report:#}");
    assert!(report["redacted"]["environment-value"].as_u64() >= Some(1), "{report:#}");
    let report = hand_over(&world, "a");
    assert!(report["redacted"]["environment-value"].as_u64() >= Some(1), "{report:#}");
    let path = scene::transcript(&world, &world.session("a-demo"));
    assert!(!std::fs::read_to_string(path).expect("a transcript").contains(value));
}
