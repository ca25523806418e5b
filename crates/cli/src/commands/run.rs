//! `segue run`: starts one agent.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use segue_core::api::{
    Caller, RunRequest, SessionView, StartedSession, TurnReport, WorktreeRequest,
};
use segue_core::model::Permission;
use segue_core::rules::dialog;
use segue_core::{Error, Result};
use serde::Serialize;

use super::prompt::{self, TextKind};
use super::{attach, failure, trust, wait};
use crate::complete;
use crate::context::{CommandEnding, Context};
use crate::progress::{self, AwaitedWork, with_progress};
use crate::render::sessions::address;

/// Start one agent
#[derive(Debug, Args)]
#[command(after_help = "On a terminal, it opens the agent's live terminal unless -d is given. \
    Otherwise it prints the session's address and ends. A prompt that begins with a dash is taken \
    for a flag unless it contains a space: pass such a prompt on standard input.\n\n\
    Examples:\n  segue run \"fix the flaky test\"\n  name=$(segue run -d --name fixer - < task.md)\n  \
    segue run --headless \"which tests are slow?\"\n  segue run --worktree fix/login \"fix the login\"")]
pub(crate) struct RunArguments {
    /// The first message; - reads it from standard input
    #[arg(value_name = "PROMPT|-")]
    pub(crate) prompt: Option<String>,

    /// An agent of the project file
    #[arg(long, value_name = "AGENT", conflicts_with = "vendor", add = complete::agents())]
    pub(crate) agent: Option<String>,

    /// The vendor of the agent; see `segue vendors`
    #[arg(long, value_name = "VENDOR", add = complete::vendors())]
    pub(crate) vendor: Option<String>,

    /// The name of the session [default: a generated name]
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,

    /// The folder in which the agent works [default: this folder]
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,

    /// The model, as the vendor names it
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,

    /// What the agent may do without asking a person
    #[arg(long, value_enum, value_name = "PERMISSION")]
    pub(crate) permission: Option<PermissionArgument>,

    #[command(flatten)]
    pub(crate) checkout: CheckoutArguments,

    /// Run one turn without a terminal, and print the answer
    #[arg(long)]
    pub(crate) headless: bool,

    /// Give the agent the tools of `segue mcp`, so that it can start other agents
    #[arg(long)]
    pub(crate) mcp: bool,

    #[command(flatten)]
    pub(crate) waiting: RunWaiting,

    /// Arguments for the vendor's own program
    #[arg(last = true, value_name = "VENDOR-ARGS")]
    pub(crate) vendor_arguments: Vec<String>,
}

/// The worktree in which the agent works.
#[derive(Debug, Args)]
pub(crate) struct CheckoutArguments {
    /// Work on this branch, in a checkout of its own; see `segue worktree`
    #[arg(long, value_name = "BRANCH")]
    pub(crate) worktree: Option<String>,

    /// Start a new branch at this branch, tag or commit [default: the default branch]
    #[arg(long, value_name = "REF", requires = "worktree")]
    pub(crate) base: Option<String>,

    /// Start a new branch at the pull request of a fork: a ref of the remote, such as
    /// refs/pull/17/head
    #[arg(long, value_name = "REF", requires = "worktree", conflicts_with = "base")]
    pub(crate) from_fork: Option<String>,

    /// The repository [default: the repository of this folder]
    #[arg(long, value_name = "URL", requires = "worktree")]
    pub(crate) repo: Option<String>,

    /// Run the project's setup commands even if the branch is from a fork: they may run its code
    #[arg(long, requires = "worktree")]
    pub(crate) setup_fork: bool,
}

impl CheckoutArguments {
    fn request(self) -> Option<WorktreeRequest> {
        let Self { worktree, base, from_fork, repo, setup_fork } = self;
        let agent = None;
        worktree.map(|branch| WorktreeRequest { branch, base, from_fork, repo, setup_fork, agent })
    }
}

/// When the command ends.
#[derive(Debug, Args)]
pub(crate) struct RunWaiting {
    /// Wait until the turn ends; a headless run always does unless -d is given
    #[arg(long, conflicts_with = "detach")]
    pub(crate) wait: bool,

    /// End as soon as the agent is started; the agent keeps running
    #[arg(long, short)]
    pub(crate) detach: bool,
}

/// The words for [`Permission`] on the command line.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum PermissionArgument {
    Ask,
    AcceptEdits,
    Auto,
}

impl From<PermissionArgument> for Permission {
    fn from(argument: PermissionArgument) -> Self {
        match argument {
            PermissionArgument::Ask => Self::Ask,
            PermissionArgument::AcceptEdits => Self::AcceptEdits,
            PermissionArgument::Auto => Self::Auto,
        }
    }
}

/// What the command does after the agent has been started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Afterwards {
    Attach,
    WaitForTurn,
    WaitForRest,
    PrintAddress,
}

pub(crate) async fn run(arguments: RunArguments, context: &mut Context) -> Result<CommandEnding> {
    let can_attach = attach::can_attach() && !context.wants_json();
    let afterwards = afterwards(&arguments, can_attach)?;
    let request = request(arguments, context.caller())?;
    let client = progress::connect(context).await?;
    let folder = request.cwd.as_deref().unwrap_or(context.cwd());
    let work = AwaitedWork::new("starting the agent")
        .showing_changed()
        .after_interrupt("the start of the agent continues", "run `segue ls` to see it");
    let attempt = async || with_progress(context, work.clone(), client.run(&request)).await;
    let started = trust::ask_and_retry(&client, context, folder, attempt).await?;
    let StartedSession { session, notices } = started;
    print_notices(&notices, context);
    match afterwards {
        Afterwards::Attach => attach::attach(&session.id.to_string(), &client, context).await,
        Afterwards::WaitForTurn => {
            let name = address(&session);
            let work = AwaitedWork::new("waiting").showing([name.clone()]);
            let work =
                work.after_interrupt("the agent goes on", format!("run `segue wait {name}`"));
            let turn = with_progress(context, work, client.wait_turn(session.id)).await?;
            show_turn(&turn, context)
        }
        Afterwards::WaitForRest => wait::for_rest(&session, &client, context).await,
        Afterwards::PrintAddress => show_address(&session, context),
    }
}

fn print_notices(notices: &[String], context: &Context) {
    for notice in notices {
        context.output.note(notice);
        context.output.hint("add `--permission accept-edits` or `--permission auto` to allow more");
    }
}

fn afterwards(arguments: &RunArguments, can_attach: bool) -> Result<Afterwards> {
    if arguments.headless && arguments.prompt.is_none() {
        return Err(Error::usage("a headless run needs a prompt")
            .hint("run `segue run --headless \"what is to be done\"`"));
    }
    match (arguments.headless, arguments.waiting.wait, arguments.waiting.detach) {
        (false, true, _) => Ok(Afterwards::WaitForRest),
        (true, _, false) => Ok(Afterwards::WaitForTurn),
        (false, false, false) if can_attach => Ok(Afterwards::Attach),
        _ => Ok(Afterwards::PrintAddress),
    }
}

fn request(arguments: RunArguments, caller: Caller) -> Result<RunRequest> {
    let cwd = arguments.cwd.map(|folder| caller.cwd.join(folder));
    Ok(RunRequest {
        prompt: prompt::read(arguments.prompt, TextKind::Prompt)?,
        caller,
        agent: arguments.agent,
        vendor: arguments.vendor,
        name: arguments.name,
        cwd,
        model: arguments.model,
        permission: arguments.permission.map(Permission::from),
        headless: arguments.headless,
        args: arguments.vendor_arguments,
        worktree: arguments.checkout.request(),
        mcp: arguments.mcp,
    })
}

fn show_address(session: &SessionView, context: &mut Context) -> Result<CommandEnding> {
    if context.wants_json() {
        context.output.json(session)?;
        return Ok(CommandEnding::Done);
    }
    let name = address(session);
    context.output.text(&format!("{name}\n"))?;
    let command = if session.headless { "log" } else { "attach" };
    context.output.hint(&format!("run `segue {command} {name}` to see it work"));
    Ok(CommandEnding::Done)
}

/// The session with the result of its turn, as `segue run --json` prints them.
#[derive(Serialize)]
struct HeadlessTurn<'a> {
    #[serde(flatten)]
    session: &'a SessionView,
    ok: bool,
    text: &'a str,
}

fn show_turn(turn: &TurnReport, context: &mut Context) -> Result<CommandEnding> {
    let name = address(&turn.session);
    if context.wants_json() && turn.ok {
        context.output.json(&HeadlessTurn {
            session: &turn.session,
            ok: turn.ok,
            text: &turn.text,
        })?;
    } else if turn.ok {
        context.output.agent_text(&turn.text)?;
    }
    if turn.ok {
        return Ok(CommandEnding::Done);
    }
    if let Some(question) = &turn.question {
        let asks = Error::conflict(format!("the turn of `{name}` is not over"));
        let hint = turn.session.dialog.as_ref().map(dialog::hint);
        let hint = hint.unwrap_or_else(|| format!("run `segue ls` to see what `{name}` asks"));
        return Err(asks.caused_by(question).hint(hint));
    }
    if let Some(failed) = &turn.failure {
        return Err(failure::turn(&name, failed));
    }
    let failed = Error::vendor(format!("the turn of `{name}` failed"));
    let failed = if turn.text.is_empty() { failed } else { failed.caused_by(&turn.text) };
    Err(failed.hint(format!("run `segue log {name}` to see what happened")))
}

#[cfg(test)]
mod tests {
    use segue_core::model::Environment;

    use super::*;
    use crate::args::{self, SegueCommand};

    fn parsed(words: &[&str]) -> RunArguments {
        let words: Vec<String> =
            ["segue", "run"].iter().chain(words).map(|&word| word.to_owned()).collect();
        match args::parse(&words).unwrap().command {
            Some(SegueCommand::Run(arguments)) => arguments,
            other => panic!("{other:?}"),
        }
    }

    fn requested(words: &[&str]) -> RunRequest {
        let caller = Caller { cwd: "/src/shop".into(), environment: Environment::default() };
        request(parsed(words), caller).unwrap()
    }

    #[test]
    fn flags_and_terminal_decide_what_follows_the_start() {
        let table: [(&[&str], bool, Afterwards); 9] = [
            (&["--wait", "x"], true, Afterwards::WaitForRest),
            (&["x"], true, Afterwards::Attach),
            (&["x"], false, Afterwards::PrintAddress),
            (&["-d", "x"], true, Afterwards::PrintAddress),
            (&["--detach", "x"], false, Afterwards::PrintAddress),
            (&["--headless", "x"], true, Afterwards::WaitForTurn),
            (&["--headless", "--wait", "x"], false, Afterwards::WaitForTurn),
            (&["--headless", "-d", "x"], true, Afterwards::PrintAddress),
            (&[], true, Afterwards::Attach),
        ];
        for (words, can_attach, expected) in table {
            assert_eq!(afterwards(&parsed(words), can_attach).unwrap(), expected, "{words:?}");
        }
    }

    #[test]
    fn headless_without_prompt_is_a_usage_error() {
        let error = afterwards(&parsed(&["--headless"]), true).unwrap_err();
        assert_eq!(error.message, "a headless run needs a prompt");
        assert_eq!(error.kind.exit_status(), 2);
    }

    #[test]
    fn worktree_flags_are_part_of_the_request() {
        let worktree = |words: &[&str]| requested(words).worktree;
        assert_eq!(worktree(&["x"]), None);
        let branch = "fix".to_owned();
        let expected = WorktreeRequest { branch: branch.clone(), ..WorktreeRequest::default() };
        assert_eq!(worktree(&["--worktree", "fix"]), Some(expected));
        let (base, repo) = (Some("v1".to_owned()), Some("https://h/a".to_owned()));
        let words = ["--worktree", "fix", "--base", "v1", "--repo", "https://h/a", "--setup-fork"];
        let expected = WorktreeRequest {
            branch: branch.clone(),
            base,
            repo,
            setup_fork: true,
            ..WorktreeRequest::default()
        };
        assert_eq!(worktree(&words), Some(expected));
        let from_fork = Some("refs/pull/17/head".to_owned());
        let expected = WorktreeRequest { branch, from_fork, ..WorktreeRequest::default() };
        let words = ["--worktree", "fix", "--from-fork", "refs/pull/17/head"];
        assert_eq!(worktree(&words), Some(expected));
    }

    #[test]
    fn every_flag_is_part_of_the_request() {
        let request = requested(&[
            "do it",
            "--vendor",
            "v",
            "--name",
            "n",
            "--cwd",
            "sub",
            "--model",
            "m",
            "--permission",
            "accept-edits",
            "--headless",
            "--mcp",
            "--",
            "--slow",
            "-x",
        ]);
        assert_eq!(request.prompt.as_deref(), Some("do it"));
        assert_eq!(request.vendor.as_deref(), Some("v"));
        assert_eq!(request.name.as_deref(), Some("n"));
        assert_eq!(request.cwd, Some("/src/shop/sub".into()));
        assert_eq!(request.model.as_deref(), Some("m"));
        assert_eq!(request.permission, Some(Permission::AcceptEdits));
        assert!(request.headless && request.mcp);
        assert_eq!(request.args, ["--slow", "-x"]);
        assert_eq!(requested(&["--agent", "a"]).agent.as_deref(), Some("a"));
    }

    #[test]
    fn prompt_with_a_space_may_begin_with_a_dash() {
        for prompt in
            ["- fix this\n- and that", "--help me with this", "-d is a flag", "-hello there"]
        {
            assert_eq!(requested(&[prompt]).prompt.as_deref(), Some(prompt));
            assert_eq!(requested(&["-d", prompt, "--name", "n"]).prompt.as_deref(), Some(prompt));
        }
        let with_rest = requested(&["--", "-x y"]);
        assert_eq!((with_rest.prompt, with_rest.args), (None, vec!["-x y".to_owned()]));
    }
}
