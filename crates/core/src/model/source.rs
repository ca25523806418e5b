//! Where information about an agent's activity comes from.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The source of a signal about an agent's activity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The vendor's own list of live processes.
    Registry,
    /// A hook that the vendor called.
    Hook,
    Transcript,
    /// The output of a headless launch.
    Stream,
    /// A question that a headless agent asks a person through Segue.
    Question,
    /// The terminal's title.
    Title,
    /// The input field on the terminal. Used for vendors that give no other signal when they are
    /// idle.
    Input,
    /// The screen contents. Used only until a better source has sent a signal.
    Screen,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Registry => "the vendor's registry",
            Self::Hook => "a hook",
            Self::Transcript => "the transcript",
            Self::Stream => "the output",
            Self::Question => "a question to Segue",
            Self::Title => "the terminal's title",
            Self::Input => "the input on its screen",
            Self::Screen => "the screen",
        })
    }
}
