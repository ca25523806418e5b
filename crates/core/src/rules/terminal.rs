//! The initial size of a launch's terminal.
//!
//! The size is part of the environment, as the standard variables `LINES` and `COLUMNS`:
//!
//! - A user's command sends the size of its own terminal.
//! - A request of an agent gets the size of that agent's terminal.
//! - An automatic restart gets the size of the previous launch.
//!
//! The agent itself does not get the variables, because it asks its terminal for the size, which can
//! change later.

use crate::model::{Environment, TerminalSize};

const ROWS: &str = "LINES";
const COLS: &str = "COLUMNS";

/// Returns the initial size of an agent's terminal. The variables can contain any values.
pub fn size(environment: &Environment) -> TerminalSize {
    // A missing or invalid number is unknown, like 0. `clamped` limits a huge number.
    let number = |name| match environment.get(name).map(str::parse::<u64>) {
        Some(Ok(number)) => u16::try_from(number).unwrap_or(u16::MAX),
        Some(Err(_)) | None => 0,
    };
    TerminalSize { rows: number(ROWS), cols: number(COLS) }.clamped()
}

/// Stores the size of a terminal in an environment.
pub fn set_size(environment: &mut Environment, size: TerminalSize) {
    environment.set(ROWS, size.rows.to_string());
    environment.set(COLS, size.cols.to_string());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn initial_size_is_that_of_the_callers_terminal_within_limits() {
        type TerminalVariables = &'static [(&'static str, &'static str)];
        let table: [(TerminalVariables, (u16, u16)); 9] = [
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
    fn stored_size_is_read_back() {
        let mut environment = Environment::default();
        let recorded = TerminalSize { rows: 33, cols: 91 };
        set_size(&mut environment, recorded);
        assert_eq!(size(&environment), recorded);
    }
}
