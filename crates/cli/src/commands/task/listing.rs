//! `segue task ls`: lists tasks.

use clap::{Args, ValueEnum};
use segue_core::Result;
use segue_core::api::{TaskListRequest, TaskSummaryList};
use segue_core::model::TaskStateKind;
use segue_server::client::Client;
use segue_server::wiring::Size;

use super::super::messages::{beginning, shortest};
use crate::complete;
use crate::context::{CommandEnding, Context};
use crate::render::sessions::DisplayContext;
use crate::render::style::TextTone;
use crate::render::table::{CutPlace, TableCell, TextTable};
use crate::render::time::age;

/// List the tasks that have not ended
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  segue task ls\n  segue task ls --all --agent coder\n  \
    segue task ls --state failed")]
pub(crate) struct TaskLsArguments {
    /// Include tasks that have ended
    #[arg(long)]
    pub(crate) all: bool,

    /// Only tasks of this agent
    #[arg(long, value_name = "AGENT", add = complete::agents())]
    pub(crate) agent: Option<String>,

    /// Only tasks in this state
    #[arg(long, value_enum, value_name = "STATE")]
    pub(crate) state: Option<TaskStateArgument>,
}

/// The words for [`TaskStateKind`] on the command line.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum TaskStateArgument {
    Queued,
    Running,
    Waiting,
    Done,
    Failed,
    Cancelled,
}

impl From<TaskStateArgument> for TaskStateKind {
    fn from(argument: TaskStateArgument) -> Self {
        match argument {
            TaskStateArgument::Queued => Self::Queued,
            TaskStateArgument::Running => Self::Running,
            TaskStateArgument::Waiting => Self::Waiting,
            TaskStateArgument::Done => Self::Done,
            TaskStateArgument::Failed => Self::Failed,
            TaskStateArgument::Cancelled => Self::Cancelled,
        }
    }
}

pub(super) async fn run(
    arguments: &TaskLsArguments,
    client: &Client,
    context: &mut Context,
) -> Result<CommandEnding> {
    let request = TaskListRequest {
        all: arguments.all,
        agent: arguments.agent.clone(),
        state: arguments.state.map(TaskStateKind::from),
    };
    if context.wants_json() {
        context.output.json(&client.tasks_json(&request).await?)?;
        return Ok(CommandEnding::Done);
    }
    let list = client.task_summaries(&request).await?;
    let table = table(&list, Size::of_output().is_some(), context.display());
    context.output.table(&table)?;
    if list.tasks.is_empty() {
        context.output.note(if arguments.all { "no tasks yet" } else { "no open tasks" });
    }
    Ok(CommandEnding::Done)
}

fn table(list: &TaskSummaryList, shortens: bool, display: DisplayContext<'_>) -> TextTable {
    let mut table = TextTable::new(&["ID", "AGENT", "STATE", "AGE", "SESSION", "PROMPT"])
        .cutting(&[("PROMPT", CutPlace::End)]);
    let ids = list.tasks.iter().map(|task| task.id.to_string());
    let mut short = shortens.then(|| shortest(ids.clone().collect()).into_iter());
    for (task, id) in list.tasks.iter().zip(ids) {
        let id = short.as_mut().and_then(Iterator::next).unwrap_or(id);
        let is_waiting = task.state.known() == Some(TaskStateKind::Waiting);
        let tone = if is_waiting { TextTone::Strong } else { TextTone::Plain };
        table.row([
            TableCell::new(id),
            TableCell::new(task.agent.as_str()),
            TableCell::toned(task.state.as_str(), tone),
            TableCell::new(age(task.created_at, display.now)),
            TableCell::new(task.address.as_deref().unwrap_or("-")),
            TableCell::new(beginning(&task.beginning)),
        ]);
    }
    table
}
