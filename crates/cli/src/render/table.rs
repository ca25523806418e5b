//! Tables: columns as wide as their widest cell, counted in the columns of a terminal.

use unicode_width::UnicodeWidthStr as _;

use super::plain::one_line;
use super::style::{Colour, Tone};

const GAP: usize = 2;

/// Rows under a heading.
#[derive(Debug)]
pub(crate) struct Table {
    heading: Vec<Cell>,
    rows: Vec<Vec<Cell>>,
}

/// One field of a [`Table`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cell {
    text: String,
    tone: Tone,
}

impl Cell {
    /// Makes a cell from any text, also from one that somebody else wrote.
    pub(crate) fn new(text: impl AsRef<str>) -> Self {
        Self::toned(text, Tone::Plain)
    }

    pub(crate) fn toned(text: impl AsRef<str>, tone: Tone) -> Self {
        Self { text: one_line(text.as_ref()), tone }
    }

    fn width(&self) -> usize {
        self.text.width()
    }
}

impl Table {
    pub(crate) fn new(heading: &[&str]) -> Self {
        let heading = heading.iter().map(|text| Cell::toned(text, Tone::Faint)).collect();
        Self { heading, rows: Vec::new() }
    }

    /// Adds a row; it has as many cells as the heading.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// Returns the table as lines, each with its line break; nothing when there are no rows.
    pub(crate) fn render(&self, colour: Colour) -> String {
        if self.rows.is_empty() {
            return String::new();
        }
        let widths = self.widths();
        std::iter::once(&self.heading)
            .chain(&self.rows)
            .map(|cells| line(cells, &widths, colour))
            .collect()
    }

    fn widths(&self) -> Vec<usize> {
        let widest = |column: usize| {
            let cells = std::iter::once(&self.heading).chain(&self.rows);
            cells.filter_map(|row| row.get(column)).map(Cell::width).max().unwrap_or(0)
        };
        (0..self.heading.len()).map(widest).collect()
    }
}

fn line(cells: &[Cell], widths: &[usize], colour: Colour) -> String {
    let last = cells.iter().rposition(|cell| !cell.text.is_empty()).map_or(0, |index| index + 1);
    let mut line = String::new();
    for (index, (cell, width)) in cells.iter().zip(widths).take(last).enumerate() {
        line.push_str(&colour.paint(cell.tone, &cell.text));
        if index + 1 < last {
            line.extend(std::iter::repeat_n(' ', width - cell.width() + GAP));
        }
    }
    line.push('\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new(&["NAME", "STATUS", "WHERE"]);
        table.row([Cell::new("shop/coder"), Cell::toned("working", Tone::Good), Cell::new("/src")]);
        table.row([Cell::new("漢字"), Cell::new("idle"), Cell::new("")]);
        table
    }

    #[test]
    fn columns_line_up_by_display_width_and_lines_end_without_blanks() {
        let expected = "\
NAME        STATUS   WHERE
shop/coder  working  /src
漢字        idle
";
        assert_eq!(table().render(Colour::Off), expected);
    }

    #[test]
    fn colours_do_not_change_the_columns() {
        let coloured = table().render(Colour::On);
        assert!(coloured.contains("\u{1b}[32mworking\u{1b}[0m  /src"), "{coloured:?}");
        assert_eq!(super::super::plain::plain(&coloured), table().render(Colour::Off));
    }

    #[test]
    fn a_cell_cannot_break_the_table() {
        let mut table = Table::new(&["NAME", "NOTE"]);
        table.row([Cell::new("x\u{1b}[2J\ny"), Cell::new("\u{9b}31mred\r\nnext")]);
        assert_eq!(table.render(Colour::Off), "NAME  NOTE\nx y   red next\n");
    }

    #[test]
    fn a_table_without_rows_is_nothing() {
        assert_eq!(Table::new(&["NAME"]).render(Colour::Off), "");
    }
}
