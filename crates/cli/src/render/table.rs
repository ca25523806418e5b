//! Tables whose columns are as wide as their widest cell. Widths are counted in terminal columns.

use std::borrow::Cow;
use std::iter::Peekable;

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use super::plain::one_line;
use super::style::{Colour, TextTone};

/// The space between two columns of a table.
const GAP_COLUMNS: usize = 2;

/// Rows under a heading.
///
/// All texts are in one string, so that a table of many thousands of rows needs little memory.
#[derive(Debug)]
pub(crate) struct TextTable {
    /// The texts of all cells without separators: those of the heading, then those of the rows.
    text: String,
    cells: Vec<StoredCell>,
    /// The width of the widest cell of each column.
    widths: Vec<usize>,
    /// The columns that are cut first to fit a terminal, in the order in which they are cut.
    cuts: Vec<(usize, CutPlace)>,
}

/// A cell whose text begins where the text of the cell before it ends.
#[derive(Clone, Copy, Debug)]
struct StoredCell {
    /// The byte offset at which the text ends.
    end: usize,
    /// In columns of a terminal.
    width: usize,
    tone: TextTone,
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
pub(crate) struct TableCell<'text> {
    text: Cow<'text, str>,
    tone: TextTone,
    /// In columns of a terminal.
    width: usize,
}

impl<'text> TableCell<'text> {
    /// Makes a cell from any text. Control sequences are removed, so the text may come from other
    /// programs.
    pub(crate) fn new(text: impl Into<Cow<'text, str>>) -> Self {
        Self::toned(text, TextTone::Plain)
    }

    pub(crate) fn toned(text: impl Into<Cow<'text, str>>, tone: TextTone) -> Self {
        let text = text.into();
        // Printable ASCII has no control sequences.
        let is_printable = text.bytes().all(|byte| matches!(byte, b' '..=b'~'));
        Self::of_line(if is_printable { text } else { Cow::Owned(one_line(&text)) }, tone)
    }

    /// Makes a cell from a line without control sequences.
    fn of_line(text: Cow<'text, str>, tone: TextTone) -> Self {
        // The characters of plain ASCII are one column wide each.
        let width = if text.is_ascii() { text.len() } else { text.width() };
        Self { text, tone, width }
    }
}

impl TextTable {
    pub(crate) fn new(heading: &[&str]) -> Self {
        let widths = vec![0; heading.len()];
        let mut table = Self { text: String::new(), cells: Vec::new(), widths, cuts: Vec::new() };
        table.row(heading.iter().map(|text| TableCell::toned(*text, TextTone::Faint)));
        table
    }

    /// Sets the columns that are cut first to fit a terminal, the least important one first. The
    /// other columns are cut if that is not enough or if they are very wide, the last column first.
    pub(crate) fn cutting(mut self, columns: &[(&str, CutPlace)]) -> Self {
        let place = |title: &str| self.heading().position(|cell| cell.text == title);
        self.cuts = columns.iter().filter_map(|(title, cut)| Some((place(title)?, *cut))).collect();
        self
    }

    /// Adds a row. It must have as many cells as the heading.
    pub(crate) fn row<'text>(&mut self, cells: impl IntoIterator<Item = TableCell<'text>>) {
        let empty = std::iter::repeat_with(|| TableCell::new(""));
        for (widest, cell) in self.widths.iter_mut().zip(cells.into_iter().chain(empty)) {
            let TableCell { text, tone, width } = cell;
            self.text.push_str(&text);
            self.cells.push(StoredCell { end: self.text.len(), width, tone });
            *widest = width.max(*widest);
        }
    }

    /// Returns the table as text, or an empty string if there are no rows. `columns` is the width
    /// of the terminal, to which lines are cut.
    pub(crate) fn render(&self, colour: Colour, columns: Option<usize>) -> String {
        if self.cells.len() == self.widths.len() {
            return String::new();
        }
        let mut widths = self.widths.clone();
        if let Some(columns) = columns {
            self.narrow(&mut widths, columns);
        }
        let heading_cuts = vec![CutPlace::End; widths.len()];
        let row_cuts: Vec<CutPlace> = (0..widths.len()).map(|column| self.cut(column)).collect();
        let mut text = String::with_capacity(self.text.len() * 3 / 2);
        let mut cells = self.cells();
        add_line(&mut text, &mut cells, widths.iter().zip(&heading_cuts), colour);
        while cells.peek().is_some() {
            add_line(&mut text, &mut cells, widths.iter().zip(&row_cuts), colour);
        }
        text
    }

    /// Returns the cells of the heading, then those of the rows.
    fn cells(&self) -> Peekable<impl Iterator<Item = TableCell<'_>>> {
        let starts = std::iter::once(0).chain(self.cells.iter().map(|cell| cell.end));
        let cells = self.cells.iter().zip(starts).map(|(cell, start)| {
            let text = Cow::Borrowed(&self.text[start..cell.end]);
            TableCell { text, tone: cell.tone, width: cell.width }
        });
        cells.peekable()
    }

    fn heading(&self) -> impl Iterator<Item = TableCell<'_>> {
        self.cells().take(self.widths.len())
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
        let all = (0..self.widths.len()).rev();
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
        let is_name = self.heading().nth(column).is_some_and(|cell| cell.text == NAME_HEADING);
        if is_name { CutPlace::Middle } else { CutPlace::End }
    }
}

/// Returns a cell that is at most this wide.
fn fitted(cell: TableCell<'_>, width: usize, cut: CutPlace) -> TableCell<'_> {
    if cell.width <= width {
        return cell;
    }
    TableCell::of_line(Cow::Owned(shortened(&cell.text, width, cut)), cell.tone)
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

/// Adds a line to a text. It takes as many cells as there are columns, each with its width and the
/// place where it is cut.
fn add_line<'cells, 'columns>(
    line: &mut String,
    cells: &mut impl Iterator<Item = TableCell<'cells>>,
    columns: impl Iterator<Item = (&'columns usize, &'columns CutPlace)>,
    colour: Colour,
) {
    // Blanks are added before the next text, so that no line ends with blanks.
    let mut blanks = 0;
    for ((width, cut), cell) in columns.zip(cells) {
        let cell = fitted(cell, *width, *cut);
        if !cell.text.is_empty() {
            add_blanks(line, blanks);
            blanks = 0;
            colour.paint_into(line, cell.tone, &cell.text);
        }
        blanks += width.saturating_sub(cell.width) + GAP_COLUMNS;
    }
    line.push('\n');
}

fn add_blanks(line: &mut String, mut count: usize) {
    const BLANKS: &str = "                                ";
    while let Some(rest) = count.checked_sub(BLANKS.len()) {
        line.push_str(BLANKS);
        count = rest;
    }
    line.push_str(&BLANKS[..count]);
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
