//! User-facing errors for failed file operations.

use std::io;
use std::path::Path;

pub use segue_core::rules::shell::quoted;
use segue_core::{Error, Kind};

/// Makes an error "cannot `action` `path`" from an I/O error, with a hint if the cause allows one.
pub(crate) fn cannot(action: &str, path: &Path, error: &io::Error) -> Error {
    let worded = Error::new(kind_of(error), format!("cannot {action} `{}`", path.display()))
        .caused_by(error);
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            let there = path.ancestors().find(|path| path.exists()).unwrap_or(path);
            worded
                .hint(format!("free some space; `df -h {}` says how much there is", quoted(there)))
        }
        io::ErrorKind::PermissionDenied => {
            worded.hint(format!("run `namei -l {}` to see who may do what there", quoted(path)))
        }
        _ => worded,
    }
}

fn kind_of(error: &io::Error) -> Kind {
    match error.kind() {
        // These errors are about our own folders. A missing one is not a wrong name in the user's
        // request.
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
