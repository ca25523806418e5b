//! The lists of tasks and worktrees.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::{Theme, draw_note, draw_title, row};
use crate::model::{PaneFocus, RowTable, UiModel};
use crate::text::{padded, width};

/// A column is at most this wide, except for the last one.
const MAX_COLUMN_COLUMNS: usize = 24;

pub(super) fn draw_tasks(frame: &mut Frame<'_>, area: Rect, model: &UiModel, theme: Theme) {
    let names = ["STATE", "AGENT", "SESSION", "TASK"];
    let empty =
        "no open tasks: T adds one for an agent of segue.toml, E shows those that have ended";
    draw(frame, area, (&model.tasks, &names, empty), has_focus(model), theme);
}

pub(super) fn draw_worktrees(frame: &mut Frame<'_>, area: Rect, model: &UiModel, theme: Theme) {
    let names = ["BRANCH", "STATE", "CHANGES", "SESSION", "FOLDER"];
    let empty = "no worktrees: a new session with a branch gets one";
    draw(frame, area, (&model.worktrees, &names, empty), has_focus(model), theme);
}

fn has_focus(model: &UiModel) -> bool {
    model.focus == PaneFocus::List
}

fn draw(
    frame: &mut Frame<'_>,
    area: Rect,
    (table, names, empty): (&RowTable, &[&str], &str),
    has_focus: bool,
    theme: Theme,
) {
    let widths = widths(table, names);
    let heading: String =
        names.iter().zip(&widths).map(|(name, columns)| padded(name, *columns) + "  ").collect();
    let title = Span::styled(format!(" {}", heading.trim_end()), theme.dim());
    draw_title(frame, area, Line::from(vec![title, Span::raw(" ")]), theme);
    let rows = Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area };
    if let Some(failure) = &table.failure {
        return draw_note(frame, rows, failure, theme.bad());
    }
    if table.rows.is_empty() {
        let text = if table.is_loaded { empty } else { "reading…" };
        return draw_note(frame, rows, text, theme.dim());
    }
    let shown = table.rows.iter().enumerate().skip(table.top);
    for (line, (number, it)) in shown.enumerate() {
        let Some(place) = row(rows, line) else { break };
        let cells = it.cells.iter().zip(&widths);
        let text: String = cells.map(|(cell, columns)| padded(cell, *columns) + "  ").collect();
        let style = if number == table.cursor { theme.selected(has_focus) } else { Style::new() };
        frame.render_widget(Line::raw(format!("  {}", text.trim_end())).style(style), place);
    }
}

fn widths(table: &RowTable, names: &[&str]) -> Vec<usize> {
    let widest = |at: usize, name: &str| {
        let cells = table.rows.iter().filter_map(|row| row.cells.get(at)).map(|it| width(it));
        let is_last = at + 1 == names.len();
        let most = if is_last { usize::MAX } else { MAX_COLUMN_COLUMNS };
        cells.max().unwrap_or(0).max(width(name)).min(most)
    };
    names.iter().enumerate().map(|(at, name)| widest(at, name)).collect()
}
