//! The size of a folder on disk.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use segue_core::{Error, Result};

use crate::failure::{cannot, unless_gone};

/// Number of bytes in a block of `st_blocks`.
const BLOCK_BYTES: u64 = 512;

/// Returns the number of bytes that a folder uses on disk. Follows no symlink.
pub(crate) async fn on_disk(folder: PathBuf) -> Result<u64> {
    let sum = tokio::task::spawn_blocking(move || {
        sum(&folder).map_err(|error| cannot("read", &folder, &error))
    });
    sum.await.map_err(|error| Error::internal("cannot add up sizes").caused_by(error))?
}

fn sum(folder: &Path) -> io::Result<u64> {
    let mut bytes = 0;
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let Some(entries) = unless_gone(fs::read_dir(folder))? else { continue };
        for entry in entries {
            let entry = entry?;
            if let Some(facts) = unless_gone(entry.metadata())? {
                bytes += facts.blocks() * BLOCK_BYTES;
                folders.extend(facts.is_dir().then(|| entry.path()));
            }
        }
    }
    Ok(bytes)
}
