//! Reads launch folders on disk, and waits for files in them.

use std::fs;
use std::path::{Path, PathBuf};

use segue_core::model::LaunchRecord;
use serde_json::Value;

use crate::world::World;

pub use segue_conformance::wait::until as wait_until;

/// Returns the folder and the record of each of a session's launches, the oldest first.
pub fn of(world: &World, session: &Value) -> Vec<(PathBuf, LaunchRecord)> {
    let own = |record: &LaunchRecord| session["id"] == record.session.id.to_string();
    let mut found: Vec<_> = all(world).into_iter().filter(|(_, record)| own(record)).collect();
    found.sort_by_key(|(_, record)| record.launch.number);
    found
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
/// record has `spoke` set. From then on, Segue notices if the transcript is lost.
pub fn wait_guarded(world: &World, session: &Value) {
    let id = session["vendor_session_id"].as_str().expect("a conversation");
    let (folder, _) = of(world, session).pop().expect("a launch");
    let transcript = below(&world.home(), &format!("{id}.jsonl")).expect("a transcript");
    let guard = guard(&folder, &transcript);
    let spoke = || of(world, session).pop().is_some_and(|(_, record)| record.session.spoke);
    let watched = [folder.as_path(), guard.parent().expect("a folder")];
    wait_until(&watched, "a guard", || guard.is_file() && spoke());
}

/// Finds a file of this name in a folder, recursively.
fn below(folder: &Path, name: &str) -> Option<PathBuf> {
    let entries: Vec<_> = fs::read_dir(folder).into_iter().flatten().flatten().collect();
    let here = entries.iter().map(|entry| entry.path()).find(|path| path.ends_with(name));
    let is_folder = |entry: &&fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
    here.or_else(|| entries.iter().filter(is_folder).find_map(|it| below(&it.path(), name)))
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
        match fs::remove_dir_all(folder.join("guard")) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => panic!("{error}"),
            _ => {}
        }
    }
}

/// Deletes every copy that Segue has of a session's conversation: its guards, and the whole
/// archive.
pub fn remove_copies(world: &World, session: &Value) {
    remove_guards(world, session);
    crate::archive::remove_all(world);
}
