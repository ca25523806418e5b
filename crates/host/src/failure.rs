//! User-facing errors for failed file operations.

use std::io;
use std::path::Path;

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

/// Quotes a path, so that a shell reads it as one word.
pub fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@%:,".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text;
    }
    format!("'{}'", text.replace('\'', r"'\''"))
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

    #[test]
    fn quoted_escapes_a_single_quote_in_a_path() {
        assert_eq!(quoted(Path::new("/it's")), r"'/it'\''s'");
        assert_eq!(quoted(Path::new("/plain-1.x")), "/plain-1.x");
    }
}
