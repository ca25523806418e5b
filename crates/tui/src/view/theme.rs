//! Colours: the 16 colours of the terminal only, which fit light and dark backgrounds.

use ratatui::style::{Color, Modifier, Style};
use segue_core::rules::screens::StatusTone;

use crate::syntax::CodeTokenKind;

/// The styles of the UI. Without colours, they differ by weight only.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Theme {
    has_colours: bool,
    dim: Style,
    strong: Style,
    /// The row of the cursor in the pane that gets the keys, and in the other one.
    selected: (Style, Style),
}

impl Theme {
    pub(crate) fn new(has_colours: bool) -> Self {
        let with = |modifier| Style::new().add_modifier(modifier);
        Self {
            has_colours,
            dim: with(Modifier::DIM),
            strong: with(Modifier::BOLD),
            selected: (with(Modifier::REVERSED), with(Modifier::BOLD | Modifier::UNDERLINED)),
        }
    }

    pub(crate) fn has_colours(self) -> bool {
        self.has_colours
    }

    fn coloured(self, colour: Color) -> Style {
        if self.has_colours { Style::new().fg(colour) } else { Style::new() }
    }

    pub(crate) fn status(self, tone: StatusTone) -> Style {
        match tone {
            StatusTone::Attention => self.attention(),
            StatusTone::Busy => self.coloured(Color::Blue),
            StatusTone::Plain => Style::new(),
            StatusTone::Dim => self.dim(),
            StatusTone::Interrupted => self.coloured(Color::Magenta),
            StatusTone::Bad => self.bad(),
        }
    }

    pub(crate) fn attention(self) -> Style {
        self.coloured(Color::Yellow).add_modifier(Modifier::BOLD)
    }

    pub(crate) fn bad(self) -> Style {
        self.coloured(Color::Red).add_modifier(Modifier::BOLD)
    }

    pub(crate) fn good(self) -> Style {
        self.coloured(Color::Green)
    }

    pub(crate) fn removed(self) -> Style {
        self.coloured(Color::Red)
    }

    /// A part of a line of code. `line` is the style of the rest of the line.
    pub(crate) fn code(self, kind: CodeTokenKind, line: Style) -> Style {
        if !self.has_colours {
            return line;
        }
        match kind {
            CodeTokenKind::Keyword => line.fg(Color::Magenta),
            CodeTokenKind::TypeName | CodeTokenKind::Number => line.fg(Color::Blue),
            CodeTokenKind::Text => line.fg(Color::Cyan),
            CodeTokenKind::Comment => line.patch(self.dim),
        }
    }

    pub(crate) fn accent(self) -> Style {
        self.coloured(Color::Cyan)
    }

    pub(crate) fn dim(self) -> Style {
        self.dim
    }

    pub(crate) fn strong(self) -> Style {
        self.strong
    }

    /// The row of the cursor. It is recognizable without colours.
    pub(crate) fn selected(self, has_focus: bool) -> Style {
        if has_focus { self.selected.0 } else { self.selected.1 }
    }

    pub(crate) fn key(self) -> Style {
        self.coloured(Color::Cyan).add_modifier(Modifier::BOLD)
    }
}
