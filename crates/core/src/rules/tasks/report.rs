//! The message with which a task reports its end to its parent.

use crate::model::{AgentReport, ReportedState, Task};

/// At most this many bytes of the answer are reported.
const MAX_ANSWER_BYTES: usize = 16 * 1024;

/// At most this many bytes of the reason are reported.
const MAX_REASON_BYTES: usize = 2 * 1024;

/// Returns the message about the end of a task. What the agent of the task wrote is quoted.
pub fn report_text(task: &Task) -> String {
    let key = task.key.as_ref().map(|key| format!(" (key `{key}`)")).unwrap_or_default();
    let (id, state, agent) = (task.id, task.state.word(), &task.order.agent);
    let relation = match task.order.spawner {
        Some(_) => "which you added",
        None => "which is a part of your task",
    };
    let mut text = format!("Task `{id}`{key}, {relation}, has ended: {state}.");
    text = format!("{text} Agent `{agent}` worked on it.");
    if let Some(reason) = task.state.reason() {
        text =
            format!("{text}\n\nThe reason:\n\n{}", fenced(&shortened(&reason, MAX_REASON_BYTES)));
    }
    let answer = task.result.as_ref().and_then(|result| result.answer.as_deref());
    match answer.filter(|answer| !answer.trim().is_empty()) {
        Some(answer) => {
            let answer = fenced(&shortened(answer, MAX_ANSWER_BYTES));
            format!("{text}\n\nIts last answer:\n\n{answer}")
        }
        None => text,
    }
}

/// The longest report of an agent.
pub const MAX_REPORT_BYTES: usize = 16 * 1024;

/// Returns the message about what an agent reports to its parent. The text of the agent is quoted.
pub fn agent_report_text(name: &str, report: &AgentReport) -> String {
    let task = report.task.map(|task| format!(" (task `{task}`)")).unwrap_or_default();
    let state = match report.state {
        ReportedState::Done => "that its work is done",
        ReportedState::Failed => "that its work has failed",
        ReportedState::Progress => "its progress",
    };
    format!("Your child `{name}`{task} reports {state}:\n\n{}", fenced(report.text.trim_end()))
}

/// Quotes a text as a block of Markdown. The text cannot end the block.
pub fn fenced(text: &str) -> String {
    let mut fence = "```".to_owned();
    while text.contains(&fence) {
        fence.push('`');
    }
    format!("{fence}\n{text}\n{fence}")
}

fn shortened(text: &str, most: usize) -> String {
    let text = text.trim_end();
    if text.len() <= most {
        return text.to_owned();
    }
    let (total, cut) = (text.len(), &text[..text.floor_char_boundary(most)]);
    format!("{cut}…\n[cut: the whole text has {total} bytes]")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flows::samples;
    use crate::model::{TaskKey, TaskResult, TaskState};

    fn task(state: TaskState, answer: Option<&str>) -> Task {
        let answer = answer.map(str::to_owned);
        let result = Some(TaskResult { answer, ..TaskResult::default() });
        Task { state, result, ..samples::task(1, "coder") }
    }

    #[test]
    fn report_has_id_key_state_reason_and_the_quoted_answer() {
        let id = samples::task(1, "coder").id;
        let done = task(TaskState::Done, Some("use ```x```\n"));
        let keyed = Task { key: Some(TaskKey::parse("nightly").unwrap()), ..done };
        let begin =
            format!("Task `{id}` (key `nightly`), which is a part of your task, has ended:");
        let expected = format!(
            "{begin} done. Agent `coder` worked on it.\n\nIts last answer:\n\n\
             ````\nuse ```x```\n````"
        );
        assert_eq!(report_text(&keyed), expected);
        let failed = task(TaskState::Failed { reason: "no disk".to_owned() }, None);
        let text = report_text(&failed);
        assert!(text.contains(&format!("Task `{id}`, which")), "{text}");
        assert!(text.ends_with("it.\n\nThe reason:\n\n```\nno disk\n```"), "{text}");
        let cancelled = report_text(&task(TaskState::Cancelled, Some(" ")));
        assert!(cancelled.ends_with("cancelled. Agent `coder` worked on it."), "{cancelled}");
    }

    #[test]
    fn report_of_an_agent_names_it_and_quotes_its_text() {
        let task = samples::task(1, "coder");
        let report = AgentReport {
            session: crate::model::SessionId::new(uuid::Uuid::from_u128(1)),
            task: Some(task.id),
            state: ReportedState::Failed,
            text: "use ```x```\n".to_owned(),
            at: jiff::Timestamp::UNIX_EPOCH,
        };
        let id = task.id;
        let expected = format!(
            "Your child `shop/coder` (task `{id}`) reports that its work has failed:\n\n\
             ````\nuse ```x```\n````"
        );
        assert_eq!(agent_report_text("shop/coder", &report), expected);
        let of_session = AgentReport { task: None, state: ReportedState::Progress, ..report };
        let text = agent_report_text("shop/coder", &of_session);
        assert!(text.starts_with("Your child `shop/coder` reports its progress:"), "{text}");
    }

    #[test]
    fn long_answer_is_cut_at_a_character() {
        let text = report_text(&task(TaskState::Done, Some(&"ä".repeat(MAX_ANSWER_BYTES))));
        assert!(text.len() < MAX_ANSWER_BYTES + 500, "{}", text.len());
        assert!(text.contains("[cut: the whole text has 32768 bytes]"));
    }
}
