//! Trying behaviours, each in a process of its own, and what came of them.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use segue_core::model::Environment;
use segue_core::ports::{Machine as _, ProgramSpec, Stage, Vendor};
use segue_host::LocalMachine;

use crate::behaviours::Behaviour;
use crate::isolation;
use crate::trial::{SHARED, Trial};

/// How long one behaviour may take.
const LONGEST: Duration = Duration::from_secs(180);

/// How much of a failure's words is kept.
const KEPT: usize = 4_000;

/// What came of one behaviour of one vendor.
#[derive(Clone, Debug)]
pub struct Cell {
    pub vendor: String,
    pub behaviour: &'static str,
    pub verdict: Verdict,
    pub took: Duration,
}

/// Whether a behaviour was shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Pass,
    /// What was seen instead.
    Fail(String),
    /// Why it cannot be asked of this vendor.
    NotApplicable(&'static str),
}

/// Shows a behaviour in this process; panics where it is not shown.
pub fn show(segue: &Path, vendor: Arc<dyn Vendor>, behaviour: &Behaviour) {
    (behaviour.show)(&mut Trial::begin(segue, vendor));
}

/// What is tried, and with what.
#[derive(Clone, Debug)]
pub struct Setting {
    /// The program that shows a behaviour when it is told [`SUBCOMMAND`], a vendor and a behaviour.
    pub segue: PathBuf,
    /// Where the vendors' programs are looked for.
    pub environment: Environment,
    /// A folder that all trials share.
    pub shared: PathBuf,
    /// The folder for the homes of trials, outside of every repository. Its maker removes it.
    pub temporary: PathBuf,
}

/// The subcommand with which this program shows one behaviour of one vendor.
pub const SUBCOMMAND: &str = "rehearse";

/// Has a behaviour shown by another process in namespaces of its own.
pub fn check(setting: &Setting, vendor: &dyn Vendor, behaviour: &'static Behaviour) -> Cell {
    let began = Instant::now();
    let verdict = match exemption(vendor, behaviour.name) {
        Some(reason) => Verdict::NotApplicable(reason),
        None => in_a_process(&mut command(setting, vendor, behaviour)),
    };
    let vendor = vendor.id().to_string();
    Cell { vendor, behaviour: behaviour.name, verdict, took: began.elapsed() }
}

fn command(setting: &Setting, vendor: &dyn Vendor, behaviour: &Behaviour) -> Command {
    let mut command = isolation::command();
    command.arg(&setting.segue).args([SUBCOMMAND, vendor.id().as_str(), behaviour.name]);
    let path = setting.environment.get("PATH").unwrap_or_default();
    let found = program(vendor, &setting.environment);
    let first = found.as_deref().and_then(Path::parent).map(|it| it.display().to_string());
    let folders: Vec<&str> = first.as_deref().into_iter().chain([path]).collect();
    command.env_clear().env("PATH", folders.join(":")).env(SHARED, &setting.shared);
    // What a process leaves behind that has to be ended goes with the rest.
    command.env("TMPDIR", &setting.temporary);
    command
}

/// Finds what a person starts, which may be a script that starts the program.
fn program(vendor: &dyn Vendor, environment: &Environment) -> Option<PathBuf> {
    let ProgramSpec::Named { name, .. } = vendor.program() else { return None };
    let script = ProgramSpec::Named { name, native: &[] };
    LocalMachine.find_program(&script, environment).map(|program| program.path)
}

/// Returns why a behaviour cannot be asked of a vendor, if it cannot.
fn exemption(vendor: &dyn Vendor, behaviour: &str) -> Option<&'static str> {
    let exempt = vendor.rehearsal(&Stage::nowhere())?.exempt;
    exempt.iter().find(|(name, _)| *name == behaviour).map(|(_, reason)| *reason)
}

fn in_a_process(command: &mut Command) -> Verdict {
    let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
    match child {
        Ok(child) => wait(child),
        Err(error) => Verdict::Fail(format!("it could not be tried: {error}")),
    }
}

fn wait(mut child: Child) -> Verdict {
    let mut errors = child.stderr.take().expect("its words");
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut words = String::new();
        // What it has said until it was ended is enough.
        let _ended = errors.read_to_string(&mut words);
        sender.send(words)
    });
    let Ok(words) = receiver.recv_timeout(LONGEST) else {
        let _gone = child.kill();
        let _gone = child.wait();
        return Verdict::Fail(format!("it did not end within {} s", LONGEST.as_secs()));
    };
    match child.wait() {
        Ok(status) if status.success() => Verdict::Pass,
        _ => Verdict::Fail(words.chars().take(KEPT).collect()),
    }
}
