//! Runs the setup and teardown commands of a worktree.
//!
//! The setup is recorded as done after all its commands have succeeded. If it fails, or if the daemon
//! is killed meanwhile, the next start of a session in the worktree runs all of them again.

use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;

use super::make::event;
use crate::error::{Error, Result};
use crate::failpoint;
use crate::flows::credentials::without_tokens;
use crate::model::{
    AgentWorktree, CommandPhase, Environment, EventPayload, LaunchId, WorktreeCommandFacts,
};
use crate::ports::{Change, CommandOrder, CommandReport, Commit, Ports};
use crate::rules::environment::for_worktree_command;
use crate::rules::worktrees::end_of_output;

/// Runs the setup commands of a worktree, unless they have succeeded in its present folder. The
/// first failure ends the setup.
pub(super) async fn set_up(
    ports: &Ports,
    worktree: &AgentWorktree,
    environment: &Environment,
) -> Result<()> {
    if worktree.is_set_up || worktree.commands.setup.is_empty() {
        return Ok(());
    }
    failpoint::hit("worktree.setup.before");
    run_all(ports, worktree, CommandPhase::Setup, environment).await?;
    failpoint::hit("worktree.setup.after");
    let done = Change::SetWorktreeSetUp { worktree: worktree.id, is_set_up: true };
    ports.store.commit(Commit { changes: vec![done], events: Vec::new() }).await?;
    failpoint::hit("worktree.setup.recorded");
    Ok(())
}

/// Runs the teardown commands of a worktree. Returns the error of the first failure.
pub(super) async fn tear_down(
    ports: &Ports,
    worktree: &AgentWorktree,
    environment: &Environment,
) -> Result<()> {
    failpoint::hit("worktree.teardown.before");
    let done = run_all(ports, worktree, CommandPhase::Teardown, environment).await;
    failpoint::hit("worktree.teardown.after");
    done
}

/// Runs the commands of a phase one after the other, until one fails or their time is over. Ends all
/// processes that they leave behind, also those of an earlier daemon that was killed meanwhile.
async fn run_all(
    ports: &Ports,
    worktree: &AgentWorktree,
    phase: CommandPhase,
    environment: &Environment,
) -> Result<()> {
    let mark = LaunchId::new(worktree.id.uuid());
    ports.machine.end_marked(&[mark]).await?;
    let caller = without_tokens(ports, environment);
    let environment = for_worktree_command(&caller, worktree, mark);
    let began = ports.clock.now();
    let mut done = Ok(());
    for command in worktree.commands.of(phase) {
        done = run(ports, worktree, (phase, command), (began, &environment)).await;
        if done.is_err() {
            break;
        }
    }
    ports.machine.end_marked(&[mark]).await?;
    done
}

async fn run(
    ports: &Ports,
    worktree: &AgentWorktree,
    (phase, command): (CommandPhase, &str),
    (began, environment): (Timestamp, &Environment),
) -> Result<()> {
    report(ports, worktree, (phase, command), None).await?;
    let log = ports.commands.log_of(worktree.id);
    let order = CommandOrder {
        command: command.to_owned(),
        folder: worktree.path.clone(),
        environment: environment.clone(),
        timeout: remaining(ports, worktree.commands.timeout(phase), began),
        log: Some(log.clone()),
    };
    let ended = ports.commands.run(order).await?;
    report(ports, worktree, (phase, command), Some(ended.ending.clone())).await?;
    match ended.passed {
        true => Ok(()),
        false => Err(failed(worktree, (phase, command), &ended, &log)),
    }
}

fn remaining(ports: &Ports, timeout: Duration, began: Timestamp) -> Duration {
    let elapsed = ports.clock.now().duration_since(began);
    timeout.saturating_sub(Duration::try_from(elapsed).unwrap_or_default())
}

/// Records the beginning or the end of a command, so that clients can show it.
async fn report(
    ports: &Ports,
    worktree: &AgentWorktree,
    (phase, command): (CommandPhase, &str),
    ending: Option<String>,
) -> Result<()> {
    let (branch, command) = (worktree.branch.to_string(), command.to_owned());
    let facts = WorktreeCommandFacts { branch, phase, command, ending };
    let events = vec![event(ports, worktree.session, EventPayload::WorktreeCommand(facts))];
    ports.store.commit(Commit { changes: Vec::new(), events }).await?;
    Ok(())
}

fn failed(
    worktree: &AgentWorktree,
    (phase, command): (CommandPhase, &str),
    ended: &CommandReport,
    log: &Path,
) -> Error {
    let (word, path, ending) = (phase.word(), worktree.path.display(), &ended.ending);
    let error = Error::config(format!("the {word} command `{command}` failed in `{path}`"));
    let error = error.caused_by(ending);
    let error = match end_of_output(&ended.output) {
        "" => error,
        output => error.caused_by(output),
    };
    let error = error.hint(format!("look at its whole output in `{}`", log.display()));
    match phase {
        CommandPhase::Setup => error.hint("the next start in this worktree runs the setup again"),
        CommandPhase::Teardown => error,
    }
}
