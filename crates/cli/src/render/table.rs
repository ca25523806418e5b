//! Tables: columns as wide as their widest cell, counted in the columns of a terminal.

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use super::plain::one_line;
use super::style::{Colour, Tone};

const GAP: usize = 2;

/// Rows under a heading.
#[derive(Debug)]
pub(crate) struct Table {
    heading: Vec<Cell>,
    rows: Vec<Vec<Cell>>,
    /// The columns that may be cut to fit a terminal, in the order in which they are.
    cuts: Vec<(usize, Cut)>,
}

/// Where a text that is too long loses characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cut {
    /// The end of a folder says more than its beginning.
    Front,
    End,
}

/// A column is cut to this width before the next one is cut, and further only if that is not enough.
const COMFORTABLE: usize = 16;
const NARROWEST: usize = 4;

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
        Self { heading, rows: Vec::new(), cuts: Vec::new() }
    }

    /// Names the columns that may be cut to fit a terminal, the least important first. The others
    /// are cut only if that is not enough, the last column first.
    pub(crate) fn cutting(mut self, columns: &[(&str, Cut)]) -> Self {
        let place = |title: &str| self.heading.iter().position(|cell| cell.text == title);
        self.cuts = columns.iter().filter_map(|(title, cut)| Some((place(title)?, *cut))).collect();
        self
    }

    /// Adds a row; it has as many cells as the heading.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// Returns the table as lines, each with its line break; nothing when there are no rows. No line
    /// is wider than the terminal, if there is one.
    pub(crate) fn render(&self, colour: Colour, columns: Option<usize>) -> String {
        if self.rows.is_empty() {
            return String::new();
        }
        let mut widths = self.widths();
        if let Some(columns) = columns {
            self.narrow(&mut widths, columns);
        }
        let rows = std::iter::once(&self.heading).chain(&self.rows);
        let fitted = rows.map(|cells| self.fitted(cells, &widths));
        fitted.map(|cells| line(&cells, &widths, colour)).collect()
    }

    /// Makes columns narrower until a line has room.
    fn narrow(&self, widths: &mut [usize], columns: usize) {
        let gaps = GAP * widths.len().saturating_sub(1);
        let others = (0..widths.len()).rev();
        let others = others.filter(|it| self.cuts.iter().all(|(column, _)| column != it));
        let chosen: Vec<usize> = self.cuts.iter().map(|(column, _)| *column).collect();
        let order: Vec<(usize, usize)> = [COMFORTABLE, NARROWEST]
            .into_iter()
            .flat_map(|narrowest| chosen.iter().map(move |column| (*column, narrowest)))
            .chain(others.map(|column| (column, NARROWEST)))
            .chain((0..widths.len()).rev().map(|column| (column, 1)))
            .collect();
        for (column, narrowest) in order {
            let excess = (widths.iter().sum::<usize>() + gaps).saturating_sub(columns);
            let spare = widths[column].saturating_sub(narrowest);
            widths[column] -= excess.min(spare);
        }
    }

    fn fitted(&self, cells: &[Cell], widths: &[usize]) -> Vec<Cell> {
        let fit = |(column, cell): (usize, &Cell)| {
            let cut = self.cuts.iter().find(|(it, _)| *it == column).map_or(Cut::End, |it| it.1);
            let width = widths.get(column).copied().unwrap_or(usize::MAX);
            Cell { text: shortened(&cell.text, width, cut), tone: cell.tone }
        };
        cells.iter().enumerate().map(fit).collect()
    }

    fn widths(&self) -> Vec<usize> {
        let widest = |column: usize| {
            let cells = std::iter::once(&self.heading).chain(&self.rows);
            cells.filter_map(|row| row.get(column)).map(Cell::width).max().unwrap_or(0)
        };
        (0..self.heading.len()).map(widest).collect()
    }
}

/// Returns a text that takes at most this many columns of a terminal, with an ellipsis where
/// something is missing.
pub(crate) fn shortened(text: &str, width: usize, cut: Cut) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut room = width.saturating_sub(1);
    let fits = |character: &char| {
        let needed = character.width().unwrap_or(0);
        let has_room = needed <= room;
        room = if has_room { room - needed } else { 0 };
        has_room
    };
    match cut {
        Cut::End => text.chars().take_while(fits).chain(['…']).collect(),
        Cut::Front => {
            let end: Vec<char> = text.chars().rev().take_while(fits).collect();
            std::iter::once('…').chain(end.into_iter().rev()).collect()
        }
    }
}

fn line(cells: &[Cell], widths: &[usize], colour: Colour) -> String {
    let last = cells.iter().rposition(|cell| !cell.text.is_empty()).map_or(0, |index| index + 1);
    let mut line = String::new();
    for (index, (cell, width)) in cells.iter().zip(widths).take(last).enumerate() {
        line.push_str(&colour.paint(cell.tone, &cell.text));
        if index + 1 < last {
            line.extend(std::iter::repeat_n(' ', width.saturating_sub(cell.width()) + GAP));
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
        assert_eq!(table().render(Colour::Off, None), expected);
    }

    #[test]
    fn colours_do_not_change_the_columns() {
        let coloured = table().render(Colour::On, None);
        assert!(coloured.contains("\u{1b}[32mworking\u{1b}[0m  /src"), "{coloured:?}");
        assert_eq!(super::super::plain::plain(&coloured), table().render(Colour::Off, None));
    }

    #[test]
    fn a_cell_cannot_break_the_table() {
        let mut table = Table::new(&["NAME", "NOTE"]);
        table.row([Cell::new("x\u{1b}[2J\ny"), Cell::new("\u{9b}31mred\r\nnext")]);
        assert_eq!(table.render(Colour::Off, None), "NAME  NOTE\nx y   red next\n");
    }

    #[test]
    fn a_table_without_rows_is_nothing() {
        assert_eq!(Table::new(&["NAME"]).render(Colour::Off, None), "");
    }

    fn wide() -> Table {
        let mut table = Table::new(&["NAME", "STATUS", "WHERE"])
            .cutting(&[("WHERE", Cut::Front), ("STATUS", Cut::End)]);
        let cells = ["shop/coder", "waiting (permission)", "~/src/company/projects/shop"];
        table.row(cells.map(Cell::new));
        table.row(["blog/漢字漢字", "idle", "~/src/漢字漢字漢字漢字/blog"].map(Cell::new));
        table
    }

    #[test]
    fn a_table_is_cut_to_the_terminal_folders_first_and_names_last() {
        for columns in 12..80 {
            for line in wide().render(Colour::Off, Some(columns)).lines() {
                assert!(line.width() <= columns, "{columns}: {line}");
            }
        }
        let has = |columns, text| wide().render(Colour::Off, Some(columns)).contains(text);
        assert!(has(55, "waiting (permission)  …") && has(55, "  …any/projects/shop\n"));
        assert!(has(48, "waiting (permis…  …/projects/shop\n"));
        assert!(has(25, "shop/coder     wai…  …hop\n") && has(25, "blog/漢字漢字  "));
        assert!(!has(20, "shop/coder"));
        assert_eq!(wide().render(Colour::Off, None), wide().render(Colour::Off, Some(200)));
    }

    #[test]
    fn a_text_is_shortened_by_display_width() {
        let table = [
            ("abcdef", 6, Cut::End, "abcdef"),
            ("abcdef", 4, Cut::End, "abc…"),
            ("abcdef", 4, Cut::Front, "…def"),
            ("漢字漢字", 6, Cut::End, "漢字…"),
            ("漢字漢字", 4, Cut::Front, "…字"),
            ("abc", 1, Cut::End, "…"),
            ("", 0, Cut::End, ""),
        ];
        for (text, width, cut, expected) in table {
            assert_eq!(shortened(text, width, cut), expected, "{text} in {width}");
        }
    }
}
