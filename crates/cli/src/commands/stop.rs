//! `segue stop`

use clap::Args;
use segue_core::Result;
use segue_core::api::{Selection, StopReport, StopRequest};

use crate::context::{Context, Ending};
use crate::progress::{self, Task, watching};
use crate::render::style::Tone;
use crate::render::table::{Cell, Table};

/// End the processes of sessions; their conversations stay
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  segue stop coder\n  segue stop shop\n  segue stop --all")]
pub(crate) struct Arguments {
    /// Sessions, or fleets with all their sessions
    #[arg(value_name = "SESSION|FLEET", required_unless_present = "all")]
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
        let text = table(&report).render(context.output.colour());
        context.output.text(&text)?;
        if report.stopped.is_empty() {
            context.output.note("nothing to stop");
        }
    }
    Ok(Ending::Done)
}

fn request(arguments: Arguments, context: &Context) -> StopRequest {
    let selection = if arguments.all { Selection::All } else { Selection::Named(arguments.names) };
    StopRequest { cwd: context.cwd().to_owned(), selection }
}

fn table(report: &StopReport) -> Table {
    let mut table = Table::new(&["NAME", "RESULT"]);
    for session in &report.stopped {
        let result = if session.was_running { "stopped" } else { "was not running" };
        table.row([Cell::toned(&session.name, Tone::Strong), Cell::new(result)]);
    }
    table
}

#[cfg(test)]
mod tests {
    use segue_core::api::StoppedSession;

    use super::*;
    use crate::render::style::Colour;

    #[test]
    fn what_did_not_run_is_told_apart() {
        let stopped = [("shop/coder", true), ("shop/tester", false)];
        let stopped = stopped.map(|(name, was_running)| StoppedSession {
            session: "0198f9d2-0000-7000-8000-000000000001".parse().unwrap(),
            name: name.to_owned(),
            was_running,
        });
        let expected = "\
NAME         RESULT
shop/coder   stopped
shop/tester  was not running
";
        let report = StopReport { stopped: stopped.into() };
        assert_eq!(table(&report).render(Colour::Off), expected);
    }
}
