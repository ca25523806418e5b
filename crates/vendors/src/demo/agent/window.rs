//! Draws the conversation, the open question and the draft in a terminal.

use std::io::{self, Write};

use super::super::records::LiveStatus;
use super::body::Face;
use super::editor::Editor;
use super::effect::{DemoDialog, DemoEffect, LineAuthor, Show};
use super::paint::{LineTone, PaintedLine, boxed, fill_lines, last_row};
use super::screen::{Bottom, DemoScreen, TerminalMode};

/// How many characters of a message are shown. The transcript contains all of them.
const SHOWN_LIMIT_CHARS: usize = 2000;

/// The window of the interactive agent.
#[derive(Debug)]
pub(super) struct DemoWindow<W> {
    screen: DemoScreen<W>,
    /// The incomplete answer that is being streamed. Empty if no answer is being streamed.
    streamed: String,
    status: Option<LiveStatus>,
}

impl<W: Write> DemoWindow<W> {
    pub(super) fn open(out: W, (columns, rows): (usize, usize)) -> io::Result<Self> {
        let screen = DemoScreen::open(out, columns, rows)?;
        Ok(Self { screen, streamed: String::new(), status: None })
    }

    pub(super) fn close(&mut self) -> io::Result<()> {
        self.screen.close()
    }

    pub(super) fn resize(&mut self, (columns, rows): (usize, usize)) {
        self.screen.resize(columns, rows);
    }

    pub(super) fn notice(&mut self, text: impl Into<String>) -> io::Result<()> {
        self.screen.print([PaintedLine::new(LineTone::Notice, text)])
    }

    /// Draws the bottom part: an open question, or the draft.
    pub(super) fn draw(&mut self, dialog: Option<DemoDialog>, editor: &Editor) -> io::Result<()> {
        let columns = self.screen.columns();
        let mut lines = Vec::new();
        if !self.streamed.is_empty() {
            let answer = format!("● {}", self.streamed);
            lines.push(PaintedLine::new(LineTone::Assistant, last_row(&answer, columns)));
        }
        if let Some(dialog) = dialog {
            let rows = boxed(&question_text(&dialog), columns);
            lines.extend(rows.into_iter().map(|row| PaintedLine::new(LineTone::Alarm, row)));
            return self.screen.draw(&Bottom { lines, cursor: 0 });
        }
        if self.status == Some(LiveStatus::Working) {
            lines.push(PaintedLine::new(
                LineTone::Notice,
                last_row("working, ctrl-c interrupts", columns),
            ));
        }
        let (draft, cursor) = editor.view(columns.saturating_sub(3));
        lines.push(PaintedLine::new(LineTone::Plain, format!("> {draft}")));
        self.screen.draw(&Bottom { lines, cursor: cursor + 2 })
    }

    fn record(&mut self, author: LineAuthor, text: &str) -> io::Result<()> {
        let (tone, mark) = match author {
            LineAuthor::User => (LineTone::User, ">"),
            LineAuthor::Assistant => (LineTone::Assistant, "●"),
            LineAuthor::ToolCall => (LineTone::Tool, "$"),
            LineAuthor::ToolResult => (LineTone::Tool, "="),
        };
        self.streamed.clear();
        let mut shown: String = text.chars().take(SHOWN_LIMIT_CHARS).collect();
        if shown.len() < text.len() {
            shown.push('…');
        }
        self.screen.print([PaintedLine::new(tone, format!("{mark} {shown}"))])
    }

    /// Sets the status, and sets the terminal's title if the status has changed.
    fn set_status(&mut self, status: LiveStatus) -> io::Result<()> {
        if self.status.replace(status) == Some(status) {
            return Ok(());
        }
        self.screen.title(match status {
            LiveStatus::Starting => "demo: starting",
            LiveStatus::Working => "demo: working",
            LiveStatus::Idle => "demo: idle",
            LiveStatus::WaitingPermission
            | LiveStatus::WaitingTrust
            | LiveStatus::WaitingQuestion => "demo: asks",
        })
    }

    fn present(&mut self, show: &Show) -> io::Result<()> {
        match show {
            Show::Fill(count) => self.screen.print(fill_lines(*count)),
            Show::Alternate => self.toggle(TerminalMode::Alternate, "alternate screen"),
            Show::Mouse => self.toggle(TerminalMode::Mouse, "mouse reports"),
            Show::Title(title) => self.screen.title(title),
            Show::Bell => self.screen.bell(),
        }
    }

    fn toggle(&mut self, mode: TerminalMode, name: &str) -> io::Result<()> {
        let is_on = self.screen.toggle(mode)?;
        self.notice(format!("{name} {}", if is_on { "on" } else { "off" }))
    }
}

impl<W: Write> Face for DemoWindow<W> {
    fn show(&mut self, effect: &DemoEffect, id: &str) -> io::Result<()> {
        match effect {
            DemoEffect::Record(author, text) => self.record(*author, text),
            DemoEffect::Status(status) => self.set_status(*status),
            DemoEffect::Notice(text) => self.notice(text),
            DemoEffect::Streamed(text) => {
                self.streamed.clone_from(text);
                Ok(())
            }
            DemoEffect::Show(show) => self.present(show),
            DemoEffect::Clear => self.notice(format!("new conversation {id}")),
            DemoEffect::Fork => self.notice(format!("a copy of the conversation, {id}")),
            _ => Ok(()),
        }
    }
}

/// Returns a question with its numbered choices: `Allow? 1 yes 2 no`.
fn question_text(dialog: &DemoDialog) -> String {
    let choices = dialog.choices.iter().enumerate();
    let numbered: Vec<String> =
        choices.map(|(index, choice)| format!("{} {choice}", index + 1)).collect();
    format!("{} {}", dialog.question, numbered.join(" "))
}
