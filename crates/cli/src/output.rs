//! Writes the answers, notes and errors of commands to standard output and standard error, and asks
//! the user questions.

use std::io::{self, BufRead as _, ErrorKind, IsTerminal as _, Write};

use segue_core::model::Environment;
use segue_core::{Error, Result};
use segue_server::wiring::Size;
use serde::Serialize;

use crate::render::plain::plain;
use crate::render::style::{Colour, TextTone};
use crate::render::table::TextTable;
use crate::render::{error, json};

/// The format of the answer: text for people, or JSON for programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OutputFormat {
    Text,
    Json,
}

/// Standard output and standard error of this command.
#[derive(Debug)]
pub(crate) struct Output {
    format: OutputFormat,
    colour: Colour,
    error_colour: Colour,
    is_reader_gone: bool,
}

impl Output {
    /// Makes an output without colours, for errors that happen before the environment was read.
    pub(crate) fn without_colours(format: OutputFormat) -> Self {
        Self { format, colour: Colour::Off, error_colour: Colour::Off, is_reader_gone: false }
    }

    pub(crate) fn new(format: OutputFormat, environment: &Environment) -> Self {
        let wanted = |terminal: bool| colour(terminal, environment);
        Self {
            format,
            colour: wanted(io::stdout().is_terminal()),
            error_colour: wanted(io::stderr().is_terminal()),
            is_reader_gone: false,
        }
    }

    pub(crate) fn format(&self) -> OutputFormat {
        self.format
    }

    pub(crate) fn colour(&self) -> Colour {
        self.colour
    }

    /// Returns whether the reader of standard output has closed it, as `head` does.
    pub(crate) fn is_reader_gone(&self) -> bool {
        self.is_reader_gone
    }

    /// Writes text to standard output. The text must be safe for a terminal: the caller removes
    /// control sequences that other programs wrote.
    pub(crate) fn text(&mut self, text: &str) -> Result<()> {
        self.bytes(text.as_bytes())
    }

    /// Writes bytes to standard output unchanged; a terminal would execute control sequences in
    /// them. Does nothing if the reader has closed standard output.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> Result<()> {
        if self.is_reader_gone {
            return Ok(());
        }
        match write_now(&mut io::stdout().lock(), bytes) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => self.is_reader_gone = true,
            Err(error) => {
                return Err(Error::internal("cannot write to standard output").caused_by(error));
            }
            Ok(()) => {}
        }
        Ok(())
    }

    /// Writes a table, cut to the width of the terminal if there is one.
    pub(crate) fn table(&mut self, table: &TextTable) -> Result<()> {
        let columns = Size::of_output().map(|size| size.columns);
        let text = table.render(self.colour, columns);
        self.text(&text)
    }

    /// Writes text of an agent, with a line break at the end. On a terminal control sequences are
    /// removed; a pipe or a file gets the text unchanged.
    pub(crate) fn agent_text(&mut self, text: &str) -> Result<()> {
        let shown = if io::stdout().is_terminal() { plain(text) } else { text.to_owned() };
        let ending = if shown.is_empty() || shown.ends_with('\n') { "" } else { "\n" };
        self.text(&(shown + ending))
    }

    /// Writes a value as one line of JSON.
    pub(crate) fn json(&mut self, value: &impl Serialize) -> Result<()> {
        let line = json::line(value)?;
        self.text(&line)
    }

    /// Prints a note for the user on standard error, so that standard output has only the answer.
    pub(crate) fn note(&self, text: &str) {
        self.to_stderr(&format!("{}\n", plain(text)));
    }

    /// Prints on standard error why a command takes long, if standard error is a terminal.
    pub(crate) fn progress(text: &str) {
        if io::stderr().is_terminal() {
            Self::without_colours(OutputFormat::Text).note(text);
        }
    }

    /// Prints a hint about a possible next step on standard error.
    pub(crate) fn hint(&self, text: &str) {
        let label = self.error_colour.paint(TextTone::Help, "hint:");
        self.to_stderr(&format!("{label} {}\n", plain(text)));
    }

    /// Prints a failure on standard error only. With `--json` the answer itself contains it.
    pub(crate) fn failure_on_stderr(&self, failure: &Error) {
        self.to_stderr(&error::text(failure, self.error_colour));
    }

    /// Prints a failure on standard error, and with `--json` also as JSON on standard output.
    pub(crate) fn failure(&mut self, failure: &Error) {
        self.failure_on_stderr(failure);
        self.failure_as_json(failure);
    }

    /// Prints that the command was interrupted, and which work continues without it.
    pub(crate) fn interruption(&mut self, continuing: &Error) {
        self.note(&format!("interrupted: {}", continuing.message));
        continuing.hints.iter().for_each(|hint| self.hint(hint));
        self.failure_as_json(continuing);
    }

    /// Prints a failure on standard output, if the command was called with `--json`.
    fn failure_as_json(&mut self, failure: &Error) {
        if self.format == OutputFormat::Json {
            // Standard error has the failure already. An error about standard output would not
            // help.
            let _reported = error::json(failure).and_then(|line| self.text(&line));
        }
    }

    /// Returns whether the user can be asked: standard input and standard error are terminals.
    pub(crate) fn can_ask() -> bool {
        io::stdin().is_terminal() && io::stderr().is_terminal()
    }

    /// Prints a question and reads a line from standard input. `None` at EOF.
    pub(crate) fn read_answer(&self, question: &str) -> Result<Option<String>> {
        self.to_stderr(&plain(question));
        let mut answer = String::new();
        let read = io::stdin().lock().read_line(&mut answer).map_err(|error| {
            Error::internal("cannot read the answer from standard input").caused_by(error)
        })?;
        Ok((read > 0).then_some(answer))
    }

    /// Prints a yes/no question and reads the answer. Only `y` and `yes` (in any case) are a yes.
    pub(crate) fn ask(&self, question: &str) -> Result<bool> {
        let answer = self.read_answer(&format!("{question} [y/N] "))?;
        Ok(answer.is_some_and(|answer| is_yes(&answer)))
    }

    /// Writes to standard error. Errors are ignored, because there is no other place to report
    /// them.
    #[expect(clippy::unused_self, reason = "all output goes through `Output`")]
    fn to_stderr(&self, text: &str) {
        let _nowhere_to_report = write_now(&mut io::stderr().lock(), text.as_bytes());
    }
}

fn write_now(to: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    to.write_all(bytes)?;
    to.flush()
}

fn colour(terminal: bool, environment: &Environment) -> Colour {
    let refused = environment.get("NO_COLOR").is_some_and(|value| !value.is_empty());
    let dumb = environment.get("TERM").is_none_or(|terminal| terminal == "dumb");
    if terminal && !refused && !dumb { Colour::On } else { Colour::Off }
}

fn is_yes(answer: &str) -> bool {
    matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(variables: &[(&str, &str)]) -> Environment {
        Environment::new(variables.iter().map(|&(name, value)| (name.into(), value.into())))
    }

    #[test]
    fn colours_need_a_terminal_with_colours_and_an_unset_or_empty_no_color() {
        let xterm = ("TERM", "xterm-256color");
        assert_eq!(colour(true, &environment(&[xterm])), Colour::On);
        assert_eq!(colour(false, &environment(&[xterm])), Colour::Off);
        assert_eq!(colour(true, &environment(&[xterm, ("NO_COLOR", "1")])), Colour::Off);
        assert_eq!(colour(true, &environment(&[xterm, ("NO_COLOR", "")])), Colour::On);
        assert_eq!(colour(true, &environment(&[("TERM", "dumb")])), Colour::Off);
        assert_eq!(colour(true, &environment(&[])), Colour::Off);
    }

    #[test]
    fn only_y_and_yes_in_any_case_count_as_yes() {
        for yes in ["y\n", "Y\n", "yes\n", " YES \r\n"] {
            assert!(is_yes(yes), "{yes:?}");
        }
        for no in ["", "\n", "n\n", "no\n", "yesterday\n", "ja\n"] {
            assert!(!is_yes(no), "{no:?}");
        }
    }
}
