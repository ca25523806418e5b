//! `segue worktree`: lists, compares, salvages, restores and removes the worktrees of agents.

mod rendering;

use clap::{Args, Subcommand};
use segue_core::api::{
    FailedTarget, WorktreeAction, WorktreeActionReport, WorktreeActionRequest, WorktreeDiffReport,
    WorktreeDiffRequest, WorktreeGcReport, WorktreeGcRequest, WorktreeView, WorktreesRequest,
};
use segue_core::{Error, Kind, Result};
use segue_server::client::Client;
use segue_server::wiring::Size;

use crate::context::{CommandEnding, Context};
use crate::output::Output;
use crate::paged::Paged;
use crate::progress::{self, AwaitedWork, with_progress};
use crate::render::plain::plain;

/// List, compare, salvage, restore and remove the worktrees of agents
#[derive(Debug, Args)]
#[command(
    after_help = "WORKTREE is the session that works there, its branch, or a path in it. A worktree \
    is removed only after everything in it was stored in a git ref, a salvage, from which \
    `segue worktree restore` brings it back. Without a subcommand, it lists the worktrees.\n\n\
    Examples:\n  segue worktree ls\n  cd \"$(segue worktree path fixer)\"\n  \
    segue worktree diff feature/login --stat\n  segue worktree rm fixer"
)]
pub(crate) struct WorktreeArguments {
    #[command(subcommand)]
    pub(crate) action: Option<WorktreeCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum WorktreeCommand {
    /// List all worktrees
    Ls(WorktreeLsArguments),
    /// Print everything about a worktree
    Show(WorktreeName),
    /// Print the path of a worktree
    Path(WorktreeName),
    /// Print what changed since the worktree left its base; untracked files count
    Diff(WorktreeDiffArguments),
    /// Store everything in a worktree in a salvage; the worktree stays
    Salvage(WorktreeName),
    /// Make a removed worktree again, with its index and all its files
    Restore(WorktreeRestoreArguments),
    /// Salvage and remove a worktree; its branch and its session stay
    Rm(WorktreeRmArguments),
    /// Salvage and remove the worktrees that no session uses
    Gc(WorktreeGcArguments),
}

#[derive(Debug, Args)]
pub(crate) struct WorktreeLsArguments {
    /// Print the sizes on disk, too; this takes as long as `du`
    #[arg(long)]
    pub(crate) size: bool,
}

#[derive(Debug, Args)]
pub(crate) struct WorktreeName {
    /// A session, a branch, or a path
    #[arg(value_name = "WORKTREE")]
    pub(crate) name: String,
}

#[derive(Debug, Args)]
pub(crate) struct WorktreeDiffArguments {
    #[command(flatten)]
    pub(crate) worktree: WorktreeName,

    /// Print only how many lines of each file changed
    #[arg(long)]
    pub(crate) stat: bool,

    /// Compare with this branch, tag or commit [default: the default branch of the remote]
    #[arg(long, value_name = "REF")]
    pub(crate) base: Option<String>,

    /// Print without a pager
    #[arg(long)]
    pub(crate) no_pager: bool,
}

#[derive(Debug, Args)]
pub(crate) struct WorktreeRestoreArguments {
    #[command(flatten)]
    pub(crate) worktree: WorktreeName,

    /// Restore onto this new branch, if the worktree's own branch has moved
    #[arg(long, value_name = "BRANCH")]
    pub(crate) branch: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct WorktreeRmArguments {
    #[command(flatten)]
    pub(crate) worktree: WorktreeName,

    /// Do not ask
    #[arg(long, short)]
    pub(crate) yes: bool,
}

#[derive(Debug, Args)]
pub(crate) struct WorktreeGcArguments {
    /// Print what would be removed, and remove nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

pub(crate) async fn run(
    arguments: WorktreeArguments,
    context: &mut Context,
) -> Result<CommandEnding> {
    let client = progress::connect(context).await?;
    let every = WorktreeCommand::Ls(WorktreeLsArguments { size: false });
    match arguments.action.unwrap_or(every) {
        WorktreeCommand::Ls(arguments) => list(arguments.size, &client, context).await,
        WorktreeCommand::Show(WorktreeName { name }) => show(&name, &client, context).await,
        WorktreeCommand::Path(WorktreeName { name }) => path(&name, &client, context).await,
        WorktreeCommand::Diff(arguments) => diff(arguments, &client, context).await,
        WorktreeCommand::Salvage(WorktreeName { name }) => {
            let request = request(name, context);
            act(WorktreeAction::Salvage, &request, &client, context).await
        }
        WorktreeCommand::Restore(WorktreeRestoreArguments { worktree, branch }) => {
            let request = WorktreeActionRequest { branch, ..request(worktree.name, context) };
            act(WorktreeAction::Restore, &request, &client, context).await
        }
        WorktreeCommand::Rm(arguments) => remove(arguments, &client, context).await,
        WorktreeCommand::Gc(arguments) => collect_garbage(arguments, &client, context).await,
    }
}

async fn found(
    names: Vec<String>,
    with_sizes: bool,
    client: &Client,
    context: &Context,
) -> Result<Vec<WorktreeView>> {
    let request = WorktreesRequest { cwd: context.cwd().to_owned(), names, with_sizes };
    let work = AwaitedWork::new("looking at worktrees");
    let list = with_progress(context, work, client.worktrees(&request)).await?;
    Ok(list.worktrees)
}

async fn one(
    name: &str,
    with_size: bool,
    client: &Client,
    context: &Context,
) -> Result<WorktreeView> {
    let found = found(vec![name.to_owned()], with_size, client, context).await?;
    let missing = || Error::internal("the daemon returned no worktree");
    found.into_iter().next().ok_or_else(missing)
}

async fn list(with_sizes: bool, client: &Client, context: &mut Context) -> Result<CommandEnding> {
    let worktrees = found(Vec::new(), with_sizes, client, context).await?;
    if context.wants_json() {
        context.output.json(&segue_core::api::WorktreeList { worktrees, next: None })?;
        return Ok(CommandEnding::Done);
    }
    if worktrees.is_empty() {
        context.output.note("there are no worktrees");
        context.output.hint("run `segue run --worktree BRANCH` to start an agent in its own");
    }
    let table = rendering::table(&worktrees, with_sizes, context.display());
    context.output.table(&table)?;
    for worktree in worktrees.iter().filter(|it| it.error.is_some()) {
        let error = worktree.error.as_deref().unwrap_or_default();
        context.output.note(&format!("{}: {error}", worktree.path.display()));
    }
    Ok(CommandEnding::Done)
}

async fn show(name: &str, client: &Client, context: &mut Context) -> Result<CommandEnding> {
    let worktree = one(name, true, client, context).await?;
    if context.wants_json() {
        context.output.json(&worktree)?;
        return Ok(CommandEnding::Done);
    }
    let text = rendering::details(&worktree, context.clock());
    context.output.text(&text)?;
    Ok(CommandEnding::Done)
}

async fn path(name: &str, client: &Client, context: &mut Context) -> Result<CommandEnding> {
    let worktree = one(name, false, client, context).await?;
    if context.wants_json() {
        context.output.json(&worktree)?;
        return Ok(CommandEnding::Done);
    }
    context.output.text(&format!("{}\n", worktree.path.display()))?;
    Ok(CommandEnding::Done)
}

async fn diff(
    arguments: WorktreeDiffArguments,
    client: &Client,
    context: &mut Context,
) -> Result<CommandEnding> {
    let WorktreeDiffArguments { worktree, stat, base, no_pager } = arguments;
    let request = WorktreeDiffRequest {
        cwd: context.cwd().to_owned(),
        environment: context.local.environment().clone(),
        name: worktree.name,
        base,
        only_stat: stat,
    };
    let work = AwaitedWork::new("comparing the worktree");
    let report = with_progress(context, work, client.worktree_diff(&request)).await?;
    if context.wants_json() {
        context.output.json(&report)?;
        return Ok(CommandEnding::Done);
    }
    print_diff(&report, no_pager, context)?;
    Ok(CommandEnding::Done)
}

fn print_diff(report: &WorktreeDiffReport, no_pager: bool, context: &mut Context) -> Result<()> {
    if report.files.is_empty() {
        context.output.note(&format!("branch {} changes nothing", report.branch));
        return Ok(());
    }
    let size = Size::of_output();
    let text = match &report.patch {
        // A patch has contents of files, in which an agent can write control sequences.
        Some(patch) if size.is_some() => rendering::painted(&plain(patch), context.output.colour()),
        Some(patch) => patch.clone(),
        None => rendering::stat(&report.files),
    };
    let size = size.filter(|_| !no_pager);
    let mut page = Paged::new(&mut context.output, context.local.environment(), size);
    for line in text.split_inclusive('\n') {
        if page.text(line)?.is_break() {
            break;
        }
    }
    page.finish()?;
    if report.is_cut {
        let path = report.path.display();
        context.output.note("the patch is longer than Segue prints");
        context.output.hint(&format!("run `git -C {path} diff` to see all of it"));
    }
    Ok(())
}

fn request(name: String, context: &Context) -> WorktreeActionRequest {
    let environment = context.local.environment().clone();
    WorktreeActionRequest { cwd: context.cwd().to_owned(), environment, name, branch: None }
}

async fn act(
    action: WorktreeAction,
    request: &WorktreeActionRequest,
    client: &Client,
    context: &mut Context,
) -> Result<CommandEnding> {
    let work = AwaitedWork::new("working on the worktree")
        .showing_changed()
        .after_interrupt("the daemon continues", "run `segue worktree ls` to see the worktree");
    let report = with_progress(context, work, client.change_worktree(action, request)).await?;
    print_report(&report, context)?;
    Ok(CommandEnding::Done)
}

fn print_report(report: &WorktreeActionReport, context: &mut Context) -> Result<()> {
    if context.wants_json() {
        return context.output.json(report);
    }
    context.output.text(&rendering::outcome(report))?;
    for notice in &report.notices {
        context.output.note(notice);
    }
    Ok(())
}

async fn remove(
    arguments: WorktreeRmArguments,
    client: &Client,
    context: &mut Context,
) -> Result<CommandEnding> {
    let WorktreeRmArguments { worktree: WorktreeName { name }, yes } = arguments;
    let worktree = one(&name, false, client, context).await?;
    confirm(&worktree, yes, context)?;
    // The path names exactly the confirmed worktree: a branch could mean another one by now.
    let path = worktree.path.display().to_string();
    act(WorktreeAction::Remove, &request(path, context), client, context).await
}

fn confirm(worktree: &WorktreeView, yes: bool, context: &Context) -> Result<()> {
    if yes {
        return Ok(());
    }
    let branch = &worktree.branch;
    if !Output::can_ask() {
        return Err(Error::usage(format!(
            "the worktree of `{branch}` is not removed: there is no terminal to ask on"
        ))
        .hint(format!("run `segue worktree rm {branch} --yes` to remove it without being asked")));
    }
    let path = worktree.path.display();
    if context.output.ask(&format!("remove {path}? everything in it is stored in a salvage"))? {
        return Ok(());
    }
    Err(Error::usage(format!("the worktree of `{branch}` is not removed: the answer was no")))
}

async fn collect_garbage(
    arguments: WorktreeGcArguments,
    client: &Client,
    context: &mut Context,
) -> Result<CommandEnding> {
    let (cwd, is_dry_run) = (context.cwd().to_owned(), arguments.dry_run);
    let environment = context.local.environment().clone();
    let request = WorktreeGcRequest { cwd, environment, is_dry_run };
    let work = AwaitedWork::new("removing worktrees")
        .showing_changed()
        .after_interrupt("the daemon continues", "run `segue worktree ls` to see the worktrees");
    let report = with_progress(context, work, client.worktree_gc(&request)).await?;
    if context.wants_json() {
        context.output.json(&report)?;
    } else {
        print_garbage(&report, context)?;
    }
    Ok(CommandEnding::of_answer(!report.failed.is_empty(), Kind::Partial))
}

fn print_garbage(report: &WorktreeGcReport, context: &mut Context) -> Result<()> {
    if report.removed.is_empty() && report.failed.is_empty() {
        context.output.note("every worktree is used by a session");
    }
    for removed in &report.removed {
        print_report(removed, context)?;
    }
    for FailedTarget { error, .. } in &report.failed {
        context.output.failure_on_stderr(error);
    }
    Ok(())
}
