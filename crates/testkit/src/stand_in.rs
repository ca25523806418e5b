//! A shell that a real holder runs in place of an agent. To Segue, the commands that a test runs in
//! it are commands of that agent.

use std::fs;

use segue_core::model::{Environment, TerminalSize};
use segue_core::ports::{Holders as _, StartOrder};
use segue_host::hold::LocalHolders;
use serde_json::Value;

use crate::conversation::type_text;
use crate::runtime::block_on;
use crate::world::{CommandOutcome, World};
use crate::{launches, scene};

/// Whether the shell's environment has the variables that name its launch and session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    Kept,
    /// The variables are missing, as if the agent had cleared its environment when it started.
    TakenAway,
}

/// A shell that the daemon treats as the agent of a session.
#[derive(Debug)]
pub struct StandIn<'a> {
    world: &'a World,
    session: Value,
}

impl<'a> StandIn<'a> {
    /// The size of the shell's terminal. No other terminal in a test has this size.
    pub const SIZE: TerminalSize = TerminalSize { rows: 29, cols: 97 };

    /// Kills the daemon, if one runs, the session's holder and its agent. Starts a new holder for
    /// the session's newest launch, with a shell in place of the agent. The next daemon finds that
    /// launch alive.
    pub fn of(world: &'a World, session: &Value, mark: Mark) -> Self {
        // A test may have stopped the daemon before.
        scene::pids_running(world, "daemon").into_iter().for_each(scene::kill);
        for key in ["holder_pid", "pid"] {
            scene::kill(scene::pid(session, key));
        }
        let (_, record) = launches::newest(world, session);
        let mut environment = Environment::new(world.environment());
        if mark == Mark::Kept {
            environment.set("SEGUE_LAUNCH", record.launch.id.to_string());
            environment.set("SEGUE_SESSION", record.session.id.to_string());
        }
        let order = StartOrder {
            record,
            argv: vec!["/bin/sh".to_owned()],
            before: Vec::new(),
            input: None,
            environment,
            size: Self::SIZE,
        };
        let holders = LocalHolders::new(launches::paths(world));
        let holders = holders.with_program(world.program().to_owned());
        block_on(holders.start(&order)).expect("a holder");
        Self { world, session: session.clone() }
    }

    /// Like `of`, with the variables that name the launch and the session. Also starts a new daemon,
    /// because an agent may not start one.
    pub fn with_new_daemon(world: &'a World, session: &Value) -> Self {
        let agent = Self::of(world, session, Mark::Kept);
        world.ok(["ls"]);
        agent
    }

    /// Returns the agent of a session whose vendor's program is a shell.
    pub fn launched(world: &'a World, session: &Value) -> Self {
        Self { world, session: session.clone() }
    }

    /// Runs a script in the shell, in the project folder, and waits for its end. `$SEGUE` is the
    /// path of the `segue` program.
    pub fn run(&self, script: &str) -> CommandOutcome {
        let folder = tempfile::tempdir_in(self.world.root()).expect("a folder");
        let path = |name: &str| folder.path().join(name);
        let (segue, project) = (self.world.program().display(), self.world.project());
        let (project, out) = (project.display(), folder.path().display());
        let text = format!(
            "( SEGUE={segue}; cd {project}; {script}\n) >{out}/stdout 2>{out}/stderr </dev/null\n\
             echo $? >{out}/status.new; mv {out}/status.new {out}/status\n",
        );
        fs::write(path("script"), text).expect("a script");
        type_text(self.world, &self.session, &format!(". {}\r", path("script").display()));
        launches::wait_until(&[folder.path()], script, || path("status").exists());
        let read = |name: &str| {
            String::from_utf8_lossy(&fs::read(path(name)).expect("an output")).into_owned()
        };
        let status = read("status").trim().parse().expect("a status");
        CommandOutcome { status, stdout: read("stdout"), stderr: read("stderr") }
    }
}
