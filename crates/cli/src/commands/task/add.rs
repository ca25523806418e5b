//! `segue task add`: adds a task to the queue.

use clap::Args;
use segue_core::api::{Caller, TaskAddRequest};
use segue_core::model::TaskMode;
use segue_core::{Error, Result};
use segue_server::client::Client;

use super::super::prompt::{self, TextKind};
use super::super::trust;
use super::{ending, showing, wait_for};
use crate::complete;
use crate::context::{CommandEnding, Context};

/// Add a task to the queue of an agent
#[derive(Debug, Args)]
#[command(after_help = "It prints the id of the task. A task without --issue and --session has a \
    conversation of its own. All tasks of an agent about the same issue continue one \
    conversation.\n\n\
    Examples:\n  segue task add --agent coder \"fix the flaky test\"\n  \
    segue task add --agent coder --key nightly --wait - < task.md")]
pub(crate) struct TaskAddArguments {
    /// The work; - reads it from standard input
    #[arg(value_name = "PROMPT|-")]
    pub(crate) prompt: Option<String>,

    /// The agent of the project file that does the work
    #[arg(long, value_name = "AGENT", add = complete::agents())]
    pub(crate) agent: String,

    #[command(flatten)]
    pub(crate) place: TaskPlace,

    /// A name for the task; a second task with the same key is not added
    #[arg(long, value_name = "KEY")]
    pub(crate) key: Option<String>,

    /// How urgent the task is, from -9 to 9
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true)]
    pub(crate) priority: i8,

    /// A shell command that must succeed after the work
    #[arg(long, value_name = "COMMAND")]
    pub(crate) verify: Option<String>,

    /// The task that this task is a part of
    #[arg(long, value_name = "TASK")]
    pub(crate) parent: Option<String>,

    #[command(flatten)]
    pub(crate) running: TaskRunning,
}

/// Where a task is done, and in which conversation.
#[derive(Debug, Args)]
pub(crate) struct TaskPlace {
    /// The URL of a repository; the agent works in a worktree of it
    #[arg(long, value_name = "URL")]
    pub(crate) repo: Option<String>,

    /// The issue that the task is about: its number or its URL
    #[arg(long, value_name = "N|URL")]
    pub(crate) issue: Option<String>,

    /// The branch to work on; the agent has a worktree of it
    #[arg(long, value_name = "BRANCH")]
    pub(crate) branch: Option<String>,

    /// Start a new branch at the pull request of a fork: a ref of the remote, such as
    /// refs/pull/17/head
    #[arg(long, value_name = "REF", requires = "branch")]
    pub(crate) from_fork: Option<String>,

    /// Run the project's setup commands even if the branch is from a fork: they may run its code
    #[arg(long, requires = "branch")]
    pub(crate) setup_fork: bool,

    /// A session of the agent whose conversation the task continues
    #[arg(long, value_name = "SESSION", conflicts_with_all = ["issue", "repo", "branch"],
        add = complete::sessions())]
    pub(crate) session: Option<String>,
}

/// How a task is run, and when the command ends.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "three flags that a user can give")]
pub(crate) struct TaskRunning {
    /// Run without a terminal; this is the default
    #[arg(long, conflicts_with = "interactive")]
    pub(crate) headless: bool,

    /// Run in a terminal to which a person can attach
    #[arg(long)]
    pub(crate) interactive: bool,

    /// Wait until the task has ended, and print the answer
    #[arg(long)]
    pub(crate) wait: bool,
}

pub(super) async fn run(
    arguments: TaskAddArguments,
    client: Client,
    context: &mut Context,
) -> Result<CommandEnding> {
    let waits = arguments.running.wait;
    let request = request(arguments, context.caller())?;
    let attempt = async || client.add_task(&request).await;
    let report = trust::ask_and_retry(&client, context, &request.caller.cwd, attempt).await?;
    if !waits {
        showing::show_added(&report, context)?;
        return Ok(CommandEnding::Done);
    }
    let report = wait_for(&client, report.task.id.to_string(), None, context).await?;
    ending::show(&report, context)
}

fn request(arguments: TaskAddArguments, caller: Caller) -> Result<TaskAddRequest> {
    let prompt = prompt::read(arguments.prompt, TextKind::TaskPrompt)?;
    let TaskPlace { repo, issue, branch, from_fork, setup_fork, session } = arguments.place;
    let is_interactive = arguments.running.interactive;
    Ok(TaskAddRequest {
        caller,
        prompt: prompt.ok_or_else(|| {
            Error::usage("a task needs a prompt").hint("add it, or `-` for standard input")
        })?,
        agent: arguments.agent,
        repo,
        issue,
        branch,
        from_fork,
        setup_fork,
        key: arguments.key,
        priority: arguments.priority,
        verify: arguments.verify,
        parent: arguments.parent,
        mode: if is_interactive { TaskMode::Interactive } else { TaskMode::Headless },
        session,
        reply: None,
    })
}

#[cfg(test)]
mod tests {
    use segue_core::model::Environment;

    use super::*;
    use crate::args::{self, SegueCommand};
    use crate::commands::task::TaskAction;

    fn requested(words: &[&str]) -> Result<TaskAddRequest> {
        let words: Vec<String> =
            ["segue", "task", "add"].iter().chain(words).map(|&word| word.to_owned()).collect();
        let Some(SegueCommand::Task(arguments)) = args::parse(&words).unwrap().command else {
            panic!("another command");
        };
        let TaskAction::Add(arguments) = arguments.action else { panic!("another action") };
        let caller = Caller { cwd: "/src/shop".into(), environment: Environment::default() };
        request(*arguments, caller)
    }

    #[test]
    fn every_flag_is_part_of_the_request() {
        let words = [
            "fix it",
            "--agent",
            "coder",
            "--repo",
            "r",
            "--issue",
            "7",
            "--branch",
            "b",
            "--from-fork",
            "refs/pull/7/head",
            "--setup-fork",
            "--key",
            "k",
            "--priority",
            "-3",
            "--verify",
            "make",
            "--parent",
            "p",
            "--interactive",
        ];
        let request = requested(&words).unwrap();
        assert_eq!((request.prompt.as_str(), request.agent.as_str()), ("fix it", "coder"));
        let texts = [request.repo, request.issue, request.branch, request.key, request.verify];
        assert_eq!(texts.map(Option::unwrap), ["r", "7", "b", "k", "make"]);
        assert_eq!(request.from_fork.as_deref(), Some("refs/pull/7/head"));
        assert!(request.setup_fork);
        assert_eq!((request.priority, request.parent.as_deref()), (-3, Some("p")));
        assert_eq!((request.mode, request.session), (TaskMode::Interactive, None));
        let headless = requested(&["fix it", "--agent", "coder", "--session", "s"]).unwrap();
        assert_eq!((headless.mode, headless.session.as_deref()), (TaskMode::Headless, Some("s")));
    }

    #[test]
    fn task_without_a_prompt_is_a_usage_error() {
        let error = requested(&["--agent", "coder"]).unwrap_err();
        assert_eq!(
            (error.message.as_str(), error.kind.exit_status()),
            ("a task needs a prompt", 2)
        );
    }
}
