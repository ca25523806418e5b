//! Reads the archive's files on disk, and waits until a transcript is copied into it.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::files;
use crate::launches::wait_until;
use crate::world::World;

/// Returns the archive's folder.
pub fn folder(world: &World) -> PathBuf {
    world.database().with_file_name("archive")
}

/// Deletes the whole archive.
pub fn remove_all(world: &World) {
    files::remove_folder(&folder(world));
}

/// Returns the `manifest.json` of every archived conversation. Skips files that cannot be read or
/// parsed.
pub fn manifests(world: &World) -> Vec<Value> {
    let folders = |path: &Path| fs::read_dir(path).into_iter().flatten().flatten();
    let all = folders(&folder(world)).flat_map(|vendor| folders(&vendor.path()));
    let visible = all.filter(|entry| !entry.file_name().to_string_lossy().starts_with('.'));
    let read = |folder: PathBuf| {
        serde_json::from_slice(&fs::read(folder.join("manifest.json")).ok()?).ok()
    };
    visible.filter_map(|entry| read(entry.path())).collect()
}

/// Returns the `manifest.json` of a session's conversation. `None` if it is not archived.
pub fn manifest(world: &World, session: &Value) -> Option<Value> {
    manifests(world).into_iter().find(|manifest| manifest["id"] == session["vendor_session_id"])
}

/// Returns the number of bytes in each archived copy of a session's transcript.
pub fn lengths(world: &World, session: &Value) -> Vec<u64> {
    let Some(manifest) = manifest(world, session) else { return Vec::new() };
    let streams = manifest["streams"].as_array().cloned().unwrap_or_default();
    let own = streams.iter().filter(|stream| stream["role"] == "transcript");
    own.filter_map(|stream| stream["length"].as_u64()).collect()
}

/// Waits until the newest archived copy is as long as the transcript.
pub fn wait_archived(world: &World, session: &Value, transcript: &Path) {
    let length = || fs::metadata(transcript).expect("a transcript").len();
    let is_archived = || lengths(world, session).last() == Some(&length());
    let data = folder(world).parent().expect("a folder").to_owned();
    // The archive's folders are created one inside the other while this function waits. Each new
    // folder must be watched, too.
    let mut watched = vec![data.clone()];
    while !is_archived() {
        let known = watched.clone();
        let new = || -> Vec<PathBuf> {
            let all = files::folders_below(&data).into_iter();
            all.filter(|folder| !known.contains(folder)).collect()
        };
        let folders: Vec<&Path> = known.iter().map(PathBuf::as_path).collect();
        wait_until(&folders, "a copy", || is_archived() || !new().is_empty());
        watched.extend(new());
    }
}
