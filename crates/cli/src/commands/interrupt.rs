//! `segue interrupt`: interrupts the turn of an agent.

use clap::Args;
use segue_core::Result;
use segue_core::api::InterruptRequest;
use segue_core::model::InterruptMethod;

use crate::complete;
use crate::context::{CommandEnding, Context};
use crate::progress::{self, AwaitedWork, with_progress};

/// Interrupt the turn of an agent; the agent continues to run
#[derive(Debug, Args)]
#[command(
    after_help = "Segue types the keys that interrupt a turn into the agent's terminal. A headless \
    agent has no terminal: its process is ended, and the next message continues the conversation. \
    An agent that does not work, or that asks a question, is not interrupted.\n\n\
    Examples:\n  segue interrupt coder\n  segue interrupt coder && segue wait coder"
)]
pub(crate) struct InterruptArguments {
    /// The session
    #[arg(value_name = "SESSION", add = complete::running())]
    pub(crate) session: String,
}

pub(crate) async fn run(
    arguments: InterruptArguments,
    context: &mut Context,
) -> Result<CommandEnding> {
    let client = progress::connect(context).await?;
    let InterruptArguments { session } = arguments;
    let work = AwaitedWork::new("interrupting the turn").showing([session.clone()]);
    let work = work.after_interrupt("the turn is being interrupted", "run `segue ls` to see it");
    let request = InterruptRequest { cwd: context.cwd().to_owned(), session };
    let report = with_progress(context, work, client.interrupt(&request)).await?;
    if context.wants_json() {
        context.output.json(&report)?;
        return Ok(CommandEnding::Done);
    }
    let name = &report.of.address;
    let text = match report.method {
        InterruptMethod::Keys => format!("{name}: the turn was interrupted"),
        InterruptMethod::Stop => format!("{name}: the process of the turn was ended"),
    };
    context.output.note(&text);
    Ok(CommandEnding::Done)
}
