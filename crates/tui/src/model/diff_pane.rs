//! The diff of a worktree, with comments on its lines.

use std::collections::BTreeMap;

use segue_core::api::{ChangedFile, WorktreeDiffReport};
use segue_core::rules::display::plain;
use segue_core::rules::review::LineComment;

use super::Loaded;

/// A diff, the line at which the reader is, and comments.
#[derive(Clone, Debug, Default)]
pub(crate) struct DiffPane {
    pub(crate) state: Loaded<DiffText>,
    pub(crate) cursor: usize,
    /// The comments by the number of their row.
    pub(crate) comments: BTreeMap<usize, String>,
}

/// A diff as rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct DiffText {
    pub(crate) branch: String,
    pub(crate) files: Vec<ChangedFile>,
    pub(crate) rows: Vec<DiffRow>,
    pub(crate) is_cut: bool,
}

/// A row of a diff.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DiffRow {
    pub(crate) text: String,
    pub(crate) kind: DiffLineKind,
    pub(crate) path: String,
    /// The number of the line in the new file, or in the old file if the line was removed.
    number: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DiffLineKind {
    File,
    Hunk,
    Added,
    Removed,
    Context,
    /// A line about the file, such as its mode.
    Note,
}

impl DiffPane {
    /// Shows a diff. The agent may have changed files since the last one: the comments and the place
    /// stay at their lines.
    pub(crate) fn show(&mut self, report: segue_core::Result<WorktreeDiffReport>) {
        let state = Loaded::of(report.map(|report| DiffText::of(&report)));
        // Comments stay with the diff that they are about if no other one can be read.
        let is_kept = state.ready().is_none() && !self.comments.is_empty();
        if state == self.state || is_kept {
            return;
        }
        let before = std::mem::replace(&mut self.state, state);
        let before = before.ready().map(|it| it.rows.as_slice()).unwrap_or_default();
        let place = |at: usize| before.get(at).and_then(|row| self.row_like(row));
        let cursor = place(self.cursor).unwrap_or(0);
        let mut comments: BTreeMap<usize, String> = BTreeMap::new();
        for (at, text) in &self.comments {
            // A comment on a line that is gone moves to its file, or else to the first row.
            let kept = comments.entry(place(*at).unwrap_or(0)).or_default();
            let separator = if kept.is_empty() { "" } else { "\n" };
            kept.push_str(separator);
            kept.push_str(text);
        }
        (self.cursor, self.comments) = (cursor, comments);
    }

    /// Returns the row that is most similar to a row of an earlier diff: the same line, a line with
    /// the same text, or the first row of the same file.
    fn row_like(&self, row: &DiffRow) -> Option<usize> {
        let of_file = || self.rows().iter().enumerate().filter(|(_, it)| it.path == row.path);
        let has_text = |it: &DiffRow| it.text == row.text && it.kind == row.kind;
        let same = of_file().find(|(_, it)| *it == row);
        let alike = || of_file().find(|(_, it)| has_text(it));
        same.or_else(alike).or_else(|| of_file().next()).map(|(at, _)| at)
    }

    pub(crate) fn rows(&self) -> &[DiffRow] {
        self.state.ready().map(|it| it.rows.as_slice()).unwrap_or_default()
    }

    pub(crate) fn move_by(&mut self, by: isize) {
        let last = self.rows().len().saturating_sub(1);
        self.cursor = self.cursor.saturating_add_signed(by).min(last);
    }

    /// Moves to the next or the previous file.
    pub(crate) fn move_to_file(&mut self, is_next: bool) {
        let is_file =
            |at: &usize| self.rows().get(*at).is_some_and(|it| it.kind == DiffLineKind::File);
        let found = if is_next {
            (self.cursor + 1..self.rows().len()).find(is_file)
        } else {
            (0..self.cursor).rev().find(is_file)
        };
        self.cursor = found.unwrap_or(self.cursor);
    }

    /// Returns the row at the cursor, if it can be commented on.
    pub(crate) fn commentable(&self) -> Option<&DiffRow> {
        self.rows().get(self.cursor).filter(|row| !row.path.is_empty())
    }

    /// Returns the path of the file at the cursor.
    pub(crate) fn current_path(&self) -> &str {
        self.rows().get(self.cursor).map(|row| row.path.as_str()).unwrap_or_default()
    }

    pub(crate) fn line_comments(&self) -> Vec<LineComment> {
        let comment = |(at, text): (&usize, &String)| {
            let row = self.rows().get(*at)?;
            Some(LineComment {
                path: row.path.clone(),
                line: row.number,
                code: row.text.clone(),
                text: text.clone(),
            })
        };
        self.comments.iter().filter_map(comment).collect()
    }
}

impl DiffText {
    fn of(report: &WorktreeDiffReport) -> Self {
        let patch = plain(report.patch.as_deref().unwrap_or_default());
        let mut reader = PatchReader::default();
        let rows = patch.lines().map(|line| reader.row(line)).collect();
        Self {
            branch: report.branch.to_string(),
            files: report.files.clone(),
            rows,
            is_cut: report.is_cut,
        }
    }
}

/// Reads a patch line by line, and counts the lines of the files.
#[derive(Default)]
struct PatchReader {
    path: String,
    old: u64,
    new: u64,
    is_in_hunk: bool,
}

impl PatchReader {
    fn row(&mut self, line: &str) -> DiffRow {
        let (kind, number) = self.read(line);
        DiffRow { text: line.replace('\t', "    "), kind, path: self.path.clone(), number }
    }

    fn read(&mut self, line: &str) -> (DiffLineKind, Option<u64>) {
        if let Some(names) = line.strip_prefix("diff --git ") {
            self.is_in_hunk = false;
            self.path = names.rsplit_once(" b/").map_or(names, |(_, name)| name).to_owned();
            return (DiffLineKind::File, None);
        }
        if let Some((old, new)) = hunk(line) {
            (self.old, self.new, self.is_in_hunk) = (old, new, true);
            return (DiffLineKind::Hunk, Some(new));
        }
        if !self.is_in_hunk {
            return (DiffLineKind::Note, None);
        }
        match line.chars().next() {
            Some('+') => {
                self.new += 1;
                (DiffLineKind::Added, Some(self.new - 1))
            }
            Some('-') => {
                self.old += 1;
                (DiffLineKind::Removed, Some(self.old - 1))
            }
            Some('\\') => (DiffLineKind::Note, None),
            _ => {
                (self.old, self.new) = (self.old + 1, self.new + 1);
                (DiffLineKind::Context, Some(self.new - 1))
            }
        }
    }
}

/// Returns the numbers of the first lines of a hunk from its header `@@ -1,2 +3,4 @@`.
fn hunk(line: &str) -> Option<(u64, u64)> {
    let mut words = line.strip_prefix("@@ -")?.split_whitespace();
    let first = |word: &str| word.split(',').next()?.parse().ok();
    let old = first(words.next()?)?;
    let new = first(words.next()?.strip_prefix('+')?)?;
    Some((old, new))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATCH: &str = "\
diff --git a/src/a.rs b/src/a.rs
index 1..2 100644
--- a/src/a.rs
+++ b/src/a.rs
@@ -3,2 +3,3 @@ fn a()
 kept
-old
+new
++++ odd
diff --git a/b.txt b/b.txt
new file mode 100644
@@ -0,0 +1 @@
+\u{1b}[31mred
";

    fn pane() -> DiffPane {
        let mut reader = PatchReader::default();
        let rows = plain(PATCH).lines().map(|line| reader.row(line)).collect();
        let text = DiffText { rows, ..DiffText::default() };
        DiffPane { state: Loaded::Ready(text), ..DiffPane::default() }
    }

    #[test]
    fn lines_of_a_patch_have_their_kind_and_number() {
        let pane = pane();
        let rows: Vec<_> = pane.rows().iter().map(|it| (it.kind, it.number)).collect();
        use DiffLineKind::{Added, Context, File, Hunk, Note, Removed};
        let expected = [
            (File, None),
            (Note, None),
            (Note, None),
            (Note, None),
            (Hunk, Some(3)),
            (Context, Some(3)),
            (Removed, Some(4)),
            (Added, Some(4)),
            (Added, Some(5)),
            (File, None),
            (Note, None),
            (Hunk, Some(1)),
            (Added, Some(1)),
        ];
        assert_eq!(rows, expected);
        assert_eq!(pane.rows().last().unwrap().text, "+red");
    }

    #[test]
    fn comments_and_the_place_stay_at_their_lines_when_the_diff_changes() {
        let report = |patch: &str| -> WorktreeDiffReport {
            serde_json::from_value(serde_json::json!({
                "worktree": "0198f9d2-0000-7000-8000-000000000001", "path": "/w",
                "branch": "fix", "base": null,
                "files": [], "patch": patch, "is_cut": false,
            }))
            .unwrap()
        };
        let mut pane = DiffPane::default();
        pane.show(Ok(report(PATCH)));
        pane.move_by(7);
        pane.comments.insert(7, "why?".to_owned());
        pane.comments.insert(8, "odd".to_owned());
        pane.comments.insert(12, "red".to_owned());
        // One line more before, one commented line less, and a file less.
        let changed = PATCH.replace("@@ -3,2 +3,3 @@ fn a()\n", "@@ -3,2 +3,4 @@ fn a()\n+first\n");
        let changed = changed.replace("++++ odd\n", "");
        let changed = changed.split("diff --git a/b.txt").next().unwrap();
        pane.show(Ok(report(changed)));
        assert_eq!((pane.cursor, pane.rows()[8].text.as_str()), (8, "+new"));
        let expected = [(0, "odd\nred"), (8, "why?")].map(|(at, text)| (at, text.to_owned()));
        assert_eq!(pane.comments, BTreeMap::from(expected));
    }

    #[test]
    fn comments_name_file_and_line() {
        let mut pane = pane();
        pane.move_by(7);
        pane.comments.insert(pane.cursor, "why?".to_owned());
        pane.move_to_file(true);
        assert_eq!(pane.cursor, 9);
        let comments = pane.line_comments();
        assert_eq!((comments[0].path.as_str(), comments[0].line), ("src/a.rs", Some(4)));
        pane.move_to_file(false);
        assert_eq!(pane.cursor, 0);
    }
}
