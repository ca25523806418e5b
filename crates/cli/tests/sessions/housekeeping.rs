//! Disk use and its budget, sweeps, and resets of conversations about issues.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use segue_testkit::events::Events;
use segue_testkit::repositories::{git, make_repository};
use segue_testkit::scene::{self, kill_daemon, text};
use segue_testkit::{CommandOutcome, NetworkClient, World};
use serde_json::{Value, json};

use crate::worktrees::world_with_repository;

const BOTH: &str = r#"{"session":true,"worktree":true}"#;
const NONE: &str = r#"{"session":false,"worktree":false}"#;

/// Creates a world with the agent `coder` and a repository that is known by URL.
fn world_with_agent() -> (World, String) {
    let world = world_with_repository();
    scene::write_agents_with(&world, "shop", &["coder"], "");
    let origin = world.root().join("app");
    make_repository(&origin);
    (world, format!("file://{}", origin.display()))
}

fn add_task(world: &World, url: &str, issue: &str, prompt: &str) -> String {
    let words = ["task", "add", "--agent", "coder", "--repo", url, "--issue", issue, prompt];
    world.ok(words).trim().to_owned()
}

fn wait_task(world: &World, id: &str) -> Value {
    let outcome = world.segue(["task", "wait", id, "--json"]);
    let report: Value = serde_json::from_str(&outcome.stdout).unwrap();
    report["task"].clone()
}

fn wait_state(world: &World, id: &str, state: &str) -> Value {
    let mut events = Events::of(world);
    loop {
        let found = world.json(["task", "show", id, "--json"])["task"].clone();
        if found["state"] == state {
            return found;
        }
        events.wait_for(|event| event["kind"] == "task_changed").unwrap();
    }
}

fn configure(world: &World, text: &str) {
    fs::write(world.segue_home().join("config.toml"), text).unwrap();
}

/// Returns what `du` says about folders.
fn du(folders: &[PathBuf]) -> u64 {
    let output = Command::new("du").args(["-s", "-c", "--block-size=1"]).args(folders).output();
    let text = String::from_utf8(output.unwrap().stdout).unwrap();
    let total = text.lines().last().unwrap().split_whitespace().next().unwrap();
    total.parse().unwrap()
}

/// Writes this many bytes that cannot be compressed.
fn write_large(path: &Path, bytes: usize) {
    let mut state = 1_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        state.to_le_bytes()[4]
    };
    fs::write(path, (0..bytes).map(|_| next()).collect::<Vec<u8>>()).unwrap();
}

/// Starts a session in a worktree, writes a large file there, and stops the session.
fn stopped_session(world: &World, name: &str, bytes: usize) -> PathBuf {
    world.ok(["run", "-d", "--vendor", "demo", "--name", name, "--worktree", name, "hello"]);
    world.ok(["wait", name, "--for", "idle", "--timeout", "170s"]);
    let folder = PathBuf::from(text(&world.session(name), "cwd"));
    write_large(&folder.join("large"), bytes);
    world.ok(["stop", name]);
    folder
}

#[test]
fn du_has_all_parts_and_its_total_is_that_of_the_program_du() {
    let (world, url) = world_with_agent();
    let task = wait_task(&world, &add_task(&world, &url, "17", "remember the word amber"));
    assert_eq!(task["state"], "done", "{task:#}");
    let folder = stopped_session(&world, "fox", 20_000_000);
    let report = world.json(["du", "--json"]);
    let (data, state) = (world.segue_home().join("data"), world.segue_home().join("state"));
    let (total, expected) = (report["total"].as_u64().unwrap(), du(&[data, state]));
    assert!(total.abs_diff(expected) * 100 <= expected, "{total} is not {expected}");
    let items = report["items"].as_array().unwrap();
    let sum: u64 = items.iter().map(|it| it["bytes"].as_u64().unwrap()).sum();
    assert_eq!(sum, total);
    let sizes: Vec<u64> = items.iter().map(|it| it["bytes"].as_u64().unwrap()).collect();
    assert!(sizes.is_sorted_by(|one, other| one >= other), "{sizes:?}");
    for kind in ["worktree", "clone", "session", "store", "state"] {
        assert!(items.iter().any(|it| it["kind"] == kind), "{kind} is missing: {report:#}");
    }
    let largest = &items[0];
    assert_eq!(
        (text(largest, "kind"), text(largest, "path")),
        ("worktree", folder.to_str().unwrap())
    );
    assert_eq!(largest["bytes"], du(&[folder]));
    let of_url = |it: &&Value| text(it, "repository") == url;
    let repository = report["repositories"].as_array().unwrap().iter().find(of_url).unwrap();
    assert!(repository["clone"].as_u64() > Some(0) && repository["worktrees"].as_u64() > Some(0));
    let table = world.ok(["du"]);
    assert!(table.contains("20.") && table.contains("MB"), "{table}");
    assert!(world.ok(["du", "--repos"]).contains(&url));
    let network = NetworkClient::listen(&world);
    let reader = network.with_scopes(&world, "reader", &["read"]);
    assert_eq!(reader.get("/v1/disk").body["budget"], Value::Null);
    assert_eq!(reader.get("/v1/disk?exact=perhaps").status, 400);
    assert_eq!(network.get("/v1/disk").status, 401);
}

#[test]
fn budget_removes_what_no_session_uses_and_then_refuses_new_worktrees() {
    let world = world_with_repository();
    let unused = stopped_session(&world, "old", 8_000_000);
    world.ok(["rm", "old", "--yes"]);
    configure(&world, "[disk]\nbudget = \"6 MB\"\nwarn = 0.5\n");
    world.ok(["run", "-d", "--vendor", "demo", "--name", "fox", "--worktree", "fox", "hello"]);
    assert!(!unused.exists(), "the unused worktree made room");
    let salvages = git(&world.project(), &["for-each-ref", "refs/segue/salvage"]);
    assert_eq!(salvages.lines().count(), 1, "{salvages}");
    let log = world.ok(["log"]);
    assert!(log.contains("the disk budget was used up"), "{log}");

    let folder = PathBuf::from(text(&world.session("fox"), "cwd"));
    write_large(&folder.join("large"), 8_000_000);
    let words = ["run", "-d", "--vendor", "demo", "--name", "hen", "--worktree", "hen", "hello"];
    let refused = world.segue(words);
    assert_eq!(refused.status, 7, "{refused:#?}");
    assert!(refused.stderr.contains("of 6 MB on disk"), "{refused:#?}");
    assert!(refused.stderr.contains("segue du"), "{refused:#?}");
    assert!(folder.join("large").exists(), "a running session keeps its worktree");
    let log = world.ok(["log"]);
    assert!(log.contains("full: ") && log.contains(" of 6 MB"), "{log}");
    world.ok(["run", "-d", "--vendor", "demo", "--name", "owl", "hello"]);

    // The session comes back with its worktree.
    world.ok(["stop", "fox"]);
    world.ok(words);
    assert!(!folder.exists(), "the worktree of a session at rest made room");
    configure(&world, "");
    world.ok(["resume", "fox", "--stopped"]);
    assert!(folder.join("large").exists());
}

/// Adds a task that waits because the worktree of a running session uses up the budget.
fn waiting_for_disk(world: &World, url: &str) -> String {
    world.ok(["run", "-d", "--vendor", "demo", "--name", "fox", "--worktree", "fox", "hello"]);
    let folder = PathBuf::from(text(&world.session("fox"), "cwd"));
    write_large(&folder.join("large"), 8_000_000);
    configure(world, "[disk]\nbudget = \"6 MB\"\n");
    let id = add_task(world, url, "17", "remember the word amber");
    let waiting = wait_state(world, &id, "waiting");
    assert!(text(&waiting, "reason").contains("of 6 MB on disk"), "{waiting:#}");
    id
}

#[test]
fn task_that_needs_a_worktree_waits_for_disk_space_and_says_so() {
    let (world, url) = world_with_agent();
    let id = waiting_for_disk(&world, &url);
    world.ok(["stop", "fox"]);
    world.ok(["worktree", "rm", "fox", "--yes"]);
    assert_eq!(wait_state(&world, &id, "done")["branch"], "coder/issue-17");
}

#[test]
fn task_that_waits_for_disk_space_goes_on_after_a_restart_with_a_larger_budget() {
    let (world, url) = world_with_agent();
    let id = waiting_for_disk(&world, &url);
    configure(&world, "[disk]\nbudget = \"1 GB\"\n");
    kill_daemon(&world);
    let done = wait_state(&world, &id, "done");
    assert_eq!(done["result"]["answer"], "I will remember amber.", "{done:#}");
}

#[test]
fn sweep_removes_old_things_and_goes_on_after_an_error() {
    let world = world_with_repository();
    let folders = ["one", "two"].map(|name| stopped_session(&world, name, 1000));
    world.ok(["rm", "one", "two", "--yes"]);
    git(&world.project(), &["worktree", "lock", folders[0].to_str().unwrap()]);
    let none = world.json(["sweep", "--dry-run", "--json"]);
    assert_eq!((&none["removed"], &none["failed"]), (&json!([]), &json!([])), "{none:#}");
    configure(&world, "[sweep]\norphans = \"0s\"\n");
    let preview = world.json(["sweep", "--dry-run", "--json"]);
    assert_eq!(preview["removed"].as_array().unwrap().len(), 2, "{preview:#}");
    assert!(folders.iter().all(|folder| folder.exists()));
    assert!(world.ok(["sweep", "--dry-run"]).contains("would remove worktree"));
    let outcome = world.segue(["sweep", "--json"]);
    assert_eq!(outcome.status, 8, "{outcome:#?}");
    let report: Value = serde_json::from_str(&outcome.stdout).unwrap();
    let removed = &report["removed"][0];
    assert_eq!(text(removed, "name"), folders[1].to_str().unwrap(), "{report:#}");
    assert!(text(removed, "salvage").starts_with("refs/segue/salvage/"), "{report:#}");
    assert!(text(removed, "reason").starts_with("it has no session"), "{report:#}");
    assert_eq!(text(&report["failed"][0], "target"), folders[0].to_str().unwrap());
    assert!(folders[0].exists() && !folders[1].exists());
    git(&world.project(), &["worktree", "unlock", folders[0].to_str().unwrap()]);
    assert_eq!(world.json(["sweep", "--json"])["removed"].as_array().unwrap().len(), 1);
    assert!(world.ok(["log"]).contains("they were old"));
}

#[test]
fn sweep_keeps_sessions_that_are_alive_and_removes_clones_that_nothing_needs() {
    let (world, url) = world_with_agent();
    wait_task(&world, &add_task(&world, &url, "17", "remember the word amber"));
    world.ok(["run", "-d", "--vendor", "demo", "--name", "fox", "--worktree", "fox", "hello"]);
    configure(
        &world,
        "[sweep]\norphans = \"0s\"\nlaunches = \"0s\"\nclones = \"0s\"\narchives = \"0s\"\n",
    );
    world.ok(["wait", "fox", "--for", "idle", "--timeout", "170s"]);
    let kept = world.json(["sweep", "--json"]);
    let kinds = |report: &Value| -> Vec<String> {
        let removed = report["removed"].as_array().unwrap();
        removed.iter().map(|it| text(it, "kind").to_owned()).collect()
    };
    assert!(!kinds(&kept).iter().any(|kind| kind == "worktree" || kind == "clone"), "{kept:#}");
    assert_eq!(world.session("fox")["status"], "idle");
    let task_session = world.sessions().into_iter().find(|it| it["headless"] == true).unwrap();
    world.ok(["rm", text(&task_session, "address"), "--yes"]);
    let first = kinds(&world.json(["sweep", "--json"]));
    assert!(first.contains(&"worktree".to_owned()), "{first:?}");
    world.json(["sweep", "--json"]);
    assert_eq!(fs::read_dir(world.segue_home().join("data/clones")).unwrap().count(), 0);
}

#[test]
fn sweeper_works_by_itself_and_records_when_it_is_due_next() {
    let world = world_with_repository();
    let folder = stopped_session(&world, "old", 1000);
    world.ok(["rm", "old", "--yes"]);
    configure(&world, "[sweep]\norphans = \"0s\"\nevery = \"1s\"\n");
    kill_daemon(&world);
    let mut events = Events::of(&world);
    events.wait_for(|event| event["kind"] == "swept").unwrap();
    assert!(!folder.exists());
}

/// Sends a reset for issue 17 and returns what was dropped.
fn dropped(world: &World, url: &str) -> String {
    let words = ["reset", "--agent", "coder", "--repo", url, "--issue", "17", "--json"];
    world.json(words)["dropped"].to_string()
}

#[test]
fn reset_drops_conversation_and_worktree_once_and_the_next_task_begins_anew() {
    let (world, url) = world_with_agent();
    assert_eq!(dropped(&world, &url), NONE);
    let first = wait_task(&world, &add_task(&world, &url, "17", "remember the word amber"));
    let folder = PathBuf::from(text(&first, "worktree"));
    fs::write(folder.join("note.txt"), "keep me").unwrap();
    assert_eq!(dropped(&world, &url), BOTH);
    assert!(!folder.exists());
    assert_eq!(dropped(&world, &url), NONE);
    let sessions = world.json(["ls", "--all", "--json"])["sessions"].clone();
    assert!(sessions.as_array().unwrap().iter().any(|it| it["session"] == first["session"]));
    let log = world.ok(["log"]);
    assert!(log.contains("coder begins anew with issue 17"), "{log}");
    assert!(log.contains("refs/segue/salvage/"), "{log}");
    let second = wait_task(&world, &add_task(&world, &url, "17", "which word?"));
    assert_eq!(second["state"], "done", "{second:#}");
    assert_ne!(second["session"], first["session"]);
    assert_eq!(second["worktree"], first["worktree"]);
    assert_ne!(second["result"]["answer"], "The word is amber.", "{second:#}");
    let text_output = world.ok(["reset", "--agent", "coder", "--repo", "app", "--issue", "#17"]);
    assert_eq!(text_output, "dropped the conversation and the worktree\n");
}

#[test]
fn reset_over_http_is_idempotent_and_refuses_malformed_and_unauthorized_requests() {
    let (world, url) = world_with_agent();
    let network = NetworkClient::listen(&world);
    let worker = network.with_scopes(&world, "worker", &["work"]);
    let body = json!({ "agent": "coder", "repo": url, "issue": 17 });
    assert_eq!(network.post("/v1/reset", &body).status, 401);
    let reader = network.with_scopes(&world, "reader", &["read", "send"]);
    assert_eq!(reader.post("/v1/reset", &body).status, 403);
    wait_task(&world, &add_task(&world, &url, "17", "hello"));
    for expected in [BOTH, NONE, NONE] {
        let answer = worker.post("/v1/reset", &body);
        assert_eq!((answer.status, answer.body["dropped"].to_string().as_str()), (200, expected));
    }
    for bad in [
        json!({}),
        json!({ "agent": "coder", "repo": url }),
        json!({ "agent": "coder", "repo": url, "issue": "no issue" }),
        json!({ "agent": "coder", "repo": url, "issue": -1 }),
        json!({ "agent": "co der", "repo": url, "issue": 17 }),
        json!({ "agent": "coder", "repo": "", "issue": 17 }),
        json!({ "agent": "coder", "repo": "ftp://example.org/a", "issue": 17 }),
        json!([]),
    ] {
        let answer = worker.post("/v1/reset", &bad);
        assert_eq!(answer.status, 400, "{bad}: {}", answer.text);
    }
    assert_eq!(worker.post("/v1/sweep", &json!({})).status, 403);
    assert_eq!(worker.post("/v1/sweep", &json!({ "dry_run": true })).status, 403);
}

#[test]
fn reset_of_a_running_turn_is_refused_unless_it_may_interrupt() {
    let (world, url) = world_with_agent();
    let running = add_task(&world, &url, "17", "/ask");
    wait_state(&world, &running, "waiting");
    let queued = add_task(&world, &url, "17", "later");
    let words = ["reset", "--agent", "coder", "--repo", &url, "--issue", "17"];
    let refused = world.segue(words);
    assert_eq!(refused.status, 4, "{refused:#?}");
    assert!(refused.stderr.contains("--interrupt"), "{refused:#?}");
    assert!(wait_state(&world, &running, "waiting")["session"].is_string());
    let outcome = CommandOutcome::of(world.command(words).args(["--interrupt", "--json"]));
    assert_eq!(outcome.status, 0, "{outcome:#?}");
    for task in [&running, &queued] {
        let task = world.json(["task", "show", task, "--json"])["task"].clone();
        assert_eq!(task["state"], "cancelled", "{task:#}");
    }
    assert_eq!(dropped(&world, &url), NONE);
}
