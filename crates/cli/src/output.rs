//! The one place that writes to standard output and standard error, and asks questions.

use std::io::{self, BufRead as _, ErrorKind, IsTerminal as _, Write};

use segue_core::model::Environment;
use segue_core::{Error, Result};
use segue_server::wiring::Size;
use serde::Serialize;

use crate::render::plain::plain;
use crate::render::style::{Colour, Tone};
use crate::render::table::Table;
use crate::render::{error, json};

/// Whom the answer is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Text,
    Json,
}

/// Standard output and standard error of this command.
#[derive(Debug)]
pub(crate) struct Output {
    format: Format,
    colour: Colour,
    error_colour: Colour,
    reader_gone: bool,
}

impl Output {
    /// Makes an output without colours, for failures before the surroundings are known.
    pub(crate) fn bare(format: Format) -> Self {
        Self { format, colour: Colour::Off, error_colour: Colour::Off, reader_gone: false }
    }

    pub(crate) fn new(format: Format, environment: &Environment) -> Self {
        let wanted = |terminal: bool| colour(terminal, environment);
        Self {
            format,
            colour: wanted(io::stdout().is_terminal()),
            error_colour: wanted(io::stderr().is_terminal()),
            reader_gone: false,
        }
    }

    pub(crate) fn format(&self) -> Format {
        self.format
    }

    pub(crate) fn colour(&self) -> Colour {
        self.colour
    }

    /// Tells whether whoever read standard output has closed it.
    pub(crate) fn reader_gone(&self) -> bool {
        self.reader_gone
    }

    /// Writes text that is ready to be shown.
    pub(crate) fn text(&mut self, text: &str) -> Result<()> {
        self.bytes(text.as_bytes())
    }

    /// Writes bytes as they are; a terminal would act on some of them.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> Result<()> {
        if self.reader_gone {
            return Ok(());
        }
        match write_now(&mut io::stdout().lock(), bytes) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => self.reader_gone = true,
            Err(error) => {
                return Err(Error::internal("cannot write to standard output").caused_by(error));
            }
            Ok(()) => {}
        }
        Ok(())
    }

    /// Writes a table, cut to the width of the terminal if there is one.
    pub(crate) fn table(&mut self, table: &Table) -> Result<()> {
        let columns = Size::of_output().map(|size| size.columns);
        let text = table.render(self.colour, columns);
        self.text(&text)
    }

    /// Writes what an agent said: harmless on a terminal, unchanged into a pipe or file.
    pub(crate) fn words_of_agent(&mut self, text: &str) -> Result<()> {
        let shown = if io::stdout().is_terminal() { plain(text) } else { text.to_owned() };
        let ending = if shown.is_empty() || shown.ends_with('\n') { "" } else { "\n" };
        self.text(&(shown + ending))
    }

    /// Writes a value as one line of JSON.
    pub(crate) fn json(&mut self, value: &impl Serialize) -> Result<()> {
        let line = json::line(value)?;
        self.text(&line)
    }

    /// Tells a person something beside the answer; standard output stays clean.
    pub(crate) fn note(&self, text: &str) {
        self.aside(&format!("{}\n", plain(text)));
    }

    /// Tells the person at a terminal why a command takes long.
    pub(crate) fn progress(text: &str) {
        if io::stderr().is_terminal() {
            Self::bare(Format::Text).note(text);
        }
    }

    /// Tells a person what could be done next.
    pub(crate) fn hint(&self, text: &str) {
        let label = self.error_colour.paint(Tone::Help, "hint:");
        self.aside(&format!("{label} {}\n", plain(text)));
    }

    /// Reports a failure to a person; a program reads about it in the answer.
    pub(crate) fn complaint(&self, failure: &Error) {
        self.aside(&error::text(failure, self.error_colour));
    }

    /// Reports a failure: to a person, and with `--json` to a program too.
    pub(crate) fn failure(&mut self, failure: &Error) {
        self.aside(&error::text(failure, self.error_colour));
        if self.format == Format::Json {
            // The failure is reported already; that this failed too would help nobody.
            let _reported = error::json(failure).and_then(|line| self.text(&line));
        }
    }

    /// Reports that the command was interrupted, and what goes on without it.
    pub(crate) fn interruption(&mut self, left: &Error) {
        self.note(&format!("interrupted: {}", left.message));
        left.hints.iter().for_each(|hint| self.hint(hint));
        if self.format == Format::Json {
            // It is reported already.
            let _reported = error::json(left).and_then(|line| self.text(&line));
        }
    }

    /// Tells whether there is a person to ask.
    pub(crate) fn can_ask() -> bool {
        io::stdin().is_terminal() && io::stderr().is_terminal()
    }

    /// Asks a person for a line; `None` if there is no more input.
    pub(crate) fn read_answer(&self, question: &str) -> Result<Option<String>> {
        self.aside(&plain(question));
        let mut answer = String::new();
        let read = io::stdin().lock().read_line(&mut answer).map_err(|error| {
            Error::internal("cannot read the answer from standard input").caused_by(error)
        })?;
        Ok((read > 0).then_some(answer))
    }

    /// Asks a person a question; anything but a yes is a no.
    pub(crate) fn ask(&self, question: &str) -> Result<bool> {
        self.aside(&format!("{} [y/N] ", plain(question)));
        let mut answer = String::new();
        io::stdin().lock().read_line(&mut answer).map_err(|error| {
            Error::internal("cannot read the answer from standard input").caused_by(error)
        })?;
        Ok(is_yes(&answer))
    }

    /// Writes to standard error. There is nowhere left to report that it failed.
    #[expect(clippy::unused_self, reason = "standard error belongs to the output")]
    fn aside(&self, text: &str) {
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
    fn colours_need_a_terminal_that_has_them_and_nobody_against_it() {
        let xterm = ("TERM", "xterm-256color");
        assert_eq!(colour(true, &environment(&[xterm])), Colour::On);
        assert_eq!(colour(false, &environment(&[xterm])), Colour::Off);
        assert_eq!(colour(true, &environment(&[xterm, ("NO_COLOR", "1")])), Colour::Off);
        assert_eq!(colour(true, &environment(&[xterm, ("NO_COLOR", "")])), Colour::On);
        assert_eq!(colour(true, &environment(&[("TERM", "dumb")])), Colour::Off);
        assert_eq!(colour(true, &environment(&[])), Colour::Off);
    }

    #[test]
    fn only_a_yes_is_a_yes() {
        for yes in ["y\n", "Y\n", "yes\n", " YES \r\n"] {
            assert!(is_yes(yes), "{yes:?}");
        }
        for no in ["", "\n", "n\n", "no\n", "yesterday\n", "ja\n"] {
            assert!(!is_yes(no), "{no:?}");
        }
    }
}
