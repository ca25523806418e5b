//! Scroll mode: shows the earlier output of an agent, as it was when the mode was entered.
//!
//! The code here does no I/O: the view depends only on the lines and the keys. The agent continues
//! to run, and its new output does not change the view.

mod copy;
mod draw;
mod keys;
mod layout;
mod search;
mod status;

use layout::Layout;
use search::{Direction, Match, Pattern};

use segue_core::ports::ScrollbackPage;

use crate::hold::styled_lines::{self, StyledLine};
use crate::hold::terminal::Size;

use super::keys::ScrollEntry;
use keys::ScrollAction;
pub(super) use keys::{KeyDecoder, ScrollKey};

/// The number of rows per step of the wheel.
const WHEEL_ROWS: usize = 3;
/// The maximum length of a search text.
const MAX_PATTERN_BYTES: usize = 200;

/// The result of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reaction {
    /// Draw again.
    Stay,
    Leave,
    /// Send this to the terminal, and draw again.
    Send(String),
}

/// The lines, and the state of the view.
#[derive(Debug)]
pub(super) struct ScrollMode {
    lines: Vec<StyledLine>,
    /// Whether the holder dropped older lines.
    has_forgotten: bool,
    /// Whether the last lines are the alternate screen.
    is_alternate: bool,
    size: Size,
    layout: Layout,
    entry: ScrollEntry,
    search: Option<(Pattern, Direction)>,
    /// The last match.
    found: Option<Match>,
    /// The line at which the selection began.
    anchor: Option<usize>,
    prompt: Option<Prompt>,
    /// A note that is shown until the next key.
    note: Option<String>,
}

/// A search text that is being typed.
#[derive(Debug)]
struct Prompt {
    direction: Direction,
    text: String,
}

impl ScrollMode {
    /// Begins with the agent's screen. If the entry key scrolls, begins above it.
    pub(super) fn new(page: &ScrollbackPage, size: Size, entry: ScrollEntry) -> Self {
        let lines = styled_lines::parse(&page.lines.join("\n"));
        let layout = Layout::at_end(&lines, cols(size), height(size));
        let mut mode = Self {
            lines,
            has_forgotten: page.has_forgotten,
            is_alternate: page.alternate,
            size,
            layout,
            entry,
            search: None,
            found: None,
            anchor: None,
            prompt: None,
            note: None,
        };
        match entry {
            ScrollEntry::Key => {}
            ScrollEntry::PageUp => mode.layout.scroll_up(mode.layout.height),
            ScrollEntry::Wheel => mode.layout.scroll_up(WHEEL_ROWS),
        }
        mode
    }

    pub(super) fn resize(&mut self, size: Size) {
        self.size = size;
        self.layout.resize(&self.lines, cols(size), height(size));
    }

    /// Shows a note in the status line until the next key.
    pub(super) fn show_note(&mut self, note: &str) {
        self.note = Some(note.to_owned());
    }

    /// Handles a key.
    pub(super) fn key(&mut self, key: ScrollKey) -> Reaction {
        self.note = None;
        match self.prompt.take() {
            Some(prompt) => {
                self.type_pattern(prompt, key);
                Reaction::Stay
            }
            None => self.act(keys::action(key)),
        }
    }

    fn act(&mut self, action: ScrollAction) -> Reaction {
        let page = self.layout.height.saturating_sub(1).max(1);
        match action {
            ScrollAction::Up => self.layout.up(1),
            ScrollAction::Down => self.layout.down(1),
            ScrollAction::HalfPageUp => self.layout.scroll_up(page.div_ceil(2)),
            ScrollAction::HalfPageDown => self.layout.scroll_down(page.div_ceil(2)),
            ScrollAction::PageUp => self.layout.scroll_up(page),
            ScrollAction::First => self.layout.go_to(0),
            ScrollAction::Last => self.layout.go_to(usize::MAX),
            ScrollAction::WheelUp => self.layout.scroll_up(WHEEL_ROWS),
            ScrollAction::PageDown => return self.forward(ScrollEntry::PageUp, page),
            ScrollAction::WheelDown => return self.forward(ScrollEntry::Wheel, WHEEL_ROWS),
            ScrollAction::Search(direction) => {
                self.prompt = Some(Prompt { direction, text: String::new() });
            }
            ScrollAction::Next => self.search_again(|direction| direction),
            ScrollAction::Previous => self.search_again(Direction::opposite),
            ScrollAction::Select => {
                let line = self.layout.line();
                self.anchor = self.anchor.is_none().then_some(line);
            }
            ScrollAction::Copy => return self.copy(),
            ScrollAction::Cancel if self.anchor.is_some() => self.anchor = None,
            ScrollAction::Cancel | ScrollAction::Leave => return Reaction::Leave,
            ScrollAction::Nothing => {}
        }
        Reaction::Stay
    }

    /// Scrolls down. At the end, leaves scroll mode if it was entered with the corresponding key.
    fn forward(&mut self, entry: ScrollEntry, rows: usize) -> Reaction {
        if self.entry == entry && self.layout.is_at_end() && self.anchor.is_none() {
            return Reaction::Leave;
        }
        self.layout.scroll_down(rows);
        Reaction::Stay
    }

    fn type_pattern(&mut self, mut prompt: Prompt, key: ScrollKey) {
        match key {
            ScrollKey::Character(character) if prompt.text.len() < MAX_PATTERN_BYTES => {
                prompt.text.push(character);
            }
            ScrollKey::Backspace if prompt.text.is_empty() => return,
            ScrollKey::Backspace => drop(prompt.text.pop()),
            ScrollKey::Control('u') => prompt.text.clear(),
            ScrollKey::Enter => return self.search_for(&prompt),
            ScrollKey::Escape | ScrollKey::Control('c') => return,
            _ => {}
        }
        self.prompt = Some(prompt);
    }

    /// Starts a search. An empty text repeats the text of the previous search.
    fn search_for(&mut self, prompt: &Prompt) {
        let before = self.search.take().map(|(pattern, _)| pattern);
        let pattern = match prompt.text.as_str() {
            "" => before,
            text => Some(Pattern::new(text)),
        };
        self.found = None;
        if let Some(pattern) = pattern {
            self.search = Some((pattern, prompt.direction));
            self.search_again(|direction| direction);
        }
    }

    fn search_again(&mut self, turn: impl FnOnce(Direction) -> Direction) {
        let Some((pattern, direction)) = &self.search else {
            self.note = Some("no search to repeat: press / or ?".to_owned());
            return;
        };
        let row = self.layout.rows.get(self.layout.cursor);
        let cursor = row.map_or((0, 0), |row| (row.line, row.part.start));
        // Start at the last match, unless the cursor has left it.
        let last = self.found.as_ref().map(|place| (place.line, place.part.start));
        let from = last.filter(|at| self.layout.row_of(*at) == self.layout.cursor);
        let from = from.unwrap_or(cursor);
        let found = search::find(&self.lines, pattern, from, turn(*direction));
        match found {
            Some(found) => {
                let at = (found.place.line, found.place.part.start);
                self.layout.go_to(self.layout.row_of(at));
                self.note =
                    found.has_wrapped.then(|| "the search continued at the other end".to_owned());
                self.found = Some(found.place);
            }
            None => self.note = Some(format!("not found: {}", pattern.text)),
        }
    }

    /// Returns the selected lines. `None` without a selection.
    fn selected(&self) -> Option<std::ops::RangeInclusive<usize>> {
        let (anchor, line) = (self.anchor?, self.layout.line());
        Some(anchor.min(line)..=anchor.max(line))
    }

    fn copy(&mut self) -> Reaction {
        let Some(selected) = self.selected() else {
            self.note = Some("nothing is selected: press v, then move".to_owned());
            return Reaction::Stay;
        };
        let count = selected.end() - selected.start() + 1;
        let lines = self.lines.get(selected).unwrap_or_default();
        let texts: Vec<&str> = lines.iter().map(|line| line.text.trim_end()).collect();
        match copy::sequence(&texts.join("\n")) {
            Some(sequence) => {
                self.anchor = None;
                let lines = if count == 1 { "1 line".to_owned() } else { format!("{count} lines") };
                self.note = Some(format!("copied {lines}"));
                Reaction::Send(sequence)
            }
            None => {
                let limit = copy::MAX_COPIED_BYTES / 1000;
                self.note = Some(format!("not copied: select at most {limit} kB"));
                Reaction::Stay
            }
        }
    }
}

fn cols(size: Size) -> usize {
    usize::from(size.cols)
}

/// Returns the number of rows for lines. If the screen has at least two rows, the last one is the
/// status line.
fn height(size: Size) -> usize {
    usize::from(size.rows).saturating_sub(1).max(1)
}

#[cfg(test)]
mod tests;
