//! `segue messages`

use clap::Args;
use segue_core::api::{CancelRequest, MessageList, MessageView};
use segue_core::{Kind, Result};

use super::targets;
use crate::context::{Context, Ending};
use crate::progress;
use crate::render::sessions::Surroundings;
use crate::render::style::Tone;
use crate::render::table::{Cell, Table};
use crate::render::time::since;

/// How much of a message a list shows.
const SHOWN: usize = 60;

/// Show what is queued, delivered and uncertain
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  segue messages\n  segue messages coder\n  \
    segue messages --cancel 0198f9d2")]
pub(crate) struct Arguments {
    /// Only those of these sessions and fleets
    #[arg(value_name = "SESSION|FLEET")]
    pub(crate) names: Vec<String>,

    /// Take back a message that is still queued
    #[arg(long, value_name = "ID", conflicts_with = "names")]
    pub(crate) cancel: Option<String>,
}

pub(crate) async fn run(arguments: Arguments, context: &mut Context) -> Result<Ending> {
    let client = progress::connect(context).await?;
    if let Some(message) = arguments.cancel {
        let cancelled = client.cancel(&CancelRequest { message }).await?;
        return show_cancelled(&cancelled, context);
    }
    let list = client.messages(&arguments.names, context.cwd()).await?;
    targets::report(&list.failed, context);
    let is_complete = list.failed.is_empty();
    let ending = if is_complete { Ending::Done } else { Ending::Told(Kind::Partial) };
    if context.wants_json() {
        context.output.json(&list)?;
        return Ok(ending);
    }
    let text = table(&list, context.surroundings()).render(context.output.colour());
    context.output.text(&text)?;
    if list.messages.is_empty() {
        context.output.note("no messages yet");
    }
    Ok(ending)
}

fn show_cancelled(message: &MessageView, context: &mut Context) -> Result<Ending> {
    if context.wants_json() {
        context.output.json(message)?;
    } else {
        context.output.text(&format!("{} cancelled\n", message.id))?;
    }
    Ok(Ending::Done)
}

fn table(list: &MessageList, surroundings: Surroundings<'_>) -> Table {
    let mut table = Table::new(&["ID", "SESSION", "STATE", "SINCE", "TEXT"]);
    for message in &list.messages {
        let tone = match message.state.as_str() {
            "uncertain" => Tone::Strong,
            _ => Tone::Plain,
        };
        table.row([
            Cell::new(message.id.to_string()),
            Cell::new(&message.of.address),
            Cell::toned(&message.state, tone),
            Cell::new(since(message.updated_at, surroundings.now)),
            Cell::new(beginning(&message.text)),
        ]);
    }
    table
}

fn beginning(text: &str) -> String {
    let line: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= SHOWN {
        return line;
    }
    line.chars().take(SHOWN - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_shown_on_one_line() {
        assert_eq!(beginning("one\n two\tthree"), "one two three");
        let long = beginning(&"ä".repeat(100));
        assert_eq!(long.chars().count(), SHOWN);
        assert!(long.ends_with('…'));
    }
}
