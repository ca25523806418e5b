//! `segue show --follow`: prints new turns as soon as the transcript has them.

use segue_core::Result;
use segue_server::conversation::{ConversationReading, Follower, Numbered};
use segue_server::wiring;

use crate::context::{CommandEnding, Context};
use crate::progress::Interrupts;
use crate::render::turns::{self, TurnLine, TurnStyle};

/// How many existing turns are printed first if `--last` is not given.
const DEFAULT_LAST_TURNS: usize = 10;

/// Prints the last turns, and then each new turn. Ends on Ctrl-C, or if the reader closes standard
/// output.
pub(super) async fn follow(
    reading: ConversationReading,
    last: Option<usize>,
    style: &TurnStyle,
    context: &mut Context,
) -> Result<CommandEnding> {
    let mut interrupts = Interrupts::take()?;
    let name = reading.name().to_owned();
    let (mut follower, turns) = Follower::start(reading, last.unwrap_or(DEFAULT_LAST_TURNS))?;
    print(&turns, style, context)?;
    while !context.output.is_reader_gone() {
        tokio::select! {
            () = interrupts.next() => break,
            () = wiring::reader_gone() => break,
            changed = follower.changed() => changed?,
        }
        let news = follower.news()?;
        if news.rewritten {
            context.output.note(&format!("{name} was rewritten; this is its end"));
        }
        print(&news.turns, style, context)?;
    }
    Ok(CommandEnding::Done)
}

fn print(turns: &[Numbered], style: &TurnStyle, context: &mut Context) -> Result<()> {
    for turn in turns {
        if context.wants_json() {
            context.output.json(&TurnLine::new(turn, None))?;
        } else {
            context.output.text(&turns::block(turn, style))?;
        }
    }
    Ok(())
}
