//! Where everything is on the screen. Drawing and the mouse use the same places.

use ratatui::layout::Rect;

use crate::model::{ListTab, PaneFocus, UiModel};

/// A terminal with fewer columns shows one pane at a time.
const MIN_TWO_PANE_COLUMNS: u16 = 100;
/// The list of sessions has at least and at most this many columns beside another pane.
const LIST_COLUMNS: (u16, u16) = (44, 70);
/// At most this many sessions and gates that need a person have a row of their own above the list.
const MAX_ATTENTION_ROWS: usize = 5;

/// The places of the parts of the screen. A part that is not shown has no rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Areas {
    pub(crate) header: Rect,
    pub(crate) attention: Rect,
    pub(crate) list: Rect,
    pub(crate) detail: Rect,
    pub(crate) footer: Rect,
}

impl Areas {
    /// Divides the screen.
    pub(crate) fn of(model: &UiModel) -> Self {
        let whole = Rect::new(0, 0, model.size.cols, model.size.rows);
        let [header, rest] = split_top(whole, 1);
        let [body, footer] = split_bottom(rest, 1);
        let shows_one = is_narrow(model);
        if shows_one && model.focus == PaneFocus::Detail {
            return Self { header, detail: body, footer, ..Self::default() };
        }
        let wanted = model.needs_person().min(MAX_ATTENTION_ROWS);
        let rows = if wanted == 0 { 0 } else { crate::text::cells(wanted) + 1 };
        let [attention, panes] = split_top(body, rows.min(body.height / 2));
        if shows_one {
            return Self { header, attention, list: panes, footer, ..Self::default() };
        }
        let (least, most) = LIST_COLUMNS;
        let columns = match model.tab {
            ListTab::Sessions => (panes.width * 2 / 5).clamp(least, most),
            // Their rows are longer.
            ListTab::Tasks | ListTab::Worktrees => panes.width * 3 / 5,
        };
        let list = Rect { width: columns, ..panes };
        let detail = Rect { x: panes.x + columns, width: panes.width - columns, ..panes };
        Self { header, attention, list, detail, footer }
    }

    /// Returns the part of the detail pane in which its content is: below its title and beside its
    /// frame.
    pub(crate) fn detail_content(self) -> Rect {
        let Rect { x, y, width, height } = self.detail;
        let frame = u16::from(self.list.width > 0);
        Rect {
            x: x + frame,
            y: y + height.min(1),
            width: width.saturating_sub(frame),
            height: height.saturating_sub(1),
        }
    }

    /// Returns the part of the list pane with its rows, below its title.
    pub(crate) fn list_rows(self) -> Rect {
        let Rect { x, y, width, height } = self.list;
        Rect { x, y: y + height.min(1), width, height: height.saturating_sub(1) }
    }

    /// Returns the rows of the sessions that need a person.
    pub(crate) fn attention_rows(self) -> Rect {
        let Rect { x, y, width, height } = self.attention;
        Rect { x, y: y + height.min(1), width, height: height.saturating_sub(1) }
    }
}

/// Returns how many of the rows are for sessions that need a person, and how many for gates. A gate
/// has a row, also if more sessions than rows need a person.
pub(crate) fn attention_split(model: &UiModel, rows: usize) -> (usize, usize) {
    let (sessions, gates) = (model.list.attention.len(), model.gates.len());
    let gates = gates.min(rows.saturating_sub(sessions).max(1)).min(rows);
    (sessions.min(rows - gates), gates)
}

/// Returns whether there is room for one pane only.
pub(crate) fn is_narrow(model: &UiModel) -> bool {
    model.size.cols < MIN_TWO_PANE_COLUMNS
}

fn split_top(area: Rect, rows: u16) -> [Rect; 2] {
    let rows = rows.min(area.height);
    let rest = Rect { y: area.y + rows, height: area.height - rows, ..area };
    [Rect { height: rows, ..area }, rest]
}

fn split_bottom(area: Rect, rows: u16) -> [Rect; 2] {
    let rows = rows.min(area.height);
    let rest = Rect { y: area.y + area.height - rows, height: rows, ..area };
    [Rect { height: area.height - rows, ..area }, rest]
}

/// Returns a place in the middle of the screen for a dialog of this size.
pub(crate) fn centered(model: &UiModel, columns: u16, rows: u16) -> Rect {
    let (width, height) = (columns.min(model.size.cols), rows.min(model.size.rows));
    Rect { x: (model.size.cols - width) / 2, y: (model.size.rows - height) / 2, width, height }
}
