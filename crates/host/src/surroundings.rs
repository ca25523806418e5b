//! What this process was given: its environment and its folder. Read once, here, and passed on.

use std::ffi::OsString;
use std::path::PathBuf;

use rustix::termios::tcgetwinsize;
use segue_core::model::{Environment, TerminalSize};
use segue_core::{Error, Result};

/// The environment and the folder in which the program was started.
#[derive(Clone, Debug)]
pub struct Surroundings {
    pub environment: Environment,
    pub cwd: PathBuf,
    /// Names of the variables that are not in `environment`, because their values are not UTF-8.
    pub left_out: Vec<String>,
}

/// Tells whether this process was given a variable, without reading the others.
pub fn has_variable(name: &str) -> bool {
    std::env::var_os(name).is_some()
}

impl Surroundings {
    /// Reads what the process was given.
    pub fn read() -> Result<Self> {
        let cwd = std::env::current_dir().map_err(|error| {
            Error::usage("cannot tell which folder this is: it was removed or may not be read")
                .caused_by(error)
                .hint("run `cd` to go to a folder that exists")
        })?;
        let (environment, left_out) = readable(std::env::vars_os());
        Ok(Self { environment, cwd, left_out })
    }
}

/// Returns the size of the terminal of this process; `None` without one, and if it does not know
/// its size. Commands whose output is redirected mostly have a terminal all the same.
pub fn terminal_size() -> Option<TerminalSize> {
    let (input, output, errors) = (std::io::stdin(), std::io::stdout(), std::io::stderr());
    let sizes = [tcgetwinsize(output), tcgetwinsize(input), tcgetwinsize(errors)];
    let known = sizes.into_iter().flatten().find(|size| size.ws_row > 0 && size.ws_col > 0)?;
    Some(TerminalSize { rows: known.ws_row, cols: known.ws_col }.sensible())
}

/// Splits variables into those that can be passed on unchanged and the names of the others.
///
/// A value that is not UTF-8 is left out as a whole: an agent without a variable can say so, an
/// agent with a silently changed one goes wrong. A name that is not UTF-8 cannot even be shown.
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
    fn a_value_that_is_not_text_is_left_out_rather_than_changed() {
        let torn = OsString::from_vec(vec![b'a', 0xff]);
        let (environment, left_out) = readable(
            [("GOOD".into(), "1".into()), ("TORN".into(), torn.clone()), (torn, "x".into())]
                .into_iter(),
        );
        assert_eq!(environment.names(), ["GOOD"]);
        assert_eq!(left_out, ["TORN"]);
    }

    #[test]
    fn this_process_has_a_path_and_a_folder() {
        let surroundings = Surroundings::read().unwrap();
        assert!(surroundings.environment.get("PATH").is_some());
        assert!(surroundings.cwd.is_absolute());
    }
}
