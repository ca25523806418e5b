//! Checks a folder in which an agent will work, and reads its git state.

use std::fs;
use std::io;
use std::path::Path;

use rustix::fs::{Access, access};
use segue_core::ports::Folder;
use segue_core::{Error, Result};

use crate::failure::{permissions_hint, quoted};
use crate::git;

/// Checks that a folder exists and can be entered and read. Returns its real path, its git commit
/// and its branch.
pub(crate) fn check(path: &Path) -> Result<Folder> {
    if !path.is_absolute() {
        return Err(Error::usage(format!("`{}` is not an absolute path", path.display())));
    }
    let real_path = fs::canonicalize(path).map_err(|error| refused(path, &error))?;
    if !real_path.is_dir() {
        return Err(not_a_folder(path));
    }
    access(&real_path, Access::READ_OK | Access::EXEC_OK)
        .map_err(|error| refused(path, &error.into()))?;
    let head = git::head(&real_path);
    let git_branch = head.as_ref().and_then(|head| head.branch.clone());
    Ok(Folder { real_path, git_commit: head.and_then(|head| head.commit), git_branch })
}

fn refused(path: &Path, error: &io::Error) -> Error {
    let shown = path.display();
    match error.kind() {
        io::ErrorKind::NotFound => Error::not_found(format!("the folder `{shown}` does not exist"))
            .hint(format!("run `mkdir -p {}` to create it", quoted(path))),
        io::ErrorKind::NotADirectory => not_a_folder(path),
        io::ErrorKind::PermissionDenied => {
            Error::usage(format!("the folder `{shown}` may not be entered or read"))
                .caused_by(error)
                .hint(permissions_hint(path))
        }
        _ => Error::usage(format!("the folder `{shown}` cannot be used")).caused_by(error),
    }
}

fn not_a_folder(path: &Path) -> Error {
    Error::usage(format!("`{}` is not a folder", path.display()))
        .hint("use the folder that contains it")
}

#[cfg(test)]
mod tests {
    use std::fs::DirBuilder;
    use std::os::unix::fs::{DirBuilderExt as _, symlink};

    use segue_core::Kind;
    use tempfile::TempDir;

    use super::*;

    #[test]
    fn check_returns_the_real_path_of_a_symlinked_folder() {
        let temp = TempDir::new().unwrap();
        let real = temp.path().canonicalize().unwrap().join("real");
        fs::create_dir(&real).unwrap();
        symlink(&real, temp.path().join("link")).unwrap();
        let folder = check(&temp.path().join("link/../link/.")).unwrap();
        assert_eq!(folder, Folder { real_path: real, git_commit: None, git_branch: None });
    }

    #[test]
    fn check_refuses_an_unusable_folder_with_the_reason() {
        let temp = TempDir::new().unwrap();
        let file = temp.path().join("file");
        fs::write(&file, "").unwrap();
        let table = [
            (temp.path().join("gone"), Kind::NotFound, "does not exist"),
            (file.clone(), Kind::Usage, "is not a folder"),
            (file.join("below"), Kind::Usage, "is not a folder"),
            (Path::new("relative").to_owned(), Kind::Usage, "is not an absolute path"),
        ];
        for (path, kind, words) in table {
            let error = check(&path).unwrap_err();
            assert_eq!(error.kind, kind, "{error}");
            assert!(error.message.contains(words), "{error}");
        }
    }

    #[test]
    fn check_refuses_a_folder_without_permission_as_a_usage_error() {
        let temp = TempDir::new().unwrap();
        let locked = temp.path().join("locked");
        DirBuilder::new().mode(0o000).create(&locked).unwrap();
        let error = match check(&locked) {
            Err(error) => error,
            // Root may enter every folder. Create the error without a failed access.
            Ok(_) => refused(&locked, &io::ErrorKind::PermissionDenied.into()),
        };
        assert_eq!(error.kind, Kind::Usage);
        assert!(error.message.contains("may not be entered"), "{error}");
        assert!(!error.hints.is_empty(), "{error}");
    }
}
