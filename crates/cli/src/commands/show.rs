//! `segue show`: prints a conversation.

mod following;

use std::ops::ControlFlow;

use clap::Args;
use segue_core::api::{ConversationPart, ConversationRequest};
use segue_core::{Error, Result};
use segue_server::conversation::{self, ConversationReading, Numbered};
use segue_server::wiring::Size;

use crate::complete;
use crate::context::{CommandEnding, Context};
use crate::output::OutputFormat;
use crate::paged::Paged;
use crate::progress::{self, Counter};
use crate::render::json;
use crate::render::raw::Harmless;
use crate::render::turns::{self, TurnLine, TurnStyle};

/// Show a conversation, whatever the vendor's format
#[derive(Debug, Args)]
#[command(
    after_help = "On a terminal, output that does not fit on the screen goes through $SEGUE_PAGER, \
    $PAGER or `less`.\n\n\
    With --json, each turn is one line with the fields index, role (user, assistant, tool_call, \
    tool_result, summary), text, tool, at, model, usage, tool_id and failed. Unknown values are \
    null. The index of the first turn of the conversation is 1. With --last, the index is null if \
    counting would need the whole of a long transcript. With --story, each line also names its \
    conversation.\n\n\
    Examples:\n  segue show coder\n  segue show coder --last 5 --full\n  \
    segue show coder --follow\n  segue show demo:0198f9d2-0000-7000-8000-000000000001 --json"
)]
pub(crate) struct ShowArguments {
    /// The session, or a conversation by its vendor and the vendor's id
    #[arg(value_name = "SESSION|VENDOR:ID", add = complete::sessions())]
    pub(crate) session: String,

    /// Only the last N turns; the rest of a long transcript is not read
    #[arg(long, short = 'n', value_name = "N", value_parser = at_least_one)]
    pub(crate) last: Option<usize>,

    /// Print the last turns (10, or --last), and then each new turn as it happens
    #[arg(long, short)]
    pub(crate) follow: bool,

    #[command(flatten)]
    pub(crate) what: ShowSource,

    #[command(flatten)]
    pub(crate) how: ShowLayout,
}

#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct ShowSource {
    /// Print the transcript unchanged; for a vendor with a database, its export
    #[arg(long, conflicts_with_all = ["last", "follow", "story"])]
    pub(crate) raw: bool,

    /// Print also the conversations that this one was handed over from and to
    #[arg(long, conflicts_with = "follow")]
    pub(crate) story: bool,
}

#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct ShowLayout {
    /// Print the whole input and output of tools
    #[arg(long)]
    pub(crate) full: bool,

    /// Print without a pager
    #[arg(long)]
    pub(crate) no_pager: bool,
}

/// Parses a number of turns, which must be at least 1.
fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("it must be a whole number of turns, at least 1".to_owned()),
        Ok(turns) => Ok(turns),
    }
}

pub(crate) async fn run(arguments: ShowArguments, context: &mut Context) -> Result<CommandEnding> {
    if arguments.what.raw && context.wants_json() {
        return Err(Error::usage("`--raw` prints the transcript unchanged, so it cannot be JSON")
            .hint("leave out `--json` or `--raw`"));
    }
    let parts = find(&arguments, context).await?;
    let readings = parts.iter().map(|(_, reading)| reading);
    // If a part of a story cannot be read, the other parts are shown.
    let unreadable: Vec<Error> = readings.filter_map(|it| it.check().err()).collect();
    match unreadable.into_iter().next() {
        Some(error) if parts.len() == 1 => return Err(error),
        Some(error) => context.output.note(&error.to_string()),
        None => {}
    }
    let style = TurnStyle {
        colour: context.output.colour(),
        clock: context.clock().clone(),
        columns: Size::of_output().map(|size| size.columns),
        full: arguments.how.full,
    };
    if arguments.follow {
        let reading = parts.into_iter().map(|(_, reading)| reading).next_back();
        let reading = reading.ok_or_else(|| Error::internal("no conversation was found"))?;
        return following::follow(reading, arguments.last, &style, context).await;
    }
    show(&arguments, &parts, style, context)?;
    Ok(CommandEnding::Done)
}

/// Asks the daemon where the conversation is stored. With `--story` it has several parts.
async fn find(
    arguments: &ShowArguments,
    context: &Context,
) -> Result<Vec<(ConversationPart, ConversationReading)>> {
    let client = progress::connect(context).await?;
    let request = ConversationRequest {
        caller: context.local.caller(),
        address: arguments.session.clone(),
        story: arguments.what.story,
    };
    let report = client.conversation(&request).await?;
    let readings = conversation::readings(&report)?;
    Ok(report.parts.into_iter().zip(readings).collect())
}

fn show(
    arguments: &ShowArguments,
    parts: &[(ConversationPart, ConversationReading)],
    style: TurnStyle,
    context: &mut Context,
) -> Result<()> {
    let format = context.output.format();
    let wants_pager = !arguments.how.no_pager && format == OutputFormat::Text;
    let size = Size::of_output().filter(|_| wants_pager);
    let is_seen = Size::of_output().is_some();
    let counter = if is_seen { Counter::silent() } else { Counter::new(context) };
    let mut page = Paged::new(&mut context.output, context.local.environment(), size);
    let shown = match parts.last() {
        Some((_, reading)) if arguments.what.raw => raw(reading, &mut page, counter)?,
        _ => TurnPrinter {
            page: &mut page,
            style,
            format,
            story: arguments.what.story,
            printed: 0,
            counter,
        }
        .print(parts, arguments.last)?,
    };
    page.finish()?;
    if let (0, OutputFormat::Text, Some((_, reading))) = (shown, format, parts.last()) {
        context.output.note(&format!("nothing was said in {} yet", reading.name()));
    }
    Ok(())
}

/// Writes the bytes of the transcript, without control characters if the output is a terminal.
/// Returns the number of bytes that were read.
fn raw(reading: &ConversationReading, page: &mut Paged<'_>, mut counter: Counter) -> Result<u64> {
    let mut harmless = Size::of_output().map(|_| Harmless::default());
    let (mut written, mut shown) = (Ok(()), 0);
    reading.raw(&mut |piece| {
        shown += piece.len() as u64;
        counter.show(|| format!("reading: {} MB", shown >> 20));
        let next = match &mut harmless {
            Some(harmless) => page.text(&harmless.text(piece)),
            None => page.bytes(piece),
        };
        carry_on(next, &mut written)
    })?;
    written.map(|()| shown)
}

/// Writes turns to the output or the pager, and counts them.
struct TurnPrinter<'a, 'b> {
    page: &'a mut Paged<'b>,
    style: TurnStyle,
    format: OutputFormat,
    story: bool,
    printed: u64,
    counter: Counter,
}

impl TurnPrinter<'_, '_> {
    fn print(
        mut self,
        parts: &[(ConversationPart, ConversationReading)],
        last: Option<usize>,
    ) -> Result<u64> {
        match last {
            Some(last) if parts.len() > 1 => self.end_of_story(parts, last)?,
            last => {
                for part in parts {
                    self.part(part, last)?;
                }
            }
        }
        Ok(self.printed)
    }

    /// Writes the turns of one conversation while they are read.
    fn part(
        &mut self,
        part: &(ConversationPart, ConversationReading),
        last: Option<usize>,
    ) -> Result<()> {
        self.heading(part)?;
        let mut written = Ok(());
        let mut each = |turn: Numbered| carry_on(self.turn(&turn, part), &mut written);
        match last {
            Some(last) => part.1.last(last, &mut each)?,
            None => part.1.forwards(&mut each)?,
        }
        written
    }

    /// Writes the last turns of a story. They can be in several conversations, so the conversations
    /// are read from the newest to the oldest first.
    fn end_of_story(
        &mut self,
        parts: &[(ConversationPart, ConversationReading)],
        mut wanted: usize,
    ) -> Result<()> {
        let mut ends = Vec::new();
        for part in parts.iter().rev() {
            let mut turns = Vec::new();
            part.1.last(wanted, &mut |turn| {
                turns.push(turn);
                ControlFlow::Continue(())
            })?;
            wanted -= turns.len();
            ends.push((part, turns));
        }
        for (part, turns) in ends.iter().rev().filter(|(_, turns)| !turns.is_empty()) {
            self.heading(part)?;
            for turn in turns {
                if self.turn(turn, part)?.is_break() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    fn heading(&mut self, (part, reading): &(ConversationPart, ConversationReading)) -> Result<()> {
        if !self.story || self.format == OutputFormat::Json {
            return Ok(());
        }
        let from = part.taken_over.as_ref().map(|it| (it.mode.as_str(), it.at));
        let line = turns::divider(part.vendor.as_str(), reading.name(), from, &self.style);
        self.page.text(&line).map(|_| ())
    }

    fn turn(
        &mut self,
        turn: &Numbered,
        (_, reading): &(ConversationPart, ConversationReading),
    ) -> Result<ControlFlow<()>> {
        self.printed += 1;
        let printed = self.printed;
        self.counter.show(|| format!("reading: {printed} turns"));
        let text = match self.format {
            OutputFormat::Json => {
                json::line(&TurnLine::new(turn, self.story.then(|| reading.name())))?
            }
            OutputFormat::Text => turns::block(turn, &self.style),
        };
        self.page.text(&text)
    }
}

/// Stores a write error in `written` for the caller, and stops the reading. The callback of a
/// reading can return only a `ControlFlow`.
fn carry_on(next: Result<ControlFlow<()>>, written: &mut Result<()>) -> ControlFlow<()> {
    match next {
        Ok(next) => next,
        Err(error) => {
            *written = Err(error);
            ControlFlow::Break(())
        }
    }
}
