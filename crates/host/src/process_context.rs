//! The environment and the working folder of this process. No other code reads them.

use std::ffi::OsString;
use std::path::PathBuf;

use rustix::process::{Signal, getpid, kill_process};
use rustix::termios::tcgetwinsize;
use segue_core::model::{Environment, TerminalSize};
use segue_core::{Error, Result};

/// The environment and the working folder in which the program was started.
#[derive(Clone, Debug)]
pub struct ProcessContext {
    pub environment: Environment,
    pub cwd: PathBuf,
    /// The names of the variables that are not in `environment` because their values are not UTF-8.
    pub left_out: Vec<String>,
}

/// Returns whether this process has an environment variable, without reading the others.
pub fn has_variable(name: &str) -> bool {
    std::env::var_os(name).is_some()
}

impl ProcessContext {
    /// Reads the environment and the working folder of this process.
    pub fn read() -> Result<Self> {
        let cwd = std::env::current_dir().map_err(|error| {
            Error::usage("the working folder is unknown: it was removed or may not be read")
                .caused_by(error)
                .hint("run `cd` to go to a folder that exists")
        })?;
        let (environment, left_out) = readable(std::env::vars_os());
        Ok(Self { environment, cwd, left_out })
    }
}

/// Returns the size of this process's terminal. `None` without a terminal, or if the terminal
/// reports no size. Checks all three standard streams, because a command with redirected output
/// usually still has a terminal.
pub fn terminal_size() -> Option<TerminalSize> {
    let (input, output, errors) = (std::io::stdin(), std::io::stdout(), std::io::stderr());
    let sizes = [tcgetwinsize(output), tcgetwinsize(input), tcgetwinsize(errors)];
    let known = sizes.into_iter().flatten().find(|size| size.ws_row > 0 && size.ws_col > 0)?;
    Some(TerminalSize { rows: known.ws_row, cols: known.ws_col }.clamped())
}

/// Stops this process as Ctrl-Z does. Returns after the process was continued.
pub fn suspend() -> Result<()> {
    kill_process(getpid(), Signal::STOP)
        .map_err(|error| Error::unavailable("cannot stop this process").caused_by(error))
}

/// Splits variables into those that can be passed on unchanged and the names of the others.
///
/// A variable whose value is not UTF-8 is left out. An agent can report a missing variable, but a
/// value that was changed without a report leads to errors. A name that is not UTF-8 cannot even be
/// printed.
fn readable(variables: impl Iterator<Item = (OsString, OsString)>) -> (Environment, Vec<String>) {
    let mut kept = Vec::new();
    let mut left_out = Vec::new();
    for (name, value) in variables {
        match (name.into_string(), value.into_string()) {
            (Ok(name), Ok(value)) => kept.push((name, value)),
            (Ok(name), Err(_)) => left_out.push(name),
            (Err(_), _) => {}
        }
    }
    (Environment::new(kept), left_out)
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt as _;

    use super::*;

    #[test]
    fn variable_with_a_non_utf8_value_is_left_out() {
        let torn = OsString::from_vec(vec![b'a', 0xff]);
        let (environment, left_out) = readable(
            [("GOOD".into(), "1".into()), ("TORN".into(), torn.clone()), (torn, "x".into())]
                .into_iter(),
        );
        assert_eq!(environment.names(), ["GOOD"]);
        assert_eq!(left_out, ["TORN"]);
    }

    #[test]
    fn read_returns_the_path_variable_and_an_absolute_folder() {
        let context = ProcessContext::read().unwrap();
        assert!(context.environment.get("PATH").is_some());
        assert!(context.cwd.is_absolute());
    }
}
