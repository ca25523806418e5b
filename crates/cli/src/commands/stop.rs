//! `segue stop`: ends the processes of sessions.

use clap::Args;
use segue_core::api::{Selection, StopOutcome, StopReport, StopRequest};
use segue_core::{Kind, Result};

use super::targets;
use crate::complete;
use crate::context::{Context, Ending};
use crate::progress::{self, Task, watching};
use crate::render::style::Tone;
use crate::render::table::{Cell, Table};

/// End the processes of sessions; their conversations stay
#[derive(Debug, Args)]
#[command(after_help = "If one of several cannot be stopped, the others are stopped all the \
    same; the exit status is then 8.\n\n\
    Examples:\n  segue stop coder\n  segue stop coder shop/tester\n  segue stop shop\n  \
    segue stop --all")]
pub(crate) struct Arguments {
    /// Sessions, or fleets with all their sessions
    #[arg(value_name = "SESSION|FLEET", required_unless_present = "all", add = complete::running())]
    pub(crate) names: Vec<String>,

    /// Stop every session on this machine
    #[arg(long, conflicts_with = "names")]
    pub(crate) all: bool,
}

pub(crate) async fn run(arguments: Arguments, context: &mut Context) -> Result<Ending> {
    let client = progress::connect(context).await?;
    let names = arguments.names.clone();
    let task = Task::new("stopping");
    let task = if arguments.all { task.of_changed() } else { task.of(names) };
    let task = task.goes_on("sessions keep ending", "run `segue ls` to see them");
    let request = request(arguments, context);
    let report = watching(context, task, client.stop(&request)).await?;
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
    let is_complete = report.failed.is_empty();
    Ok(if is_complete { Ending::Done } else { Ending::Told(Kind::Partial) })
}

fn request(arguments: Arguments, context: &Context) -> StopRequest {
    let selection = if arguments.all { Selection::All } else { Selection::Named(arguments.names) };
    StopRequest { cwd: context.cwd().to_owned(), selection }
}

fn table(report: &StopReport) -> Table {
    let mut table = Table::new(&["NAME", "RESULT"]);
    for session in &report.stopped {
        let result = match session.outcome {
            StopOutcome::Stopped => "stopped",
            StopOutcome::NotRunning => "was not running",
        };
        table.row([Cell::toned(&session.of.address, Tone::Strong), Cell::new(result)]);
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
