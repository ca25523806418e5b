//! `segue task`: queues work for agents, and shows, cancels and retries it.

mod add;
mod ending;
mod listing;
mod log;
mod showing;

use clap::{Args, Subcommand, ValueEnum};
use jiff::SignedDuration;
use segue_core::Result;
use segue_core::api::{AgentReportRequest, TaskReport, TaskRetryRequest, TaskWaitRequest};
use segue_core::model::ReportedState;
use segue_server::client::Client;

use super::duration;
use super::prompt::{self, TextKind};
use crate::complete;
use crate::context::{CommandEnding, Context};
use crate::progress::{self, AwaitedWork, with_progress};

pub(crate) use add::TaskAddArguments;
pub(crate) use listing::TaskLsArguments;

/// Queue work for agents, and show, wait for, cancel and retry it
#[derive(Debug, Args)]
#[command(
    after_help = "Tasks start without a person at a shell: with the environment of the login \
    shell. TASK is an id, at least four characters of its beginning, or the key of the task.\n\n\
    Examples:\n  segue task add --agent coder \"fix the flaky test\"\n  segue task ls\n  \
    segue task wait nightly && segue task show nightly",
    infer_subcommands = true
)]
pub(crate) struct TaskArguments {
    #[command(subcommand)]
    pub(crate) action: TaskAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TaskAction {
    Add(Box<TaskAddArguments>),
    Ls(TaskLsArguments),
    /// Print the record of a task: state, session, prompt and result
    Show(TaskName),
    Log(TaskLogArguments),
    Wait(TaskWaitArguments),
    Report(TaskReportArguments),
    /// Cancel a task; its agent is stopped, its conversation stays
    Cancel(TaskName),
    Retry(TaskRetryArguments),
}

#[derive(Debug, Args)]
pub(crate) struct TaskName {
    /// The id of the task, its beginning, or its key
    #[arg(value_name = "TASK")]
    pub(crate) task: String,
}

/// Print the events of the session that works on a task
#[derive(Debug, Args)]
pub(crate) struct TaskLogArguments {
    #[command(flatten)]
    pub(crate) name: TaskName,

    /// Continue with new events until the task ends
    #[arg(long, short)]
    pub(crate) follow: bool,
}

/// Wait until a task has ended
#[derive(Debug, Args)]
#[command(
    after_help = "The exit status is 0 if the task is done, 6 if it failed, and 4 if it was \
    cancelled, waits for a person, or the timeout has passed."
)]
pub(crate) struct TaskWaitArguments {
    #[command(flatten)]
    pub(crate) name: TaskName,

    /// The longest time to wait, such as 90s or 20m [default: no limit]
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    pub(crate) timeout: Option<SignedDuration>,
}

/// Report the work of the agent that runs this command to its parent
#[derive(Debug, Args)]
#[command(
    after_help = "An agent runs it. Its parent gets the report as a message, once: the agent that \
    added the task or started the session, or the task that this one is a part of. A task whose \
    agent has reported `failed` has failed when its turn ends.\n\nExamples:\n  \
    segue task report \"half of the tests pass\"\n  segue task report --state done \"see fix.patch\""
)]
pub(crate) struct TaskReportArguments {
    /// What the agent reports, or - for standard input
    #[arg(value_name = "TEXT")]
    pub(crate) text: String,

    /// Whether the work is done, has failed, or goes on
    #[arg(long, value_enum, value_name = "STATE", default_value_t = ReportStateArgument::Progress)]
    pub(crate) state: ReportStateArgument,
}

/// The words for [`ReportedState`] on the command line.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum ReportStateArgument {
    Done,
    Failed,
    Progress,
}

impl From<ReportStateArgument> for ReportedState {
    fn from(argument: ReportStateArgument) -> Self {
        match argument {
            ReportStateArgument::Done => Self::Done,
            ReportStateArgument::Failed => Self::Failed,
            ReportStateArgument::Progress => Self::Progress,
        }
    }
}

/// Queue a task again that has ended or waits
#[derive(Debug, Args)]
#[command(after_help = "It continues the conversation of the task, unless --fresh or --agent is \
    given.")]
pub(crate) struct TaskRetryArguments {
    #[command(flatten)]
    pub(crate) name: TaskName,

    /// Another agent of the project file, with a new conversation
    #[arg(long, value_name = "AGENT", add = complete::agents())]
    pub(crate) agent: Option<String>,

    /// Begin a new conversation
    #[arg(long)]
    pub(crate) fresh: bool,
}

pub(crate) async fn run(arguments: TaskArguments, context: &mut Context) -> Result<CommandEnding> {
    let client = progress::connect(context).await?;
    match arguments.action {
        TaskAction::Add(arguments) => add::run(*arguments, client, context).await,
        TaskAction::Ls(arguments) => listing::run(&arguments, &client, context).await,
        TaskAction::Show(TaskName { task }) => {
            showing::show(&client.task(&task).await?, context)?;
            Ok(CommandEnding::Done)
        }
        TaskAction::Log(arguments) => log::run(&arguments, client, context).await,
        TaskAction::Wait(arguments) => {
            let timeout = arguments.timeout;
            let report = wait_for(&client, arguments.name.task, timeout, context).await?;
            ending::show(&report, context)
        }
        TaskAction::Report(TaskReportArguments { text, state }) => {
            let text = prompt::read(Some(text), TextKind::Message)?.unwrap_or_default();
            let request = AgentReportRequest { state: state.into(), text };
            let answer = client.report_work(&request).await?;
            if context.wants_json() {
                context.output.json(&answer)?;
            }
            Ok(CommandEnding::Done)
        }
        TaskAction::Cancel(TaskName { task }) => {
            showing::show_state(&client.cancel_task(&task).await?, context)
        }
        TaskAction::Retry(TaskRetryArguments { name, agent, fresh }) => {
            let caller = context.caller();
            let request = TaskRetryRequest { caller, task: name.task, agent, fresh };
            showing::show_state(&client.retry_task(&request).await?, context)
        }
    }
}

/// Waits until a task has ended, or until only a person can make it go on.
async fn wait_for(
    client: &Client,
    task: String,
    timeout: Option<SignedDuration>,
    context: &Context,
) -> Result<TaskReport> {
    let again = format!("run `segue task wait {task}` to wait again");
    let work = AwaitedWork::new(format!("waiting for task {task}"));
    let work = work.after_interrupt("the task goes on", again);
    let request = TaskWaitRequest { task, timeout_ms: timeout.map(duration::milliseconds) };
    with_progress(context, work, client.wait_task(&request)).await
}
