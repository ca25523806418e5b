//! A separate Segue for one test, with its own home, state and project folder. Dropping it ends its
//! processes and removes its files.

use std::ffi::OsStr;
use std::fmt;
use std::fs;
use std::io::{Seek as _, Write as _};
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc;

use serde_json::Value;
use tempfile::TempDir;

use crate::events::Events;
use crate::expectation::{expect, unmet};
use crate::processes;

/// A test fails if one operation takes longer than this.
pub const DEADLINE: std::time::Duration = std::time::Duration::from_secs(180);

/// The id of a user and of a group without privileges.
const NOBODY: u32 = 65534;

/// A home, a state folder and a project folder for one test.
#[derive(Debug)]
pub struct World {
    root: TempDir,
    program: PathBuf,
    /// The command, with its arguments, through which every command is started.
    prefix: Vec<String>,
    variables: Vec<(String, String)>,
}

/// The output and the exit status of a command.
#[derive(Clone, Debug)]
pub struct CommandOutcome {
    pub status: i32,
    pub stdout: String,
    pub stderr: String,
}

impl World {
    /// Makes a world for this `segue` program.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        let root = tempfile::Builder::new().prefix("segue-").tempdir().expect("a folder");
        for folder in ["home", "project", "temporary"] {
            fs::create_dir(root.path().join(folder)).expect("a folder");
        }
        write_settings(&root.path().join("segue"));
        Self { root, program: program.into(), prefix: Vec::new(), variables: Vec::new() }
    }

    /// Sets an environment variable for all further commands.
    pub fn set(&mut self, name: &str, value: impl Into<String>) {
        self.variables.retain(|(known, _)| known != name);
        self.variables.push((name.to_owned(), value.into()));
    }

    pub fn unset(&mut self, name: &str) {
        self.variables.retain(|(known, _)| known != name);
    }

    /// Starts all further commands through another command, which gets them as its last arguments.
    pub fn start_through(&mut self, prefix: impl IntoIterator<Item = String>) {
        self.prefix = prefix.into_iter().collect();
    }

    /// Runs all further commands as a user without privileges, who then owns the world. Does
    /// nothing if the test itself has no privileges.
    pub fn drop_privileges(&mut self) {
        if !rustix::process::geteuid().is_root() {
            return;
        }
        let program = self.root().join("program");
        // Another process makes the copy. If this process wrote the file, a child spawned meanwhile
        // would keep it open, and it could not be executed (`ETXTBSY`).
        let copied = Command::new("cp").arg(&self.program).arg(&program).status();
        assert!(copied.expect("`cp` starts").success(), "`cp` cannot copy the program");
        self.program = program;
        let own = [self.root().to_owned(), self.home(), self.project(), self.temporary()];
        let settings = [self.segue_home(), self.segue_home().join("config.toml")];
        for folder in own.into_iter().chain(settings) {
            chown(folder, Some(NOBODY), Some(NOBODY)).expect("root can change the owner");
        }
        let user = format!("--reuid={NOBODY}");
        let group = format!("--regid={NOBODY}");
        self.start_through(["setpriv".to_owned(), user, group, "--clear-groups".to_owned()]);
    }

    /// Returns the `segue` program of this world.
    pub fn program(&self) -> &Path {
        &self.program
    }

    pub fn root(&self) -> &Path {
        self.root.path()
    }

    pub fn home(&self) -> PathBuf {
        self.folder_of("HOME", "home")
    }

    pub fn segue_home(&self) -> PathBuf {
        self.folder_of("SEGUE_HOME", "segue")
    }

    /// Returns the folder that an environment variable names. Without the variable, returns the
    /// folder `default` of the world.
    fn folder_of(&self, variable: &str, default: &str) -> PathBuf {
        let set = self.variables.iter().find(|(name, _)| name == variable);
        set.map_or_else(|| self.root().join(default), |(_, value)| PathBuf::from(value))
    }

    pub fn state(&self) -> PathBuf {
        self.segue_home().join("state")
    }

    pub fn database(&self) -> PathBuf {
        self.segue_home().join("data").join("segue.db")
    }

    pub fn project(&self) -> PathBuf {
        self.root().join("project")
    }

    /// Returns the folder for temporary files. Programs leave files behind in it.
    fn temporary(&self) -> PathBuf {
        self.root().join("temporary")
    }

    /// Writes a file into the project folder.
    pub fn write(&self, name: &str, text: &str) {
        let path = self.project().join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(path, text).expect("a file");
    }

    /// Returns a command in the project folder, without the environment of this process.
    pub fn command(&self, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Command {
        let mut words = self.prefix.iter().map(OsStr::new).chain([self.program.as_os_str()]);
        let mut command = Command::new(words.next().expect("a program"));
        command.args(words).args(arguments).current_dir(self.project()).env_clear();
        command.envs(self.environment()).stdin(Stdio::null());
        command
    }

    /// Returns the environment of every command of this world.
    pub fn environment(&self) -> Vec<(String, String)> {
        let text = |path: PathBuf| path.to_str().expect("a plain path").to_owned();
        let mut all = vec![
            ("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned()),
            ("HOME".to_owned(), text(self.home())),
            ("SEGUE_HOME".to_owned(), text(self.segue_home())),
            ("TMPDIR".to_owned(), text(self.temporary())),
            ("LANG".to_owned(), "C.UTF-8".to_owned()),
            ("TERM".to_owned(), "xterm-256color".to_owned()),
            ("TZ".to_owned(), "UTC".to_owned()),
        ];
        all.extend(self.variables.iter().cloned());
        all
    }

    /// Runs `segue` and waits for its end.
    pub fn segue<const N: usize>(&self, arguments: [&str; N]) -> CommandOutcome {
        CommandOutcome::of(&mut self.command(arguments))
    }

    /// Runs `segue` with this standard input, and waits for its end.
    pub fn with_input<const N: usize>(&self, arguments: [&str; N], input: &[u8]) -> CommandOutcome {
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(input).and_then(|()| file.rewind()).expect("an input");
        CommandOutcome::of(self.command(arguments).stdin(file))
    }

    /// Runs `segue` and expects it to succeed. Returns its standard output.
    pub fn ok<const N: usize>(&self, arguments: [&str; N]) -> String {
        let outcome = self.segue(arguments);
        let command = arguments.join(" ");
        expect(outcome.status == 0, format!("`segue {command}` succeeds"), || outcome.to_string());
        outcome.stdout
    }

    /// Runs `segue … --json` and returns the JSON that it printed, whatever its exit status is.
    pub fn json<const N: usize>(&self, arguments: [&str; N]) -> Value {
        let outcome = self.segue(arguments);
        serde_json::from_str(&outcome.stdout).unwrap_or_else(|_| {
            let command = arguments.join(" ");
            unmet(format!("`segue {command}` prints JSON"), &outcome.to_string())
        })
    }

    /// Starts `segue` and does not wait for its end.
    pub fn start<const N: usize>(&self, arguments: [&str; N]) -> Child {
        let mut command = self.command(arguments);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().expect("segue starts")
    }

    /// Returns all sessions as `segue ls` lists them.
    pub fn sessions(&self) -> Vec<Value> {
        let list = self.json(["ls", "--all", "--json"]);
        list["sessions"].as_array().unwrap_or_else(|| panic!("no sessions in {list}")).clone()
    }

    /// Returns the session with this name.
    pub fn session(&self, name: &str) -> Value {
        let sessions = self.sessions();
        let found = sessions.iter().find(|it| it["name"] == name);
        found.unwrap_or_else(|| panic!("no session {name} in {sessions:#?}")).clone()
    }

    /// Waits until `is_wanted` returns true for a session. Calls it again after each event. If the
    /// daemon ends first, the error is the session.
    pub fn wait_session(
        &self,
        name: &str,
        is_wanted: impl Fn(&Value) -> bool,
    ) -> Result<Value, Value> {
        let session = self.session(name);
        if is_wanted(&session) {
            return Ok(session);
        }
        let mut events = Events::of(self);
        loop {
            let session = self.session(name);
            if is_wanted(&session) {
                return Ok(session);
            }
            events.wait_for(|_| true).ok_or(session)?;
        }
    }

    /// Returns the ids of all processes that belong to this world.
    pub fn processes(&self) -> Vec<u32> {
        processes::mentioning(self.root())
    }

    /// Sends SIGKILL to the daemon, the holders, the agents and their tools, all at once.
    pub fn kill_everything(&self) {
        processes::kill_all(|| self.processes());
    }
}

/// Writes settings that disable the login shell. Its profile is not part of the world. Without it,
/// Segue has no environment for a killed session, so the session stays interrupted until the test
/// resumes it.
fn write_settings(folder: &Path) {
    fs::create_dir(folder).expect("a folder");
    fs::set_permissions(folder, fs::Permissions::from_mode(0o700)).expect("a closed folder");
    let file = folder.join("config.toml");
    fs::write(&file, "[environment]\nshell = false\n").expect("settings");
    fs::set_permissions(file, fs::Permissions::from_mode(0o600)).expect("a closed file");
}

impl CommandOutcome {
    /// Runs a command until it has ended and no process has its output open any more.
    pub fn of(command: &mut Command) -> Self {
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let child = child.expect("the command starts");
        let pid = child.id();
        let (sender, receiver) = mpsc::channel();
        std::thread::spawn(move || sender.send(child.wait_with_output()));
        let output = receiver.recv_timeout(DEADLINE).unwrap_or_else(|_| {
            processes::kill(pid);
            panic!("{command:?} does not end, or another process keeps its output open");
        });
        Self::from(output.expect("an output"))
    }
}

impl fmt::Display for CommandOutcome {
    /// Writes the exit status and the output.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "exit status {}", self.status)?;
        for text in [&self.stdout, &self.stderr] {
            if !text.trim().is_empty() {
                write!(f, "\n{}", text.trim_end())?;
            }
        }
        Ok(())
    }
}

impl From<Output> for CommandOutcome {
    fn from(output: Output) -> Self {
        Self {
            status: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.kill_everything();
        let launches = self.state().join("launches");
        segue_host::cgroup::remove_empty(|launch| launches.join(launch.to_string()).exists());
    }
}
