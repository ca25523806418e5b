//! Every action of the UI, with its key. The palette and the help list them.

use segue_core::rules::screens::SessionAction;

/// An action that a key or the palette starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UiAction {
    Open,
    Attach,
    Send,
    Answer,
    AnswerYes,
    AnswerNo,
    ApproveGate,
    Interrupt,
    InterruptWithMessage,
    Rename,
    Stop,
    StopAfterTurn,
    Resume,
    ResumeAll,
    HandOver,
    NewSession,
    NewTask,
    Scale,
    Adopt,
    Salvage,
    RestoreWorktree,
    RemoveWorktree,
    CancelTask,
    RetryTask,
    NextAttention,
    PreviousAttention,
    Mark,
    Filter,
    Sort,
    Fold,
    FoldAll,
    ShowScreen,
    ShowTalk,
    ShowDiff,
    ShowMessages,
    ShowLog,
    Sessions,
    Tasks,
    EndedTasks,
    Worktrees,
    OtherPane,
    Comment,
    SendComments,
    NextFile,
    PreviousFile,
    FoldTools,
    Search,
    Reload,
    Palette,
    Help,
    Suspend,
    Back,
    Quit,
}

/// An action with its key and its title.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ActionEntry {
    pub(crate) action: UiAction,
    /// The keys as people read them, separated by spaces. Empty if only the palette has it.
    pub(crate) keys: &'static str,
    pub(crate) title: &'static str,
}

const fn entry(action: UiAction, keys: &'static str, title: &'static str) -> ActionEntry {
    ActionEntry { action, keys, title }
}

/// All actions in the order of the help.
pub(crate) const ACTIONS: [ActionEntry; 53] = [
    entry(UiAction::Open, "Enter", "attach; on a narrow screen: open the session first"),
    entry(UiAction::Attach, "e", "attach: enter the agent's terminal, leave it with Ctrl-\\ d"),
    entry(UiAction::Send, "s", "send a message to the agent, or to all marked agents"),
    entry(UiAction::Answer, "a", "answer the question: see all of it and choose"),
    entry(UiAction::AnswerYes, "y", "answer yes"),
    entry(UiAction::AnswerNo, "d", "answer no (deny)"),
    entry(UiAction::ApproveGate, "p", "approve a gate of a plan: shows what it starts first"),
    entry(UiAction::Interrupt, "i", "interrupt the turn; the agent keeps running"),
    entry(UiAction::InterruptWithMessage, "I", "interrupt the turn with a message"),
    entry(UiAction::Stop, "x", "stop the agent, or all marked agents; conversations are kept"),
    entry(UiAction::StopAfterTurn, "X", "stop the agent after this turn"),
    entry(UiAction::Resume, "r", "resume: shows the plan first"),
    entry(UiAction::ResumeAll, "R", "resume all sessions: shows the plan first"),
    entry(UiAction::HandOver, "h", "hand the conversation over to another vendor"),
    entry(UiAction::Rename, "F2", "rename the session"),
    entry(UiAction::NewSession, "c", "start a new session"),
    entry(UiAction::NewTask, "T", "add a task for an agent of segue.toml"),
    entry(UiAction::Scale, "+", "change how many agents of this kind run"),
    entry(UiAction::Adopt, "A", "adopt a conversation that was started without Segue"),
    entry(UiAction::Salvage, "v", "salvage: keep the uncommitted work of the worktree in a ref"),
    entry(UiAction::RestoreWorktree, "u", "restore the removed worktree"),
    entry(UiAction::RemoveWorktree, "D", "remove the worktree; its work is salvaged first"),
    entry(UiAction::CancelTask, "", "cancel the selected task"),
    entry(UiAction::RetryTask, "", "retry the selected task"),
    entry(UiAction::NextAttention, "n", "next session that needs you"),
    entry(UiAction::PreviousAttention, "N", "previous session that needs you"),
    entry(UiAction::Mark, "Space", "mark the session"),
    entry(UiAction::Filter, "/", "filter the list"),
    entry(UiAction::Sort, "o", "sort by status, name or time"),
    entry(UiAction::Fold, "z", "fold or unfold the fleet"),
    entry(UiAction::FoldAll, "Z", "fold or unfold all fleets"),
    entry(UiAction::ShowScreen, "1", "show the agent's screen"),
    entry(UiAction::ShowTalk, "2", "show the conversation"),
    entry(UiAction::ShowDiff, "3", "show the diff of the worktree"),
    entry(UiAction::ShowMessages, "4", "show the messages"),
    entry(UiAction::ShowLog, "5", "show the log with its evidence"),
    entry(UiAction::Sessions, "l", "list the sessions"),
    entry(UiAction::Tasks, "t", "list the tasks"),
    entry(UiAction::EndedTasks, "E", "tasks: show or hide those that have ended"),
    entry(UiAction::Worktrees, "w", "list the worktrees"),
    entry(UiAction::OtherPane, "Tab", "move between the list and the right side"),
    entry(UiAction::Comment, "m", "diff: comment on this line"),
    entry(UiAction::SendComments, "M", "diff: send all comments as one message"),
    entry(UiAction::NextFile, "]", "diff: next file"),
    entry(UiAction::PreviousFile, "[", "diff: previous file"),
    entry(UiAction::FoldTools, "f", "conversation: show or fold tool calls"),
    entry(UiAction::Search, "/", "conversation: search; n and N go to the matches"),
    entry(UiAction::Reload, "F5", "read everything again"),
    entry(UiAction::Palette, ": Ctrl-P", "find an action by its name"),
    entry(UiAction::Help, "?", "show all keys"),
    entry(UiAction::Suspend, "Ctrl-Z", "suspend; `fg` returns"),
    entry(UiAction::Back, "Esc", "back; ends nothing"),
    entry(UiAction::Quit, "q", "back, then quit; agents keep running"),
];

impl UiAction {
    /// Returns the action on a session whose rule decides whether this action is possible.
    pub(crate) fn on_session(self) -> Option<SessionAction> {
        match self {
            Self::Attach => Some(SessionAction::Attach),
            Self::Send | Self::InterruptWithMessage => Some(SessionAction::Send),
            Self::Answer | Self::AnswerYes | Self::AnswerNo => Some(SessionAction::Answer),
            Self::Interrupt => Some(SessionAction::Interrupt),
            Self::Rename => Some(SessionAction::Rename),
            Self::Stop | Self::StopAfterTurn => Some(SessionAction::Stop),
            Self::Resume => Some(SessionAction::Resume),
            Self::HandOver => Some(SessionAction::HandOver),
            Self::ShowDiff => Some(SessionAction::Review),
            _ => None,
        }
    }
}
