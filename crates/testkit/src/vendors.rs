//! The real command lines of vendors in a world: the least configuration with which they talk to
//! the scripted model and ask nothing first.

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

use segue_conformance::{Behaviour, KEY, Setting, Verdict};
use segue_core::model::{Environment, VendorId};
use segue_core::ports::{ProgramSpec, Stage, Vendor, Vendors as _};
use serde_json::Value;

use crate::model::Model;
use crate::world::World;

pub use claude::{ClaudeHome, subscribe_claude, with_claude};
pub use codex::{CodexHome, with_codex};
pub use copilot::{CopilotHome, with_copilot};
pub use gemini::{GeminiHome, with_gemini};
pub use opencode::{OpencodeHome, with_opencode};
pub use pi::{PiHome, with_pi};

/// Returns a command that runs a vendor's program as a user of the world would in the project.
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

/// Has the pinned program of a vendor show a behaviour.
///
/// # Panics
///
/// When it does not.
pub fn show(segue: &str, vendor: &str, behaviour: &str) {
    show_with(installation(), segue, vendor, behaviour);
}

/// Makes an earlier release of a vendor's program the one that a world's commands find.
///
/// # Panics
///
/// When it is not installed.
pub fn install_previous(world: &World, program: &str) {
    let earlier = previous().join("node_modules/.bin").join(program);
    let name = programs(world).join(program);
    fs::remove_file(&name).expect("the pinned program");
    std::os::unix::fs::symlink(earlier.canonicalize().expect("a program"), name).expect("a link");
}

/// Has an earlier release of a vendor's program show a behaviour.
///
/// # Panics
///
/// When it does not.
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
    if let Verdict::Fail(words) = cell.verdict {
        panic!("{} of {}: {words}", cell.behaviour, cell.vendor);
    }
}

/// Returns the names of everything that is asked of a vendor.
pub fn behaviours() -> Vec<&'static str> {
    segue_conformance::BEHAVIOURS.iter().map(|it| it.name).collect()
}

/// Returns what is not asked of which vendor, and why.
pub fn exemptions() -> Vec<(VendorId, &'static str, &'static str)> {
    let vendors = segue_vendors::all().all();
    let of = |vendor: &Arc<dyn Vendor>| {
        let exempt = vendor.rehearsal(&Stage::nowhere()).map_or(&[][..], |it| it.exempt);
        let id = vendor.id();
        exempt.iter().map(move |(behaviour, reason)| (id.clone(), *behaviour, *reason))
    };
    vendors.iter().flat_map(of).collect()
}

/// Returns the folder in a world where the vendors' programs are.
pub fn programs(world: &World) -> PathBuf {
    world.root().join("bin")
}

/// Returns one of the vendors.
pub fn vendor(name: &str) -> Arc<dyn Vendor> {
    segue_vendors::all().get(&VendorId::new(name)).expect("a vendor")
}

/// Puts a vendor's program where the world's commands find it.
fn install(world: &mut World, program: &str) {
    segue_conformance::install(world, program, find);
}

/// Makes all of these vendors' programs part of one world, and has them talk to one model.
pub fn with_all(world: &mut World, model: &Model, vendors: &[&str]) {
    for name in vendors {
        let vendor = vendor(name);
        if let ProgramSpec::Named { name, .. } = vendor.program() {
            install(world, &name);
            segue_conformance::prepare(world, model, vendor.as_ref());
        }
    }
}

/// Finds one of the pinned programs, or else what every machine has.
fn find(program: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    let pinned = std::iter::once(installation().join("node_modules/.bin"));
    pinned.chain(env::split_paths(&path)).map(|it| it.join(program)).find(|it| it.is_file())
}

/// Returns where `make vendors` has installed them.
fn installation() -> PathBuf {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let place = env::var_os("SEGUE_TEST_VENDORS").unwrap_or_else(|| "target/vendors".into());
    top.join(place)
}

/// Returns where `make vendors` has installed the earlier releases.
fn previous() -> PathBuf {
    let mut place = installation().into_os_string();
    place.push("-previous");
    place.into()
}

/// Returns the real path of a folder as text, as vendors note it.
fn real(folder: &Path) -> String {
    let real = folder.canonicalize().expect("a folder");
    real.to_str().expect("a plain path").to_owned()
}

/// Changes a file with settings, of which the vendor may write some, too: those stay.
fn change(file: &Path, change: impl FnOnce(&mut Value)) {
    let text = fs::read(file).expect("settings");
    let mut settings = serde_json::from_slice(&text).expect("settings");
    change(&mut settings);
    fs::write(file, settings.to_string()).expect("a file");
}
