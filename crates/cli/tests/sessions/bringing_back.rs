//! `resume` and `up` bring sessions back that were not ended on purpose.

use std::collections::{BTreeMap, BTreeSet};

use rustix::process::Signal;
use segue_testkit::{CommandOutcome, Report, Terminal, World, conversation, processes, scene};
use serde_json::Value;

use crate::world;

/// Starts the fleet `shop` with these agents, which are not restarted automatically. The prompt of
/// each agent tells it to remember its own name.
fn start_fleet(world: &World, agents: &[&str]) {
    scene::write_agents_with(
        world,
        "shop",
        agents,
        "restart = \"never\"
",
    );
    world.ok(["up"]);
    scene::wait_first_turns(world);
}

fn wait_ended(world: &World, name: &str) {
    world.ok(["wait", name, "--for", "ended", "--timeout", "170s"]);
}

/// Quits an agent as a person does.
fn quit(world: &World, name: &str) {
    conversation::type_text(world, &world.session(name), "/exit\r");
    wait_ended(world, name);
    assert_eq!(world.session(name)["status_detail"], "quit");
}

fn short(address: &str) -> &str {
    address.rsplit('/').next().unwrap()
}

/// Returns the short names of the sessions in a list.
fn names(list: &Value) -> BTreeSet<String> {
    let name = |it: &Value| short(it["name"].as_str().unwrap()).to_owned();
    list.as_array().unwrap().iter().map(name).collect()
}

fn set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

/// Returns the reason for each session that was not started.
fn reasons(report: &Value) -> BTreeMap<String, String> {
    let left_alone = report["left_alone"].as_array().unwrap();
    let text = |it: &Value, key: &str| it[key].as_str().unwrap().to_owned();
    left_alone.iter().map(|it| (text(it, "name"), text(it, "why"))).collect()
}

fn map(reasons: &[(&str, &str)]) -> BTreeMap<String, String> {
    reasons.iter().map(|&(name, why)| (name.to_owned(), why.to_owned())).collect()
}

/// Runs `segue up … --json`.
fn up<const N: usize>(world: &World, arguments: [&str; N]) -> Report {
    let arguments = ["up"].into_iter().chain(arguments).chain(["--json"]);
    Report::of(&CommandOutcome::of(&mut world.command(arguments)))
}

/// Checks that bare `segue`, its hint and the plan of `resume` agree on the sessions to bring back.
fn assert_to_bring_back(world: &World, expected: &[&str]) {
    let overview = world.json(["--json"]);
    assert_eq!(overview["to_bring_back"], expected.len(), "{overview:#}");
    let plan = world.json(["resume", "--plan", "--json"]);
    assert_eq!(plan["to_bring_back"], expected.len(), "{plan:#}");
    let is_started = |it: &&Value| it["decision"] != "running";
    let planned: Vec<Value> =
        plan["plan"].as_array().unwrap().iter().filter(is_started).cloned().collect();
    assert_eq!(names(&Value::from(planned)), set(expected), "{plan:#}");
    let hint = "run `segue resume` to bring back";
    let shown = world.segue([]);
    assert_eq!(shown.stderr.contains(hint), !expected.is_empty(), "{shown:#?}");
}

/// Ends one agent in each way: stopped, quit by a person, crashed, killed, and handed over. Then
/// kills all processes.
fn world_with_ended_agents() -> World {
    let world = world();
    start_fleet(&world, &["stopped", "quit", "crashed", "killed", "given"]);
    world.ok(["stop", "stopped"]);
    quit(&world, "quit");
    conversation::type_text(&world, &world.session("crashed"), "/crash 3\r");
    wait_ended(&world, "crashed");
    world.ok(["handoff", "given", "--to", "demo"]);
    world.kill_everything();
    world
}

/// The sessions that are not brought back, and the reasons.
const LEFT_ALONE: [(&str, &str); 3] =
    [("stopped", "stopped"), ("quit", "quit"), ("given", "handed_over")];

#[test]
fn resume_its_plan_and_bare_segue_agree_on_the_sessions_to_bring_back() {
    let world = world_with_ended_agents();
    assert_to_bring_back(&world, &["crashed", "killed", "given-demo"]);
    let plan = world.json(["resume", "--plan", "--json"]);
    assert_eq!(reasons(&plan), map(&LEFT_ALONE));
    let report = world.resume([]);
    assert_eq!((report.status, &report.json["complete"]), (0, &Value::Bool(true)), "{report:#?}");
    assert_eq!(names(&report.json["agents"]), set(&["crashed", "killed", "given-demo"]));
    for name in ["crashed", "killed", "given-demo"] {
        report.assert_back(name, "resumed");
    }
    assert_eq!(reasons(&report.json), map(&LEFT_ALONE));
    scene::assert_knows(&world, "killed", "killed");
    assert_to_bring_back(&world, &[]);
}

#[test]
fn up_skips_agents_that_were_ended_on_purpose_and_hints_how_to_start_them() {
    let world = world_with_ended_agents();
    let report = up(&world, []);
    assert_eq!((report.status, &report.json["complete"]), (0, &Value::Bool(true)), "{report:#?}");
    assert_eq!(names(&report.json["agents"]), set(&["crashed", "killed"]));
    assert_eq!(reasons(&report.json), map(&LEFT_ALONE));
    let given = &report.json["left_alone"].as_array().unwrap()[2];
    assert_eq!(given["goes_on_as"], "shop/given-demo", "{given:#}");
    let shown = world.segue(["up"]);
    for part in [
        "left alone: shop/stopped (stopped), shop/quit (quit), shop/given (goes on as shop/given-demo)",
        "hint: run `segue up --stopped` to start those as well, or name one: `segue up stopped`",
    ] {
        assert!(shown.stderr.contains(part), "{shown:#?}");
    }
    up(&world, ["stopped"]).assert_back("stopped", "resumed");
    scene::assert_knows(&world, "stopped", "stopped");
    let report = up(&world, ["--stopped"]);
    report.assert_back("quit", "resumed");
    assert_eq!(reasons(&report.json), map(&LEFT_ALONE[2..]));
}

#[test]
fn named_session_is_resumed_also_if_it_was_ended_on_purpose() {
    let world = world_with_ended_agents();
    world.resume(["stopped"]).assert_back("stopped", "resumed");
    world.resume(["quit"]).assert_back("quit", "resumed");
    scene::assert_knows(&world, "quit", "quit");
}

#[test]
fn resume_stopped_includes_sessions_ended_on_purpose_but_not_handed_over_ones() {
    let world = world_with_ended_agents();
    let report = world.resume(["--stopped"]);
    let back = ["stopped", "quit", "crashed", "killed", "given-demo"];
    assert_eq!(names(&report.json["agents"]), set(&back), "{report:#?}");
    back.iter().for_each(|name| report.assert_back(name, "resumed"));
    assert_eq!(reasons(&report.json), map(&LEFT_ALONE[2..]));
}

#[test]
fn handed_over_session_is_resumed_only_if_it_is_named_and_the_flag_is_given() {
    let world = world_with_ended_agents();
    let plan = world.json(["resume", "given", "--plan", "--json"]);
    let planned = &plan["plan"][0];
    assert_eq!(planned["decision"], "refuse", "{plan:#}");
    assert_eq!(planned["note"], "its conversation goes on as `shop/given-demo`", "{plan:#}");
    for report in [world.resume(["given"]), up(&world, ["given"])] {
        report.assert_not_back("given", "refused");
        let note = report.note("given");
        for part in ["`shop/given-demo`", "segue handoff", "segue resume shop/given --stopped"] {
            assert!(note.contains(part), "{note}");
        }
        let hints = report.agent("given")["hints"].as_array().unwrap();
        let hints: Vec<&str> = hints.iter().filter_map(Value::as_str).collect();
        assert_eq!(hints.len(), 3, "{hints:?}");
        assert!(note.ends_with(&format!("; {}", hints.join("; "))), "{note}: {hints:?}");
    }
    assert!(world.session("given")["pid"].is_null());
    world.resume(["given", "--stopped"]).assert_back("given", "resumed");
    scene::assert_knows(&world, "given", "given");
    // It was started again after the handoff, so it is brought back like any other session.
    world.kill_everything();
    world.resume(["--all"]).assert_back("given", "resumed");
}

#[test]
fn stopped_fleet_is_started_only_with_the_stopped_flag() {
    let world = world();
    start_fleet(&world, &["coder", "tester"]);
    world.ok(["stop", "shop"]);
    let all = map(&[("coder", "stopped"), ("tester", "stopped")]);
    assert_to_bring_back(&world, &[]);
    for report in
        [up(&world, []), world.resume([]), world.resume(["shop"]), world.resume(["--all"])]
    {
        assert_eq!((report.status, names(&report.json["agents"])), (0, set(&[])), "{report:#?}");
        assert_eq!(reasons(&report.json), all);
    }
    let report = up(&world, ["--stopped"]);
    report.assert_back("coder", "resumed");
    report.assert_back("tester", "resumed");
    world.ok(["stop", "shop"]);
    world.resume(["shop", "--stopped"]).assert_back("tester", "resumed");
}

#[test]
fn finished_headless_session_and_adopted_session_are_resumed_only_by_name() {
    let world = world();
    world.ok(["run", "--headless", "--wait", "--name", "done", "remember the word fox"]);
    let id = scene::turn_without_segue(&world, "remember the word owl");
    world.ok(["adopt", &format!("demo:{id}"), "--name", "taken"]);
    assert_to_bring_back(&world, &[]);
    for report in [world.resume([]), world.resume(["--all"]), world.resume(["--all", "--stopped"])]
    {
        assert_eq!((report.status, names(&report.json["agents"])), (0, set(&[])), "{report:#?}");
        assert_eq!(reasons(&report.json), map(&[("taken", "never_ran")]));
    }
    let shown = world.segue(["resume"]);
    for part in [
        "left alone: default/taken (never ran)",
        "hint: run `segue resume default/taken` to start it anyway",
    ] {
        assert!(shown.stderr.contains(part), "{shown:#?}");
    }
    let plan = world.segue(["resume", "done", "--plan"]);
    assert!(plan.stdout.contains("headless and between turns: nothing to start"), "{plan:#?}");
    assert!(plan.stderr.contains("0 sessions would be brought back"), "{plan:#?}");
    world.resume(["done"]).assert_back("done", "resumed");
    world.resume(["taken"]).assert_back("taken", "resumed");
    scene::assert_knows(&world, "taken", "owl");
    world.kill_everything();
    assert_to_bring_back(&world, &["taken"]);
}

#[test]
fn headless_session_that_was_killed_in_its_turn_is_resumed() {
    let world = world();
    world.ok(["run", "-d", "--headless", "--name", "busy", "/hang"]);
    world.kill_everything();
    assert_to_bring_back(&world, &["busy"]);
    world.resume([]).assert_back("busy", "resumed");
}

#[test]
fn session_whose_holder_got_sigterm_is_resumed() {
    let world = world();
    let session = scene::start_with_word(&world, "coder", "fox");
    let holder = scene::pid(&session, "holder_pid");
    processes::send(holder, Signal::TERM);
    processes::wait_gone(holder);
    world.kill_everything();
    assert_to_bring_back(&world, &["coder"]);
    world.resume([]).assert_back("coder", "resumed");
    scene::assert_knows(&world, "coder", "fox");
}

#[test]
fn session_that_resume_would_refuse_is_not_counted_as_to_bring_back() {
    let world = world();
    world.ok(["run", "-d", "--vendor", "demo", "--name", "fox", "hi", "--", "--bogus"]);
    world.ok(["wait", "fox", "--for", "waiting", "--timeout", "170s"]);
    let plan = world.json(["resume", "--plan", "--json"]);
    assert_eq!(plan["plan"][0]["decision"], "refuse", "{plan:#}");
    assert_eq!(plan["to_bring_back"], 0, "{plan:#}");
    let overview = world.json(["--json"]);
    assert_eq!(overview["to_bring_back"], 0, "{overview:#}");
}

#[test]
fn handed_over_session_names_its_successor() {
    let world = world();
    start_fleet(&world, &["given", "stopped", "coder"]);
    world.ok(["handoff", "given", "--to", "demo"]);
    world.ok(["stop", "stopped"]);
    let given = world.session("given");
    assert_eq!(given["status_detail"], "stopped; goes on as shop/given-demo", "{given:#}");
    assert_eq!(given["goes_on_as"], "shop/given-demo", "{given:#}");
    assert_eq!(world.session("coder")["goes_on_as"], Value::Null);
    let refused = world.segue(["send", "given", "hello"]);
    assert_eq!(refused.status, 4, "{refused:#?}");
    let error = "error: `shop/given` was handed over\n  caused by: its conversation goes on as \
                `shop/given-demo`\nhint: run `segue send shop/given-demo`\n";
    assert_eq!(refused.stderr, error);
    let attach = world.command(["attach", "given"]);
    let mut person = Terminal::start(&attach, 30, 100);
    person.wait_for("hint: run `segue attach shop/given-demo`");
    assert_eq!(person.wait(), 4);
    let sent = world.segue(["send", "shop", "what is the word?", "--json"]);
    assert_eq!(sent.status, 0, "{sent:#?}");
    let reports = sent.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(names(&Value::Array(reports)), set(&["coder", "given-demo"]));
    let notice = "left alone: shop/given (goes on as shop/given-demo), shop/stopped (stopped)";
    assert!(sent.stderr.contains(notice), "{sent:#?}");
    assert_eq!(world.json(["messages", "given", "--json"])["messages"], Value::Array(Vec::new()));
}
