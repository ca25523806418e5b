//! The size of a terminal.

use serde::{Deserialize, Serialize};

/// Rows and columns of a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TerminalSize {
    pub rows: u16,
    pub cols: u16,
}

impl TerminalSize {
    /// The size of an agent's terminal if the command that starts it has no terminal.
    pub const DEFAULT: Self = Self { rows: 40, cols: 120 };
    /// The maximum size. No real screen is larger, and a larger terminal would only cost memory.
    pub const LARGEST: Self = Self { rows: 500, cols: 1000 };
    /// The minimum number of columns, because one character can be two columns wide.
    const FEWEST_COLS: u16 = 2;

    /// Returns the nearest size that an agent's terminal can have. A value of 0 means unknown, and
    /// is replaced by the default value.
    #[must_use]
    pub fn clamped(self) -> Self {
        let fit = |wanted: u16, default, most| if wanted == 0 { default } else { wanted.min(most) };
        Self {
            rows: fit(self.rows, Self::DEFAULT.rows, Self::LARGEST.rows),
            cols: fit(self.cols, Self::DEFAULT.cols, Self::LARGEST.cols).max(Self::FEWEST_COLS),
        }
    }

    /// Returns the largest size that fits into both sizes.
    #[must_use]
    pub fn common(self, other: Self) -> Self {
        Self { rows: self.rows.min(other.rows), cols: self.cols.min(other.cols) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unusable_sizes_become_the_default_or_the_nearest_limit() {
        let table = [
            ((0, 0), (40, 120)),
            ((24, 80), (24, 80)),
            ((0, 80), (40, 80)),
            ((u16::MAX, u16::MAX), (500, 1000)),
            ((1, 1), (1, 2)),
        ];
        for ((rows, cols), expected) in table {
            let size = TerminalSize { rows, cols }.clamped();
            assert_eq!((size.rows, size.cols), expected, "{rows}x{cols}");
        }
    }
}
