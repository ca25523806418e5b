//! The lists of tasks and worktrees: rows with a cursor.

/// A list whose rows have the same columns.
#[derive(Clone, Debug, Default)]
pub(crate) struct RowTable {
    pub(crate) rows: Vec<TableRow>,
    pub(crate) cursor: usize,
    pub(crate) top: usize,
    pub(crate) is_loaded: bool,
    /// Whether the list has objects that have ended, too.
    pub(crate) shows_ended: bool,
    pub(crate) failure: Option<String>,
}

/// A row: the id of its object, what is shown, and the session that it belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TableRow {
    /// The id of the task, or the path of the worktree.
    pub(crate) id: String,
    pub(crate) cells: Vec<String>,
    /// The address of the session.
    pub(crate) session: Option<String>,
    /// What is lost or kept if the object is removed, as one sentence.
    pub(crate) consequence: String,
}

impl RowTable {
    /// Takes over new rows. The cursor stays at its object.
    pub(crate) fn replace(&mut self, rows: Vec<TableRow>) {
        let selected = self.selected().map(|it| it.id.clone());
        let place = selected.and_then(|id| rows.iter().position(|it| it.id == id));
        let last = rows.len().saturating_sub(1);
        self.cursor = place.unwrap_or(self.cursor.min(last));
        self.rows = rows;
        self.is_loaded = true;
        self.failure = None;
    }

    pub(crate) fn selected(&self) -> Option<&TableRow> {
        self.rows.get(self.cursor)
    }

    pub(crate) fn move_by(&mut self, by: isize) {
        let last = self.rows.len().saturating_sub(1);
        self.cursor = self.cursor.saturating_add_signed(by).min(last);
    }

    pub(crate) fn keep_cursor_shown(&mut self, height: usize) {
        self.top = self.top.min(self.cursor).max((self.cursor + 1).saturating_sub(height));
    }
}
