//! Tables whose columns are as wide as their widest cell. Widths are counted in terminal columns.

use std::borrow::Cow;

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use super::plain::one_line;
use super::style::{Colour, TextTone};

/// The space between two columns of a table.
const GAP_COLUMNS: usize = 2;

/// Rows under a heading.
#[derive(Debug)]
pub(crate) struct TextTable {
    heading: Vec<TableCell>,
    rows: Vec<Vec<TableCell>>,
    /// The columns that are cut first to fit a terminal, in the order in which they are cut.
    cuts: Vec<(usize, CutPlace)>,
}

/// Where characters are removed from a text that is too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CutPlace {
    /// At the beginning. For paths, because their end is more important.
    Front,
    /// In the middle. For names, because they differ at both ends: in the fleet, and in the number
    /// after the name.
    Middle,
    End,
}

/// The heading of the column that is cut in the middle.
const NAME_HEADING: &str = "NAME";

/// The widths to which columns are cut. The steps are applied in this order until a line fits.
const STEPS: [CutStep; 7] = [
    CutStep { columns: ColumnGroup::Chosen, width: 16 },
    CutStep { columns: ColumnGroup::Others, width: 24 },
    // Still wide enough for the longest status without its detail (`starting`).
    CutStep { columns: ColumnGroup::Chosen, width: 8 },
    CutStep { columns: ColumnGroup::Others, width: 16 },
    CutStep { columns: ColumnGroup::Chosen, width: 4 },
    CutStep { columns: ColumnGroup::Others, width: 4 },
    CutStep { columns: ColumnGroup::All, width: 1 },
];

#[derive(Clone, Copy, Debug)]
struct CutStep {
    columns: ColumnGroup,
    width: usize,
}

#[derive(Clone, Copy, Debug)]
enum ColumnGroup {
    /// The columns that were given to [`TextTable::cutting`], in that order.
    Chosen,
    /// All other columns, the last one first.
    Others,
    All,
}

/// One field of a [`TextTable`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TableCell {
    text: String,
    tone: TextTone,
    /// In columns of a terminal.
    width: usize,
}

impl TableCell {
    /// Makes a cell from any text. Control sequences are removed, so the text may come from other
    /// programs.
    pub(crate) fn new(text: impl AsRef<str>) -> Self {
        Self::toned(text, TextTone::Plain)
    }

    pub(crate) fn toned(text: impl AsRef<str>, tone: TextTone) -> Self {
        Self::of_line(one_line(text.as_ref()), tone)
    }

    /// Makes a cell from a line without control sequences.
    fn of_line(text: String, tone: TextTone) -> Self {
        // The characters of plain ASCII are one column wide each.
        let width = if text.is_ascii() { text.len() } else { text.width() };
        Self { text, tone, width }
    }
}

impl TextTable {
    pub(crate) fn new(heading: &[&str]) -> Self {
        let heading = heading.iter().map(|text| TableCell::toned(text, TextTone::Faint)).collect();
        Self { heading, rows: Vec::new(), cuts: Vec::new() }
    }

    /// Sets the columns that are cut first to fit a terminal, the least important one first. The
    /// other columns are cut if that is not enough or if they are very wide, the last column first.
    pub(crate) fn cutting(mut self, columns: &[(&str, CutPlace)]) -> Self {
        let place = |title: &str| self.heading.iter().position(|cell| cell.text == title);
        self.cuts = columns.iter().filter_map(|(title, cut)| Some((place(title)?, *cut))).collect();
        self
    }

    /// Adds a row. It must have as many cells as the heading.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = TableCell>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// Returns the table as text, or an empty string if there are no rows. `columns` is the width
    /// of the terminal, to which lines are cut.
    pub(crate) fn render(&self, colour: Colour, columns: Option<usize>) -> String {
        if self.rows.is_empty() {
            return String::new();
        }
        let mut widths = self.widths();
        if let Some(columns) = columns {
            self.narrow(&mut widths, columns);
        }
        let mut text = String::new();
        let heading = fitted(&self.heading, &widths, |_| CutPlace::End);
        add_line(&mut text, &heading, &widths, colour);
        for cells in &self.rows {
            let cells = fitted(cells, &widths, |column| self.cut(column));
            add_line(&mut text, &cells, &widths, colour);
        }
        text
    }

    /// Makes columns narrower until a line fits into the terminal.
    fn narrow(&self, widths: &mut [usize], columns: usize) {
        let gaps = GAP_COLUMNS * widths.len().saturating_sub(1);
        for step in STEPS {
            for column in self.columns(step.columns) {
                let excess = (widths.iter().sum::<usize>() + gaps).saturating_sub(columns);
                let spare = widths[column].saturating_sub(step.width);
                widths[column] -= excess.min(spare);
            }
        }
    }

    fn columns(&self, columns: ColumnGroup) -> Vec<usize> {
        let all = (0..self.heading.len()).rev();
        match columns {
            ColumnGroup::Chosen => self.cuts.iter().map(|(column, _)| *column).collect(),
            ColumnGroup::Others => {
                all.filter(|it| self.cuts.iter().all(|(column, _)| column != it)).collect()
            }
            ColumnGroup::All => all.collect(),
        }
    }

    /// Returns where the cells of a column are cut.
    fn cut(&self, column: usize) -> CutPlace {
        if let Some((_, cut)) = self.cuts.iter().find(|(it, _)| *it == column) {
            return *cut;
        }
        let is_name = self.heading.get(column).is_some_and(|cell| cell.text == NAME_HEADING);
        if is_name { CutPlace::Middle } else { CutPlace::End }
    }

    fn widths(&self) -> Vec<usize> {
        let widest = |column: usize| {
            let cells = std::iter::once(&self.heading).chain(&self.rows);
            cells.filter_map(|row| row.get(column)).map(|cell| cell.width).max().unwrap_or(0)
        };
        (0..self.heading.len()).map(widest).collect()
    }
}

/// Returns cells that are at most as wide as their columns.
fn fitted<'cells>(
    cells: &'cells [TableCell],
    widths: &[usize],
    cut: impl Fn(usize) -> CutPlace,
) -> Cow<'cells, [TableCell]> {
    if cells.iter().zip(widths).all(|(cell, width)| cell.width <= *width) {
        return Cow::Borrowed(cells);
    }
    let fit = |(column, cell): (usize, &TableCell)| {
        let width = widths.get(column).copied().unwrap_or(usize::MAX);
        TableCell::of_line(shortened(&cell.text, width, cut(column)), cell.tone)
    };
    cells.iter().enumerate().map(fit).collect()
}

/// Shortens a text to at most this many columns of a terminal, with an ellipsis in place of the
/// removed characters.
pub(crate) fn shortened(text: &str, width: usize, cut: CutPlace) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let room = width.saturating_sub(1);
    match cut {
        CutPlace::End => beginning(text, room) + "…",
        CutPlace::Front => format!("…{}", end(text, room)),
        CutPlace::Middle => {
            let begins = beginning(text, room.div_ceil(2));
            // If a wide character did not fit at the beginning, the end gets its columns.
            let ends = end(text, room - begins.width());
            format!("{begins}…{ends}")
        }
    }
}

/// Returns the beginning of a text that fits into this many columns of a terminal.
pub(crate) fn beginning(text: &str, width: usize) -> String {
    text.chars().take_while(fitting(width)).collect()
}

fn end(text: &str, width: usize) -> String {
    let end: Vec<char> = text.chars().rev().take_while(fitting(width)).collect();
    end.into_iter().rev().collect()
}

/// Returns a predicate for `take_while`: it accepts characters as long as they fit into `room`
/// columns.
fn fitting(mut room: usize) -> impl FnMut(&char) -> bool {
    move |character| {
        let needed = character.width().unwrap_or(0);
        let has_room = needed <= room;
        room = if has_room { room - needed } else { 0 };
        has_room
    }
}

/// Adds a line with these cells to a text.
fn add_line(line: &mut String, cells: &[TableCell], widths: &[usize], colour: Colour) {
    let last = cells.iter().rposition(|cell| !cell.text.is_empty()).map_or(0, |index| index + 1);
    for (index, (cell, width)) in cells.iter().zip(widths).take(last).enumerate() {
        colour.paint_into(line, cell.tone, &cell.text);
        if index + 1 < last {
            line.extend(std::iter::repeat_n(' ', width.saturating_sub(cell.width) + GAP_COLUMNS));
        }
    }
    line.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> TextTable {
        let mut table = TextTable::new(&["NAME", "STATUS", "WHERE"]);
        table.row([
            TableCell::new("shop/coder"),
            TableCell::toned("working", TextTone::Good),
            TableCell::new("/src"),
        ]);
        table.row([TableCell::new("漢字"), TableCell::new("idle"), TableCell::new("")]);
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
    fn control_characters_in_a_cell_do_not_break_the_table() {
        let mut table = TextTable::new(&["NAME", "NOTE"]);
        table.row([TableCell::new("x\u{1b}[2J\ny"), TableCell::new("\u{9b}31mred\r\nnext")]);
        assert_eq!(table.render(Colour::Off, None), "NAME  NOTE\nx y   red next\n");
    }

    #[test]
    fn table_without_rows_is_an_empty_string() {
        assert_eq!(TextTable::new(&["NAME"]).render(Colour::Off, None), "");
    }

    fn wide() -> TextTable {
        let mut table = TextTable::new(&["NAME", "STATUS", "WHERE"])
            .cutting(&[("WHERE", CutPlace::Front), ("STATUS", CutPlace::End)]);
        let cells = ["shop/coder", "waiting (permission)", "~/src/company/projects/shop"];
        table.row(cells.map(TableCell::new));
        table.row(["blog/漢字漢字", "idle", "~/src/漢字漢字漢字漢字/blog"].map(TableCell::new));
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
    fn long_name_is_cut_in_the_middle_before_a_status_is_unreadable() {
        let table = |columns| {
            let mut table = TextTable::new(&["NAME", "VENDOR", "STATUS", "SINCE", "WHERE"])
                .cutting(&[("WHERE", CutPlace::Front), ("STATUS", CutPlace::End)]);
            let name = format!("shop/{}1", "a".repeat(63));
            table.row(
                [&*name, "demo", "ended (crashed: signal 9)", "3m", "~/src/shop"]
                    .map(TableCell::new),
            );
            table.render(Colour::Off, Some(columns))
        };
        let expected = "\
NAME                               VENDOR  STATUS            SINCE  WHERE
shop/aaaaaaaaaaa…aaaaaaaaaaaaaaa1  demo    ended (crashed:…  3m     ~/src/shop
";
        assert_eq!(table(78), expected);
        assert!(table(50).contains("  ended (…  "), "{}", table(50));
    }

    #[test]
    fn headings_are_cut_at_their_end() {
        let mut table = TextTable::new(&["STATUS", "WHERE"]).cutting(&[("WHERE", CutPlace::Front)]);
        table.row(["idle", "~/src/shop"].map(TableCell::new));
        assert_eq!(table.render(Colour::Off, Some(12)), "STATUS  WHE…\nidle    …hop\n");
    }

    #[test]
    fn beginning_of_a_text_fits_by_display_width() {
        assert_eq!(beginning("abc", 3), "abc");
        assert_eq!(beginning("abcd", 3), "abc");
        assert_eq!(beginning("a\u{6f22}b", 2), "a");
        assert_eq!(beginning("abc", 0), "");
    }

    #[test]
    fn a_text_is_shortened_by_display_width() {
        let table = [
            ("abcdef", 6, CutPlace::End, "abcdef"),
            ("abcdef", 4, CutPlace::End, "abc…"),
            ("abcdef", 4, CutPlace::Front, "…def"),
            ("abcdef", 5, CutPlace::Middle, "ab…ef"),
            ("abcdef", 4, CutPlace::Middle, "ab…f"),
            ("漢字漢字", 6, CutPlace::Middle, "漢…字"),
            ("abc", 1, CutPlace::Middle, "…"),
            ("漢字漢字", 6, CutPlace::End, "漢字…"),
            ("漢字漢字", 4, CutPlace::Front, "…字"),
            ("abc", 1, CutPlace::End, "…"),
            ("", 0, CutPlace::End, ""),
        ];
        for (text, width, cut, expected) in table {
            assert_eq!(shortened(text, width, cut), expected, "{text} in {width}");
        }
    }
}
