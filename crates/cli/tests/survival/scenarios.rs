//! Actions of users. Each scenario has a preparation, an action, and a check of the command's report.

mod coming_back;
mod conversing;
mod credentials;
mod ending;
mod handing_over;
mod housekeeping;
mod loops;
mod plans;
mod questions;
mod starting;
mod storage;
mod tasks;
mod worktrees;

use std::path::PathBuf;

use segue_testkit::events::Events;
use segue_testkit::scene::{pids_running, write_project};
use segue_testkit::world::CommandOutcome;
use segue_testkit::{GitServer, World, conversation, processes};
use serde_json::Value;

pub(crate) use worktrees::check_repositories;

/// An action of a user during which any process may be killed.
#[derive(Clone, Copy)]
pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    /// Starts a git server that runs until the end of the scenario.
    pub(crate) serve: fn(&World) -> Option<GitServer>,
    /// Creates the state before the action.
    pub(crate) prepare: fn(&World),
    /// Performs the action as far as possible; returns the outcome of its command.
    pub(crate) act: fn(&World) -> CommandOutcome,
    /// Waits until the action has no more effects, or until that cannot be known any more.
    pub(crate) settle: fn(&World),
    /// Checks that the output of the command is true.
    pub(crate) check: fn(&World, &CommandOutcome),
    /// Does what a user would do after the action failed.
    pub(crate) repeat: fn(&World),
}

impl Scenario {
    /// A scenario that does nothing.
    const PLAIN: Self = Self {
        name: "",
        serve: |_| None,
        prepare: |_| {},
        act: |_| no_outcome(),
        settle: |_| {},
        check: |_, _| {},
        repeat: |_| {},
    };
}

/// Returns all scenarios.
pub(crate) fn all() -> Vec<Scenario> {
    [
        starting::SCENARIOS,
        tasks::SCENARIOS,
        plans::SCENARIOS,
        questions::SCENARIOS,
        coming_back::SCENARIOS,
        storage::SCENARIOS,
        conversing::SCENARIOS,
        handing_over::SCENARIOS,
        ending::SCENARIOS,
        worktrees::SCENARIOS,
        credentials::SCENARIOS,
        housekeeping::SCENARIOS,
        loops::SCENARIOS,
    ]
    .concat()
}

/// The name of the session in most scenarios.
pub(crate) const NAME: &str = "alpha";

/// The message that a session is sent once.
const MESSAGE: &str = "this is said once";

/// Returns the word that a session is to remember.
pub(crate) fn word(name: &str) -> String {
    // A conversation that was handed over knows the word of the session that it comes from.
    format!("heron-of-{}", name.split('-').next().unwrap_or(name))
}

/// Returns the message that tells a session to remember its word.
pub(crate) fn prompt(name: &str) -> String {
    format!("remember the word {}", word(name))
}

/// The outcome of an action without a command.
fn no_outcome() -> CommandOutcome {
    CommandOutcome { status: -1, stdout: String::new(), stderr: String::new() }
}

/// Creates a session that has completed its first turn.
fn with_session(world: &World) {
    world.ok(["run", "-d", "--name", NAME, &prompt(NAME)]);
    wait_at_rest(world);
}

/// Creates a session without any process. Returns its transcript.
fn with_dead_session(world: &World) -> PathBuf {
    with_session(world);
    let id = world.session(NAME)["vendor_session_id"].as_str().unwrap().to_owned();
    world.kill_everything();
    conversation::transcript(world, &id).unwrap()
}

fn with_project(world: &World) {
    let agents = ["alpha", "beta"].map(|name| {
        world.write(&format!("{name}.md"), &prompt(name));
        format!("[[agents]]\nname = \"{name}\"\nvendor = \"demo\"\nprompt = \"{name}.md\"\n")
    });
    write_project(world, &format!("[fleet]\nname = \"shop\"\n{}", agents.concat()));
}

/// Checks the report of `segue run`.
fn run_was_true(world: &World, outcome: &CommandOutcome) {
    if outcome.status == 0 {
        assert_eq!(outcome.stdout, "default/alpha\n");
        world.session(NAME);
    }
}

/// Checks the report of `resume` or `up`.
fn report_was_true(world: &World, outcome: &CommandOutcome) {
    if outcome.status != 0 {
        return;
    }
    let report: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(report["complete"], true, "{report}");
    for agent in report["agents"].as_array().unwrap() {
        let name = agent["name"].as_str().unwrap();
        assert_eq!(agent["vendor_session_id"], world.session(name)["vendor_session_id"]);
    }
}

/// Waits until every session is idle, waiting, interrupted or ended.
fn wait_at_rest(world: &World) {
    wait_all(world, |session| {
        ["idle", "waiting", "interrupted", "ended"]
            .iter()
            .any(|status| session["status"] == *status)
    });
}

/// Waits until `is_wanted` accepts all sessions, or until the daemon ends.
fn wait_all(world: &World, is_wanted: impl Fn(&Value) -> bool) {
    let mut events = Events::of(world);
    while !quiet_sessions(world).is_none_or(|sessions| sessions.iter().all(&is_wanted)) {
        let kinds = ["status_changed", "message_queued", "repetition_found", "repetition_over"];
        let is_awaited = |event: &Value| kinds.iter().any(|kind| event["kind"] == *kind);
        if events.wait_for(is_awaited).is_none() {
            return;
        }
    }
}

/// Returns all sessions, with a command that passes no failpoint. `None` if the command fails.
fn quiet_sessions(world: &World) -> Option<Vec<Value>> {
    let mut command = world.command(["ls", "--all", "--json"]);
    let outcome = CommandOutcome::of(command.env_remove("SEGUE_FAILPOINT"));
    let list: Value = serde_json::from_str(&outcome.stdout).ok()?;
    list["sessions"].as_array().cloned()
}

/// Returns whether a session is the one of the agent [`NAME`], or of a task of that agent.
fn is_first(session: &Value) -> bool {
    session["name"].as_str().and_then(|name| name.split('-').next()) == Some(NAME)
}

/// Returns the name of the oldest such session.
fn first_session(world: &World) -> String {
    let sessions = quiet_sessions(world).unwrap();
    let oldest = sessions.iter().filter(|it| is_first(it)).min_by_key(|it| it["id"].to_string());
    oldest.unwrap()["name"].as_str().unwrap().to_owned()
}

/// Waits until no holder runs.
fn wait_no_holder(world: &World) {
    pids_running(world, "hold").into_iter().for_each(processes::wait_gone);
}
