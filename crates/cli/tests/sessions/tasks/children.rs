//! Agents add tasks, and report to their parents.
//!
//! A shell below a real holder takes the place of the agent of a session.

use segue_testkit::events::Events;
use segue_testkit::scene::{self, text};
use segue_testkit::stand_in::StandIn;
use segue_testkit::{World, conversation, launches};
use serde_json::{Value, json};

use super::{show, wait, world_with_coder};

/// Creates a world with the agent `coder`, and a session `fox` of the same project.
fn world_with_fox() -> World {
    let world = world_with_coder();
    world.ok(["run", "-d", "--agent", "coder", "--name", "fox", "remember the word amber"]);
    scene::wait_session(&world, "fox", |session| session["status"] == "idle");
    world
}

/// Returns the messages that `fox` has got, after it was brought back.
fn received_by_fox(world: &World, count: usize) -> Vec<String> {
    world.resume(["fox"]);
    let fox = world.session("fox");
    conversation::wait_messages(world, &fox, count);
    let id = text(&fox, "vendor_session_id").to_owned();
    conversation::user_messages(&conversation::transcript(world, &id).unwrap())
}

/// Runs a command as the agent of `fox`, and returns the id of the task that it prints.
fn add_child(agent: &StandIn<'_>, arguments: &str) -> String {
    let outcome = agent.run(&format!("$SEGUE task add --agent coder {arguments}"));
    assert_eq!(outcome.status, 0, "{outcome:#?}");
    outcome.stdout.trim().to_owned()
}

#[test]
fn agent_gets_the_end_of_its_child_at_its_next_launch_after_everything_was_killed() {
    let world = world_with_fox();
    let fox = world.session("fox");
    let child = {
        let agent = StandIn::with_new_daemon(&world, &fox);
        let child = add_child(&agent, "--key part 'remember the word cedar'");
        let seen = agent.run("$SEGUE task wait part");
        assert_eq!(seen.stdout, "I will remember cedar.\n", "{seen:#?}");
        child
    };
    let done = show(&world, &child);
    assert_eq!(done["state"], "done");
    let sessions = world.sessions();
    let own = sessions.iter().find(|session| session["session"] == done["session"]).unwrap();
    let (_, record) = launches::newest(&world, own);
    assert_eq!(record.session.parent.map(|id| id.to_string()).as_deref(), fox["id"].as_str());
    world.kill_everything();
    let received = received_by_fox(&world, 2);
    let reports = received.iter().filter(|it| it.contains(&child)).collect::<Vec<_>>();
    assert_eq!(reports.len(), 1, "{received:?}");
    assert!(reports[0].contains("which you added, has ended: done"), "{reports:?}");
    assert!(reports[0].contains("I will remember cedar."), "{reports:?}");
}

#[test]
fn agent_may_use_only_its_own_children_and_only_within_its_limits() {
    let world = world_with_fox();
    let other = world.ok(["task", "add", "--agent", "coder", "hello"]).trim().to_owned();
    wait(&world, &other);
    let settings = world.segue_home().join("config.toml");
    let known = std::fs::read_to_string(&settings).unwrap_or_default();
    std::fs::write(&settings, format!("{known}\n[tasks]\nstarts_per_minute = 1\n")).unwrap();
    let agent = StandIn::with_new_daemon(&world, &world.session("fox"));
    for command in ["show", "wait", "cancel"] {
        let outcome = agent.run(&format!("$SEGUE task {command} {other}"));
        assert!(outcome.stderr.contains("an agent may not use tasks"), "{outcome:#?}");
    }
    for flag in ["--verify true", "--interactive", "--priority 1", "--session fox"] {
        let outcome = agent.run(&format!("$SEGUE task add --agent coder {flag} hello"));
        let expected = format!("`{}`", flag.split(' ').next().unwrap());
        assert!(outcome.stderr.contains(&expected), "{flag}: {outcome:#?}");
    }
    let child = add_child(&agent, "/hang");
    for command in ["task add --agent coder hello", "run -d hello"] {
        let outcome = agent.run(&format!("$SEGUE {command}"));
        assert!(outcome.stderr.contains("`starts_per_minute` under"), "{command}: {outcome:#?}");
    }
    let cancelled = agent.run(&format!("$SEGUE task cancel {child}"));
    assert_eq!(cancelled.status, 0, "{cancelled:#?}");
    assert_eq!(wait(&world, &child)["state"], "cancelled");
}

#[test]
fn parallel_starts_of_an_agent_do_not_exceed_the_limit_of_children() {
    let world = world_with_fox();
    let settings = world.segue_home().join("config.toml");
    let known = std::fs::read_to_string(&settings).unwrap_or_default();
    let limits = "[tasks]\nchildren = 3\nstarts_per_minute = 1000\n";
    std::fs::write(&settings, format!("{known}\n{limits}")).unwrap();
    let agent = StandIn::with_new_daemon(&world, &world.session("fox"));
    let parallel = |command: &str| {
        let all: String = (0..12).map(|number| format!("{command} >o{number} 2>&1 & ")).collect();
        agent.run(&format!("{all} wait; cat o*"))
    };
    let outcome = parallel("$SEGUE task add --agent coder /hang");
    let refused = outcome.stdout.matches("`children` under `[tasks]`").count();
    let tasks = world.json(["task", "ls", "--json"])["tasks"].as_array().unwrap().clone();
    assert_eq!((tasks.len(), refused), (3, 9), "{outcome:#?}");
    for task in &tasks {
        world.ok(["task", "cancel", text(task, "id")]);
        wait(&world, text(task, "id"));
    }
    let outcome = parallel("$SEGUE run -d hello");
    let refused = outcome.stdout.matches("`children` under `[tasks]`").count();
    let fox = world.session("fox")["id"].clone();
    let is_child = |session: &&Value| {
        let (_, record) = launches::newest(&world, session);
        let parent = record.session.parent.map(|id| id.to_string());
        parent.as_deref() == fox.as_str() && session["status"] != "ended"
    };
    let children = world.sessions().iter().filter(is_child).count();
    assert_eq!((children, refused), (3, 9), "{outcome:#?}");
}

#[test]
fn agent_may_not_add_a_task_for_an_agent_with_a_looser_permission() {
    let world = world_with_coder();
    scene::write_project(
        &world,
        "[fleet]\nname = \"shop\"\n[[agents]]\nname = \"coder\"\nvendor = \"demo\"\n\
         [[agents]]\nname = \"loose\"\nvendor = \"demo\"\npermission = \"auto\"\n",
    );
    world.ok(["run", "-d", "--agent", "coder", "--name", "fox", "hello"]);
    let agent = StandIn::with_new_daemon(&world, &world.session("fox"));
    let outcome = agent.run("$SEGUE task add --agent loose hello");
    let looser = "start an agent with a looser permission than its own";
    assert!(outcome.stderr.contains(looser), "{outcome:#?}");
    assert_eq!(world.json(["task", "ls", "--all", "--json"])["tasks"], json!([]));
}

/// Starts a child session below `fox`, and returns it.
fn child_of_fox(world: &World) -> Value {
    let agent = StandIn::with_new_daemon(world, &world.session("fox"));
    let outcome = agent.run("$SEGUE run -d --name cub hello");
    assert_eq!(outcome.status, 0, "{outcome:#?}");
    scene::wait_session(world, "cub", |session| session["status"] == "idle")
}

#[test]
fn report_of_a_child_reaches_its_parent_once_quoted_with_the_name_of_the_child() {
    let world = world_with_fox();
    let cub = child_of_fox(&world);
    let agent = StandIn::with_new_daemon(&world, &cub);
    let outcome = agent.run("$SEGUE task report --state done 'it is ```done```'");
    assert_eq!(outcome.status, 0, "{outcome:#?}");
    for refused in ["$SEGUE task report ''", "head -c 20000 /dev/zero | $SEGUE task report -"] {
        let outcome = agent.run(refused);
        assert_eq!(outcome.status, 2, "{refused}: {outcome:#?}");
    }
    world.kill_everything();
    let received = received_by_fox(&world, 2);
    let address = text(&cub, "address");
    let expected = format!(
        "Your child `{address}` reports that its work is done:\n\n````\nit is ```done```\n````"
    );
    assert_eq!(received.iter().filter(|it| **it == expected).count(), 1, "{received:?}");
}

#[test]
fn report_to_a_removed_session_is_dropped_and_stays_with_its_task() {
    let world = world_with_fox();
    let fox = world.session("fox");
    let child = {
        let agent = StandIn::with_new_daemon(&world, &fox);
        add_child(&agent, "/hang")
    };
    world.ok(["stop", "fox"]);
    world.ok(["rm", "fox", "--yes"]);
    world.ok(["task", "cancel", &child]);
    assert_eq!(wait(&world, &child)["state"], "cancelled");
    let mut events = Events::of(&world);
    let dropped = events.wait_for(|event| event["kind"] == "report_dropped").unwrap();
    let expected = format!("the report of task {child} to session {}", text(&fox, "id"));
    assert!(text(&dropped, "text").starts_with(&expected), "{dropped}");
    scene::kill_daemon(&world);
    world.ok(["ls"]);
    let log = world.ok(["log", "--json", "--last", "100000"]);
    assert_eq!(log.matches("\"report_dropped\"").count(), 1, "{log}");
}

#[test]
fn only_an_agent_with_a_parent_can_report() {
    let world = world_with_fox();
    let by_person = world.segue(["task", "report", "hello"]);
    assert!(by_person.stderr.contains("only an agent can report"), "{by_person:#?}");
    let agent = StandIn::with_new_daemon(&world, &world.session("fox"));
    let without = agent.run("$SEGUE task report hello");
    assert!(without.stderr.contains("`shop/fox` has no parent"), "{without:#?}");
}

#[test]
fn report_is_delivered_once_if_the_daemon_is_killed_while_it_records_it() {
    for (point, is_recorded) in [("task.report.before", false), ("task.report.after", true)] {
        let mut world = world_with_fox();
        let cub = child_of_fox(&world);
        world.set("SEGUE_FAILPOINT", point);
        world.set("SEGUE_FAILPOINT_ROLE", "daemon");
        let agent = StandIn::with_new_daemon(&world, &cub);
        let failed = agent.run("$SEGUE task report 'half of it'");
        assert_ne!(failed.status, 0, "{point}: {failed:#?}");
        drop(agent);
        world.unset("SEGUE_FAILPOINT");
        world.unset("SEGUE_FAILPOINT_ROLE");
        if !is_recorded {
            world.ok(["ls"]);
            let agent = StandIn::launched(&world, &cub);
            assert_eq!(agent.run("$SEGUE task report 'half of it'").status, 0);
        }
        world.kill_everything();
        let received = received_by_fox(&world, 2);
        let reports = received.iter().filter(|it| it.contains("half of it")).count();
        assert_eq!(reports, 1, "{point}: {received:?}");
    }
}
