//! Renders worktrees and diffs for people.

use segue_core::api::{
    BranchDistance, ChangeCounts, ChangedFile, WorktreeActionReport, WorktreeOutcome,
    WorktreeState, WorktreeView,
};

use crate::render::plain::one_line;
use crate::render::sessions::{DisplayContext, place};
use crate::render::style::{Colour, TextTone};
use crate::render::table::{CutPlace, TableCell, TextTable};
use crate::render::time::{DisplayClock, age};

/// Returns the table of `segue worktree ls`.
pub(super) fn table(
    worktrees: &[WorktreeView],
    with_sizes: bool,
    display: DisplayContext<'_>,
) -> TextTable {
    let sizes: &[&str] = if with_sizes { &["SIZE"] } else { &[] };
    let heading = [&["BRANCH", "SESSION", "STATE", "AHEAD/BEHIND"], sizes, &["AGE", "PATH"]];
    let mut table = TextTable::new(&heading.concat())
        .cutting(&[("PATH", CutPlace::Front), ("STATE", CutPlace::End)]);
    for worktree in worktrees {
        let session = worktree.leased_to.as_ref().map_or("-", |it| it.address.as_str());
        let mut cells = vec![
            TableCell::toned(worktree.branch.as_str(), TextTone::Strong),
            TableCell::new(session),
            TableCell::new(state(worktree)),
            TableCell::new(worktree.distance.as_ref().map_or_else(|| "-".to_owned(), distance)),
        ];
        if with_sizes {
            cells.push(TableCell::new(worktree.size_bytes.map_or_else(|| "-".to_owned(), size)));
        }
        cells.push(TableCell::new(age(worktree.created_at, display.now)));
        cells.push(TableCell::new(place(&worktree.path, display.home)));
        table.row(cells);
    }
    table
}

fn distance(distance: &BranchDistance) -> String {
    format!("+{} -{} {}", distance.ahead, distance.behind, distance.from)
}

/// Describes the state of a worktree in a few words.
fn state(worktree: &WorktreeView) -> String {
    let changes = match (worktree.state, &worktree.changes) {
        (WorktreeState::Removed, _) => return "removed".to_owned(),
        (WorktreeState::Missing, _) => return "folder is gone".to_owned(),
        (WorktreeState::Present, Some(changes)) => counts(changes),
        (WorktreeState::Present, None) => "unknown".to_owned(),
    };
    let operation = worktree.operation.as_ref().map(|it| format!("{it} in progress"));
    let other = worktree.checked_out.as_ref().map(|it| format!("on {it}"));
    [Some(changes), operation, other].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn counts(changes: &ChangeCounts) -> String {
    let kinds = [
        (changes.conflicted, "conflicted"),
        (changes.staged, "staged"),
        (changes.modified, "modified"),
        (changes.untracked, "untracked"),
    ];
    let shown: Vec<String> = kinds
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, kind)| format!("{count} {kind}"))
        .collect();
    if shown.is_empty() { "clean".to_owned() } else { shown.join(", ") }
}

/// Renders a number of bytes with one decimal.
fn size(bytes: u64) -> String {
    let units = ["B", "KB", "MB", "GB", "TB"];
    let (mut tenths, mut unit) = (bytes.saturating_mul(10), 0);
    while tenths >= 10_000 && unit + 1 < units.len() {
        tenths /= 1000;
        unit += 1;
    }
    let decimal = if unit == 0 { String::new() } else { format!(".{}", tenths % 10) };
    format!("{}{decimal} {}", tenths / 10, units[unit])
}

/// Renders everything about a worktree, one fact on each line.
pub(super) fn details(worktree: &WorktreeView, clock: &DisplayClock) -> String {
    let none = || "-".to_owned();
    let session = worktree.leased_to.as_ref().map_or_else(none, |it| it.address.clone());
    let lines = [
        ("path", worktree.path.display().to_string()),
        ("branch", worktree.branch.to_string()),
        ("repository", worktree.repository.clone()),
        ("agent", worktree.agent.clone()),
        ("session", session),
        ("state", state(worktree)),
        ("head", worktree.head.clone().unwrap_or_else(none)),
        ("ahead/behind", worktree.distance.as_ref().map_or_else(none, distance)),
        ("size", worktree.size_bytes.map_or_else(none, size)),
        ("port", worktree.port.to_string()),
        ("salvage", worktree.salvage.as_ref().map_or_else(none, ToString::to_string)),
        ("created", clock.timestamp(worktree.created_at)),
    ];
    let error = worktree.error.iter().map(|error| ("error", error.clone()));
    let lines = lines.into_iter().chain(error);
    lines.map(|(name, value)| format!("{name:<13} {}\n", one_line(&value))).collect()
}

/// Renders what was done with a worktree.
pub(super) fn outcome(report: &WorktreeActionReport) -> String {
    let (path, branch) = (one_line(&report.path.display().to_string()), &report.branch);
    let salvage = match &report.salvage {
        Some(salvage) => format!("; salvage: {salvage}"),
        None => "; the branch has everything".to_owned(),
    };
    match report.outcome {
        WorktreeOutcome::Salvaged => format!("salvaged {path} (branch {branch}){salvage}\n"),
        WorktreeOutcome::Removed => format!("removed {path} (branch {branch}){salvage}\n"),
        WorktreeOutcome::Restored => format!("restored {path} (branch {branch})\n"),
        WorktreeOutcome::Removable => format!("would remove {path} (branch {branch})\n"),
    }
}

/// Renders the numbers of changed lines, as `git diff --stat` does.
pub(super) fn stat(files: &[ChangedFile]) -> String {
    let width = files.iter().map(|file| file.path.chars().count()).max().unwrap_or_default();
    let line = |file: &ChangedFile| {
        let changes = match (file.added, file.removed) {
            (Some(added), Some(removed)) => format!("+{added} -{removed}"),
            _ => "binary".to_owned(),
        };
        format!(" {:<width$} | {changes}\n", one_line(&file.path))
    };
    let sum = |of: fn(&ChangedFile) -> Option<u64>| files.iter().filter_map(of).sum::<u64>();
    let (added, removed) = (sum(|file| file.added), sum(|file| file.removed));
    let files_text: String = files.iter().map(line).collect();
    let noun = if files.len() == 1 { "file" } else { "files" };
    format!("{files_text} {} {noun} changed, +{added} -{removed}\n", files.len())
}

/// Paints the lines of a patch.
pub(super) fn painted(patch: &str, colour: Colour) -> String {
    let tone = |line: &str| match line.as_bytes().first() {
        Some(b'+') => TextTone::Good,
        Some(b'-') => TextTone::Bad,
        Some(b'@') => TextTone::Help,
        _ if line.starts_with("diff ") => TextTone::Strong,
        _ => TextTone::Plain,
    };
    patch.lines().map(|line| format!("{}\n", colour.paint(tone(line), line))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_one_decimal_above_a_kilobyte() {
        let table = [
            (0, "0 B"),
            (999, "999 B"),
            (1000, "1.0 KB"),
            (1_234_567, "1.2 MB"),
            (5_000_000_000, "5.0 GB"),
        ];
        for (bytes, expected) in table {
            assert_eq!(size(bytes), expected);
        }
        assert!(size(u64::MAX).ends_with(" TB"));
    }

    #[test]
    fn changes_are_counted_by_kind_and_none_is_clean() {
        let none = ChangeCounts { staged: 0, modified: 0, untracked: 0, conflicted: 0 };
        assert_eq!(counts(&none), "clean");
        let some = ChangeCounts { staged: 1, untracked: 2, ..none };
        assert_eq!(counts(&some), "1 staged, 2 untracked");
    }

    #[test]
    fn stat_lists_the_files_and_the_sums() {
        let file = |path: &str, lines: Option<(u64, u64)>| ChangedFile {
            path: path.to_owned(),
            added: lines.map(|it| it.0),
            removed: lines.map(|it| it.1),
        };
        let text = stat(&[file("a.rs", Some((3, 1))), file("logo.png", None)]);
        assert_eq!(text, " a.rs     | +3 -1\n logo.png | binary\n 2 files changed, +3 -1\n");
    }
}
