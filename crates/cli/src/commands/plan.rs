//! `segue plan`: applies plans of tasks, and shows, pauses, cancels and retries them.

mod showing;

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use segue_core::api::{
    PlanApplyRequest, PlanListRequest, PlanSelector, PlanTaskSelector, plan_schema,
};
use segue_core::{Error, Result};
use segue_server::client::Client;

use super::trust;
use crate::complete;
use crate::context::{CommandEnding, Context};
use crate::progress;

/// The most bytes of a plan's file.
const LONGEST_BYTES: u64 = 16 * 1024 * 1024;

/// Run tasks in an order: apply a file, and show, pause, cancel and retry what it plans
#[derive(Debug, Args)]
#[command(
    after_help = "PLAN is the name of a plan, FLEET/NAME, or at least four characters of its id. \
    docs/plans.md describes the file.\n\n\
    Examples:\n  segue plan apply release.toml\n  segue plan show release\n  \
    segue plan approve release ship\n  segue plan graph release --dot | dot -Tsvg > release.svg",
    infer_subcommands = true
)]
pub(crate) struct PlanArguments {
    #[command(subcommand)]
    pub(crate) action: PlanAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PlanAction {
    Apply(PlanApplyArguments),
    Ls(PlanLsArguments),
    /// Print a plan and the states of its tasks
    Show(PlanSelection),
    /// Start no further task of a plan; its running tasks finish
    Pause(PlanSelection),
    /// Let a paused or cancelled plan go on
    Resume(PlanSelection),
    /// Cancel a plan; its agents are stopped, their conversations stay
    Cancel(PlanSelection),
    /// Start a task of a plan again that has failed or was cancelled
    Retry(PlanTaskSelection),
    /// Approve a task that waits for a person
    Approve(PlanTaskSelection),
    Graph(PlanGraphArguments),
    /// Print the JSON Schema of a plan's file
    Schema,
}

/// Add a plan, or change what differs from its file
#[derive(Debug, Args)]
#[command(
    after_help = "The file is TOML or JSON. Applying it again changes only what has changed; \
    tasks that run are not restarted.\n\nExamples:\n  segue plan apply release.toml\n  \
    generate-plan | segue plan apply -"
)]
pub(crate) struct PlanApplyArguments {
    /// The file, or - for standard input
    #[arg(value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub(crate) file: PathBuf,
}

/// List the plans that are not done
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  segue plan ls\n  segue plan ls --all --json")]
pub(crate) struct PlanLsArguments {
    /// Include plans that are done or cancelled
    #[arg(long)]
    pub(crate) all: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PlanSelection {
    /// The name of the plan, FLEET/NAME, or the beginning of its id
    #[arg(value_name = "PLAN", add = complete::plans())]
    pub(crate) plan: String,
}

#[derive(Debug, Args)]
pub(crate) struct PlanTaskSelection {
    #[command(flatten)]
    pub(crate) plan: PlanSelection,

    /// The name of the task in the plan
    #[arg(value_name = "TASK")]
    pub(crate) task: String,
}

/// Draw the tasks of a plan and what they need
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  segue plan graph release\n  \
    segue plan graph release --dot | dot -Tsvg > release.svg")]
pub(crate) struct PlanGraphArguments {
    #[command(flatten)]
    pub(crate) plan: PlanSelection,

    /// Print the graph in the language DOT of Graphviz
    #[arg(long)]
    pub(crate) dot: bool,
}

pub(crate) async fn run(arguments: PlanArguments, context: &mut Context) -> Result<CommandEnding> {
    if let PlanAction::Schema = arguments.action {
        context.output.json(&plan_schema())?;
        return Ok(CommandEnding::Done);
    }
    let client = progress::connect(context).await?;
    carry_out(arguments.action, client, context).await?;
    Ok(CommandEnding::Done)
}

async fn carry_out(action: PlanAction, client: Client, context: &mut Context) -> Result<()> {
    match action {
        PlanAction::Apply(arguments) => apply(&arguments, client, context).await,
        PlanAction::Ls(PlanLsArguments { all }) => {
            let list = client.plans(&PlanListRequest { all }).await?;
            showing::list(&list, all, context)
        }
        PlanAction::Show(plan) => {
            let view = client.plan(&selector(plan, context)).await?;
            showing::show(&view, context)
        }
        PlanAction::Graph(PlanGraphArguments { plan, dot }) => {
            let view = client.plan(&selector(plan, context)).await?;
            showing::graph(&view, dot, context)
        }
        PlanAction::Pause(plan) => {
            let view = client.pause_plan(&selector(plan, context)).await?;
            showing::show_state(&view, context)
        }
        PlanAction::Resume(plan) => {
            let view = client.resume_plan(&selector(plan, context)).await?;
            showing::show_state(&view, context)
        }
        PlanAction::Cancel(plan) => {
            let view = client.cancel_plan(&selector(plan, context)).await?;
            showing::show_state(&view, context)
        }
        PlanAction::Retry(task) => {
            let view = client.retry_plan_task(&task_selector(task, context)).await?;
            showing::show_state(&view, context)
        }
        PlanAction::Approve(task) => {
            let view = client.approve_plan_gate(&task_selector(task, context)).await?;
            showing::show_state(&view, context)
        }
        PlanAction::Schema => Ok(()),
    }
}

async fn apply(
    arguments: &PlanApplyArguments,
    client: Client,
    context: &mut Context,
) -> Result<()> {
    let (text, file) = read(&arguments.file)?;
    let request = PlanApplyRequest { caller: context.caller(), text, file };
    let attempt = async || client.apply_plan(&request).await;
    let report = trust::ask_and_retry(&client, context, &request.caller.cwd, attempt).await?;
    showing::show_applied(&report, context)
}

/// Reads a file, or standard input if its name is `-`.
fn read(file: &Path) -> Result<(String, Option<String>)> {
    let is_stdin = file == Path::new("-");
    let shown = if is_stdin { "standard input".to_owned() } else { file.display().to_string() };
    let failed = |error: io::Error| Error::usage(format!("cannot read `{shown}`")).caused_by(error);
    let mut bytes = Vec::new();
    let limit = LONGEST_BYTES + 1;
    match is_stdin {
        true => io::stdin().lock().take(limit).read_to_end(&mut bytes),
        false => fs::File::open(file).and_then(|file| file.take(limit).read_to_end(&mut bytes)),
    }
    .map_err(failed)?;
    if bytes.len() as u64 > LONGEST_BYTES {
        return Err(Error::usage(format!("`{shown}` is longer than 16 MiB")));
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        Error::usage(format!("`{shown}` is not UTF-8")).caused_by(error.utf8_error())
    })?;
    Ok((text, (!is_stdin).then_some(shown)))
}

fn selector(PlanSelection { plan }: PlanSelection, context: &Context) -> PlanSelector {
    PlanSelector { plan, folder: Some(context.caller().cwd) }
}

fn task_selector(selection: PlanTaskSelection, context: &Context) -> PlanTaskSelector {
    let PlanTaskSelection { plan, task } = selection;
    PlanTaskSelector { plan: selector(plan, context), task }
}
