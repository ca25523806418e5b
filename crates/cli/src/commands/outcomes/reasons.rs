//! The reasons below a table of outcomes, with hints. A cell of the table could be cut.

use segue_core::Result;

use crate::context::Context;
use crate::render::plain::one_line;
use crate::render::sessions::NAMED_SESSIONS;
use crate::render::style::{Colour, TextTone};
use crate::render::table::TextTable;

/// Prints a table, and below it the notes of sessions. Each note has an address and a text.
pub(super) fn print_table_and_notes<'a>(
    table: &TextTable,
    notes: impl Iterator<Item = (&'a str, &'a str)>,
    context: &mut Context,
) -> Result<()> {
    context.output.table(table)?;
    let reasons = text(notes, context.output.colour());
    context.output.text(&reasons)
}

/// Begins the first hint of a note. The hints are separated by `; `.
const HINT: &str = "; run `segue ";

/// Returns the reason of each note on its own line, with its hints below it. Sessions with the same
/// text share a line.
pub(super) fn text<'a>(notes: impl Iterator<Item = (&'a str, &'a str)>, colour: Colour) -> String {
    let mut grouped: Vec<(&str, Vec<&str>)> = Vec::new();
    for (address, note) in notes {
        match grouped.iter_mut().find(|(known, _)| *known == note) {
            Some((_, addresses)) => addresses.push(address),
            None => grouped.push((note, vec![address])),
        }
    }
    grouped.iter().map(|(note, addresses)| reason(note, addresses, colour)).collect()
}

fn reason(note: &str, addresses: &[&str], colour: Colour) -> String {
    let note = one_line(note);
    let (reason, hints) = note.split_at(note.find(HINT).unwrap_or(note.len()));
    let label = colour.paint(TextTone::Help, "hint:");
    let hints = hints.split("; ").filter(|hint| !hint.is_empty());
    let hints: String = hints.map(|hint| format!("  {label} {hint}\n")).collect();
    let names = colour.paint(TextTone::Strong, &first_names(addresses));
    format!("{names}: {reason}\n{hints}")
}

fn first_names(addresses: &[&str]) -> String {
    match addresses.split_at_checked(NAMED_SESSIONS) {
        Some((named, others)) if !others.is_empty() => {
            format!("{} and {} more", named.join(", "), others.len())
        }
        _ => addresses.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reason_of_many_sessions_names_the_first_and_counts_the_others() {
        let addresses: Vec<String> = (0..7).map(|number| format!("shop/a{number}")).collect();
        let notes = addresses.iter().map(|address| (&**address, "the account is refused"));
        let expected = "shop/a0, shop/a1, shop/a2, shop/a3, shop/a4 and 2 more: \
                        the account is refused\n";
        assert_eq!(text(notes, Colour::Off), expected);
    }

    #[test]
    fn semicolon_in_a_reason_does_not_begin_a_hint() {
        let notes = [("shop/a", "asks for permission: `ls; pwd`; run `segue answer shop/a yes`")];
        let expected = "shop/a: asks for permission: `ls; pwd`\n  \
                        hint: run `segue answer shop/a yes`\n";
        assert_eq!(text(notes.into_iter(), Colour::Off), expected);
    }
}
