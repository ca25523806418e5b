//! The list of sessions: grouped by fleet, filtered, sorted and folded.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use segue_core::api::{SessionList, SessionView};
use segue_core::model::{FleetName, SessionId, StatusKind};
use segue_core::rules::attention::Reason;
use segue_core::rules::screens;

/// The sessions and their rows.
#[derive(Clone, Debug, Default)]
pub(crate) struct SessionTable {
    pub(crate) sessions: Vec<SessionView>,
    /// How many sessions are left out because they ended long ago.
    pub(crate) hidden: usize,
    pub(crate) rows: Vec<ListRow>,
    /// The sessions that need a person, the most urgent first.
    pub(crate) attention: Vec<(Reason, usize)>,
    pub(crate) cursor: Option<ListCursor>,
    /// The first row that is shown.
    pub(crate) top: usize,
    pub(crate) filter: String,
    pub(crate) sort: SortOrder,
    pub(crate) folded: BTreeSet<FleetName>,
    pub(crate) marked: BTreeSet<SessionId>,
    /// The time of the newest change that the user has seen.
    seen: BTreeMap<SessionId, Timestamp>,
    pub(crate) is_loaded: bool,
}

/// A row of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ListRow {
    Fleet {
        name: FleetName,
        folder: PathBuf,
        sessions: usize,
        is_folded: bool,
    },
    /// The position of a session.
    Session(usize),
}

/// The selected row. It stays at its session when the list changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ListCursor {
    Session(SessionId),
    /// A folded fleet.
    Fleet(FleetName),
}

/// The order of the sessions of a fleet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum SortOrder {
    #[default]
    Status,
    Name,
    Recent,
}

impl SortOrder {
    pub(crate) fn next(self) -> Self {
        match self {
            Self::Status => Self::Name,
            Self::Name => Self::Recent,
            Self::Recent => Self::Status,
        }
    }

    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Status => "by status",
            Self::Name => "by name",
            Self::Recent => "newest first",
        }
    }
}

impl SessionTable {
    /// Takes over a new list. The cursor stays at its session.
    pub(crate) fn replace(&mut self, list: SessionList, cwd: &Path) {
        let previous = self.cursor_row();
        self.sessions = list.sessions;
        self.hidden = list.hidden;
        for session in &self.sessions {
            // Sessions from before the UI was opened count as seen.
            if !self.is_loaded {
                self.seen.insert(session.session, session.updated_at);
            }
        }
        self.is_loaded = true;
        let known: BTreeSet<SessionId> = self.sessions.iter().map(|it| it.session).collect();
        self.marked.retain(|it| known.contains(it));
        self.seen.retain(|it, _| known.contains(it));
        self.arrange(cwd);
        if self.cursor_row().is_none() {
            self.select_row(previous.unwrap_or(0));
        }
        self.see_selected();
    }

    /// Makes the rows again, after the sessions, the filter, the order or the folds have changed.
    pub(crate) fn arrange(&mut self, cwd: &Path) {
        let mut fleets: BTreeMap<&FleetName, Vec<usize>> = BTreeMap::new();
        for (at, session) in self.sessions.iter().enumerate() {
            if matches(session, &self.filter) {
                fleets.entry(&session.fleet).or_default().push(at);
            }
        }
        let mut fleets: Vec<_> = fleets.into_iter().collect();
        // The fleet of the current folder is first.
        let is_here = |members: &[usize]| {
            members
                .iter()
                .any(|at| self.sessions.get(*at).is_some_and(|it| it.cwd.starts_with(cwd)))
        };
        fleets.sort_by_key(|(name, members)| (!is_here(members), (*name).clone()));
        let mut rows = Vec::new();
        for (name, mut members) in fleets {
            let is_folded = self.folded.contains(name) && self.filter.is_empty();
            rows.push(ListRow::Fleet {
                name: name.clone(),
                folder: self.folder(&members),
                sessions: members.len(),
                is_folded,
            });
            if !is_folded {
                self.sort(&mut members);
                rows.extend(members.into_iter().map(ListRow::Session));
            }
        }
        self.rows = rows;
        self.attention = self.needing_person();
    }

    fn needing_person(&self) -> Vec<(Reason, usize)> {
        let mut all: Vec<(Reason, &SessionView)> =
            self.sessions.iter().filter_map(|it| Some((screens::attention(it)?, it))).collect();
        screens::sort_by_attention(&mut all);
        let places: HashMap<SessionId, usize> =
            self.sessions.iter().enumerate().map(|(at, it)| (it.session, at)).collect();
        let place = |it: &SessionView| places.get(&it.session).copied();
        all.into_iter().filter_map(|(reason, it)| Some((reason, place(it)?))).collect()
    }

    fn sort(&self, members: &mut [usize]) {
        members.sort_by(|one, other| {
            let (Some(one), Some(other)) = (self.sessions.get(*one), self.sessions.get(*other))
            else {
                return std::cmp::Ordering::Equal;
            };
            let by_name = || one.name.as_str().cmp(other.name.as_str());
            match self.sort {
                SortOrder::Status => urgency(one).cmp(&urgency(other)).then_with(by_name),
                SortOrder::Name => by_name(),
                SortOrder::Recent => other.updated_at.cmp(&one.updated_at).then_with(by_name),
            }
        });
    }

    /// Returns the folder that contains the folders of all members.
    fn folder(&self, members: &[usize]) -> PathBuf {
        let mut folders = members.iter().filter_map(|at| self.sessions.get(*at)).map(|it| &it.cwd);
        let Some(first) = folders.next() else { return PathBuf::new() };
        let mut common = first.as_path();
        for folder in folders {
            while !folder.starts_with(common) {
                let Some(parent) = common.parent() else { break };
                common = parent;
            }
        }
        common.to_owned()
    }

    pub(crate) fn session(&self, id: SessionId) -> Option<&SessionView> {
        self.sessions.iter().find(|it| it.session == id)
    }

    pub(crate) fn selected_session(&self) -> Option<&SessionView> {
        match self.rows.get(self.cursor_row()?)? {
            ListRow::Session(at) => self.sessions.get(*at),
            ListRow::Fleet { .. } => None,
        }
    }

    /// Returns the sessions that an action is for: the marked ones, or the selected one.
    pub(crate) fn targets(&self) -> Vec<&SessionView> {
        if self.marked.is_empty() {
            return self.selected_session().into_iter().collect();
        }
        self.sessions.iter().filter(|it| self.marked.contains(&it.session)).collect()
    }

    /// Returns the row of the cursor.
    pub(crate) fn cursor_row(&self) -> Option<usize> {
        let cursor = self.cursor.as_ref()?;
        self.rows.iter().position(|row| self.cursor_of(row).as_ref() == Some(cursor))
    }

    fn cursor_of(&self, row: &ListRow) -> Option<ListCursor> {
        match row {
            ListRow::Fleet { name, is_folded, .. } => {
                is_folded.then(|| ListCursor::Fleet(name.clone()))
            }
            ListRow::Session(at) => {
                self.sessions.get(*at).map(|it| ListCursor::Session(it.session))
            }
        }
    }

    /// Selects the row, or the nearest row that can be selected: below it, else above it.
    pub(crate) fn select_row(&mut self, row: usize) {
        let row = row.min(self.rows.len().saturating_sub(1));
        let below = self.rows.iter().skip(row).find_map(|it| self.cursor_of(it));
        let above = || self.rows.iter().take(row).rev().find_map(|it| self.cursor_of(it));
        self.cursor = below.or_else(above);
        self.see_selected();
    }

    pub(crate) fn select(&mut self, session: SessionId) {
        self.cursor = Some(ListCursor::Session(session));
        self.see_selected();
    }

    /// Moves the cursor by this many rows that can be selected.
    pub(crate) fn move_by(&mut self, by: isize) {
        let selectable: Vec<usize> = (0..self.rows.len())
            .filter(|at| self.rows.get(*at).is_some_and(|row| self.cursor_of(row).is_some()))
            .collect();
        let Some(last) = selectable.len().checked_sub(1) else { return };
        let now = self.cursor_row().and_then(|row| selectable.binary_search(&row).ok());
        let next = now.map_or(0, |now| now.saturating_add_signed(by).min(last));
        if let Some(row) = selectable.get(next) {
            self.select_row(*row);
        }
    }

    /// Selects the session that needs a person most urgently, if there is one.
    pub(crate) fn select_first_attention(&mut self) {
        let first = self.attention.first().and_then(|(_, at)| self.sessions.get(*at));
        if let Some(session) = first.map(|it| it.session) {
            self.select(session);
        }
    }

    /// Selects the next or the previous session that needs a person. Returns whether there is one.
    pub(crate) fn select_attention(&mut self, is_next: bool) -> bool {
        let ids: Vec<SessionId> = self
            .attention
            .iter()
            .filter_map(|(_, at)| self.sessions.get(*at).map(|it| it.session))
            .collect();
        let now = self.selected_session().map(|it| it.session);
        let place = now.and_then(|now| ids.iter().position(|it| *it == now));
        let count = ids.len();
        let wanted = match place {
            _ if count == 0 => return false,
            None => 0,
            Some(at) if is_next => (at + 1) % count,
            Some(at) => (at + count - 1) % count,
        };
        if let Some(id) = ids.get(wanted) {
            self.select(*id);
        }
        true
    }

    /// Folds the fleet of the cursor, or unfolds it.
    pub(crate) fn switch_fold(&mut self, cwd: &Path) {
        let fleet = match &self.cursor {
            Some(ListCursor::Fleet(name)) => name.clone(),
            _ => match self.selected_session() {
                Some(session) => session.fleet.clone(),
                None => return,
            },
        };
        let was_folded = self.folded.remove(&fleet);
        if !was_folded {
            self.folded.insert(fleet.clone());
            self.cursor = Some(ListCursor::Fleet(fleet.clone()));
        }
        self.arrange(cwd);
        if was_folded {
            let is_fleet =
                |row: &ListRow| matches!(row, ListRow::Fleet { name, .. } if *name == fleet);
            let row = self.rows.iter().position(is_fleet).unwrap_or(0);
            self.select_row(row);
        }
    }

    /// Folds all fleets, or unfolds all if one is folded.
    pub(crate) fn switch_all_folds(&mut self, cwd: &Path) {
        let row = self.cursor_row().unwrap_or(0);
        if self.folded.is_empty() {
            self.folded = self.sessions.iter().map(|it| it.fleet.clone()).collect();
        } else {
            self.folded.clear();
        }
        self.arrange(cwd);
        self.select_row(row.min(self.rows.len()));
    }

    /// Makes sure that the session's row is shown: its fleet is not folded, and no filter hides it.
    pub(crate) fn reveal(&mut self, session: SessionId, cwd: &Path) {
        let Some(fleet) = self.session(session).map(|it| it.fleet.clone()) else { return };
        let was_folded = self.folded.remove(&fleet);
        let is_filtered = self.session(session).is_some_and(|it| !matches(it, &self.filter));
        if is_filtered {
            self.filter.clear();
        }
        if was_folded || is_filtered {
            self.arrange(cwd);
        }
        self.select(session);
    }

    /// Scrolls so that the cursor is among the rows that fit.
    pub(crate) fn keep_cursor_shown(&mut self, height: usize) {
        let Some(row) = self.cursor_row() else {
            self.top = 0;
            return;
        };
        // The heading of the first fleet is shown with its first session.
        let first = if row == 1 { 0 } else { row };
        self.top = self.top.min(first).max((row + 1).saturating_sub(height));
        self.top = self.top.min(self.rows.len().saturating_sub(height));
    }

    /// Returns whether a session has changed since the user last selected it.
    pub(crate) fn is_unread(&self, session: &SessionView) -> bool {
        let is_busy =
            matches!(session.status.known(), Some(StatusKind::Working | StatusKind::Starting));
        !is_busy && self.seen.get(&session.session).is_none_or(|seen| *seen < session.updated_at)
    }

    fn see_selected(&mut self) {
        let selected = self.selected_session().map(|it| (it.session, it.updated_at));
        self.seen.extend(selected);
    }
}

fn urgency(session: &SessionView) -> usize {
    match session.status.known() {
        Some(StatusKind::Waiting) => 0,
        Some(StatusKind::Lost) => 1,
        Some(StatusKind::Working) => 2,
        Some(StatusKind::Starting) => 3,
        Some(StatusKind::Idle) | None => 4,
        Some(StatusKind::Interrupted) => 5,
        Some(StatusKind::Ended) => 6,
    }
}

/// Returns whether a session has all words of the filter in one of its texts.
fn matches(session: &SessionView, filter: &str) -> bool {
    if filter.is_empty() {
        return true;
    }
    let texts = [
        session.address.as_str(),
        session.vendor.as_str(),
        session.status.as_str(),
        session.status_detail.as_deref().unwrap_or_default(),
        session.branch.as_deref().unwrap_or_default(),
        session.task.as_deref().unwrap_or_default(),
    ];
    let text = texts.join(" ").to_lowercase();
    filter.to_lowercase().split_whitespace().all(|word| text.contains(word))
}
