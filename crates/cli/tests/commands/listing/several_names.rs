//! Commands that take several sessions and fleets.

use segue_testkit::{CommandOutcome, World, scene};
use serde_json::Value;

use super::{agents, json_lines};

/// Creates a world with the fleet `shop` (`coder` and `tester`), and the session `fox` outside of it.
fn fleet() -> World {
    let world = crate::world();
    scene::write_agents(&world, "shop", &["coder", "tester"]);
    world.ok(["up"]);
    scene::wait_first_turns(&world);
    world.ok(["run", "-d", "--name", "fox", "--cwd", "/", "remember the word fox"]);
    world.ok(["wait", "fox", "--for", "idle", "--timeout", "170s"]);
    world
}

fn statuses(world: &World) -> Vec<(String, String)> {
    let text = |it: &Value, key: &str| it[key].as_str().unwrap().to_owned();
    world.sessions().iter().map(|it| (text(it, "name"), text(it, "status"))).collect()
}

/// Checks that a command did its work only for some of the names, and reported this error.
#[track_caller]
fn assert_partly(outcome: &CommandOutcome, error: &str) {
    assert_eq!(outcome.status, 8, "{outcome:#?}");
    assert!(outcome.stderr.contains(error), "{outcome:#?}");
}

const UNKNOWN_NAME: &str = "error: there is no session or fleet `nobody`";

#[test]
fn unknown_name_among_several_does_not_affect_the_others() {
    let world = agents(&["fox", "owl", "hen"]);
    let stopped = world.segue(["stop", "fox", "nobody", "owl", "--json"]);
    assert_partly(&stopped, UNKNOWN_NAME);
    let report: Value = serde_json::from_str(&stopped.stdout).unwrap();
    assert_eq!(report["stopped"].as_array().unwrap().len(), 2, "{report:#}");
    assert_eq!(report["failed"][0]["target"], "nobody", "{report:#}");
    assert_eq!(report["failed"][0]["error"]["kind"], "not_found", "{report:#}");
    let has_ended = |name: &str| world.session(name)["status"] == "ended";
    assert!(has_ended("fox") && has_ended("owl") && !has_ended("hen"), "{:?}", statuses(&world));

    let resumed = world.segue(["resume", "nobody", "fox"]);
    assert_partly(&resumed, UNKNOWN_NAME);
    assert!(resumed.stdout.contains("default/fox"), "{resumed:#?}");
    assert!(!has_ended("fox") && has_ended("owl"), "{:?}", statuses(&world));
    assert_partly(&world.segue(["messages", "fox", "nobody"]), UNKNOWN_NAME);
    assert_partly(&world.segue(["log", "nobody", "fox"]), UNKNOWN_NAME);
    assert_partly(&world.segue(["wait", "fox", "nobody", "--for", "idle"]), UNKNOWN_NAME);
    assert_partly(&world.segue(["rm", "nobody", "owl", "--yes"]), UNKNOWN_NAME);
    assert_eq!(statuses(&world).len(), 2);
}

#[test]
fn exit_status_is_that_of_the_first_failure_if_every_name_is_unknown() {
    let world = agents(&["fox"]);
    for command in ["stop", "resume", "rm", "wait", "log", "messages"] {
        let outcome = world.segue([command, "nobody", "nothing"]);
        assert_eq!(outcome.status, 3, "{command}: {outcome:#?}");
        let expected = "error: nothing was done for any of 2 names\n  \
                        caused by: there is no session or fleet `nobody`\n  \
                        caused by: there is no session or fleet `nothing`\n\
                        hint: run `segue ls --all` to see all sessions\n";
        assert_eq!(outcome.stderr, expected, "{command}");
    }
    assert_eq!(world.session("fox")["status"], "idle");
}

#[test]
fn fleet_name_selects_all_sessions_of_the_fleet() {
    let world = fleet();
    let waited = world.ok(["wait", "shop", "--for", "idle", "--timeout", "170s"]);
    let mut waited: Vec<&str> = waited.lines().collect();
    waited.sort_unstable();
    assert_eq!(waited, ["shop/coder  idle", "shop/tester  idle"]);
    let events = json_lines(&world.ok(["log", "shop", "--json"]));
    let addresses: std::collections::BTreeSet<&str> =
        events.iter().filter_map(|event| event["address"].as_str()).collect();
    assert_eq!(Vec::from_iter(addresses), ["shop/coder", "shop/tester"]);
    assert!(events.is_sorted_by_key(|event| event["seq"].as_i64()), "{events:#?}");
    world.ok(["send", "shop", "--no-wait", "/slow 1"]);
    let list = world.json(["messages", "shop", "--json"]);
    assert_eq!(list["messages"].as_array().unwrap().len(), 2, "{list:#}");
    world.ok(["stop", "shop"]);
    let running: Vec<(String, String)> =
        statuses(&world).into_iter().filter(|(_, status)| status != "ended").collect();
    assert_eq!(running, [("fox".to_owned(), "idle".to_owned())]);
    let refused = world.segue(["rm", "shop"]);
    assert_eq!(refused.status, 2, "{refused:#?}");
    assert!(refused.stderr.contains("segue rm shop/coder shop/tester --yes"), "{refused:#?}");
    world.ok(["rm", "shop", "--yes"]);
    assert_eq!(world.sessions().len(), 1);
}

#[test]
fn send_to_a_fleet_sends_one_message_to_each_session() {
    let world = fleet();
    let sent = world.segue(["send", "shop", "--wait", "what is the word?", "--json"]);
    assert_eq!(sent.status, 0, "{sent:#?}");
    let mut answers: Vec<(String, String)> = json_lines(&sent.stdout)
        .iter()
        .map(|it| (it["name"].to_string(), it["answer"].to_string()))
        .collect();
    answers.sort();
    let answer = |name: &str| (format!("\"{name}\""), format!("\"The word is {name}.\""));
    assert_eq!(answers, [answer("coder"), answer("tester")]);

    scene::kill(scene::pid(&world.session("tester"), "holder_pid"));
    world.ok(["wait", "tester", "--for", "ended", "--timeout", "170s"]);
    let late = world.segue(["send", "shop", "--timeout", "5s", "hello"]);
    assert_partly(&late, "not yet taken by `shop/tester`: queued as");
    world.ok(["stop", "tester"]);
    let sent = world.segue(["send", "shop", "hello again"]);
    assert_eq!((sent.status, sent.stdout.as_str()), (0, ""), "{sent:#?}");
    assert_eq!(sent.stderr, "left alone: shop/tester (stopped)\n");
}

#[test]
fn answer_to_a_fleet_needs_exactly_one_session_that_asks() {
    let world = fleet();
    let none_asks = world.segue(["answer", "sho", "yes"]);
    assert_eq!(none_asks.status, 4, "{none_asks:#?}");
    assert!(none_asks.stderr.starts_with("error: no session of fleet `shop` asks a question\n"));
    assert!(!none_asks.stderr.contains("shop/coder"), "{none_asks:#?}");
    for name in ["coder", "tester"] {
        world.ok(["send", name, "--no-wait", "/ask"]);
        world.ok(["wait", name, "--for", "waiting", "--timeout", "170s"]);
    }
    let ambiguous = world.segue(["answer", "shop", "yes"]);
    assert_eq!(ambiguous.status, 2, "{ambiguous:#?}");
    let expected = "2 sessions of fleet `shop` ask questions: name one session";
    assert!(ambiguous.stderr.contains(expected), "{ambiguous:#?}");
    for name in ["coder", "tester"] {
        let hint = format!("hint: run `segue answer shop/{name} yes");
        assert!(ambiguous.stderr.contains(&hint), "{ambiguous:#?}");
    }
    let unanswered = world.segue(["answer", "coder"]);
    assert_eq!(unanswered.status, 2, "{unanswered:#?}");
    let error =
        "error: no answer was given: use `yes`, `no` or a choice\n  caused by: it waits for";
    assert!(unanswered.stderr.starts_with(error), "{unanswered:#?}");
    assert!(
        unanswered.stderr.contains("hint: run `segue answer shop/coder yes"),
        "{unanswered:#?}"
    );
    world.ok(["answer", "tester", "yes"]);
    world.ok(["wait", "tester", "--for", "idle", "--timeout", "170s"]);
    let answered = world.json(["answer", "shop", "yes", "--json"]);
    assert_eq!(answered["address"], "shop/coder");
    world.ok(["wait", "shop", "--for", "idle", "--timeout", "170s"]);
}
