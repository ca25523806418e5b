//! Reads launch folders on disk, waits for files in them, and reads screens from holders.

use std::fs;
use std::path::{Path, PathBuf};

use segue_core::model::{Environment, LaunchId, LaunchRecord};
use segue_host::Paths;
use segue_host::hold::{LocalHolders, Snapshot};
use serde_json::Value;

use crate::runtime::block_on;
use crate::world::World;
use crate::{archive, files};

pub use segue_conformance::wait::until as wait_until;

/// Returns the folder and the record of each of a session's launches, the oldest first.
pub fn of(world: &World, session: &Value) -> Vec<(PathBuf, LaunchRecord)> {
    let own = |record: &LaunchRecord| session["id"] == record.session.id.to_string();
    let mut found: Vec<_> = all(world).into_iter().filter(|(_, record)| own(record)).collect();
    found.sort_by_key(|(_, record)| record.launch.number);
    found
}

/// Returns the folder and the record of a session's newest launch.
///
/// # Panics
///
/// If the session has no launch.
pub fn newest(world: &World, session: &Value) -> (PathBuf, LaunchRecord) {
    of(world, session).pop().expect("a launch")
}

/// Returns the id of a session's newest launch.
pub fn newest_id(world: &World, session: &Value) -> LaunchId {
    newest(world, session).1.launch.id
}

/// Returns the `session.json` of a session's newest launch.
pub fn newest_json(world: &World, session: &Value) -> Value {
    let (folder, _) = newest(world, session);
    serde_json::from_slice(&fs::read(folder.join("session.json")).expect("a record"))
        .expect("a record")
}

/// Returns every launch folder with its record. Skips folders whose record cannot be read.
pub fn all(world: &World) -> Vec<(PathBuf, LaunchRecord)> {
    let folders = fs::read_dir(world.state().join("launches")).into_iter().flatten().flatten();
    let read = |folder: PathBuf| {
        let record = fs::read(folder.join("session.json")).ok()?;
        Some((folder, serde_json::from_slice(&record).ok()?))
    };
    folders.filter_map(|folder| read(folder.path())).collect()
}

/// Waits until the newest launch has a guard (a hard link) of the session's transcript, and its
/// record has `has_content` set. From then on, Segue notices if the transcript is lost.
pub fn wait_guarded(world: &World, session: &Value) {
    let id = session["vendor_session_id"].as_str().expect("a conversation");
    let (folder, _) = newest(world, session);
    let name = format!("{id}.jsonl");
    let transcript = files::below(&world.home()).into_iter().find(|path| path.ends_with(&name));
    let guard = guard(&folder, &transcript.expect("a transcript"));
    let has_content =
        || of(world, session).pop().is_some_and(|(_, record)| record.session.has_content);
    let watched = [folder.as_path(), guard.parent().expect("a folder")];
    wait_until(&watched, "a guard", || guard.is_file() && has_content());
}

/// Returns the path at which the launch with this folder keeps its guard of a transcript.
pub fn guard(folder: &Path, transcript: &Path) -> PathBuf {
    let mut names = transcript.iter().rev();
    let (name, parent) = (names.next().expect("a name"), names.next().expect("a folder"));
    folder.join("guard").join(parent).join(name)
}

/// Deletes the guards of all launches of a session.
pub fn remove_guards(world: &World, session: &Value) {
    for (folder, _) in of(world, session) {
        files::remove_folder(&folder.join("guard"));
    }
}

/// Deletes every copy that Segue has of a session's conversation: its guards, and the whole
/// archive.
pub fn remove_copies(world: &World, session: &Value) {
    remove_guards(world, session);
    archive::remove_all(world);
}

/// Returns the paths of a world's files, as its commands determine them.
pub fn paths(world: &World) -> Paths {
    Paths::from_environment(&Environment::new(world.environment())).expect("paths")
}

/// Returns the screen of a session's agent, as its holder sees it.
pub fn snapshot(world: &World, session: &Value) -> Snapshot {
    let launch = newest_id(world, session);
    let snapshot = block_on(LocalHolders::new(paths(world)).snapshot(launch));
    snapshot.expect("a holder that answers").expect("a terminal")
}
