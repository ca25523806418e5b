//! Launch folders as they are on disk, and waiting for what is to be in them.

use std::fs;
use std::path::{Path, PathBuf};

use segue_core::model::LaunchRecord;
use serde_json::Value;

use crate::conversation;
use crate::world::World;

pub use segue_conformance::wait::until as wait_until;

/// Returns the folders of a session's launches with what is written in them, the oldest first.
pub fn of(world: &World, session: &Value) -> Vec<(PathBuf, LaunchRecord)> {
    let own = |record: &LaunchRecord| session["id"] == record.session.id.to_string();
    let mut found: Vec<_> = all(world).into_iter().filter(|(_, record)| own(record)).collect();
    found.sort_by_key(|(_, record)| record.launch.number);
    found
}

/// Returns every launch folder whose record can be read.
pub fn all(world: &World) -> Vec<(PathBuf, LaunchRecord)> {
    let folders = fs::read_dir(world.state().join("launches")).into_iter().flatten().flatten();
    let read = |folder: PathBuf| {
        let record = fs::read(folder.join("session.json")).ok()?;
        Some((folder, serde_json::from_slice(&record).ok()?))
    };
    folders.filter_map(|folder| read(folder.path())).collect()
}

/// Waits until the newest launch guards the session's conversation, and its record says that
/// something was said: from then on nothing can be lost without anybody's noticing.
pub fn wait_guarded(world: &World, session: &Value) {
    let id = session["vendor_session_id"].as_str().expect("a conversation");
    let (folder, _) = of(world, session).pop().expect("a launch");
    let transcript = || conversation::transcript(world, id);
    let is_guarded = || transcript().is_some_and(|it| guard(&folder, &it).is_file());
    let spoke = || of(world, session).pop().is_some_and(|(_, record)| record.session.spoke);
    let guards = conversation::all(world).into_iter().map(|it| guard(&folder, &it));
    let mut watched: Vec<PathBuf> = guards.filter_map(|it| Some(it.parent()?.to_owned())).collect();
    watched.push(folder.clone());
    let watched: Vec<&Path> = watched.iter().map(PathBuf::as_path).collect();
    wait_until(&watched, "a guard", || is_guarded() && spoke());
}

/// Returns where the launch of this folder guards a transcript.
pub fn guard(folder: &Path, transcript: &Path) -> PathBuf {
    let mut names = transcript.iter().rev();
    let (name, parent) = (names.next().expect("a name"), names.next().expect("a folder"));
    folder.join("guard").join(parent).join(name)
}

/// Takes the guards of all of a session's launches away.
pub fn remove_guards(world: &World, session: &Value) {
    for (folder, _) in of(world, session) {
        match fs::remove_dir_all(folder.join("guard")) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => panic!("{error}"),
            _ => {}
        }
    }
}
