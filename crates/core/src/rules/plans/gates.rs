//! What the approval of a gate starts.

use crate::model::{PlanTask, PlanTaskName, PlanTaskState};

/// A text for people names at most this many tasks.
const MAX_NAMED_TASKS: usize = 4;

/// Returns the tasks that wait for one task alone. `needing` are the tasks that need it.
pub fn released_by_one(needing: Vec<PlanTask>) -> Vec<PlanTaskName> {
    let waits = |it: &PlanTask| it.state == PlanTaskState::Blocked && it.unmet == 1;
    needing.into_iter().filter(|it| waits(it) && !it.is_removed).map(|it| it.name).collect()
}

/// Returns what the approval of a gate starts. `agent` does the work of the gate's own task.
pub fn approval_text(agent: Option<&str>, releases: &[PlanTaskName]) -> String {
    match (agent, releases) {
        (None, []) => "starts nothing: no task waits for it alone".to_owned(),
        (None, names) => format!("starts {}", listed(names)),
        (Some(agent), []) => format!("starts the work of {agent}"),
        (Some(agent), names) => format!("starts the work of {agent}; {} after it", listed(names)),
    }
}

fn listed(names: &[PlanTaskName]) -> String {
    let mut words: Vec<String> =
        names.iter().take(MAX_NAMED_TASKS).map(ToString::to_string).collect();
    let more = names.len().saturating_sub(MAX_NAMED_TASKS);
    if more > 0 {
        words.push(format!("{more} more"));
    }
    words.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(count: usize) -> Vec<PlanTaskName> {
        (1..=count).map(|it| PlanTaskName::parse(&format!("t{it}")).unwrap()).collect()
    }

    #[test]
    fn approval_names_the_work_and_the_tasks_that_it_starts() {
        let table = [
            (None, 0, "starts nothing: no task waits for it alone"),
            (None, 2, "starts t1, t2"),
            (Some("coder"), 0, "starts the work of coder"),
            (Some("coder"), 1, "starts the work of coder; t1 after it"),
            (None, 6, "starts t1, t2, t3, t4, 2 more"),
        ];
        for (agent, count, expected) in table {
            assert_eq!(approval_text(agent, &names(count)), expected);
        }
    }
}
