//! Finds the folder of a vendor's files, and lists transcripts by file name and modification time.

use std::io;
use std::path::{Path, PathBuf};

use segue_core::model::{Environment, VendorSessionId};
use segue_core::ports::{Conversation, Files, StoredConversation};
use segue_core::{Error, Result};

/// Returns the folder that the environment variable names, or else the default folder `usual`.
/// Fails if there is neither, or if the path is relative: it must be the same in every working
/// folder.
pub(crate) fn home(
    environment: &Environment,
    (title, variable): (&str, &str),
    usual: Option<PathBuf>,
) -> Result<PathBuf> {
    let named = environment.get(variable).filter(|value| !value.is_empty()).map(PathBuf::from);
    let Some(home) = named.or(usual) else {
        return Err(Error::config(format!("cannot determine where {title} keeps its files"))
            .caused_by(format!("neither `{variable}` nor `HOME` is set"))
            .hint("run `export HOME=~` and try again"));
    };
    if home.is_absolute() {
        return Ok(home);
    }
    Err(Error::config(format!("`{}` is not an absolute path", home.display()))
        .caused_by(format!("the folder of its files comes from `{variable}` or `HOME`")))
}

/// Returns the error for a vendor whose folder is named neither by this variable nor by `HOME`.
pub(crate) fn unknown_home(title: &str, variable: &str) -> Error {
    Error::config(format!("cannot determine where {title} keeps its files"))
        .caused_by(format!("neither `{variable}` nor `HOME` is an absolute path"))
        .hint("run `export HOME=~` and try again")
}

/// Returns the transcripts among these paths. `id_of` reads the id from a path. Paths without an id
/// or without metadata are skipped.
pub(crate) fn kept(
    files: &dyn Files,
    paths: impl IntoIterator<Item = PathBuf>,
    id_of: impl Fn(&Path) -> Option<VendorSessionId>,
) -> Vec<StoredConversation> {
    let one = |path: PathBuf| {
        let id = id_of(&path)?;
        let modified = files.facts(&path).ok()??.modified;
        Some(StoredConversation { id, transcript: path, modified })
    };
    paths.into_iter().filter_map(one).collect()
}

/// Returns the contents of all folders inside a folder.
pub(crate) fn in_folders_of(files: &dyn Files, folder: &Path) -> io::Result<Vec<PathBuf>> {
    let folders = files.list(folder)?;
    // Entries that are files, and folders that cannot be read, are skipped.
    Ok(folders.iter().flat_map(|inner| files.list(inner).unwrap_or_default()).collect())
}

/// Reads the conversations whose transcripts are in a folder, the oldest first. `id_of` reads the id
/// from a path. Transcripts that cannot be read are skipped.
pub(crate) fn conversations_in(
    files: &dyn Files,
    folder: &Path,
    id_of: impl Fn(&Path) -> Option<VendorSessionId>,
    read: impl Fn(&Path, &VendorSessionId) -> io::Result<Option<Conversation>>,
) -> Result<Vec<Conversation>> {
    let paths = files.list(folder).map_err(|error| {
        Error::vendor(format!("cannot list the transcripts in `{}`", folder.display()))
            .caused_by(error)
    })?;
    let named = paths.iter().filter_map(|path| Some((path, id_of(path)?)));
    Ok(oldest_first(named.filter_map(|(path, id)| read(path, &id).ok().flatten())))
}

/// Sorts conversations by the time at which they began.
pub(crate) fn oldest_first(found: impl Iterator<Item = Conversation>) -> Vec<Conversation> {
    let mut found: Vec<Conversation> = found.collect();
    found.sort_by(|a, b| (a.began_at, &a.id).cmp(&(b.began_at, &b.id)));
    found
}
