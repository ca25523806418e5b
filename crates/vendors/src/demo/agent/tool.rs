//! The agent's only tool: the agent program itself, which sleeps for a given time.

use std::io::{self, Write as _};
use std::time::Duration;

use super::effect::Placement;
use super::{DemoRefusal, wait};

/// The first argument of a tool: `--tool MILLISECONDS [--own-session]`.
pub(super) const FLAG: &str = "--tool";

const OWN_SESSION: &str = "--own-session";

/// Returns the arguments that start a tool.
pub(super) fn arguments(duration: Duration, placement: Placement) -> Vec<String> {
    let mut arguments = vec![FLAG.to_owned(), duration.as_millis().to_string()];
    if placement == Placement::OwnSession {
        arguments.push(OWN_SESSION.to_owned());
    }
    arguments
}

/// Runs the tool: enters a new process session if requested, prints a line, and sleeps.
pub(super) fn run(arguments: &[String]) -> Result<u8, DemoRefusal> {
    let milliseconds = arguments.first().and_then(|time| time.parse().ok());
    let Some(milliseconds) = milliseconds else {
        return Err(DemoRefusal::new(2, format!("`{FLAG}` needs a time in milliseconds")));
    };
    if arguments.iter().any(|argument| argument == OWN_SESSION) {
        rustix::process::setsid().map_err(io::Error::from)?;
    }
    // The tool keeps running even if the agent has died and no process reads this line.
    let _unread = writeln!(io::stdout(), "ready");
    wait::sleep(Duration::from_millis(milliseconds))?;
    Ok(0)
}
