//! The diff of a worktree: its files, its lines, and comments.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use segue_core::rules::display::{counted, one_line};

use super::{Theme, draw_note, row};
use crate::model::{DiffLineKind, DiffRow, Loaded, UiModel};
use crate::syntax::{CodeState, CodeToken, language_of};
use crate::text::{cells, fitted, width};

/// At most this many files are listed above the lines.
const MAX_FILE_ROWS: usize = 6;

/// Returns how many rows the list of files has.
pub(crate) fn diff_file_rows(model: &UiModel, area: Rect) -> u16 {
    let files = model.detail.diff.state.ready().map_or(0, |it| it.files.len());
    let rows = files.min(MAX_FILE_ROWS).min(usize::from(area.height / 3));
    // The first row is a summary.
    cells(rows + 1)
}

/// Returns the first row of the diff that is shown.
pub(crate) fn diff_top(model: &UiModel, area: Rect) -> usize {
    let height = usize::from(area.height.saturating_sub(diff_file_rows(model, area)));
    let rows = model.detail.diff.rows().len();
    // The cursor is in the middle, except at both ends.
    model.detail.diff.cursor.saturating_sub(height / 2).min(rows.saturating_sub(height))
}

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, model: &UiModel, theme: Theme) {
    let diff = &model.detail.diff;
    let text = match &diff.state {
        Loaded::Missing => return draw_note(frame, area, "reading the diff…", theme.dim()),
        Loaded::Failed(reason) => return draw_note(frame, area, reason, theme.dim()),
        Loaded::Ready(text) => text,
    };
    if text.rows.is_empty() {
        let note = format!("no changes on {}", text.branch);
        return draw_note(frame, area, &note, theme.dim());
    }
    let file_rows = diff_file_rows(model, area);
    draw_files(frame, Rect { height: file_rows, ..area }, model, theme);
    let lines =
        Rect { y: area.y + file_rows, height: area.height.saturating_sub(file_rows), ..area };
    let top = diff_top(model, area);
    let mut code = VisibleCode::before(&text.rows, top, theme);
    for (number, (at, line)) in text.rows.iter().enumerate().skip(top).enumerate() {
        let Some(place) = row(lines, number) else { break };
        let mut style = style(line.kind, theme);
        if at == diff.cursor {
            style = style.add_modifier(Modifier::REVERSED);
        }
        let comment = diff.comments.get(&at);
        let mark = if comment.is_some() { "● " } else { "  " };
        let mut spans = vec![Span::styled(mark, theme.attention())];
        spans.extend(code.spans(line, style));
        if let Some(comment) = comment {
            let text = format!("   ◂ {}", one_line(comment));
            spans.push(Span::styled(text, theme.attention()));
        }
        frame.render_widget(Line::from(clipped(spans, usize::from(area.width))), place);
    }
}

/// Reads at most this many rows before the first shown one, to know whether that row is in a comment.
const MAX_ROWS_BEFORE: usize = 300;

/// The colours of the code in the rows of a diff, from one row to the next. The old and the new file
/// have different lines.
struct VisibleCode {
    theme: Theme,
    old: CodeState,
    new: CodeState,
}

impl VisibleCode {
    /// Returns the state before the row `top`.
    fn before(rows: &[DiffRow], top: usize, theme: Theme) -> Self {
        let mut code = Self { theme, old: CodeState::default(), new: CodeState::default() };
        for row in rows.iter().take(top).skip(top.saturating_sub(MAX_ROWS_BEFORE)) {
            code.tokens(row);
        }
        code
    }

    fn tokens(&mut self, row: &DiffRow) -> Vec<CodeToken> {
        if matches!(row.kind, DiffLineKind::File | DiffLineKind::Hunk) {
            (self.old, self.new) = (CodeState::default(), CodeState::default());
        }
        let language = language_of(&row.path).filter(|_| self.theme.has_colours());
        let (Some(language), Some(line)) = (language, row.text.get(1..)) else {
            return Vec::new();
        };
        match row.kind {
            DiffLineKind::Added => self.new.tokens(language, line),
            DiffLineKind::Removed => self.old.tokens(language, line),
            DiffLineKind::Context => {
                self.old.tokens(language, line);
                self.new.tokens(language, line)
            }
            DiffLineKind::File | DiffLineKind::Hunk | DiffLineKind::Note => Vec::new(),
        }
    }

    /// Returns a row in its colours. `style` is the style of everything else in it.
    fn spans<'a>(&mut self, row: &'a DiffRow, style: Style) -> Vec<Span<'a>> {
        let mut spans = Vec::new();
        let mut at = 0;
        for (kind, range) in self.tokens(row) {
            // The first character is the sign of the line.
            let range = range.start + 1..range.end + 1;
            spans.push(Span::styled(row.text.get(at..range.start).unwrap_or_default(), style));
            let text = row.text.get(range.clone()).unwrap_or_default();
            spans.push(Span::styled(text, self.theme.code(kind, style)));
            at = range.end;
        }
        spans.push(Span::styled(row.text.get(at..).unwrap_or_default(), style));
        spans
    }
}

/// Cuts a line off at this many columns.
fn clipped(spans: Vec<Span<'_>>, columns: usize) -> Vec<Span<'_>> {
    let mut room = columns;
    let mut kept = Vec::new();
    for span in spans {
        let length = width(&span.content);
        if length > room {
            let text = fitted(&span.content, room);
            kept.push(Span::styled(text, span.style));
            break;
        }
        room -= length;
        kept.push(span);
    }
    kept
}

fn draw_files(frame: &mut Frame<'_>, area: Rect, model: &UiModel, theme: Theme) {
    let Some(text) = model.detail.diff.state.ready() else { return };
    let added: u64 = text.files.iter().filter_map(|it| it.added).sum();
    let removed: u64 = text.files.iter().filter_map(|it| it.removed).sum();
    let cut = if text.is_cut { ", cut: it is longer than Segue shows" } else { "" };
    let comments = match model.detail.diff.comments.len() {
        0 => String::new(),
        count => format!("   {}: M sends", counted(count, "comment")),
    };
    let summary = format!(
        " {} on {}  +{added} −{removed}{cut}{comments}",
        counted(text.files.len(), "file"),
        text.branch
    );
    if let Some(place) = row(area, 0) {
        frame.render_widget(Line::styled(summary, theme.strong()), place);
    }
    let current = model.detail.diff.current_path();
    // The current file stays shown if there are more files than rows.
    let shown = usize::from(area.height.saturating_sub(1));
    let at = text.files.iter().position(|it| it.path == current).unwrap_or(0);
    let first = (at + 1).saturating_sub(shown);
    for (number, file) in text.files.iter().skip(first).enumerate() {
        let Some(place) = row(area, number + 1) else { break };
        let style = if file.path == current { theme.strong() } else { Style::new() };
        let count = |sign, count: Option<u64>| count.map(|it| format!(" {sign}{it}"));
        let spans = vec![
            Span::styled(if file.path == current { " › " } else { "   " }, theme.attention()),
            Span::styled(one_line(&file.path), style),
            Span::styled(count('+', file.added).unwrap_or_default(), theme.good()),
            Span::styled(count('−', file.removed).unwrap_or_default(), theme.removed()),
        ];
        frame.render_widget(Line::from(spans), place);
    }
}

fn style(kind: DiffLineKind, theme: Theme) -> Style {
    match kind {
        DiffLineKind::File => theme.strong(),
        DiffLineKind::Hunk => theme.accent(),
        DiffLineKind::Added => theme.good(),
        DiffLineKind::Removed => theme.removed(),
        DiffLineKind::Context => Style::new(),
        DiffLineKind::Note => theme.dim(),
    }
}
