//! The record of one conversation's copies. It defines how many bytes of each copy are valid.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use segue_core::model::{Archived, VendorId, VendorSessionId};
use segue_core::ports::ArchiveOrder;
use segue_core::{Error, Result};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::failure::cannot;
use crate::{atomic, points};

const NAME: &str = "manifest.json";
/// At most this many diverging copies of one file are kept. A vendor may rewrite a file again and
/// again.
const MAX_VERSIONS: usize = 16;

/// The copies of one conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Manifest {
    pub(super) vendor: VendorId,
    pub(super) id: VendorSessionId,
    pub(super) config_dir: PathBuf,
    pub(super) cwd: PathBuf,
    pub(super) kept_at: Timestamp,
    /// If there are several copies of one file, the newest is the last.
    pub(super) streams: Vec<StoredStream>,
}

/// One copy of one file: compressed frames, one after the other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct StoredStream {
    pub(super) file: String,
    pub(super) role: FileRole,
    /// The path of the file. It is relative to the config dir if the file is in it.
    pub(super) path: PathBuf,
    /// The number of bytes of the file that are copied.
    pub(super) length: u64,
    /// The number of valid bytes in the copy. Bytes behind them are from an interrupted write.
    pub(super) stored: u64,
    /// The fingerprint of the end of the copied bytes.
    pub(super) end: u64,
    /// The modification time of the file when it was copied.
    pub(super) modified: Option<Timestamp>,
}

/// The role of a file in the conversation.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum FileRole {
    Transcript,
    /// A file in the folder that accompanies the transcript.
    #[serde(rename = "belonging")]
    Companion(PathBuf),
    /// A transcript that is needed to read this one.
    Ancestor(PathBuf),
    /// An exported document, which the vendor's program can import again.
    Export,
}

impl Manifest {
    pub(super) fn new(order: &ArchiveOrder) -> Self {
        Self {
            vendor: order.conversation.vendor.clone(),
            id: order.conversation.id.clone(),
            config_dir: order.place.config_dir.clone(),
            cwd: order.place.cwd.clone(),
            kept_at: order.now,
            streams: Vec::new(),
        }
    }

    /// Reads the record of a folder. `None` if it has no record.
    pub(super) fn read(folder: &Path) -> io::Result<Option<Self>> {
        match fs::read(folder.join(NAME)) {
            Ok(text) => serde_json::from_slice(&text).map(Some).map_err(damaged),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub(super) fn write(&self, folder: &Path) -> Result<()> {
        let path = folder.join(NAME);
        let text = serde_json::to_vec(self).map_err(|error| {
            Error::internal("cannot write the archive's record").caused_by(error)
        })?;
        atomic::write(&path, &text, points!("archive.manifest"))
    }

    pub(super) fn conversation(&self) -> Archived {
        Archived { vendor: self.vendor.clone(), id: self.id.clone() }
    }

    /// Returns the copies of one file with their indexes, newest first.
    pub(super) fn versions(&self, role: &FileRole) -> impl Iterator<Item = (usize, &StoredStream)> {
        let role = role.clone();
        self.streams.iter().enumerate().rev().filter(move |(_, stream)| stream.role == role)
    }

    /// Returns the newest copy of every file.
    pub(super) fn newest(&self) -> Vec<&StoredStream> {
        let is_newest = |(place, stream): &(usize, &StoredStream)| {
            self.versions(&stream.role).next().is_some_and(|(newest, _)| newest == *place)
        };
        self.streams.iter().enumerate().filter(is_newest).map(|(_, stream)| stream).collect()
    }

    /// Returns the newest copy of the conversation itself: a transcript or an exported document.
    pub(super) fn content(&self) -> Option<&StoredStream> {
        let is_content =
            |stream: &&StoredStream| matches!(stream.role, FileRole::Transcript | FileRole::Export);
        self.streams.iter().rev().find(is_content)
    }

    /// Removes and returns copies that are not needed any more: the oldest of too many diverging
    /// copies, and exported documents that are followed by a document of at least the same length.
    pub(super) fn take_superseded(&mut self) -> Vec<StoredStream> {
        let is_superseded = |place: usize, stream: &StoredStream| {
            let mut later = self.versions(&stream.role).take_while(|(other, _)| *other > place);
            match stream.role {
                FileRole::Export => later.any(|(_, other)| other.length >= stream.length),
                _ => later.count() >= MAX_VERSIONS,
            }
        };
        let places: Vec<bool> =
            self.streams.iter().enumerate().map(|(place, it)| is_superseded(place, it)).collect();
        let mut superseded = places.iter();
        self.streams.extract_if(.., |_| superseded.next().copied().unwrap_or(false)).collect()
    }
}

impl StoredStream {
    /// Begins an empty copy of a file.
    pub(super) fn new(role: FileRole, path: PathBuf) -> Self {
        let file = format!("{}.zst", Uuid::new_v4().simple());
        Self { file, role, path, length: 0, stored: 0, end: 0, modified: None }
    }
}

fn damaged(error: serde_json::Error) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

/// Renames the folder of a damaged copy. It is kept, because its content may still be useful.
/// Returns the new path.
pub(super) fn set_aside(folder: &Path) -> Result<PathBuf> {
    let aside = folder.with_file_name(format!(".damaged-{}", Uuid::new_v4().simple()));
    fs::rename(folder, &aside).map_err(|error| cannot("set aside", folder, &error))?;
    Ok(aside)
}
