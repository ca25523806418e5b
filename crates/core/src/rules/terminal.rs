//! The size of the terminal that a launch begins with.
//!
//! It travels with the environment, as the variables that have this meaning everywhere: `LINES`
//! and `COLUMNS`. So it takes the same way as the rest of what a launch gets from its caller: a
//! person's command sends its own, an agent's request gets that of the agent's own launch, and an
//! automatic restart gets that of the launch before. The agent itself is not given the variables:
//! its terminal knows its size, and changes it later.

use crate::model::{Environment, TerminalSize};

const ROWS: &str = "LINES";
const COLS: &str = "COLUMNS";

/// Returns the size that an agent's terminal begins with, whatever the variables contain.
pub fn size(environment: &Environment) -> TerminalSize {
    // A number that is missing or not a number is unknown, like 0. A huge one is cut later.
    let number = |name| match environment.get(name).map(str::parse::<u64>) {
        Some(Ok(number)) => u16::try_from(number).unwrap_or(u16::MAX),
        Some(Err(_)) | None => 0,
    };
    TerminalSize { rows: number(ROWS), cols: number(COLS) }.sensible()
}

/// Records the size of a terminal in an environment.
pub fn set_size(environment: &mut Environment, size: TerminalSize) {
    environment.set(ROWS, size.rows.to_string());
    environment.set(COLS, size.cols.to_string());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_launch_begins_with_the_size_of_its_callers_terminal_within_limits() {
        type Variables = &'static [(&'static str, &'static str)];
        let table: [(Variables, (u16, u16)); 9] = [
            (&[], (40, 120)),
            (&[(ROWS, "24"), (COLS, "80")], (24, 80)),
            (&[(ROWS, "24")], (24, 120)),
            (&[(ROWS, "0"), (COLS, "0")], (40, 120)),
            (&[(ROWS, "65535"), (COLS, "65535")], (500, 1000)),
            (&[(ROWS, "99999999999"), (COLS, "99999999999")], (500, 1000)),
            (&[(ROWS, "99999999999999999999999"), (COLS, "80")], (40, 80)),
            (&[(ROWS, "-3"), (COLS, "wide")], (40, 120)),
            (&[(ROWS, "1"), (COLS, "1")], (1, 2)),
        ];
        for (variables, (rows, cols)) in table {
            let pairs = variables.iter().map(|(name, value)| ((*name).into(), (*value).into()));
            let found = size(&Environment::new(pairs));
            assert_eq!(found, TerminalSize { rows, cols }, "{variables:?}");
        }
    }

    #[test]
    fn a_size_that_was_recorded_is_found_again() {
        let mut environment = Environment::default();
        let recorded = TerminalSize { rows: 33, cols: 91 };
        set_size(&mut environment, recorded);
        assert_eq!(size(&environment), recorded);
    }
}
