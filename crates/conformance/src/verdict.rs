//! Checks behaviours, each in a process of its own, and returns the results.

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

/// The timeout of one behaviour. It is longer than the timeout of each wait in a check, so that the
/// check itself reports what it waited for.
const BEHAVIOUR_TIMEOUT: Duration = Duration::from_secs(400);

/// At most this many characters of a failure's output are kept.
const MAX_FAILURE_CHARS: usize = 4_000;

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
    /// The report of the expected and the seen behaviour.
    Fail(String),
    /// Why the behaviour cannot be checked for this vendor.
    NotApplicable(&'static str),
}

/// Checks a behaviour in this process. Panics if the vendor does not have it.
pub fn check_here(segue: &Path, vendor: Arc<dyn Vendor>, behaviour: &Behaviour) {
    (behaviour.check)(&mut VendorTrial::begin(segue, vendor));
}

/// The programs and folders with which behaviours are checked.
#[derive(Clone, Debug)]
pub struct Setting {
    /// The program that checks a behaviour if it is started with [`SUBCOMMAND`], a vendor and a
    /// behaviour.
    pub segue: PathBuf,
    /// The environment with which the vendors' programs are found.
    pub environment: Environment,
    /// A folder that all trials share.
    pub shared: PathBuf,
    /// The folder for the homes of trials, outside of every repository. The caller creates and
    /// removes it.
    pub temporary: PathBuf,
}

/// The subcommand with which this program checks one behaviour of one vendor.
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
        None => run(&mut command(setting, vendor, behaviour)),
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
    // A killed process leaves temporary files behind. They are deleted with this folder.
    command.env("TMPDIR", &setting.temporary);
    command
}

/// Finds the program that a person starts by its name. It may be a script that starts the native
/// program.
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

fn run(command: &mut Command) -> BehaviourVerdict {
    let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
    match child {
        Ok(child) => wait(child),
        Err(error) => {
            BehaviourVerdict::Fail(format!("the process of the check does not start: {error}"))
        }
    }
}

/// Waits for the process of a check. Kills it after the timeout.
fn wait(mut child: Child) -> BehaviourVerdict {
    let mut stderr = child.stderr.take().expect("a piped standard error");
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut text = String::new();
        // If the process was killed, its output until then is enough.
        let _ended = stderr.read_to_string(&mut text);
        sender.send(text)
    });
    let Ok(text) = receiver.recv_timeout(BEHAVIOUR_TIMEOUT) else {
        let _gone = child.kill();
        let _gone = child.wait();
        let seconds = BEHAVIOUR_TIMEOUT.as_secs();
        return BehaviourVerdict::Fail(format!("the check did not end within {seconds} s"));
    };
    match child.wait() {
        Ok(status) if status.success() => BehaviourVerdict::Pass,
        _ => BehaviourVerdict::Fail(text.chars().take(MAX_FAILURE_CHARS).collect()),
    }
}
