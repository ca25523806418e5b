//! How it is known what an agent does.

use std::fmt;

/// Where a signal about an agent's activity came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// The vendor's own list of live processes.
    Registry,
    /// A hook that the vendor called.
    Hook,
    Transcript,
    /// A headless launch's output.
    Stream,
    /// The terminal's title.
    Title,
    /// The input on the terminal, where the vendor says in no other way that it waits there.
    Input,
    /// What the terminal shows: believed only while nothing better has spoken.
    Screen,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Registry => "the vendor's registry",
            Self::Hook => "a hook",
            Self::Transcript => "the transcript",
            Self::Stream => "the output",
            Self::Title => "the terminal's title",
            Self::Input => "the input on its screen",
            Self::Screen => "the screen",
        })
    }
}
