//! Counts the files of a worktree that differ from the last commit.

use segue_core::Result;
use segue_core::model::WorktreeChanges;

use crate::view::View;

/// Counts the changed files of a worktree. Changes inside submodules are not counted.
pub(crate) async fn changes(view: &View<'_>) -> Result<WorktreeChanges> {
    let command = view.command().args([
        "status",
        "--porcelain=v2",
        "-z",
        "--untracked-files=normal",
        "--ignore-submodules=all",
        "--no-renames",
    ]);
    Ok(count(&command.run().await?))
}

/// Counts the lines of `git status --porcelain=v2 -z`.
fn count(output: &[u8]) -> WorktreeChanges {
    let mut changes = WorktreeChanges::default();
    for line in output.split(|byte| *byte == 0) {
        match line {
            [b'1', b' ', staged, modified, ..] => {
                changes.staged += usize::from(*staged != b'.');
                changes.modified += usize::from(*modified != b'.');
            }
            [b'u', b' ', ..] => changes.conflicted += 1,
            [b'?', b' ', ..] => changes.untracked += 1,
            _ => {}
        }
    }
    changes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_status_are_counted_by_kind() {
        let output = b"1 M. N... 100644 100644 100644 a b one\0\
            1 .M N... 100644 100644 100644 a b two\0\
            1 MM N... 100644 100644 100644 a b three\0\
            1 .A N... 000000 000000 100644 a b intended\0\
            u UU N... 100644 100644 100644 100644 a b c four\0\
            ? 1 M. five\0? six\0";
        let changes = count(output);
        let wanted = WorktreeChanges { staged: 2, modified: 3, untracked: 2, conflicted: 1 };
        assert_eq!(changes, wanted);
    }
}
