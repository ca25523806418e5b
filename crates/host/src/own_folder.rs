//! Creates Segue's own folders, and checks their owners and permissions.

use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::Path;

use rustix::fs::{Access, access};
use segue_core::{Error, Result};

use crate::atomic::sync_folder;
use crate::failure::{cannot, quoted};

/// The access that other users may have to a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Openness {
    /// No access.
    Private,
    /// Read access. Private content is in private folders below it.
    Readable,
}

impl Openness {
    fn forbidden_bits(self) -> u32 {
        match self {
            Self::Private => 0o077,
            Self::Readable => 0o022,
        }
    }
}

/// Creates a folder with mode 0700 if it is missing. Then checks its owner and its permissions.
pub(crate) fn ensure_folder(folder: &Path, openness: Openness) -> Result<()> {
    match fs::metadata(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => make_folder(folder)?,
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            return Err(not_a_folder(folder));
        }
        _ => {}
    }
    check_folder(folder, openness)
}

/// Returns the error for a file in the place of a folder or of one of its parents.
fn not_a_folder(folder: &Path) -> Error {
    let file = folder.ancestors().find(|path| path.exists()).unwrap_or(folder);
    Error::config(format!("`{}` is not a folder", file.display()))
        .hint(format!("move it away: `mv {0} {0}.old`", quoted(file)))
}

fn make_folder(folder: &Path) -> Result<()> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.map_err(|error| cannot("make the folder", folder, &error))?;
    // The umask may have removed permissions that the owner needs.
    fs::set_permissions(folder, Permissions::from_mode(0o700))
        .map_err(|error| cannot("make the folder", folder, &error))?;
    match folder.parent() {
        Some(parent) => {
            sync_folder(parent).map_err(|error| cannot("make the folder", folder, &error))
        }
        None => Ok(()),
    }
}

fn check_folder(folder: &Path, openness: Openness) -> Result<()> {
    let metadata =
        fs::metadata(folder).map_err(|error| cannot("use the folder", folder, &error))?;
    if !metadata.is_dir() {
        return Err(not_a_folder(folder));
    }
    check_owner(folder, metadata.uid())?;
    check_mode(folder, metadata.mode() & 0o777, openness)?;
    access(folder, Access::WRITE_OK | Access::EXEC_OK)
        .map_err(|error| cannot("write into the folder", folder, &error.into()))
}

/// Checks the folder of the user's settings, because the settings define which programs are run. The
/// folder may be missing, and root may own it.
pub(crate) fn check_settings_folder(folder: &Path) -> Result<()> {
    let Ok(metadata) = fs::metadata(folder) else { return Ok(()) };
    if metadata.uid() != 0 {
        check_owner(folder, metadata.uid())?;
    }
    check_mode(folder, metadata.mode() & 0o777, Openness::Readable)
}

fn check_owner(folder: &Path, owner: u32) -> Result<()> {
    let me = rustix::process::geteuid().as_raw();
    if owner == me {
        return Ok(());
    }
    Err(Error::config(format!(
        "the folder `{}` belongs to user {owner}, but the current user is {me}",
        folder.display()
    ))
    .hint(format!("run `sudo chown -R {me} {}` to change its owner", quoted(folder)))
    .hint("or use a folder of your own: `export SEGUE_HOME=~/.segue`"))
}

fn check_mode(folder: &Path, mode: u32, openness: Openness) -> Result<()> {
    if mode & openness.forbidden_bits() == 0 {
        return Ok(());
    }
    Err(Error::config(format!(
        "the folder `{}` has mode {mode:04o}: other users could access its content",
        folder.display()
    ))
    .hint(format!("run `chmod 700 {}`", quoted(folder))))
}
