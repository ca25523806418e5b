//! A trial: one vendor's real program in a [`World`] of its own, and the scripted model that the
//! program sends its requests to.

use std::env;
use std::fmt::Display;
use std::fs;
use std::ops::ControlFlow;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use segue_core::model::{Environment, Role, VendorSessionId};
use segue_core::ports::{Place, ProgramSpec, Rehearsal, Transcripts, TrialSetup, Vendor};
use segue_host::files::LocalFiles;
use serde_json::Value;

use crate::expectation::{expect, quoted, unmet};
use crate::model::{Exchange, Model};
use crate::terminal::Terminal;
use crate::wait;
use crate::world::{CommandOutcome, World};

/// An API key that no service accepts. Vendors redact the text of their key wherever it occurs, so
/// it must not occur in any other text.
pub const KEY: &str = "sk-ant-segue-scripted-model-0000-4711";

/// The environment variable with the folder that all trials of a run share.
pub(crate) const SHARED: &str = "SEGUE_TRIAL_SHARED";

/// A trial of one vendor.
#[derive(Debug)]
pub struct VendorTrial {
    pub model: Model,
    pub world: World,
    pub rehearsal: Rehearsal,
    vendor: Arc<dyn Vendor>,
    name: String,
}

impl VendorTrial {
    /// Makes a world in which the vendor's program is installed and asks no questions at its start.
    pub fn begin(segue: &Path, vendor: Arc<dyn Vendor>) -> Self {
        let (model, mut world) = (Model::start(), World::new(segue));
        if let ProgramSpec::Named { name, .. } = vendor.launching().program() {
            install(&mut world, &name, find);
        }
        let rehearsal = prepare(&mut world, &model, vendor.as_ref());
        let name = vendor.id().to_string();
        Self { model, world, rehearsal, vendor, name }
    }

    /// Replaces the vendor's home by a new one, without anything that the vendor has written.
    pub fn lose_home(&mut self) {
        let home = self.world.home();
        fs::rename(&home, self.world.root().join("lost")).expect("a home");
        fs::create_dir(home).expect("a home");
        prepare(&mut self.world, &self.model, self.vendor.as_ref());
    }

    pub fn vendor(&self) -> &str {
        &self.name
    }

    /// Returns the real path of the project folder, which is the path that vendors record.
    pub fn project(&self) -> PathBuf {
        self.world.project().canonicalize().expect("a folder")
    }

    fn transcripts(&self) -> &dyn Transcripts {
        self.vendor.transcripts().expect("a vendor with transcripts")
    }

    /// Returns the path of the transcript of a session's conversation.
    pub fn transcript(&self, session: &Value) -> PathBuf {
        let environment = Environment::new(self.world.environment());
        let config_dir = self.vendor.launching().config_dir(&environment).expect("a config dir");
        let place = Place { config_dir, cwd: self.project() };
        let id = session["vendor_session_id"].as_str().expect("a conversation");
        self.transcripts().transcript(&LocalFiles, &place, &VendorSessionId::new(id))
    }

    /// Starts an interactive session with its first message.
    pub fn start(&self, name: &str, message: &str) {
        self.world.ok(["run", "-d", "--vendor", &self.name, "--name", name, message]);
    }

    /// Starts an interactive session, and waits until it has answered and is idle. Returns the session.
    pub fn start_and_settle(&self, name: &str, message: &str) -> Value {
        self.start(name, message);
        self.wait_answered(name, message);
        self.wait_settled(name)
    }

    /// Waits until the model has completely answered a request whose newest message of the user
    /// contains these words. The report of a timeout contains the log of session `name`.
    pub fn wait_answered(&self, name: &str, words: &str) -> Exchange {
        self.model.answered(words).unwrap_or_else(|seen| {
            let expected = format!("`{name}` sends \"{words}\" to the model");
            unmet(expected, &format!("{seen}\n{}", self.log(name)))
        })
    }

    /// Waits until a session is idle and the id of its conversation is known. Returns the session.
    pub fn wait_settled(&self, name: &str) -> Value {
        self.wait_idle(name);
        self.wait_session(name, |it| !it["vendor_session_id"].is_null())
    }

    pub fn wait_idle(&self, name: &str) {
        let waited = self.world.segue(["wait", name, "--for", "idle", "--timeout", "170s"]);
        let expected = format!("`{name}` finishes its turn and is idle");
        self.expect(name, waited.status == 0, expected, || waited.to_string());
    }

    /// Waits until `is_wanted` returns true for the session. Calls it again after each event.
    pub fn wait_session(&self, name: &str, is_wanted: impl Fn(&Value) -> bool) -> Value {
        self.world.wait_session(name, is_wanted).unwrap_or_else(|session| {
            let expected = format!("session `{name}` reaches the awaited state");
            unmet(expected, &format!("the daemon ended; {session:#}"))
        })
    }

    /// Sends a message to a session and waits for the end of its turn. Returns the request that
    /// carried the message.
    pub fn ask(&self, name: &str, message: &str) -> Exchange {
        let words = ["send", name, "--wait", "--timeout", "170s", message];
        let sent = self.world.segue(words);
        let expected = format!("`{name}` takes the message \"{message}\" and answers it");
        self.expect(name, sent.status == 0, expected, || sent.to_string());
        self.model.conversation_of(message).unwrap_or_else(|| {
            unmet(format!("\"{message}\" reaches the model"), "no request has it")
        })
    }

    /// Sends `message`, and expects that the request carries exactly the messages in `said`,
    /// followed by `message`.
    pub fn expect_carried(&self, name: &str, said: &[&str], message: &str) {
        let carried = self.ask(name, message);
        let all: Vec<&str> = said.iter().copied().chain([message]).collect();
        let found: Vec<&str> = carried.user_texts().into_iter().map(str::trim).collect();
        let expected = format!("the next request of `{name}` carries {}", quoted(&all));
        self.expect(name, found == all, expected, || format!("it carried {}", quoted(&found)));
    }

    /// Expects that a session is in the same conversation as before.
    pub fn expect_same_conversation(&self, name: &str, before: &Value) {
        let (before, now) =
            (&before["vendor_session_id"], &self.world.session(name)["vendor_session_id"]);
        expect(now == before, format!("`{name}` is in its conversation {before}"), || {
            format!("it is in {now}")
        });
    }

    /// Ends the trial if an expectation is not met. The report contains the session's log and
    /// screen.
    pub fn expect(
        &self,
        name: &str,
        is_met: bool,
        expected: impl Display,
        seen: impl FnOnce() -> String,
    ) {
        if !is_met {
            unmet(expected, &format!("{}\n{}", seen().trim_end(), self.log(name)));
        }
    }

    /// Waits until the vendor's own transcript of a session's conversation contains these words of
    /// the user.
    pub fn wait_recorded(&self, session: &Value, words: &str) {
        let transcript = self.transcript(session);
        let folder = transcript.parent().expect("a folder");
        let mut folders: Vec<&Path> = folder.ancestors().collect();
        folders.reverse();
        // The program creates the folders of its first transcript, too.
        for pair in folders.windows(2).filter(|pair| !pair[1].exists()) {
            wait::until(&[pair[0]], "the folder of the transcript is there", || pair[1].exists());
        }
        let expected = format!("the transcript has \"{words}\"");
        wait::until(&[folder], &expected, || self.is_recorded(session, words));
    }

    /// Returns whether the vendor's own transcript of a session's conversation contains these words
    /// of the user. Returns false if the transcript cannot be read, for example while the vendor
    /// writes it.
    pub fn is_recorded(&self, session: &Value, words: &str) -> bool {
        let mut found = false;
        let read =
            self.transcripts().turns_back(&LocalFiles, &self.transcript(session), &mut |turn| {
                found |= turn.role == Role::User && turn.text.contains(words);
                if found { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
        read.is_ok() && found
    }

    /// Kills all processes and resumes all sessions.
    pub fn kill_and_resume(&self) {
        self.world.kill_everything();
        self.resume_all();
    }

    /// Resumes all sessions.
    pub fn resume_all(&self) {
        let report = self.world.resume(["--all"]);
        let is_complete = report.status == 0 && report.json["complete"] == true;
        expect(is_complete, "`segue resume --all` brings every session back", || {
            report.to_string()
        });
    }

    /// Runs a headless turn in a new session.
    pub fn headless(&self, name: &str, message: &str) -> CommandOutcome {
        self.world.segue(["run", "--headless", "--vendor", &self.name, "--name", name, message])
    }

    /// Attaches to a session as a person does.
    pub fn attach(&self, name: &str) -> Terminal {
        Terminal::start(&self.world.command(["attach", name]), 40, 120)
    }

    /// Returns the log of a session and the content of its terminal, to explain a failure.
    pub fn log(&self, name: &str) -> String {
        let log = self.world.segue(["log", name]).stdout;
        if self.world.session(name)["pid"].is_null() || self.world.session(name)["headless"] == true
        {
            return log;
        }
        let mut terminal = self.attach(name);
        terminal.wait_until("some text", |screen| !screen.contents().trim().is_empty());
        format!("log:\n{log}\nterminal:\n{}\n", terminal.contents())
    }
}

/// Writes a vendor's minimal configuration into a world's home, and sets its environment variables.
/// Returns the configuration.
pub fn prepare(world: &mut World, model: &Model, vendor: &dyn Vendor) -> Rehearsal {
    let project = world.project().canonicalize().expect("a folder");
    let (home, url) = (world.home(), model.url());
    let shared = env::var_os(SHARED).map_or_else(|| world.root().join("shared"), PathBuf::from);
    let setup =
        TrialSetup { home: &home, project: &project, shared: &shared, model: &url, key: KEY };
    let rehearsal = vendor.rehearsal(&setup);
    let rehearsal = rehearsal.unwrap_or_else(|| panic!("`{}` has no rehearsal", vendor.id()));
    for (variable, value) in &rehearsal.environment {
        world.set(variable, value.clone());
    }
    for file in &rehearsal.files {
        fs::create_dir_all(file.path.parent().expect("a folder")).expect("a folder");
        fs::write(&file.path, &file.contents).expect("a file");
    }
    rehearsal
}

/// Links a program into a folder in the PATH of a world's commands, together with `node`, which
/// runs the program if it is a script.
pub fn install(world: &mut World, name: &str, find: impl Fn(&str) -> Option<PathBuf>) {
    let bin = world.root().join("bin");
    fs::create_dir_all(&bin).expect("a folder");
    let program = find(name).unwrap_or_else(|| panic!("`{name}` is not installed"));
    link(&program.canonicalize().expect("a program"), &bin.join(name));
    if let Some(node) = find("node") {
        link(&node, &bin.join("node"));
    }
    let bin = bin.to_str().expect("a plain path");
    world.set("PATH", format!("{bin}:/usr/local/bin:/usr/bin:/bin"));
}

fn link(target: &Path, name: &Path) {
    if fs::symlink_metadata(name).is_err() {
        symlink(target, name).expect("a link");
    }
}

/// Returns the number of nudges in a request: messages that ask the agent to continue after it was
/// started again.
pub(crate) fn nudges(exchange: &Exchange) -> usize {
    exchange.user_texts().iter().filter(|said| said.contains("started again")).count()
}

fn find(program: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|folder| folder.join(program)).find(|it| it.is_file())
}
