//! Tries behaviours, each in a process of its own, and returns the results.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use segue_core::model::Environment;
use segue_core::ports::{ProgramSpec, TrialSetup, Vendor};
use segue_host::programs;

use crate::behaviours::Behaviour;
use crate::isolation;
use crate::trial::{SHARED, VendorTrial};

/// The timeout of one behaviour.
const LONGEST: Duration = Duration::from_secs(180);

/// How many characters of a failure's output are kept.
const KEPT: usize = 4_000;

/// The result of one behaviour of one vendor.
#[derive(Clone, Debug)]
pub struct BehaviourResult {
    pub vendor: String,
    pub behaviour: &'static str,
    pub verdict: BehaviourVerdict,
    pub took: Duration,
}

/// Whether a vendor has a behaviour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BehaviourVerdict {
    Pass,
    /// What was seen instead.
    Fail(String),
    /// Why the behaviour cannot be checked for this vendor.
    NotApplicable(&'static str),
}

/// Tries a behaviour in this process. Panics if the vendor does not have it.
pub fn show(segue: &Path, vendor: Arc<dyn Vendor>, behaviour: &Behaviour) {
    (behaviour.show)(&mut VendorTrial::begin(segue, vendor));
}

/// What a check needs.
#[derive(Clone, Debug)]
pub struct Setting {
    /// The program that tries a behaviour when it is started with [`SUBCOMMAND`], a vendor and a
    /// behaviour.
    pub segue: PathBuf,
    /// The environment with which the vendors' programs are found.
    pub environment: Environment,
    /// A folder that all trials share.
    pub shared: PathBuf,
    /// The folder for the homes of trials, outside of every repository. The caller that made it
    /// removes it.
    pub temporary: PathBuf,
}

/// The subcommand with which this program tries one behaviour of one vendor.
pub const SUBCOMMAND: &str = "rehearse";

/// Checks a behaviour in another process, in separate namespaces.
pub fn check(
    setting: &Setting,
    vendor: &dyn Vendor,
    behaviour: &'static Behaviour,
) -> BehaviourResult {
    let began = Instant::now();
    let verdict = match exemption(vendor, behaviour.name) {
        Some(reason) => BehaviourVerdict::NotApplicable(reason),
        None => in_a_process(&mut command(setting, vendor, behaviour)),
    };
    let vendor = vendor.id().to_string();
    BehaviourResult { vendor, behaviour: behaviour.name, verdict, took: began.elapsed() }
}

fn command(setting: &Setting, vendor: &dyn Vendor, behaviour: &Behaviour) -> Command {
    let mut command = isolation::command();
    command.arg(&setting.segue).args([SUBCOMMAND, vendor.id().as_str(), behaviour.name]);
    let path = setting.environment.get("PATH").unwrap_or_default();
    let found = program(vendor, &setting.environment);
    let first = found.as_deref().and_then(Path::parent).map(|it| it.display().to_string());
    let folders: Vec<&str> = first.as_deref().into_iter().chain([path]).collect();
    command.env_clear().env("PATH", folders.join(":")).env(SHARED, &setting.shared);
    // If a process has to be killed, the files that it leaves behind are deleted with this folder.
    command.env("TMPDIR", &setting.temporary);
    command
}

/// Finds the program that a person starts. It may be a script that starts the native program.
fn program(vendor: &dyn Vendor, environment: &Environment) -> Option<PathBuf> {
    let ProgramSpec::Named { name, .. } = vendor.launching().program() else { return None };
    let script = ProgramSpec::Named { name, native: &[] };
    programs::find(&script, environment).map(|program| program.path)
}

/// Returns why a behaviour cannot be checked for a vendor. `None` if it can.
fn exemption(vendor: &dyn Vendor, behaviour: &str) -> Option<&'static str> {
    let exempt = vendor.rehearsal(&TrialSetup::placeholder())?.exempt;
    exempt.iter().find(|(name, _)| *name == behaviour).map(|(_, reason)| *reason)
}

fn in_a_process(command: &mut Command) -> BehaviourVerdict {
    let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
    match child {
        Ok(child) => wait(child),
        Err(error) => BehaviourVerdict::Fail(format!("it could not be tried: {error}")),
    }
}

fn wait(mut child: Child) -> BehaviourVerdict {
    let mut errors = child.stderr.take().expect("its words");
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut words = String::new();
        // If the process was killed, its output until then is enough.
        let _ended = errors.read_to_string(&mut words);
        sender.send(words)
    });
    let Ok(words) = receiver.recv_timeout(LONGEST) else {
        let _gone = child.kill();
        let _gone = child.wait();
        return BehaviourVerdict::Fail(format!("it did not end within {} s", LONGEST.as_secs()));
    };
    match child.wait() {
        Ok(status) if status.success() => BehaviourVerdict::Pass,
        _ => BehaviourVerdict::Fail(words.chars().take(KEPT).collect()),
    }
}
