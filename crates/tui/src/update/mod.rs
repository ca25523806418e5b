//! The only place that changes the model: a message gives a changed model and effects.

mod actions;
mod detail;
mod dialogs;
mod forms;
mod keys;
mod mouse;
mod received;
mod reports;

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use crossterm::event::{KeyEvent, MouseEvent};
use jiff::Timestamp;
use segue_core::Result;
use segue_core::api::{
    AdoptReport, AgentKindList, HandoffReport, MessageList, PlanGateView, PlanReport, SessionList,
    TaskReport, TaskSummaryList, WorktreeAction, WorktreeDiffReport, WorktreeList,
};
use segue_core::model::{Event, PlanId, PlanTaskName, SessionId, TerminalSize, Usage};
use segue_core::ports::TerminalEvent;

use crate::api::{AttachResult, HandoverOrder, NewSession, NewTask, TalkPage, VendorChoice};
use crate::geometry::Areas;
use crate::model::{ListTab, UiModel};

pub(crate) use actions::obstacle;
pub(crate) use dialogs::{first_steps, found};
pub(crate) use reports::{
    adopted, changed_worktree, handed_over, interrupted, restored, scaled, stopped,
};

/// Something that happened.
#[derive(Clone, Debug)]
pub enum UiMessage {
    Key(KeyEvent),
    Mouse(MouseEvent),
    Paste(String),
    Resized(TerminalSize),
    /// The current time, for relative times.
    Time(Timestamp),
    Sessions(Result<SessionList>),
    /// Events have happened: of these sessions, and of tasks or worktrees.
    Changed {
        sessions: BTreeSet<SessionId>,
        is_about_work: bool,
    },
    DaemonGone,
    DaemonBack,
    Tasks(Result<TaskSummaryList>),
    Task(Result<TaskReport>),
    Worktrees(Result<WorktreeList>),
    Gates(Result<Vec<PlanGateView>>),
    Agents(Result<AgentKindList>),
    Usage(Result<Usage>),
    Vendors(Result<Vec<VendorChoice>>),
    Adoptable {
        is_asked: bool,
        report: Result<AdoptReport>,
    },
    /// An answer for the right side, with the number of its request.
    Detail(u64, DetailMessage),
    Planned(Option<Vec<SessionId>>, Result<PlanReport>),
    Previewed(HandoverOrder, Result<HandoffReport>),
    /// An action has ended: a sentence, or an error.
    Done(Result<String>),
    /// The comments of the diff were sent as a message.
    Reviewed(Result<String>),
    /// A session was started.
    Started(Result<SessionId>),
    Attached(Result<AttachResult>),
    Edited(Result<String>),
}

/// Data for the right side.
#[derive(Clone, Debug)]
pub enum DetailMessage {
    Terminal(TerminalEvent),
    /// The terminal cannot be watched, or not any more.
    TerminalGone(Option<segue_core::Error>),
    Talk {
        is_earlier: bool,
        page: Result<TalkPage>,
    },
    Messages(Result<MessageList>),
    Log(Result<Vec<Event>>),
    Diff(Result<WorktreeDiffReport>),
}

/// Something to do outside of the model. The result is a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UiEffect {
    LoadSessions,
    /// Reads the tasks, also those that have ended.
    LoadTasks {
        with_ended: bool,
    },
    LoadTask(String),
    LoadWorktrees,
    LoadGates,
    /// Reads the agents of the project file, for the form of a new task.
    LoadAgents,
    LoadUsage,
    LoadVendors,
    LoadAdoptable {
        is_asked: bool,
    },
    /// Shows a session's terminal. Ends the stream of the session that was shown before.
    Watch {
        request: u64,
        session: SessionId,
    },
    StopWatching,
    LoadTalk {
        request: u64,
        session: SessionId,
        before: Option<String>,
    },
    LoadMessages {
        request: u64,
        session: SessionId,
    },
    LoadLog {
        request: u64,
        session: SessionId,
    },
    LoadDiff {
        request: u64,
        name: String,
    },
    Send {
        sessions: Vec<SessionId>,
        text: String,
        interrupts: bool,
        /// Whether the text is the comments of the diff. They are forgotten when it was sent.
        is_review: bool,
    },
    Answer {
        session: SessionId,
        question: String,
        answer: String,
    },
    Interrupt(SessionId),
    Rename {
        session: SessionId,
        name: String,
    },
    Stop(Vec<SessionId>),
    StopAfterTurn(SessionId),
    Plan(Option<Vec<SessionId>>),
    Resume(Option<Vec<SessionId>>),
    Start(NewSession),
    StartDemo,
    AddTask(NewTask),
    /// Shows what the approval of a gate starts.
    AskApproval(PlanId, PlanTaskName),
    ApproveGate(PlanId, PlanTaskName),
    CancelTask(String),
    RetryTask(String),
    Preview(HandoverOrder),
    HandOver(HandoverOrder),
    Scale {
        session: SessionId,
        agent: String,
        count: u32,
    },
    Adopt {
        vendor: String,
        id: String,
    },
    ChangeWorktree {
        action: WorktreeChange,
        worktree: String,
    },
    Attach(SessionId),
    Edit(String),
    Suspend,
    /// Draws everything again.
    Redraw,
    /// Opens a dialog of the UI itself.
    NewSession {
        vendor: Option<String>,
    },
}

/// What is done with a worktree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorktreeChange {
    Salvage,
    Remove,
    Restore,
}

impl WorktreeChange {
    pub(crate) fn action(self) -> WorktreeAction {
        match self {
            Self::Salvage => WorktreeAction::Salvage,
            Self::Remove => WorktreeAction::Remove,
            Self::Restore => WorktreeAction::Restore,
        }
    }
}

/// Returns the effects with which the UI begins.
pub(crate) fn first_effects(model: &UiModel) -> Vec<UiEffect> {
    vec![
        UiEffect::LoadSessions,
        load_tasks(model),
        UiEffect::LoadWorktrees,
        UiEffect::LoadGates,
        UiEffect::LoadUsage,
        UiEffect::LoadVendors,
    ]
}

/// Returns the effect that reads the tasks which the list shows.
fn load_tasks(model: &UiModel) -> UiEffect {
    UiEffect::LoadTasks { with_ended: model.tasks.shows_ended }
}

/// Changes the model, and returns what is to be done.
pub fn update(model: &mut UiModel, message: UiMessage) -> Vec<UiEffect> {
    let mut effects = match message {
        UiMessage::Key(key) => keys::pressed(model, key),
        UiMessage::Mouse(event) => mouse::moved(model, event),
        UiMessage::Paste(text) => dialogs::pasted(model, &text),
        UiMessage::Resized(size) => {
            model.size = size;
            Vec::new()
        }
        UiMessage::Time(now) => {
            model.now = now;
            Vec::new()
        }
        message => received::received(model, message),
    };
    effects.extend(detail::follow_selection(model));
    fit(model);
    effects
}

/// Adapts everything that depends on the size of the screen.
fn fit(model: &mut UiModel) {
    let areas = Areas::of(model);
    let height = usize::from(areas.list_rows().height);
    match model.tab {
        ListTab::Sessions => model.list.keep_cursor_shown(height),
        ListTab::Tasks => model.tasks.keep_cursor_shown(height),
        ListTab::Worktrees => model.worktrees.keep_cursor_shown(height),
    }
    let columns = usize::from(areas.detail_content().width);
    if columns > 0 {
        model.detail.talk.fit(columns);
    }
}
