//! A session has the same JSON fields in the output of every command.

use segue_testkit::{World, scene};
use serde_json::{Map, Value};

use super::json_lines;

/// The fields of every JSON object that represents a session.
const SESSION_FIELDS: [&str; 4] = ["session", "name", "fleet", "address"];

/// The sorted fields of a session in the output of `segue ls`.
const LS_FIELDS: [&str; 35] = [
    "address",
    "agent",
    "attention",
    "branch",
    "comes_back",
    "created_at",
    "cwd",
    "dialog",
    "evidence",
    "fleet",
    "goes_on_as",
    "headless",
    "holder_pid",
    "id",
    "last_failure",
    "launches",
    "missing_variables",
    "model",
    "name",
    "open_in",
    "permission",
    "pid",
    "queued_messages",
    "repetition",
    "session",
    "settings_outdated",
    "status",
    "status_detail",
    "task",
    "updated_at",
    "usage",
    "vendor",
    "vendor_session_id",
    "waiting_for",
    "worktree",
];

/// The outcomes that a report can have for an agent.
const OUTCOMES: [&str; 9] = [
    "started",
    "running",
    "resumed",
    "restored",
    "adopted",
    "handed_over",
    "fresh",
    "waiting",
    "refused",
];

/// Checks the output of a command: each line is an object, and every object in it that represents a
/// session has the expected fields.
fn check_output(command: &str, printed: &str) -> Vec<Value> {
    let all = json_lines(printed);
    assert!(!all.is_empty(), "{command} printed nothing");
    for value in &all {
        assert!(value.is_object(), "{command}: {value:#}");
        check_value(command, value);
    }
    all
}

fn check_value(command: &str, value: &Value) {
    match value {
        Value::Array(values) => values.iter().for_each(|it| check_value(command, it)),
        Value::Object(fields) => {
            check_object(command, fields);
            fields.values().for_each(|it| check_value(command, it));
        }
        _ => {}
    }
}

fn check_object(command: &str, fields: &Map<String, Value>) {
    let is_session = ["session", "fleet", "address"].iter().any(|key| fields.contains_key(*key));
    if !is_session {
        return;
    }
    for key in SESSION_FIELDS {
        let value = fields.get(key).unwrap_or_else(|| panic!("{command}: no {key} in {fields:#?}"));
        assert!(value.is_string() || value.is_null(), "{command}: {key} in {fields:#?}");
    }
    let text = |key: &str| fields[key].as_str();
    if let (Some(address), Some(fleet), Some(name)) = (text("address"), text("fleet"), text("name"))
    {
        assert_eq!(address, format!("{fleet}/{name}"), "{command}");
        assert!(!name.contains('/'), "{command}: {name}");
    }
    if let Some(session) = text("session") {
        assert_eq!(session.len(), 36, "{command}: {session}");
    }
}

fn fields(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

/// Runs a command with `--json` and checks its output, whatever its exit status is.
fn run<const N: usize>(world: &World, arguments: [&str; N]) -> Vec<Value> {
    let mut words = arguments.to_vec();
    words.push("--json");
    let outcome = segue_testkit::CommandOutcome::of(&mut world.command(&words));
    check_output(&arguments.join(" "), &outcome.stdout)
}

/// Returns the length of a list.
fn length(value: &Value, key: &str) -> usize {
    value[key].as_array().unwrap_or_else(|| panic!("no list {key} in {value:#}")).len()
}

#[test]
fn every_command_prints_sessions_in_the_same_shape() {
    let world = crate::world();
    assert_eq!(length(&run(&world, ["ls"])[0], "sessions"), 0);
    scene::write_agents(&world, "shop", &["coder", "tester"]);
    run(&world, ["trust"]);
    let up = run(&world, ["up"]);
    assert_eq!((length(&up[0], "agents"), &up[0]["complete"]), (2, &true.into()));
    scene::wait_first_turns(&world);
    let again = run(&world, ["up"]);
    for agent in again[0]["agents"].as_array().unwrap() {
        assert_eq!(agent["outcome"], "running", "{agent:#}");
    }
    check_ls(&world);

    check_starts(&world);
    check_messages(&world);
    check_ends(&world);
    let overview = check_output("segue", &world.ok(["--json"]));
    assert!(length(&overview[0], "sessions") > 3);
    check_others(&world);
    let removed = run(&world, ["rm", "fox", "owl", "--yes"]);
    assert!(removed.iter().all(|it| it["outcome"] == "removed"), "{removed:#?}");
    assert_eq!(removed.len(), 2);
}

fn check_starts(world: &World) {
    let started = run(world, ["run", "-d", "--name", "fox", "remember the word fox"]);
    assert_eq!(started[0]["address"], "shop/fox");
    let turn = run(world, ["run", "--headless", "--name", "owl", "remember the word owl"]);
    assert_eq!((&turn[0]["name"], &turn[0]["ok"]), (&"owl".into(), &true.into()));
    world.ok(["wait", "fox", "--for", "idle", "--timeout", "170s"]);

    let plan = run(world, ["resume", "shop", "--plan"]);
    let planned = &plan[0]["plan"][0];
    assert_eq!((&planned["decision"], planned["note"].is_string()), (&"running".into(), true));
    let waited = run(world, ["wait", "fox", "tester"]);
    assert_eq!(waited.len(), 2);
    assert!(waited.iter().all(|it| it["outcome"] == "reached"), "{waited:#?}");
}

fn check_ends(world: &World) {
    assert!(run(world, ["log", "fox"]).len() > 2);
    run(world, ["show", "fox"]);
    let report = run(world, ["handoff", "fox", "--to", "demo"]);
    assert_eq!(
        (&report[0]["to"], &report[0]["name"]),
        (&"shop/fox-demo".into(), &"fox-demo".into())
    );
    let scaled = run(world, ["scale", "coder", "0"]);
    assert_eq!(scaled[0]["stopped"][0]["outcome"], "stopped", "{scaled:#?}");
    let stopped = run(world, ["stop", "shop/tester", "coder"]);
    let outcomes: Vec<&Value> =
        stopped[0]["stopped"].as_array().unwrap().iter().map(|it| &it["outcome"]).collect();
    assert_eq!(outcomes, ["stopped", "not_running"]);
    let resumed = run(world, ["resume", "tester"]);
    for agent in resumed[0]["agents"].as_array().unwrap() {
        assert!(OUTCOMES.contains(&agent["outcome"].as_str().unwrap()), "{agent:#}");
    }
}

fn check_ls(world: &World) {
    let list = run(world, ["ls"]);
    for session in list[0]["sessions"].as_array().unwrap() {
        let mut own = fields(session);
        own.sort_unstable();
        assert_eq!(own, LS_FIELDS);
        assert_eq!(session["id"], session["session"]);
        assert_eq!(session["queued_messages"], 0);
        assert_eq!(session["task"], Value::Null);
        // It is null until the first turn is counted.
        if session["usage"].is_object() {
            let mut usage = fields(&session["usage"]);
            usage.sort_unstable();
            assert_eq!(usage, ["cached", "cost_usd", "input", "output"]);
        }
        assert_eq!((&session["waiting_for"], &session["open_in"]), (&Value::Null, &Value::Null));
    }
}

fn check_messages(world: &World) {
    run(world, ["send", "fox", "hello"]);
    world.ok(["stop", "fox"]);
    run(world, ["send", "fox", "--no-wait", "one"]);
    let sent = run(world, ["send", "fox", "--no-wait", "two"]);
    assert_eq!(sent[0]["message"]["state"], "queued");
    assert_eq!(world.session("fox")["queued_messages"], 2);
    let list = run(world, ["messages", "fox"]);
    assert_eq!(length(&list[0], "messages"), 3);
    let id = sent[0]["message"]["id"].as_str().unwrap();
    assert_eq!(run(world, ["messages", "--cancel", id])[0]["state"], "cancelled");
    assert_eq!(world.session("fox")["queued_messages"], 1);
    world.ok(["resume", "fox"]);
    world.ok(["wait", "fox", "--for", "idle", "--timeout", "170s"]);
    assert_eq!(world.session("fox")["queued_messages"], 0);
    run(world, ["send", "fox", "--no-wait", "/ask"]);
    world.ok(["wait", "fox", "--for", "waiting", "--timeout", "170s"]);
    let answered = run(world, ["answer", "fox", "yes"]);
    assert_eq!(
        (&answered[0]["name"], &answered[0]["outcome"]),
        (&"fox".into(), &"answered".into())
    );
    world.ok(["wait", "fox", "--for", "idle", "--timeout", "170s"]);
}

fn check_others(world: &World) {
    let id = scene::turn_without_segue(world, "remember the word heron");
    assert_eq!(length(&run(world, ["adopt"])[0], "candidates"), 1);
    let adopted = run(world, ["adopt", &format!("demo:{id}"), "--name", "heron"]);
    assert_eq!(adopted[0]["adopted"][0]["name"], "heron");
    assert!(length(&run(world, ["vendors"])[0], "vendors") > 3);
    run(world, ["doctor"]);
    let daemon = run(world, ["daemon"]);
    assert_eq!(daemon[0]["running"], true);
    let all = ["running", "stopping", "pid", "version", "protocol", "started_at"];
    let missing = |it: &&&str| !fields(&daemon[0]).contains(*it);
    assert_eq!(all.iter().find(missing), None);
    let error = run(world, ["attach", "nobody"]);
    assert_eq!(error[0]["error"]["kind"], "usage");
}

#[test]
fn unknown_value_is_null_and_its_field_is_never_missing() {
    let world = crate::world();
    let absent = run(&world, ["daemon", "status"]);
    for field in ["pid", "version", "protocol", "started_at"] {
        assert_eq!(absent[0].get(field), Some(&Value::Null), "{field}");
    }
}
