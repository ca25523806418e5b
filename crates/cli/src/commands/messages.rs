//! `segue messages`: lists the messages to agents, and cancels a queued one.

use std::collections::BTreeSet;

use clap::Args;
use segue_core::api::{CancelRequest, MessageList, MessageView};
use segue_core::model::MessageStateKind;
use segue_core::{Kind, Result};
use segue_server::wiring::Size;

use super::targets;
use crate::complete;
use crate::context::{CommandEnding, Context};
use crate::progress;
use crate::render::sessions::DisplayContext;
use crate::render::style::TextTone;
use crate::render::table::{CutPlace, TableCell, TextTable};
use crate::render::time::age;

/// At least this many characters of an id are shown.
const SHORTEST_ID_CHARACTERS: usize = 13;

/// At most this many characters of a message are shown.
const SHOWN_CHARACTERS: usize = 60;

/// List the messages to agents and their states, or cancel a queued message
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  segue messages\n  segue messages coder\n  \
    segue messages --cancel 0198f9d2")]
pub(crate) struct MessagesArguments {
    /// Only messages to these sessions and fleets
    #[arg(value_name = "SESSION|FLEET", add = complete::sessions_and_fleets())]
    pub(crate) names: Vec<String>,

    /// Cancel a message that is still queued
    #[arg(long, value_name = "ID", conflicts_with = "names")]
    pub(crate) cancel: Option<String>,
}

pub(crate) async fn run(
    arguments: MessagesArguments,
    context: &mut Context,
) -> Result<CommandEnding> {
    let client = progress::connect(context).await?;
    if let Some(message) = arguments.cancel {
        let cancelled = client.cancel(&CancelRequest { message }).await?;
        return show_cancelled(&cancelled, context);
    }
    let list = client.messages(&arguments.names, context.cwd()).await?;
    targets::report(&list.failed, context);
    let ending = CommandEnding::of_answer(!list.failed.is_empty(), Kind::Partial);
    if context.wants_json() {
        context.output.json(&list)?;
        return Ok(ending);
    }
    let table = table(&list, Size::of_output().is_some(), context.display());
    context.output.table(&table)?;
    if list.messages.is_empty() {
        context.output.note("no messages yet");
    }
    Ok(ending)
}

fn show_cancelled(message: &MessageView, context: &mut Context) -> Result<CommandEnding> {
    if context.wants_json() {
        context.output.json(message)?;
    } else {
        context.output.text(&format!("{} cancelled\n", message.id))?;
    }
    Ok(CommandEnding::Done)
}

fn table(list: &MessageList, shortens: bool, display: DisplayContext<'_>) -> TextTable {
    let mut table = TextTable::new(&["ID", "SESSION", "STATE", "SINCE", "TEXT"])
        .cutting(&[("TEXT", CutPlace::End)]);
    let ids = list.messages.iter().map(|message| message.id.to_string()).collect();
    let ids = if shortens { shortest(ids) } else { ids };
    for (message, id) in list.messages.iter().zip(ids) {
        let is_uncertain = message.state.known() == Some(MessageStateKind::Uncertain);
        let tone = if is_uncertain { TextTone::Strong } else { TextTone::Plain };
        table.row([
            TableCell::new(id),
            TableCell::new(&message.of.address),
            TableCell::toned(message.state.as_str(), tone),
            TableCell::new(age(message.updated_at, display.now)),
            TableCell::new(beginning(&message.text)),
        ]);
    }
    table
}

/// Shortens ids to prefixes of one length that are still unique, because the user may have to type
/// one.
pub(crate) fn shortest(ids: Vec<String>) -> Vec<String> {
    let sorted: BTreeSet<String> = ids.iter().cloned().collect();
    let sorted: Vec<String> = sorted.into_iter().collect();
    let common = |pair: &[String]| {
        let [one, next] = pair else { return 0 };
        one.chars().zip(next.chars()).take_while(|(a, b)| a == b).count()
    };
    let needed = sorted.windows(2).map(common).max().map_or(0, |common| common + 1);
    let needed = needed.max(SHORTEST_ID_CHARACTERS);
    ids.into_iter().map(|id| id.chars().take(needed).collect()).collect()
}

/// Returns the beginning of a text, on one line.
pub(crate) fn beginning(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        line.push_str(if line.is_empty() { "" } else { " " });
        line.push_str(word);
    }
    if line.chars().count() > SHOWN_CHARACTERS {
        line = line.chars().take(SHOWN_CHARACTERS - 1).chain(['…']).collect();
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_shortened_to_unique_prefixes() {
        let ids = |texts: &[&str]| texts.iter().map(|&it| it.to_owned()).collect::<Vec<_>>();
        let one = "0198f9d2-0000-7000-8000-000000000001";
        assert_eq!(shortest(ids(&[one])), ["0198f9d2-0000"]);
        let other = "0198f9d2-0000-7000-8111-000000000001";
        assert_eq!(
            shortest(ids(&[other, one])),
            ["0198f9d2-0000-7000-81", "0198f9d2-0000-7000-80"]
        );
        assert_eq!(shortest(Vec::new()), Vec::<String>::new());
    }

    #[test]
    fn message_is_shown_on_one_line_and_cut_if_it_is_long() {
        assert_eq!(beginning("one\n two\tthree"), "one two three");
        let long = beginning(&"ä".repeat(100));
        assert_eq!(long.chars().count(), SHOWN_CHARACTERS);
        assert!(long.ends_with('…'));
    }
}
