//! The words for screens and messages, which came after the first holders.

use segue_core::ports::{Screen, Typed};
use serde::{Deserialize, Serialize};

/// What a holder can do beyond the first words of its version.
pub(crate) mod capability {
    /// Answers `screen`.
    pub(crate) const SCREEN: &str = "screen";
    /// Answers `type`, and never types a message twice.
    pub(crate) const TYPE: &str = "type";
    /// Answers `press`.
    pub(crate) const PRESS: &str = "press";
    /// Tells subscribers when the agent has drawn.
    pub(crate) const SETTLED: &str = "settled";

    /// Answers `scrollback` and `wheel`, and tells attached clients what the agent uses.
    pub(crate) const SCROLLBACK: &str = "scrollback";

    /// All that this program can do.
    pub(crate) const ALL: [&str; 5] = [SCREEN, TYPE, PRESS, SETTLED, SCROLLBACK];
}

/// What an agent's terminal shows, and which state of it that is.
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

/// What came of an order to type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Outcome {
    Now,
    Before,
    Changed,
}

impl From<Outcome> for Typed {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Now => Self::Now,
            Outcome::Before => Self::Before,
            Outcome::Changed => Self::Changed,
        }
    }
}
