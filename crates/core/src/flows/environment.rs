//! Checks the environment of a restart that no command requested, such as that of the login shell:
//! whether it has the variables that the session needs.

use crate::error::{Error, Result};
use crate::flows::{SessionState, launch};
use crate::model::{Environment, EnvironmentSource};
use crate::ports::Ports;
use crate::rules::environment::{EnvironmentCandidate, EnvironmentChoice, choose};

/// Errors and status details name at most this many variables.
const MAX_NAMED_VARIABLES: usize = 5;

/// Decides whether a session's next launch can use this environment. The names of the variables of
/// its last launch are recorded, their values are not.
pub fn check(
    ports: &Ports,
    state: &SessionState,
    source: EnvironmentSource,
    environment: Environment,
) -> Result<EnvironmentChoice> {
    let Some(last) = state.launches.last() else {
        return Ok(EnvironmentChoice::Use { source, environment });
    };
    let names = launch::variable_names(ports, state, last, &environment)?;
    Ok(choose(&last.environment, vec![EnvironmentCandidate { source, environment, names }]))
}

/// Returns the error for a restart that lacks variables.
pub fn missing_variables_error(name: &str, missing: &[String]) -> Error {
    Error::config(format!("cannot restart `{name}`: {} missing", listed(missing)))
        .caused_by("neither the login shell nor the files of `[environment]` have them")
        .hint(format!("run `segue resume {name}` in a shell that has them"))
}

/// Formats names of variables for the user, followed by `is` or `are`.
pub fn listed(names: &[String]) -> String {
    let shown: Vec<String> =
        names.iter().take(MAX_NAMED_VARIABLES).map(|name| format!("`{name}`")).collect();
    let verb = if names.len() == 1 { "is" } else { "are" };
    match names.len().saturating_sub(MAX_NAMED_VARIABLES) {
        0 => format!("{} {verb}", shown.join(", ")),
        more => format!("{} and {more} more {verb}", shown.join(", ")),
    }
}
