//! Colours: the meaning of a piece of text, and the colour code for it.

/// What a piece of text means to its reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextTone {
    Plain,
    Strong,
    Good,
    Attention,
    Bad,
    Faint,
    Help,
}

/// Whether the output has colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Colour {
    On,
    Off,
}

impl Colour {
    /// Returns the text in the colour of its tone. The text must not contain control characters.
    pub(crate) fn paint(self, tone: TextTone, text: &str) -> String {
        let mut painted = String::new();
        self.paint_into(&mut painted, tone, text);
        painted
    }

    /// Adds the text in the colour of its tone to a line.
    pub(crate) fn paint_into(self, line: &mut String, tone: TextTone, text: &str) {
        let parts = match (self, tone.code()) {
            (Self::On, Some(code)) if !text.is_empty() => ["\u{1b}[", code, "m", text, "\u{1b}[0m"],
            _ => ["", "", "", text, ""],
        };
        line.extend(parts);
    }
}

impl TextTone {
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
    fn paint_adds_a_code_only_if_colours_are_on_and_there_is_text_with_a_tone() {
        assert_eq!(Colour::On.paint(TextTone::Good, "working"), "\u{1b}[32mworking\u{1b}[0m");
        assert_eq!(Colour::Off.paint(TextTone::Good, "working"), "working");
        assert_eq!(Colour::On.paint(TextTone::Plain, "idle"), "idle");
        assert_eq!(Colour::On.paint(TextTone::Good, ""), "");
    }
}
