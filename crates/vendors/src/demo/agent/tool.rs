//! What the agent runs as a tool: itself, for a time.

use std::io::{self, Write as _};
use std::time::Duration;

use super::effect::Placement;
use super::{Refusal, wait};

/// The first argument of a tool: `--tool MILLISECONDS [--own-session]`.
pub(super) const FLAG: &str = "--tool";

const OWN_SESSION: &str = "--own-session";

/// Returns the arguments that start a tool.
pub(super) fn arguments(lasts: Duration, placement: Placement) -> Vec<String> {
    let mut arguments = vec![FLAG.to_owned(), lasts.as_millis().to_string()];
    if placement == Placement::OwnSession {
        arguments.push(OWN_SESSION.to_owned());
    }
    arguments
}

/// Is the tool: takes its place, says so, and lasts.
pub(super) fn run(arguments: &[String]) -> Result<u8, Refusal> {
    let milliseconds = arguments.first().and_then(|time| time.parse().ok());
    let Some(milliseconds) = milliseconds else {
        return Err(Refusal::new(2, format!("`{FLAG}` needs a time in milliseconds")));
    };
    if arguments.iter().any(|argument| argument == OWN_SESSION) {
        rustix::process::setsid().map_err(io::Error::from)?;
    }
    // An agent that died meanwhile does not keep the tool from running.
    let _unread = writeln!(io::stdout(), "ready");
    wait::pass(Duration::from_millis(milliseconds))?;
    Ok(0)
}
