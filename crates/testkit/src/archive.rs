//! The archive as it is on disk, and waiting for what is to be in it.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::launches::wait_until;
use crate::world::World;

/// Returns the folder of all copies.
pub fn folder(world: &World) -> PathBuf {
    world.database().with_file_name("archive")
}

/// Takes every copy away.
pub fn remove_all(world: &World) {
    match fs::remove_dir_all(folder(world)) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => panic!("{error}"),
        _ => {}
    }
}

/// Returns the records of all conversations of which there are copies.
pub fn records(world: &World) -> Vec<Value> {
    let folders = |path: &Path| fs::read_dir(path).into_iter().flatten().flatten();
    let all = folders(&folder(world)).flat_map(|vendor| folders(&vendor.path()));
    let visible = all.filter(|entry| !entry.file_name().to_string_lossy().starts_with('.'));
    let read = |folder: PathBuf| {
        serde_json::from_slice(&fs::read(folder.join("manifest.json")).ok()?).ok()
    };
    visible.filter_map(|entry| read(entry.path())).collect()
}

/// Returns the record of a session's conversation.
pub fn record(world: &World, session: &Value) -> Option<Value> {
    records(world).into_iter().find(|record| record["id"] == session["vendor_session_id"])
}

/// Returns how much of a session's transcript is copied, of each copy that there is.
pub fn lengths(world: &World, session: &Value) -> Vec<u64> {
    let Some(record) = record(world, session) else { return Vec::new() };
    let streams = record["streams"].as_array().cloned().unwrap_or_default();
    let own = streams.iter().filter(|stream| stream["role"] == "transcript");
    own.filter_map(|stream| stream["length"].as_u64()).collect()
}

/// Waits until all of a transcript is copied.
pub fn wait_kept(world: &World, session: &Value, transcript: &Path) {
    let length = || fs::metadata(transcript).expect("a transcript").len();
    let is_kept = || lengths(world, session).last() == Some(&length());
    let data = folder(world).parent().expect("a folder").to_owned();
    // Folders appear one in the other.
    let mut watched = vec![data.clone()];
    while !is_kept() {
        let known = watched.clone();
        let deeper =
            || below(&data).into_iter().filter(|it| !known.contains(it)).collect::<Vec<_>>();
        let folders: Vec<&Path> = known.iter().map(PathBuf::as_path).collect();
        wait_until(&folders, "a copy", || is_kept() || !deeper().is_empty());
        watched.extend(deeper());
    }
}

/// Returns the folders below a folder.
fn below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let folders = entries.map(|entry| entry.path()).filter(|path| path.is_dir());
    folders.flat_map(|path| [vec![path.clone()], below(&path)].concat()).collect()
}
