//! Prints tasks.

use segue_core::Result;
use segue_core::api::{TaskReport, TaskView};

use crate::context::{CommandEnding, Context};
use crate::render::plain::{one_line, plain};

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
        ("issue", task.issue.clone()),
        ("parent", task.parent.map(|parent| parent.to_string())),
        ("priority", Some(task.priority.to_string())),
        ("attempts", Some(task.attempts.to_string())),
        ("created", time(Some(task.created_at))),
        ("started", time(task.started_at)),
        ("ended", time(task.ended_at)),
    ];
    let row = |(name, value): (&str, Option<String>)| {
        value.map(|value| format!("{name:<9} {}\n", one_line(&value))).unwrap_or_default()
    };
    let answer = task.result.as_ref().and_then(|result| result.answer.as_deref());
    let answer = answer.map(|answer| format!("\nanswer:\n{}\n", plain(answer.trim_end())));
    let record: String = rows.into_iter().map(row).collect();
    let prompt = plain(task.prompt.trim_end());
    let text = format!("{record}\nprompt:\n{prompt}\n{}", answer.unwrap_or_default());
    context.output.text(&text)
}

/// Returns the state of a task with its reason.
fn state(task: &TaskView) -> String {
    match &task.reason {
        Some(reason) => format!("{} ({reason})", task.state.as_str()),
        None => task.state.as_str().to_owned(),
    }
}
