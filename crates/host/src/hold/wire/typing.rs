//! Messages about screens and typing, and the list of capabilities. They were added after the first
//! version of holders.

use segue_core::model::Screen;
use segue_core::ports::Typed;
use serde::{Deserialize, Serialize};

/// Features of a holder that were added to its protocol version later.
pub(crate) mod capability {
    /// The holder answers `screen`.
    pub(crate) const SCREEN: &str = "screen";
    /// The holder answers `type`, and never types a message twice.
    pub(crate) const TYPE: &str = "type";
    /// The holder answers `press`.
    pub(crate) const PRESS: &str = "press";
    /// The holder notifies subscribers after the agent has drawn.
    pub(crate) const SETTLED: &str = "settled";
    /// The holder answers `scrollback` and `wheel`, and notifies attached clients of the terminal
    /// features that the agent uses.
    pub(crate) const SCROLLBACK: &str = "scrollback";
    /// The holder answers `view`, marks repaints in the output, and notifies attached clients of
    /// their number.
    pub(crate) const VIEW: &str = "view";
    /// The holder answers `ask` and `reply`, and notifies subscribers of the open questions.
    pub(crate) const ASK: &str = "ask";

    /// All capabilities of this program.
    pub(crate) const ALL: [&str; 7] = [SCREEN, TYPE, PRESS, SETTLED, SCROLLBACK, VIEW, ASK];
}

/// The screen of an agent's terminal, and its revision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ScreenNow {
    pub(crate) rows: Vec<String>,
    pub(crate) firm_rows: Vec<String>,
    pub(crate) title: String,
    pub(crate) cursor: Option<(u16, u16)>,
    pub(crate) revision: u64,
}

impl From<ScreenNow> for Screen {
    fn from(now: ScreenNow) -> Self {
        let ScreenNow { rows, firm_rows, title, cursor, revision } = now;
        Self { rows, firm_rows, title, cursor, revision }
    }
}

/// The result of a request to type a message. See [`Typed`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TypingOutcome {
    Now,
    Before,
    Changed,
}

impl From<TypingOutcome> for Typed {
    fn from(outcome: TypingOutcome) -> Self {
        match outcome {
            TypingOutcome::Now => Self::Now,
            TypingOutcome::Before => Self::Before,
            TypingOutcome::Changed => Self::Changed,
        }
    }
}
