//! What the copies of one conversation are: the record that decides how much of each file counts.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use segue_core::model::{VendorId, VendorSessionId};
use segue_core::ports::{ArchiveOrder, Archived};
use segue_core::{Error, Result};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::failure::cannot;
use crate::{atomic, points};

const NAME: &str = "manifest.json";
/// How many copies that disagree are kept of one file; a vendor may write it anew every time.
const MOST_VERSIONS: usize = 16;

/// The copies of one conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Manifest {
    pub(super) vendor: VendorId,
    pub(super) id: VendorSessionId,
    pub(super) config_dir: PathBuf,
    pub(super) cwd: PathBuf,
    pub(super) kept_at: Timestamp,
    /// Of several copies of one file the newest is the last.
    pub(super) streams: Vec<Stream>,
}

/// One copy of one file: frames, one after the other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Stream {
    pub(super) file: String,
    pub(super) role: Role,
    /// Where the file was, below the config dir if it was there.
    pub(super) path: PathBuf,
    /// How much of the file is copied.
    pub(super) length: u64,
    /// How much of the copy counts: what is behind it was cut short.
    pub(super) stored: u64,
    /// The fingerprint of the end of what is copied.
    pub(super) end: u64,
    /// When the file was changed last before it was copied.
    pub(super) modified: Option<Timestamp>,
}

/// What a file is to the conversation.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Role {
    Transcript,
    /// A file in the folder that belongs to the transcript.
    Belonging(PathBuf),
    /// A transcript without which this one cannot be read.
    Ancestor(PathBuf),
    /// A document for the vendor's program.
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

    /// Reads the record of a folder; none where there is none.
    pub(super) fn read(folder: &Path) -> io::Result<Option<Self>> {
        match fs::read(folder.join(NAME)) {
            Ok(text) => serde_json::from_slice(&text).map(Some).map_err(damaged),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub(super) fn write(&self, folder: &Path) -> Result<()> {
        let path = folder.join(NAME);
        let text = serde_json::to_vec(self)
            .map_err(|error| Error::internal("cannot record what is copied").caused_by(error))?;
        atomic::write(&path, &text, points!("archive.manifest"))
    }

    pub(super) fn conversation(&self) -> Archived {
        Archived { vendor: self.vendor.clone(), id: self.id.clone() }
    }

    /// Returns the copies of one file with their places, the newest first.
    pub(super) fn versions(&self, role: &Role) -> impl Iterator<Item = (usize, &Stream)> {
        let role = role.clone();
        self.streams.iter().enumerate().rev().filter(move |(_, stream)| stream.role == role)
    }

    /// Returns the newest copy of every file.
    pub(super) fn newest(&self) -> Vec<&Stream> {
        let is_newest = |(place, stream): &(usize, &Stream)| {
            self.versions(&stream.role).next().is_some_and(|(newest, _)| newest == *place)
        };
        self.streams.iter().enumerate().filter(is_newest).map(|(_, stream)| stream).collect()
    }

    /// Returns the newest copy of what was said.
    pub(super) fn content(&self) -> Option<&Stream> {
        let said = |stream: &&Stream| matches!(stream.role, Role::Transcript | Role::Export);
        self.streams.iter().rev().find(said)
    }

    /// Takes the copies out that are not needed any more: the oldest of very many that disagree,
    /// and documents that a longer one has taken the place of.
    pub(super) fn take_superseded(&mut self) -> Vec<Stream> {
        let is_superseded = |place: usize, stream: &Stream| {
            let mut later = self.versions(&stream.role).take_while(|(other, _)| *other > place);
            match stream.role {
                Role::Export => later.any(|(_, other)| other.length >= stream.length),
                _ => later.count() >= MOST_VERSIONS,
            }
        };
        let places: Vec<bool> =
            self.streams.iter().enumerate().map(|(place, it)| is_superseded(place, it)).collect();
        let mut superseded = places.iter();
        self.streams.extract_if(.., |_| superseded.next().copied().unwrap_or(false)).collect()
    }
}

impl Stream {
    /// Begins a copy of a file.
    pub(super) fn new(role: Role, path: PathBuf) -> Self {
        let file = format!("{}.zst", Uuid::new_v4().simple());
        Self { file, role, path, length: 0, stored: 0, end: 0, modified: None }
    }
}

fn damaged(error: serde_json::Error) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

/// Keeps a folder whose record is damaged out of the way: what is in it may be of use to somebody.
/// Returns where it is then.
pub(super) fn set_aside(folder: &Path) -> Result<PathBuf> {
    let aside = folder.with_file_name(format!(".damaged-{}", Uuid::new_v4().simple()));
    fs::rename(folder, &aside).map_err(|error| cannot("set aside", folder, &error))?;
    Ok(aside)
}
