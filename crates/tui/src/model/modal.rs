//! Dialogs above the panes. A dialog gets all keys until it is closed.

use segue_core::model::{Dialog, SessionId};

use super::{TextEditor, UiForm};
use crate::update::UiEffect;

/// A dialog.
#[derive(Clone, Debug)]
pub(crate) enum Modal {
    Help { top: usize },
    Palette(PaletteState),
    Confirm(Confirmation),
    Answer(AnswerDialog),
    Editor(EditorDialog),
    Line(LineDialog),
    Form(UiForm),
    Pick(Picker),
}

/// The palette: all actions that match a text.
#[derive(Clone, Debug, Default)]
pub(crate) struct PaletteState {
    pub(crate) query: TextEditor,
    pub(crate) cursor: usize,
}

/// What will happen, and the effect of Enter. Without an effect it is only a report.
#[derive(Clone, Debug)]
pub(crate) struct Confirmation {
    pub(crate) title: String,
    pub(crate) lines: Vec<String>,
    pub(crate) top: usize,
    /// What Enter does, in one word.
    pub(crate) verb: &'static str,
    pub(crate) effect: Option<UiEffect>,
}

/// A question of an agent with its choices.
#[derive(Clone, Debug)]
pub(crate) struct AnswerDialog {
    pub(crate) session: SessionId,
    pub(crate) name: String,
    pub(crate) folder: String,
    pub(crate) dialog: Dialog,
    pub(crate) cursor: usize,
}

/// A text of several lines.
#[derive(Clone, Debug)]
pub(crate) struct EditorDialog {
    pub(crate) title: String,
    pub(crate) purpose: EditorPurpose,
    pub(crate) editor: TextEditor,
}

/// What a text is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum EditorPurpose {
    Message {
        sessions: Vec<SessionId>,
        interrupts: bool,
        /// Whether the text is the comments of the diff.
        is_review: bool,
    },
    /// A comment on this row of the diff.
    Comment { row: usize },
}

/// A text of one line in the last row of the screen.
#[derive(Clone, Debug)]
pub(crate) struct LineDialog {
    pub(crate) purpose: LinePurpose,
    pub(crate) editor: TextEditor,
    /// The text before it was changed. Esc restores it.
    pub(crate) before: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LinePurpose {
    Filter,
    Search,
}

/// A list of which one item is chosen.
#[derive(Clone, Debug)]
pub(crate) struct Picker {
    pub(crate) title: String,
    pub(crate) items: Vec<PickItem>,
    pub(crate) cursor: usize,
}

#[derive(Clone, Debug)]
pub(crate) struct PickItem {
    pub(crate) text: String,
    pub(crate) effect: UiEffect,
}
