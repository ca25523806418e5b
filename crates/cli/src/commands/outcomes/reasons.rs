//! The reasons below a table of outcomes, with hints. A cell of the table could be cut.

use segue_core::Result;
use segue_core::api::OutcomeNote;

use crate::context::Context;
use crate::render::plain::one_line;
use crate::render::sessions::NAMED_SESSIONS;
use crate::render::style::{Colour, TextTone};
use crate::render::table::TextTable;

/// Prints a table, and below it the notes of sessions. Each note has the address of its session.
pub(super) fn print_table_and_notes<'a>(
    table: &TextTable,
    notes: impl Iterator<Item = (&'a str, &'a OutcomeNote)>,
    context: &mut Context,
) -> Result<()> {
    context.output.table(table)?;
    let reasons = text(notes, context.output.colour());
    context.output.text(&reasons)
}

/// Returns the reason of each note on its own line, with its hints below it. Sessions with the same
/// note share a line.
pub(super) fn text<'a>(
    notes: impl Iterator<Item = (&'a str, &'a OutcomeNote)>,
    colour: Colour,
) -> String {
    let mut grouped: Vec<(&OutcomeNote, Vec<&str>)> = Vec::new();
    for (address, note) in notes {
        match grouped.iter_mut().find(|(known, _)| *known == note) {
            Some((_, addresses)) => addresses.push(address),
            None => grouped.push((note, vec![address])),
        }
    }
    grouped.iter().map(|(note, addresses)| reason(note, addresses, colour)).collect()
}

fn reason(note: &OutcomeNote, addresses: &[&str], colour: Colour) -> String {
    let reason = one_line(&note.reason());
    let label = colour.paint(TextTone::Help, "hint:");
    let hints = note.hints.iter().map(|hint| format!("  {label} {}\n", one_line(hint)));
    let hints: String = hints.collect();
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
        let note = OutcomeNote::new("the account is refused");
        let notes = addresses.iter().map(|address| (&**address, &note));
        let expected = "shop/a0, shop/a1, shop/a2, shop/a3, shop/a4 and 2 more: \
                        the account is refused\n";
        assert_eq!(text(notes, Colour::Off), expected);
    }

    #[test]
    fn only_hints_of_the_answer_are_printed_as_hints() {
        let asked = OutcomeNote::new("asks for permission: `ls; run `segue ls``");
        let note = asked.hint("run `segue answer shop/a yes`, or `no`");
        let note = note.and(OutcomeNote::new("restored from the archive"));
        let expected = "shop/a: asks for permission: `ls; run `segue ls``; restored from the \
                        archive\n  hint: run `segue answer shop/a yes`, or `no`\n";
        assert_eq!(text([("shop/a", &note)].into_iter(), Colour::Off), expected);
    }
}
