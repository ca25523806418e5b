//! Colours: what a piece of text means, and how that is shown where colours are wanted.

/// What a piece of text means to its reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    Plain,
    Strong,
    Good,
    Attention,
    Bad,
    Faint,
    Help,
}

/// Whether colours are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Colour {
    On,
    Off,
}

impl Colour {
    /// Returns the text in its tone. The text must be free of control characters already.
    pub(crate) fn paint(self, tone: Tone, text: &str) -> String {
        match (self, tone.code()) {
            (Self::On, Some(code)) if !text.is_empty() => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
            _ => text.to_owned(),
        }
    }
}

impl Tone {
    fn code(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::Strong => Some("1"),
            Self::Good => Some("32"),
            Self::Attention => Some("33"),
            Self::Bad => Some("1;31"),
            Self::Faint => Some("2"),
            Self::Help => Some("36"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_used_only_where_they_are_wanted() {
        assert_eq!(Colour::On.paint(Tone::Good, "working"), "\u{1b}[32mworking\u{1b}[0m");
        assert_eq!(Colour::Off.paint(Tone::Good, "working"), "working");
        assert_eq!(Colour::On.paint(Tone::Plain, "idle"), "idle");
        assert_eq!(Colour::On.paint(Tone::Good, ""), "");
    }
}
