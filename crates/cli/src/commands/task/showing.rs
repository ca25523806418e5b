//! Prints tasks.

use segue_core::Result;
use segue_core::api::{TaskReport, TaskView};
use segue_core::model::{AgentReport, DiffStat, TaskCommit, TaskResult};
use segue_core::rules::display::counted;

use crate::context::{CommandEnding, Context};
use crate::render::plain::{one_line, plain};

/// How many characters of a commit's id are shown.
const SHORT_COMMIT: usize = 9;

/// Prints the id of a task that was added.
pub(super) fn show_added(report: &TaskReport, context: &mut Context) -> Result<()> {
    if context.wants_json() {
        return context.output.json(report);
    }
    let id = report.task.id;
    context.output.text(&format!("{id}\n"))?;
    context.output.hint(&format!("run `segue task wait {id}` to wait for its end"));
    Ok(())
}

/// Prints the id and the state of a task that was changed.
pub(super) fn show_state(report: &TaskReport, context: &mut Context) -> Result<CommandEnding> {
    if context.wants_json() {
        context.output.json(report)?;
    } else {
        context.output.text(&format!("{} {}\n", report.task.id, report.task.state.as_str()))?;
    }
    Ok(CommandEnding::Done)
}

/// Prints the whole record of a task.
pub(super) fn show(report: &TaskReport, context: &mut Context) -> Result<()> {
    if context.wants_json() {
        return context.output.json(report);
    }
    let clock = context.clock().clone();
    let task = &report.task;
    let time = |at: Option<jiff::Timestamp>| at.map(|at| clock.timestamp(at));
    let rows = [
        ("id", Some(task.id.to_string())),
        ("key", task.key.as_ref().map(ToString::to_string)),
        ("state", Some(state(task))),
        ("agent", Some(task.agent.to_string())),
        ("session", task.address.clone()),
        ("repository", task.repository.clone()),
        ("issue", task.issue.clone()),
        ("branch", task.branch.clone()),
        ("worktree", task.worktree.as_ref().map(|path| path.display().to_string())),
        ("parent", task.parent.map(|parent| parent.to_string())),
        ("priority", Some(task.priority.to_string())),
        ("attempts", Some(task.attempts.to_string())),
        ("created", time(Some(task.created_at))),
        ("started", time(task.started_at)),
        ("ended", time(task.ended_at)),
    ];
    let row = |(name, value): (&str, Option<String>)| {
        value.map(|value| format!("{name:<10} {}\n", one_line(&value))).unwrap_or_default()
    };
    let record: String = rows.into_iter().map(row).collect();
    let prompt = plain(task.prompt.trim_end());
    let result = task.result.as_ref().map(result).unwrap_or_default();
    let line = |report: &AgentReport| {
        let at = clock.timestamp(report.at);
        format!("{at} {} {}\n", report.state.word(), one_line(&report.text))
    };
    let reports: String = report.reports.iter().map(line).collect();
    let reports = if reports.is_empty() { reports } else { format!("\nreports:\n{reports}") };
    context.output.text(&format!("{record}\nprompt:\n{prompt}\n{result}{reports}"))
}

/// Returns the answer, the commits and the changes of a task.
fn result(result: &TaskResult) -> String {
    let answer = result.answer.as_deref();
    let answer = answer.map(|answer| format!("\nanswer:\n{}\n", plain(answer.trim_end())));
    let commit = |commit: &TaskCommit| {
        let id = commit.id.get(..SHORT_COMMIT).unwrap_or(&commit.id);
        format!("{id} {}\n", one_line(&commit.subject))
    };
    let commits: String = result.commits.iter().map(commit).collect();
    let commits = if commits.is_empty() { commits } else { format!("\ncommits:\n{commits}") };
    let changes = result.diff.filter(|diff| *diff != DiffStat::default()).map(|diff| {
        let DiffStat { files, insertions, deletions } = diff;
        let files = counted(files as usize, "file");
        format!("\nchanged: {files}, +{insertions} -{deletions} lines\n")
    });
    let note = result.note.as_deref().map(|note| format!("\nnote: {}\n", one_line(note)));
    [answer.unwrap_or_default(), commits, changes.unwrap_or_default(), note.unwrap_or_default()]
        .concat()
}

/// Returns the state of a task with its reason.
fn state(task: &TaskView) -> String {
    match &task.reason {
        Some(reason) => format!("{} ({reason})", task.state.as_str()),
        None => task.state.as_str().to_owned(),
    }
}
