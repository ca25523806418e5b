//! Installs the vendors' real programs in a `World`. Each gets the minimal configuration with which
//! it talks to the scripted model and asks no questions at its first start.

mod claude;
mod codex;
mod copilot;
mod gemini;
mod opencode;
mod pi;

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use segue_conformance::{Behaviour, BehaviourVerdict, KEY, Setting};
use segue_core::model::{Environment, VendorId};
use segue_core::ports::{ProgramSpec, TrialSetup, Vendor, Vendors as _};
use serde_json::Value;

use crate::model::Model;
use crate::world::World;

pub use claude::{ClaudeHome, subscribe_claude, with_claude};
pub use codex::{CodexHome, with_codex};
pub use copilot::{CopilotHome, with_copilot};
pub use gemini::{GeminiHome, with_gemini};
pub use opencode::{OpencodeHome, with_opencode};
pub use pi::{PiHome, with_pi};

/// Returns a command that runs a vendor's program in the project folder with the world's
/// environment, as a user would.
pub fn command(
    world: &World,
    program: &str,
    arguments: impl IntoIterator<Item = impl AsRef<OsStr>>,
) -> Command {
    let mut command = Command::new(programs(world).join(program));
    command.args(arguments).current_dir(world.project()).env_clear();
    command.envs(world.environment()).stdin(Stdio::null());
    command
}

/// Checks one behaviour of the conformance suite with the pinned release of a vendor's program.
///
/// # Panics
///
/// If the program does not show the behaviour. A vendor that is exempt from the behaviour passes.
pub fn show(segue: &str, vendor: &str, behaviour: &str) {
    show_with(installation(), segue, vendor, behaviour);
}

/// Replaces the pinned program in a world's `PATH` with an earlier release of it.
///
/// # Panics
///
/// If the earlier release is not installed.
pub fn install_previous(world: &World, program: &str) {
    let earlier = previous().join("node_modules/.bin").join(program);
    let name = programs(world).join(program);
    fs::remove_file(&name).expect("the pinned program");
    std::os::unix::fs::symlink(earlier.canonicalize().expect("a program"), name).expect("a link");
}

/// Checks one behaviour of the conformance suite with an earlier release of a vendor's program.
///
/// # Panics
///
/// If the program does not show the behaviour. A vendor that is exempt from the behaviour passes.
pub fn show_previous(segue: &str, vendor: &str, behaviour: &str) {
    show_with(previous(), segue, vendor, behaviour);
}

fn show_with(programs: PathBuf, segue: &str, vendor: &str, behaviour: &str) {
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(programs.join("node_modules/.bin"));
    let path = env::join_paths(folders.chain(env::split_paths(&path))).expect("folders");
    let path = path.into_string().expect("a plain path");
    let environment = Environment::new([("PATH".to_owned(), path)]);
    let homes = tempfile::Builder::new().prefix("segue-").tempdir().expect("a folder");
    let temporary = homes.path().to_owned();
    let setting = Setting { segue: segue.into(), environment, shared: programs, temporary };
    let vendor = self::vendor(vendor);
    let behaviour = Behaviour::named(behaviour).expect("a behaviour");
    let cell = segue_conformance::check(&setting, vendor.as_ref(), behaviour);
    if let BehaviourVerdict::Fail(words) = cell.verdict {
        panic!("{} of {}: {words}", cell.behaviour, cell.vendor);
    }
}

/// Returns the names of all behaviours of the conformance suite.
pub fn behaviours() -> Vec<&'static str> {
    segue_conformance::BEHAVIOURS.iter().map(|it| it.name).collect()
}

/// Returns the behaviours that vendors are exempt from: the vendor, the behaviour and the reason.
pub fn exemptions() -> Vec<(VendorId, &'static str, &'static str)> {
    let vendors = segue_vendors::all().all();
    let of = |vendor: &Arc<dyn Vendor>| {
        let exempt = vendor.rehearsal(&TrialSetup::placeholder()).map_or(&[][..], |it| it.exempt);
        let id = vendor.id();
        exempt.iter().map(move |(behaviour, reason)| (id.clone(), *behaviour, *reason))
    };
    vendors.iter().flat_map(of).collect()
}

/// Returns the folder of a world that has links to the vendors' programs.
pub fn programs(world: &World) -> PathBuf {
    world.root().join("bin")
}

/// Returns the vendor with this id.
///
/// # Panics
///
/// If there is no such vendor.
pub fn vendor(name: &str) -> Arc<dyn Vendor> {
    segue_vendors::all().get(&VendorId::new(name)).expect("a vendor")
}

/// Installs a vendor's pinned program in the `PATH` of the world's commands.
fn install(world: &mut World, program: &str) {
    segue_conformance::install(world, program, find);
}

/// Installs the programs of all these vendors in one world, and configures them for one model.
/// Skips vendors without a program of their own.
pub fn with_all(world: &mut World, model: &Model, vendors: &[&str]) {
    for name in vendors {
        let vendor = vendor(name);
        if let ProgramSpec::Named { name, .. } = vendor.launching().program() {
            install(world, &name);
            segue_conformance::prepare(world, model, vendor.as_ref());
        }
    }
}

/// Finds a program: first among the pinned programs, then in this process's `PATH`.
fn find(program: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    let pinned = std::iter::once(installation().join("node_modules/.bin"));
    pinned.chain(env::split_paths(&path)).map(|it| it.join(program)).find(|it| it.is_file())
}

/// Returns the folder where `make vendors` installs the pinned programs.
fn installation() -> PathBuf {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let place = env::var_os("SEGUE_TEST_VENDORS").unwrap_or_else(|| "target/vendors".into());
    top.join(place)
}

/// Returns the folder where `make vendors` installs the earlier releases.
fn previous() -> PathBuf {
    let mut place = installation().into_os_string();
    place.push("-previous");
    place.into()
}

/// Returns the path of a folder with all symlinks resolved, as vendors store it in their settings.
fn real(folder: &Path) -> String {
    let real = folder.canonicalize().expect("a folder");
    real.to_str().expect("a plain path").to_owned()
}

/// Changes a settings file. Keeps the other settings in it, because the vendor may have written
/// some of them.
fn change(file: &Path, change: impl FnOnce(&mut Value)) {
    let text = fs::read(file).expect("settings");
    let mut settings = serde_json::from_slice(&text).expect("settings");
    change(&mut settings);
    fs::write(file, settings.to_string()).expect("a file");
}
