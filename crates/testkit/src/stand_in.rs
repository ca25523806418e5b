//! A shell that a real holder runs in place of an agent. To Segue, the commands that a test runs in
//! it are commands of that agent.

use std::fs;
use std::path::{Path, PathBuf};

use segue_core::model::{Environment, LaunchRecord, TerminalSize};
use segue_core::ports::{Holders as _, StartOrder};
use segue_host::Paths;
use segue_host::hold::LocalHolders;
use segue_host::watch::Watcher;
use serde_json::Value;
use tokio::runtime::{Builder, Runtime};

use crate::conversation::{newest_launch, type_text};
use crate::processes;
use crate::world::{CommandOutcome, DEADLINE, World};

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

    /// Kills the daemon, the session's holder and its agent. Starts a new holder for the session's
    /// newest launch, with a shell in place of the agent. The next daemon finds that launch alive.
    pub fn of(world: &'a World, session: &Value, mark: Mark) -> Self {
        kill_daemon(world);
        for process in ["holder_pid", "pid"] {
            kill_and_wait(session[process].as_u64().expect("a process"));
        }
        let record = record(world, session);
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
        let paths = Paths::from_environment(&Environment::new(world.environment()));
        let holders =
            LocalHolders::new(paths.expect("paths")).with_program(world.program().to_owned());
        runtime().block_on(holders.start(&order)).expect("a holder");
        Self { world, session: session.clone() }
    }

    /// Runs a script in the shell, in the project folder, and waits for its end. `$SEGUE` is the
    /// path of the `segue` program.
    pub fn run(&self, script: &str) -> CommandOutcome {
        let folder = tempfile::tempdir_in(self.world.root()).expect("a folder");
        let path = |name: &str| folder.path().join(name);
        let program = self.world.program();
        let text = format!(
            "( SEGUE={}; cd {}; {script}\n) >{}/stdout 2>{}/stderr </dev/null\n\
             echo $? >{}/status.new; mv {}/status.new {}/status\n",
            program.display(),
            self.world.project().display(),
            folder.path().display(),
            folder.path().display(),
            folder.path().display(),
            folder.path().display(),
            folder.path().display(),
        );
        fs::write(path("script"), text).expect("a script");
        type_text(self.world, &self.session, &format!(". {}\r", path("script").display()));
        runtime().block_on(wait_for_file(&path("status")));
        let read = |name: &str| {
            String::from_utf8_lossy(&fs::read(path(name)).expect("an output")).into_owned()
        };
        let status = read("status").trim().parse().expect("a status");
        CommandOutcome { status, stdout: read("stdout"), stderr: read("stderr") }
    }
}

/// Sends SIGKILL to the daemon, if one runs, and waits until it is gone.
pub fn kill_daemon(world: &World) {
    let status = world.json(["daemon", "status", "--json"]);
    if let Some(pid) = status["pid"].as_u64() {
        kill_and_wait(pid);
    }
}

fn kill_and_wait(pid: u64) {
    let pid = u32::try_from(pid).expect("a process number");
    processes::kill(pid);
    processes::wait_gone(pid);
}

fn record(world: &World, session: &Value) -> LaunchRecord {
    let id = session["id"].as_str().expect("an id");
    let folder = world.state().join("launches").join(newest_launch(world, id).to_string());
    let text = fs::read(folder.join("session.json")).expect("a record");
    serde_json::from_slice(&text).expect("a record")
}

async fn wait_for_file(path: &Path) {
    let folder: PathBuf = path.parent().expect("a folder").to_owned();
    let mut watcher = Watcher::new().expect("a watcher");
    watcher.add(&folder).expect("watched");
    while !path.exists() {
        let change = tokio::time::timeout(DEADLINE, watcher.next()).await;
        change
            .unwrap_or_else(|_| panic!("waited {DEADLINE:?} for {}", path.display()))
            .expect("a change");
    }
}

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().expect("a runtime")
}
