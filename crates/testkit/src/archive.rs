//! Reads the archive's files on disk, and waits until a transcript is copied into it.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::launches::wait_until;
use crate::world::World;

/// Returns the archive's folder.
pub fn folder(world: &World) -> PathBuf {
    world.database().with_file_name("archive")
}

/// Deletes the whole archive.
pub fn remove_all(world: &World) {
    match fs::remove_dir_all(folder(world)) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => panic!("{error}"),
        _ => {}
    }
}

/// Returns the `manifest.json` of every archived conversation. Skips files that cannot be read or
/// parsed.
pub fn records(world: &World) -> Vec<Value> {
    let folders = |path: &Path| fs::read_dir(path).into_iter().flatten().flatten();
    let all = folders(&folder(world)).flat_map(|vendor| folders(&vendor.path()));
    let visible = all.filter(|entry| !entry.file_name().to_string_lossy().starts_with('.'));
    let read = |folder: PathBuf| {
        serde_json::from_slice(&fs::read(folder.join("manifest.json")).ok()?).ok()
    };
    visible.filter_map(|entry| read(entry.path())).collect()
}

/// Returns the `manifest.json` of a session's conversation. `None` if it is not archived.
pub fn record(world: &World, session: &Value) -> Option<Value> {
    records(world).into_iter().find(|record| record["id"] == session["vendor_session_id"])
}

/// Returns the number of bytes in each archived copy of a session's transcript.
pub fn lengths(world: &World, session: &Value) -> Vec<u64> {
    let Some(record) = record(world, session) else { return Vec::new() };
    let streams = record["streams"].as_array().cloned().unwrap_or_default();
    let own = streams.iter().filter(|stream| stream["role"] == "transcript");
    own.filter_map(|stream| stream["length"].as_u64()).collect()
}

/// Waits until the newest archived copy is as long as the transcript.
pub fn wait_kept(world: &World, session: &Value, transcript: &Path) {
    let length = || fs::metadata(transcript).expect("a transcript").len();
    let is_kept = || lengths(world, session).last() == Some(&length());
    let data = folder(world).parent().expect("a folder").to_owned();
    // The archive's folders may be created one inside the other while this function waits. Each new
    // one must be watched, too.
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

/// Returns all folders inside a folder, recursively.
fn below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let folders = entries.map(|entry| entry.path()).filter(|path| path.is_dir());
    folders.flat_map(|path| [vec![path.clone()], below(&path)].concat()).collect()
}
