//! Prints plans.

use segue_core::Result;
use segue_core::api::{
    PlanApplyReport, PlanList, PlanSummaryView, PlanTaskStatus, PlanTaskView, PlanView,
};
use segue_core::rules::display::counted;
use segue_core::rules::plans::{GraphNode, TaskDifference, dot_graph, text_graph};

use crate::context::Context;
use crate::render::plain::one_line;
use crate::render::style::TextTone;
use crate::render::table::{CutPlace, TableCell, TextTable};
use crate::render::time::age;

/// Prints what applying a file has changed.
pub(super) fn show_applied(report: &PlanApplyReport, context: &mut Context) -> Result<()> {
    if context.wants_json() {
        return context.output.json(report);
    }
    let PlanApplyReport { plan, changes, unchanged } = report;
    let mut text = String::new();
    for (name, change) in changes {
        let note = match change.known() {
            Some(TaskDifference::Deferred) => ": takes effect if the task is retried",
            Some(TaskDifference::Kept) => ": not in the file, but it has started",
            _ => "",
        };
        text = format!("{text}{name} {}{note}\n", change.as_str());
    }
    let unchanged = match unchanged {
        0 => String::new(),
        unchanged => format!(", {} unchanged", counted(*unchanged as usize, "task")),
    };
    let name = &plan.name;
    context.output.text(&format!("{text}{name} is {}{unchanged}\n", plan.state.as_str()))?;
    context.output.hint(&format!("run `segue plan show {name}` to see its tasks"));
    Ok(())
}

/// Prints a table of plans.
pub(super) fn list(list: &PlanList, all: bool, context: &mut Context) -> Result<()> {
    if context.wants_json() {
        return context.output.json(list);
    }
    let mut table = TextTable::new(&["NAME", "STATE", "DONE", "FAILED", "RUNS", "AGE", "FLEET"]);
    let now = context.display().now;
    for plan in &list.plans {
        let counts = plan.counts;
        let done = counts.tasks.saturating_sub(counts.open + counts.failed);
        table.row([
            TableCell::new(plan.name.as_str()),
            TableCell::toned(plan.state.as_str(), tone(plan)),
            TableCell::new(format!("{done}/{}", counts.tasks)),
            TableCell::new(counts.failed.to_string()),
            TableCell::new(counts.released.to_string()),
            TableCell::new(age(plan.created_at, now)),
            TableCell::new(plan.fleet.as_str()),
        ]);
    }
    context.output.table(&table)?;
    if list.plans.is_empty() {
        context.output.note(if all { "no plans yet" } else { "no open plans" });
    }
    Ok(())
}

fn tone(plan: &PlanSummaryView) -> TextTone {
    match plan.state.as_str() {
        "waiting" | "failed" => TextTone::Strong,
        _ => TextTone::Plain,
    }
}

/// Prints a plan with its tasks.
pub(super) fn show(view: &PlanView, context: &mut Context) -> Result<()> {
    if context.wants_json() {
        return context.output.json(view);
    }
    let plan = &view.plan;
    let limit = plan.max_parallel.map(|most| format!(", at most {most} at the same time"));
    let folder = plan.folder.display().to_string();
    let head = format!(
        "{}/{} is {}{} ({})\n\n",
        plan.fleet,
        plan.name,
        plan.state.as_str(),
        limit.unwrap_or_default(),
        one_line(&folder)
    );
    context.output.text(&head)?;
    let mut table = TextTable::new(&["TASK", "STATE", "AGENT", "NEEDS", "ID", "REASON"])
        .cutting(&[("REASON", CutPlace::End)]);
    for task in &view.tasks {
        let needs: Vec<&str> = task.needs.iter().map(|need| need.as_str()).collect();
        let id = task.task.map(|id| id.to_string());
        table.row([
            TableCell::new(task.name.as_str()),
            TableCell::new(task.status.as_str()),
            TableCell::new(task.agent.as_deref().unwrap_or("-")),
            TableCell::new(if needs.is_empty() { "-".to_owned() } else { needs.join(", ") }),
            TableCell::new(id.unwrap_or_else(|| "-".to_owned())),
            TableCell::new(one_line(task.reason.as_deref().unwrap_or_default())),
        ]);
    }
    context.output.table(&table)?;
    let needs_approval =
        |task: &&PlanTaskView| task.status.known() == Some(PlanTaskStatus::Approval);
    for task in view.tasks.iter().filter(needs_approval) {
        let hint = format!("run `segue plan approve {} {}` to let it start", plan.name, task.name);
        context.output.hint(&hint);
    }
    Ok(())
}

/// Prints the name and the state of a plan that was changed.
pub(super) fn show_state(view: &PlanView, context: &mut Context) -> Result<()> {
    if context.wants_json() {
        return context.output.json(view);
    }
    context.output.text(&format!("{} is {}\n", view.plan.name, view.plan.state.as_str()))
}

/// Draws the tasks of a plan.
pub(super) fn graph(view: &PlanView, dot: bool, context: &mut Context) -> Result<()> {
    if context.wants_json() {
        return context.output.json(view);
    }
    let node = |task: &PlanTaskView| GraphNode {
        name: task.name.to_string(),
        state: task.status.as_str().to_owned(),
        needs: task.needs.iter().map(ToString::to_string).collect(),
    };
    let nodes: Vec<GraphNode> = view.tasks.iter().map(node).collect();
    let graph = match dot {
        true => dot_graph(view.plan.name.as_str(), &nodes),
        false => text_graph(&nodes),
    };
    context.output.text(&graph)
}
