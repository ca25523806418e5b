//! What git says about the work in a folder.

use std::path::Path;
use std::process::{Command, Stdio};

use segue_core::rules::digest::FolderState;

const COMMITS: &str = "5";
const DIRTY: usize = 40;

/// Returns the branch, the newest commits and what is not committed; nothing of it where there is no
/// repository, or no git.
pub(crate) fn state(folder: &Path) -> FolderState {
    let branch = git(folder, &["symbolic-ref", "--short", "-q", "HEAD"]);
    let commits = git(folder, &["log", "--oneline", "--no-decorate", "-n", COMMITS]);
    let mut dirty = git(folder, &["status", "--porcelain", "--untracked-files=normal"]);
    let more_dirty = dirty.len().saturating_sub(DIRTY);
    dirty.truncate(DIRTY);
    FolderState {
        path: folder.display().to_string(),
        branch: branch.into_iter().next(),
        commits,
        dirty,
        more_dirty,
    }
}

/// Runs a command of git that changes nothing, not even its own notes, and asks nobody.
fn git(folder: &Path, arguments: &[&str]) -> Vec<String> {
    let output = Command::new("git")
        .args(["--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "core.quotePath=false"])
        .args(arguments)
        .current_dir(folder)
        .env("GIT_TERMINAL_PROMPT", "0")
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output();
    match output {
        Ok(output) if output.status.success() => {
            String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::*;

    #[test]
    fn a_repository_is_described_and_anything_else_has_only_its_path() {
        let temp = TempDir::new().unwrap();
        let nothing = state(temp.path());
        assert_eq!((nothing.branch, nothing.commits, nothing.dirty), (None, vec![], vec![]));
        let identity = ["-c", "user.name=a", "-c", "user.email=a@b"];
        let run = |arguments: &[&str]| {
            let words: Vec<&str> = identity.iter().chain(arguments).copied().collect();
            git(temp.path(), &words)
        };
        run(&["init", "-q", "-b", "feature/x"]);
        fs::write(temp.path().join("a"), "1").unwrap();
        run(&["add", "a"]);
        run(&["commit", "-q", "-m", "first step"]);
        fs::write(temp.path().join("a"), "2").unwrap();
        for number in 0..DIRTY {
            fs::write(temp.path().join(format!("ü {number}")), "").unwrap();
        }
        let FolderState { branch, commits, dirty, more_dirty, .. } = state(temp.path());
        assert_eq!(branch.as_deref(), Some("feature/x"));
        assert!(commits.len() == 1 && commits[0].ends_with("first step"), "{commits:?}");
        assert_eq!((dirty.len(), more_dirty), (DIRTY, 1));
        assert_eq!(dirty[0], " M a");
    }
}
