//! An agent that asks a person a question before it shows its conversation.

use segue_testkit::events::Events;
use segue_testkit::{CommandOutcome, Report, World, launches, scene};
use serde_json::Value;

use crate::scene::{assert_error, received, states, wait_asking, wait_idle};
use crate::world;

/// The beginning of the hint that names the command for an answer.
const ANSWER_HINT: &str = "run `segue answer shop/coder yes --question ";

/// Creates a project whose agent first asks whether the folder is trusted. `lines` are further lines
/// of the agent's table.
fn project_with_question(lines: &str) -> World {
    let world = world();
    world.write("start.md", "remember amber");
    let lines = format!("prompt = \"start.md\"\nargs = [\"--ask-trust-first\"]\n{lines}");
    scene::write_shop(&world, &lines);
    world
}

/// Checks that the report has this agent with its trust question. Returns the agent's entry.
#[track_caller]
fn assert_waiting(report: &Report, name: &str) -> Value {
    let agents = report.json["agents"].as_array().unwrap();
    let agent = agents.iter().find(|it| it["name"] == name).unwrap();
    assert_eq!(agent["outcome"], "waiting", "{report:#?}");
    assert_eq!(agent["dialog"]["kind"], "trust", "{report:#?}");
    assert_eq!(agent["dialog"]["question"], "Do you trust this folder?", "{report:#?}");
    assert_eq!(report.json["complete"], true, "{report:#?}");
    agent.clone()
}

fn up(world: &World) -> Report {
    Report::of(&world.segue(["up", "--json"]))
}

#[test]
fn up_reports_a_trust_question_and_so_does_every_later_command() {
    let world = project_with_question("");
    let shown = world.segue(["up"]);
    assert_eq!(shown.status, 0, "{shown:#?}");
    for part in
        ["waiting", "it waits for an answer (trust): Do you trust this folder?", ANSWER_HINT]
    {
        assert!(shown.stdout.contains(part), "{shown:#?}");
    }
    assert!(shown.stderr.contains("1 of them asks a question"), "{shown:#?}");
    let again = assert_waiting(&up(&world), "coder");
    assert_eq!(again["dialog"]["choices"][0], "yes", "{again:#}");
    let id = again["dialog"]["id"].as_str().unwrap();
    let command = format!("segue answer shop/coder yes --question {id}");
    assert_eq!(again["dialog"]["answer"], command, "{again:#}");
    assert_waiting(&Report::of(&world.segue(["resume", "shop", "--json"])), "coder");
    let plan = world.ok(["resume", "shop", "--plan"]);
    assert!(plan.contains("Do you trust this folder?") && plan.contains(ANSWER_HINT), "{plan}");
    for listed in [world.segue(["ls"]), world.segue([])] {
        assert!(listed.stderr.contains(ANSWER_HINT), "{listed:#?}");
        let question = "Do you trust this folder? [1 yes, 2 no, exit]";
        assert!(listed.stderr.contains(question), "{listed:#?}");
    }
    let session = world.session("coder");
    assert_eq!(session["dialog"]["question"], "Do you trust this folder?", "{session:#}");
    assert_eq!((&session["launches"], &session["status"]), (&1.into(), &"waiting".into()));
}

#[test]
fn conversation_is_bound_after_the_answer_without_a_second_launch() {
    let world = project_with_question("");
    assert_waiting(&up(&world), "coder");
    world.ok(["answer", "coder", "yes"]);
    wait_idle(&world, "shop/coder");
    let session = world.session("coder");
    assert_eq!((&session["launches"], &session["evidence"]), (&1.into(), &"registry".into()));
    assert_eq!(session["dialog"], Value::Null, "{session:#}");
    assert_eq!(received(&world), ["remember amber"]);
    up(&world).assert_back("coder", "running");
    assert_eq!(world.session("coder")["launches"], 1);
}

#[test]
fn agent_that_quit_after_no_asks_again_at_the_next_up() {
    let world = project_with_question("");
    assert_waiting(&up(&world), "coder");
    world.ok(["answer", "coder", "no"]);
    world.ok(["wait", "shop/coder", "--for", "ended", "--timeout", "170s"]);
    let session = world.session("coder");
    assert_eq!((&session["status_detail"], &session["launches"]), (&"quit".into(), &1.into()));
    let named = Report::of(&world.segue(["up", "coder", "--json"]));
    assert_waiting(&named, "coder");
    assert_eq!(received(&world), Vec::<String>::new());
    world.ok(["answer", "coder", "yes"]);
    wait_idle(&world, "shop/coder");
    assert_eq!(received(&world), ["remember amber"]);
}

#[test]
fn agents_that_wait_for_a_person_do_not_block_other_starts() {
    let world = project_with_question("count = 12\n");
    let report = up(&world);
    for number in 1..=12 {
        assert_waiting(&report, &format!("coder-{number}"));
    }
    let report = Report::of(&world.segue(["scale", "coder", "13", "--json"]));
    assert_waiting(&report, "coder-13");
}

#[test]
fn trust_question_survives_the_death_of_the_daemon() {
    let world = project_with_question("");
    assert_waiting(&up(&world), "coder");
    scene::kill_daemon(&world);
    assert_waiting(&up(&world), "coder");
    scene::kill_daemon(&world);
    world.ok(["answer", "coder", "yes"]);
    wait_idle(&world, "shop/coder");
    assert_eq!(world.session("coder")["launches"], 1);
    assert_eq!(received(&world), ["remember amber"]);
}

#[test]
fn handoff_to_an_agent_that_asks_first_reports_the_question() {
    let world = project_with_question("");
    scene::start_with_word(&world, "fox", "cedar");
    let report = world.json(["handoff", "fox", "--to", "coder", "--mode", "digest", "--json"]);
    assert_eq!(report["dialog"]["kind"], "trust", "{report:#}");
    let name = report["to"].as_str().unwrap();
    world.ok(["answer", name, "yes"]);
    wait_idle(&world, name);
    assert!(received(&world).last().unwrap().contains("cedar"));
}

#[test]
fn send_wait_to_an_agent_that_waits_for_a_person_returns_the_question() {
    let world = project_with_question("");
    assert_waiting(&up(&world), "coder");
    let sent = world.segue(["send", "coder", "--wait", "under it"]);
    assert_error(&sent, 4, "not yet taken by `shop/coder`: queued as ");
    for part in ["(trust): Do you trust this folder? [1 yes, 2 no, exit]", ANSWER_HINT] {
        assert!(sent.stderr.contains(part), "{sent:#?}");
    }
    let sent = world.segue(["send", "coder", "--wait", "--json", "the second"]);
    let report: Value = serde_json::from_str(&sent.stdout).unwrap();
    assert_eq!((sent.status, &report["message"]["state"]), (4, &"queued".into()), "{sent:#?}");
    assert_eq!(report["dialog"]["kind"], "trust", "{report:#}");
    world.ok(["answer", "coder", "yes"]);
    wait_idle(&world, "shop/coder");
    assert_eq!(received(&world), ["remember amber", "under it", "the second"]);
    assert_eq!(states(&world), ["delivered", "delivered"]);
}

#[test]
fn wait_for_idle_fails_with_the_question_and_wait_for_waiting_succeeds() {
    let world = project_with_question("");
    assert_waiting(&up(&world), "coder");
    let waits = [world.segue(["wait", "coder"]), world.segue(["wait", "coder", "--for", "idle"])];
    for waited in waits {
        assert_error(&waited, 4, "`shop/coder` cannot go on: a person has to answer");
        assert!(waited.stderr.contains("Do you trust this folder?"), "{waited:#?}");
        assert!(waited.stderr.contains(ANSWER_HINT), "{waited:#?}");
    }
    wait_asking(&world, "coder", "trust");
    let json = world.segue(["wait", "coder", "--json"]);
    let session: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!((json.status, &session["dialog"]["kind"]), (4, &"trust".into()), "{json:#?}");
}

#[test]
fn run_wait_ends_when_the_agent_asks_a_person() {
    let world = project_with_question("");
    let asked = world.segue(["run", "--wait", "--agent", "coder"]);
    assert_eq!(asked.status, 4, "{asked:#?}");
    assert!(asked.stderr.contains(ANSWER_HINT), "{asked:#?}");
}

#[test]
fn launch_that_shows_nothing_is_reported_blocks_no_start_and_can_be_stopped() {
    let world = world();
    let mut events = Events::of(&world);
    // These agents choose their own ids. Such launches start one after the other.
    world.ok(["run", "-d", "--name", "silent", "--", "--own-id", "--show-nothing"]);
    let status = "starting (its program has not shown its conversation yet)";
    scene::wait_event(&mut events, "status_changed", status);
    let session = world.session("silent");
    let detail = "its program has not shown its conversation yet";
    assert_eq!(
        (&session["status"], &session["status_detail"]),
        (&"starting".into(), &detail.into())
    );
    world.ok(["run", "-d", "--name", "other", "hello", "--", "--own-id"]);
    wait_idle(&world, "other");
    assert_eq!(world.session("silent")["status"], "starting");
    world.ok(["stop", "silent"]);
    assert_eq!(world.session("silent")["status"], "ended");
}

#[test]
fn session_that_waits_for_its_turn_to_start_can_be_stopped() {
    let mut world = world();
    let log = world.root().join("points");
    world.set("SEGUE_FAILPOINT", "list");
    world.set("SEGUE_FAILPOINT_LOG", log.to_str().unwrap());
    world.ok(["run", "-d", "--name", "late", "--", "--own-id", "--show-nothing"]);
    world.ok(["stop", "late"]);
    world.ok(["run", "-d", "--name", "silent", "--", "--own-id", "--show-nothing"]);
    let resumed = world.start(["resume", "late"]);
    let at_gate = || {
        let points = std::fs::read_to_string(&log).unwrap_or_default();
        points.lines().filter(|line| line.contains("start.gate.before")).count() == 3
    };
    launches::wait_until(&[world.root()], "a third start at the gate", at_gate);
    let stopped = world.segue(["stop", "late"]);
    assert_eq!(stopped.status, 0, "{stopped:#?}");
    let resumed = CommandOutcome::from(resumed.wait_with_output().unwrap());
    assert_eq!(resumed.status, 8, "{resumed:#?}");
    assert!(resumed.stdout.contains("was stopped before it started"), "{resumed:#?}");
    let session = world.session("late");
    assert_eq!((&session["status"], &session["launches"]), (&"ended".into(), &1.into()));
}
