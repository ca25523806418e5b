//! Reports of the daemon as sentences and rows.

use std::path::Path;

use segue_core::api::{
    AdoptReport, HandoffReport, InterruptReport, PlanReport, RestoreReport, ScaleReport,
    StopOutcome, StopReport, TaskReport, TaskSummaryList, WorktreeActionReport, WorktreeList,
    WorktreeView,
};
use segue_core::model::InterruptMethod;
use segue_core::rules::display::{counted, one_line, place, plain};

use crate::model::TableRow;

/// At most this many carried turns are shown before a handoff.
const SHOWN_TURNS: usize = 8;

pub(crate) fn stopped(report: &StopReport) -> String {
    let stopped = report.stopped.iter().filter(|it| it.outcome == StopOutcome::Stopped);
    let names: Vec<&str> = stopped.map(|it| it.of.address.as_str()).collect();
    let failed = report.failed.iter().map(|it| format!("{}: {}", it.target, it.error));
    let failed: Vec<String> = failed.collect();
    match (names.as_slice(), failed.as_slice()) {
        ([], []) => "nothing ran".to_owned(),
        (names, []) => format!("stopped {}; conversations are kept", names.join(", ")),
        (_, failed) => format!("not stopped: {}", failed.join("; ")),
    }
}

pub(crate) fn interrupted(report: &InterruptReport) -> String {
    let name = &report.of.address;
    match report.method {
        InterruptMethod::Keys => format!("the turn of {name} was interrupted"),
        InterruptMethod::Stop => format!("the process of the turn of {name} was ended"),
    }
}

pub(crate) fn restored(report: &RestoreReport) -> String {
    let outcome = |it: &segue_core::api::AgentOutcome| {
        let note = it.note.text.as_ref().filter(|_| it.lost);
        let note = note.map(|note| format!(" ({note})")).unwrap_or_default();
        format!("{} {}{note}", it.of.address, it.outcome.word())
    };
    let outcomes: Vec<String> = report.agents.iter().map(outcome).collect();
    if outcomes.is_empty() { "nothing to resume".to_owned() } else { outcomes.join(", ") }
}

/// Returns the lines of a plan, and how many sessions would be brought back.
pub(super) fn plan(report: &PlanReport) -> (Vec<String>, usize) {
    let mut lines = Vec::new();
    for it in &report.plan {
        // The note begins with the decision.
        let what = it.note.text.as_deref().unwrap_or(it.decision.word());
        lines.push(one_line(&format!("{}  {what}", it.of.address)));
    }
    for it in &report.left_alone {
        lines.push(one_line(&format!("{}  left alone: {}", it.address, it.why)));
    }
    lines.extend(report.failed.iter().map(|it| one_line(&format!("{}  {}", it.target, it.error))));
    if lines.is_empty() {
        lines.push("there is nothing to bring back".to_owned());
    }
    (lines, report.to_bring_back)
}

/// Returns what a handoff would carry.
pub(super) fn preview(report: &HandoffReport) -> Vec<String> {
    let carried = usize::try_from(report.turns_carried).unwrap_or(usize::MAX);
    let left_out = match report.turns_left_out {
        Some(0) => String::new(),
        Some(count) => format!(", {count} left out"),
        None => ", older ones left out".to_owned(),
    };
    let mut lines = vec![
        format!("goes on as {} ({}), mode {}", report.to, report.vendor, report.mode),
        format!("carries {}, {} characters{left_out}", counted(carried, "turn"), report.chars),
        redacted(report),
        format!("{} stops at the end of its turn; its conversation is kept", report.from),
    ];
    lines.extend(report.note.text.iter().map(|note| one_line(note)));
    if !report.turns.is_empty() {
        lines.push(String::new());
        let hidden = report.turns.len().saturating_sub(SHOWN_TURNS);
        if hidden > 0 {
            lines.push(format!("… {} before these", counted(hidden, "turn")));
        }
        for turn in report.turns.iter().skip(hidden) {
            lines.push(format!("{:<10} {}", turn.role.word(), one_line(&turn.text)));
        }
    }
    lines
}

fn redacted(report: &HandoffReport) -> String {
    if report.redacted.is_empty() {
        return "no secrets were found in it".to_owned();
    }
    let kinds = report.redacted.iter().map(|(kind, count)| format!("{count} {kind}"));
    format!("secrets that are removed: {}", kinds.collect::<Vec<_>>().join(", "))
}

pub(crate) fn handed_over(report: &HandoffReport) -> String {
    format!("{} goes on as {} ({})", report.from, report.to, report.mode)
}

pub(crate) fn scaled(report: &ScaleReport) -> String {
    let started = report.agents.len();
    let stopped = report.stopped.len();
    format!("{} now, {} stopped", counted(started, "agent"), stopped)
}

pub(crate) fn adopted(report: &AdoptReport) -> String {
    let names: Vec<&str> = report.adopted.iter().map(|it| it.address.as_str()).collect();
    let skipped = report.skipped.iter().map(|it| it.why.clone()).collect::<Vec<_>>();
    if names.is_empty() { skipped.join("; ") } else { format!("adopted {}", names.join(", ")) }
}

pub(crate) fn changed_worktree(report: &WorktreeActionReport) -> String {
    let salvage = report.salvage.as_ref().map(|it| format!("; its work is in {it}"));
    let notices = report.notices.iter().map(|it| format!("; {it}")).collect::<String>();
    let salvage = salvage.unwrap_or_default();
    format!("{} {}{salvage}{notices}", report.outcome.word(), report.branch)
}

pub(super) fn task_rows(list: &TaskSummaryList) -> Vec<TableRow> {
    let row = |it: &segue_core::api::TaskSummaryView| TableRow {
        id: it.id.to_string(),
        cells: vec![
            it.state.to_string(),
            it.agent.to_string(),
            it.address.clone().unwrap_or_default(),
            one_line(&it.beginning),
        ],
        session: it.address.clone(),
        consequence: format!("cancels the task of {}: {}", it.agent, one_line(&it.beginning)),
    };
    list.tasks.iter().map(row).collect()
}

/// Returns the title and the lines about one task.
pub(super) fn task(report: &TaskReport) -> (String, Vec<String>) {
    let it = &report.task;
    let mut lines = vec![
        format!("state     {}", it.state),
        format!("agent     {}", it.agent),
        format!("attempts  {}", it.attempts),
    ];
    let known = [
        ("reason    ", it.reason.clone()),
        ("session   ", it.address.clone()),
        ("branch    ", it.branch.clone()),
        ("issue     ", it.issue.clone()),
    ];
    lines.extend(known.into_iter().filter_map(|(label, text)| Some(format!("{label}{}", text?))));
    lines.push(String::new());
    lines.extend(plain(&it.prompt).lines().map(str::to_owned));
    (format!("Task {}", it.id), lines.into_iter().map(|it| one_line(&it)).collect())
}

pub(super) fn worktree_rows(list: &WorktreeList, home: Option<&Path>) -> Vec<TableRow> {
    let row = |it: &WorktreeView| TableRow {
        id: it.path.display().to_string(),
        cells: vec![
            it.branch.to_string(),
            it.state.word().to_owned(),
            changes(it),
            it.leased_to.as_ref().map(|it| it.address.clone()).unwrap_or_default(),
            place(&it.path, home),
        ],
        session: it.leased_to.as_ref().map(|it| it.address.clone()),
        consequence: consequence(it),
    };
    list.worktrees.iter().map(row).collect()
}

fn changes(worktree: &WorktreeView) -> String {
    match &worktree.changes {
        None => String::new(),
        Some(changes) if changes.is_clean() => "clean".to_owned(),
        Some(it) => {
            let count = it.staged + it.modified + it.untracked + it.conflicted;
            counted(count, "changed file")
        }
    }
}

fn consequence(worktree: &WorktreeView) -> String {
    let changes = match changes(worktree).as_str() {
        "" | "clean" => "it has no uncommitted work".to_owned(),
        changes => format!("its {changes} are kept in a salvage"),
    };
    format!("removes the folder of {}; {changes}; the branch stays", worktree.branch)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn line_of_a_plan_says_once_what_would_be_done() {
        let row = |name: &str, decision: &str, note: &str| {
            json!({
                "session": "00000000-0000-7000-8000-000000000001", "fleet": "shop", "name": name,
                "address": format!("shop/{name}"), "vendor": "demo", "decision": decision,
                "note": note,
            })
        };
        let rows = [
            row("coder", "resume", "resume"),
            row("tester", "start", "start: the conversation is empty"),
        ];
        let report = json!({"plan": rows, "to_bring_back": 2, "left_alone": [], "failed": []});
        let (lines, count) = plan(&serde_json::from_value(report).unwrap());
        let expected = ["shop/coder  resume", "shop/tester  start: the conversation is empty"];
        assert_eq!((lines, count), (expected.map(str::to_owned).to_vec(), 2));
    }
}
