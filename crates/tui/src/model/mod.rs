//! What is shown, as plain data. `update` changes it, `view` draws it.

mod action;
mod detail;
mod diff_pane;
mod form;
mod modal;
mod screen_pane;
mod sessions;
mod talk_pane;
mod text_editor;
mod work_tables;

use jiff::Timestamp;
use segue_core::api::{PlanGateView, SessionView};
use segue_core::model::{TerminalSize, Usage};

pub(crate) use action::{ACTIONS, ActionEntry, UiAction};
pub(crate) use detail::{DetailPane, DetailView, Loaded};
pub(crate) use diff_pane::{DiffLineKind, DiffPane, DiffRow};
pub(crate) use form::{AwaitedForm, FieldKind, FormField, FormPurpose, UiForm};
pub(crate) use modal::{
    AnswerDialog, Confirmation, EditorDialog, EditorPurpose, LineDialog, LinePurpose, Modal,
    PaletteState, PickItem, Picker,
};
pub(crate) use screen_pane::ScreenPane;
pub(crate) use sessions::{ListCursor, ListRow, SessionTable};
pub(crate) use talk_pane::{TalkPane, TalkTone};
pub(crate) use text_editor::TextEditor;
pub(crate) use work_tables::{RowTable, TableRow};

use crate::api::{Surroundings, VendorChoice};

/// Everything that the UI shows.
#[derive(Debug)]
pub struct UiModel {
    pub(crate) surroundings: Surroundings,
    pub(crate) size: TerminalSize,
    pub(crate) now: Timestamp,
    pub(crate) link: LinkState,
    pub(crate) tab: ListTab,
    pub(crate) focus: PaneFocus,
    pub(crate) list: SessionTable,
    pub(crate) tasks: RowTable,
    pub(crate) worktrees: RowTable,
    /// The gates of plans that wait for a person, the one that waits longest first.
    pub(crate) gates: Vec<PlanGateView>,
    pub(crate) detail: DetailPane,
    pub(crate) modal: Option<Modal>,
    pub(crate) notice: Option<UiNotice>,
    /// `!` was pressed: the next key acts without a confirmation.
    pub(crate) skips_confirmation: bool,
    pub(crate) usage_today: Option<Usage>,
    pub(crate) usage_read_at: Option<Timestamp>,
    /// The vendors that can be started. `None` if that is not known yet.
    pub(crate) vendors: Option<Vec<VendorChoice>>,
    /// The form that is opened as soon as the vendors are known.
    pub(crate) awaited_form: Option<AwaitedForm>,
    /// How many conversations could be adopted. `None` if that is not known yet.
    pub(crate) adoptable: Option<usize>,
    /// The session to select as soon as the list has it.
    pub(crate) awaited: Option<segue_core::model::SessionId>,
    pub(crate) is_over: bool,
}

/// The connection to the daemon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LinkState {
    Connecting,
    Connected,
    /// The daemon has ended. The list is as it was before.
    Lost {
        since: Timestamp,
    },
}

/// The lists on the left side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ListTab {
    Sessions,
    Tasks,
    Worktrees,
}

impl ListTab {
    pub(crate) const ALL: [Self; 3] = [Self::Sessions, Self::Tasks, Self::Worktrees];

    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Sessions => "sessions",
            Self::Tasks => "tasks",
            Self::Worktrees => "worktrees",
        }
    }
}

/// The pane that gets the keys. A narrow terminal shows only this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PaneFocus {
    List,
    Detail,
}

/// A sentence in the last row, until the next key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UiNotice {
    pub(crate) text: String,
    pub(crate) is_failure: bool,
}

impl UiModel {
    /// Creates the model of a UI that has not reached the daemon yet.
    pub fn new(surroundings: Surroundings, size: TerminalSize, now: Timestamp) -> Self {
        Self {
            surroundings,
            size,
            now,
            link: LinkState::Connecting,
            tab: ListTab::Sessions,
            focus: PaneFocus::List,
            list: SessionTable::default(),
            tasks: RowTable::default(),
            worktrees: RowTable::default(),
            gates: Vec::new(),
            detail: DetailPane::default(),
            modal: None,
            notice: None,
            skips_confirmation: false,
            usage_today: None,
            usage_read_at: None,
            vendors: None,
            awaited_form: None,
            adoptable: None,
            awaited: None,
            is_over: false,
        }
    }

    /// Returns the selected session. `None` if the list is empty or the cursor is on a folded fleet.
    pub(crate) fn selected(&self) -> Option<&SessionView> {
        self.list.selected_session()
    }

    /// Returns how many sessions and gates need a person.
    pub(crate) fn needs_person(&self) -> usize {
        self.list.attention.len() + self.gates.len()
    }

    pub(crate) fn notify(&mut self, text: impl Into<String>) {
        self.notice = Some(UiNotice { text: text.into(), is_failure: false });
    }

    pub(crate) fn fail(&mut self, error: &segue_core::Error) {
        let hint = error.hints.first().map(|hint| format!("; {hint}")).unwrap_or_default();
        let text = segue_core::rules::display::one_line(&format!("{error}{hint}"));
        self.notice = Some(UiNotice { text, is_failure: true });
    }

    pub(crate) fn refuse(&mut self, text: impl Into<String>) {
        self.notice = Some(UiNotice { text: text.into(), is_failure: true });
    }

    /// Returns whether the UI has nothing to show: the daemon answered, and there is no session.
    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_loaded && self.list.sessions.is_empty() && self.tab == ListTab::Sessions
    }

    /// Returns whether the user has ended the UI.
    pub fn is_over(&self) -> bool {
        self.is_over
    }
}
