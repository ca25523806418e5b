//! A fleet of demo agents that have all completed a turn.

use std::path::Path;

use segue_testkit::{World, conversation, scene};
use serde_json::Value;

/// The number of agents in the fleet.
pub(crate) const AGENTS: usize = 50;

/// Starts a fleet with `segue up`, and waits until each agent has completed a turn. Returns the
/// world and the sessions.
pub(crate) fn bring_up(program: &Path) -> (World, Vec<Value>) {
    let world = World::new(program);
    let sessions = bring_up_in(&world);
    assert_eq!(sessions.len(), AGENTS, "not all agents are up");
    (world, sessions)
}

/// Starts the fleet in a world that may have other sessions. Returns all sessions.
pub(crate) fn bring_up_in(world: &World) -> Vec<Value> {
    world.write("prompt.md", "remember the word amber");
    let agent = "[[agents]]\nname = \"agent\"\nvendor = \"demo\"\n";
    let project = format!("{agent}count = {AGENTS}\nprompt = \"prompt.md\"\n");
    scene::write_project(world, &project);
    world.ok(["up"]);
    let sessions = world.sessions();
    for session in sessions.iter().filter(|it| it["vendor"] == "demo") {
        conversation::wait_turns(world, session, 1);
    }
    sessions
}

/// The processes of a fleet.
#[derive(Debug)]
pub(crate) struct Processes {
    pub(crate) daemons: Vec<u32>,
    pub(crate) holders: Vec<u32>,
    pub(crate) agents: Vec<u32>,
}

impl Processes {
    /// Finds the processes of a world by their command lines.
    ///
    /// # Panics
    ///
    /// If the world has not exactly one daemon, `AGENTS` holders and `AGENTS` agents.
    pub(crate) fn of(world: &World) -> Self {
        let found = Self {
            daemons: scene::pids_running(world, "daemon"),
            holders: scene::pids_running(world, "hold"),
            agents: scene::pids_running(world, "demo-agent"),
        };
        let counts = (found.daemons.len(), found.holders.len(), found.agents.len());
        assert_eq!(counts, (1, AGENTS, AGENTS), "daemon, holders and agents");
        found
    }
}
