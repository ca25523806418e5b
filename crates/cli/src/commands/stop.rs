//! `segue stop`: ends the processes of sessions.

use clap::Args;
use segue_core::api::{Selection, StopOutcome, StopReport, StopRequest};
use segue_core::{Kind, Result};

use super::targets;
use crate::complete;
use crate::context::{CommandEnding, Context};
use crate::progress::{self, AwaitedWork, with_progress};
use crate::render::style::TextTone;
use crate::render::table::{TableCell, TextTable};

/// End the processes of sessions; their conversations stay
#[derive(Debug, Args)]
#[command(
    after_help = "If one of several sessions cannot be stopped, the others are stopped, and \
    the exit status is 8.\n\n\
    Examples:\n  segue stop coder\n  segue stop coder shop/tester\n  segue stop shop\n  \
    segue stop --all"
)]
pub(crate) struct StopArguments {
    /// Sessions, or fleets with all their sessions
    #[arg(value_name = "SESSION|FLEET", required_unless_present = "all", add = complete::running())]
    pub(crate) names: Vec<String>,

    /// Stop every session on this machine
    #[arg(long, conflicts_with = "names")]
    pub(crate) all: bool,
}

pub(crate) async fn run(arguments: StopArguments, context: &mut Context) -> Result<CommandEnding> {
    let client = progress::connect(context).await?;
    let names = arguments.names.clone();
    let work = AwaitedWork::new("stopping sessions");
    let work = if arguments.all { work.showing_changed() } else { work.showing(names) };
    let work =
        work.after_interrupt("the daemon continues to stop them", "run `segue ls` to see them");
    let request = request(arguments, context);
    let report = with_progress(context, work, client.stop(&request)).await?;
    if context.wants_json() {
        context.output.json(&report)?;
    } else {
        let table = table(&report);
        context.output.table(&table)?;
        if report.stopped.is_empty() {
            context.output.note("nothing to stop");
        }
    }
    targets::report(&report.failed, context);
    Ok(CommandEnding::of_answer(!report.failed.is_empty(), Kind::Partial))
}

fn request(arguments: StopArguments, context: &Context) -> StopRequest {
    let selection = if arguments.all { Selection::All } else { Selection::Named(arguments.names) };
    StopRequest { cwd: context.cwd().to_owned(), selection }
}

fn table(report: &StopReport) -> TextTable {
    let mut table = TextTable::new(&["NAME", "RESULT"]);
    for session in &report.stopped {
        let result = match session.outcome {
            StopOutcome::Stopped => "stopped",
            StopOutcome::NotRunning => "was not running",
        };
        table
            .row([TableCell::toned(&session.of.address, TextTone::Strong), TableCell::new(result)]);
    }
    table
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::render::style::Colour;

    #[test]
    fn table_distinguishes_stopped_sessions_from_sessions_that_did_not_run() {
        let stopped = [("coder", "stopped"), ("tester", "not_running")];
        let stopped = stopped.map(|(name, outcome)| {
            json!({
                "session": "0198f9d2-0000-7000-8000-000000000001", "name": name, "fleet": "shop",
                "address": format!("shop/{name}"), "outcome": outcome,
            })
        });
        let report = serde_json::from_value(json!({ "stopped": stopped })).unwrap();
        let expected = "\
NAME         RESULT
shop/coder   stopped
shop/tester  was not running
";
        assert_eq!(table(&report).render(Colour::Off, None), expected);
    }
}
