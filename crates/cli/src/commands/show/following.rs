//! `segue show --follow`: prints new turns as soon as the transcript has them.

use segue_core::Result;
use segue_server::conversation::{Follower, Numbered, Reading};

use crate::context::{Context, Ending};
use crate::progress::Interrupts;
use crate::render::turns::{self, Line, Look};

/// How many existing turns are printed first if `--last` is not given.
const LAST: usize = 10;

/// Prints the last turns, and then each new turn. Ends on Ctrl-C, or if the reader closes standard
/// output.
pub(super) async fn follow(
    reading: Reading,
    last: Option<usize>,
    look: &Look,
    context: &mut Context,
) -> Result<Ending> {
    let mut interrupts = Interrupts::take()?;
    let name = reading.name().to_owned();
    let (mut follower, turns) = Follower::start(reading, last.unwrap_or(LAST))?;
    tell(&turns, look, context)?;
    while !context.output.reader_gone() {
        tokio::select! {
            () = interrupts.next() => break,
            changed = follower.changed() => changed?,
        }
        let news = follower.news()?;
        if news.rewritten {
            context.output.note(&format!("{name} was rewritten; this is its end"));
        }
        tell(&news.turns, look, context)?;
    }
    Ok(Ending::Done)
}

fn tell(turns: &[Numbered], look: &Look, context: &mut Context) -> Result<()> {
    for turn in turns {
        if context.wants_json() {
            context.output.json(&Line::new(turn, None))?;
        } else {
            context.output.text(&turns::block(turn, look))?;
        }
    }
    Ok(())
}
