//! User-facing errors for failed file operations.

use std::io;
use std::path::Path;

pub use segue_core::rules::shell::quoted;
use segue_core::{Error, Kind};

/// Returns the error "cannot `action` `path`" with an I/O error as its cause. A full disk and a
/// missing permission get a hint.
pub(crate) fn cannot(action: &str, path: &Path, cause: &io::Error) -> Error {
    let message = format!("cannot {action} `{}`", path.display());
    let error = Error::new(kind_of(cause), message).caused_by(cause);
    match cause.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            let existing = path.ancestors().find(|path| path.exists()).unwrap_or(path);
            error.hint(format!(
                "free some space; `df -h {}` shows how much is left",
                quoted(existing)
            ))
        }
        io::ErrorKind::PermissionDenied => error.hint(permissions_hint(path)),
        _ => error,
    }
}

/// Returns the hint for a missing permission.
pub(crate) fn permissions_hint(path: &Path) -> String {
    format!("run `namei -l {}` to see the permissions of each folder", quoted(path))
}

fn kind_of(error: &io::Error) -> Kind {
    match error.kind() {
        // These errors are about Segue's own folders. A missing folder is not a wrong name in the
        // user's request.
        io::ErrorKind::NotFound
        | io::ErrorKind::PermissionDenied
        | io::ErrorKind::ReadOnlyFilesystem
        | io::ErrorKind::StorageFull
        | io::ErrorKind::QuotaExceeded => Kind::Unavailable,
        _ => Kind::Internal,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_disk_is_unavailable_and_hints_at_df() {
        let full = io::Error::from(io::ErrorKind::StorageFull);
        let error = cannot("write", Path::new("/dev/a b/c"), &full);
        assert_eq!(error.kind, Kind::Unavailable);
        assert_eq!(error.message, "cannot write `/dev/a b/c`");
        assert!(error.hints[0].contains("`df -h /dev`"), "{:?}", error.hints);
    }
}
