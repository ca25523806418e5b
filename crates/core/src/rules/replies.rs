//! The comments with which Segue reports the results of tasks on a forge.

use super::display::plain;
use super::redaction::redact;
use crate::model::{ReplyId, Task, TaskState};

/// The most bytes of an agent's answer in a comment. Every forge accepts comments of this length.
const MAX_ANSWER_BYTES: usize = 30_000;

/// The most commits that are listed.
const MAX_COMMITS: usize = 20;

/// Returns the comment about a task that has ended. It has no secrets. `None` if the end is not worth
/// a comment: a person cancelled the task.
pub fn comment(task: &Task) -> Option<String> {
    let agent = &task.order.agent;
    let begin = match &task.state {
        TaskState::Done => format!("`{agent}` has ended its work."),
        TaskState::Failed { reason } => {
            format!("`{agent}` could not end its work: {}", public(reason))
        }
        TaskState::Queued | TaskState::Running | TaskState::Waiting(_) | TaskState::Cancelled => {
            return None;
        }
    };
    let result = task.result.as_ref();
    let answer = result.and_then(|result| result.answer.as_deref()).map(public);
    let answer = answer.filter(|answer| !answer.trim().is_empty());
    let commits = result.map(|result| result.commits.as_slice()).unwrap_or_default();
    let shown = commits.iter().take(MAX_COMMITS).map(|commit| {
        let id = commit.id.get(..10).unwrap_or(&commit.id);
        format!("- `{id}` {}", public(&commit.subject).replace('\n', " "))
    });
    let mut parts = vec![begin];
    parts.extend(answer);
    let list: Vec<String> = shown.collect();
    if !list.is_empty() {
        parts.push(format!("Commits:\n\n{}", list.join("\n")));
    }
    Some(parts.join("\n\n"))
}

/// Returns the text of an agent without secrets and misleading characters, shortened.
fn public(text: &str) -> String {
    let text = plain(&redact(text));
    let end = text.floor_char_boundary(MAX_ANSWER_BYTES);
    match end < text.len() {
        true => format!("{}…\n\n[cut: the whole text has {} bytes]", &text[..end], text.len()),
        false => text.trim_end().to_owned(),
    }
}

/// Returns the hidden text by which a comment is found again.
pub fn marker(reply: ReplyId) -> String {
    format!("<!-- segue-reply {reply} -->")
}

/// Returns a comment with its hidden marker, with at most this many characters.
pub fn with_marker(text: &str, reply: ReplyId, longest: usize) -> String {
    let marker = marker(reply);
    let most = longest.saturating_sub(marker.len() + 2);
    let kept: String = text.chars().take(most).collect();
    format!("{kept}\n\n{marker}")
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::flows::samples;
    use crate::model::{TaskCommit, TaskResult};

    fn task(state: TaskState, answer: &str) -> Task {
        let commit = TaskCommit { id: "0123456789abcdef".into(), subject: "fix the parser".into() };
        let answer = Some(answer.to_owned());
        let result = TaskResult { answer, commits: vec![commit], ..TaskResult::default() };
        Task { state, result: Some(result), ..samples::task(1, "coder") }
    }

    #[test]
    fn comment_has_answer_and_commits_without_secrets() {
        let answer = "Fixed.\nexport API_TOKEN=ghp_0123456789abcdefghijABCDEFGHIJ012345";
        let text = comment(&task(TaskState::Done, answer)).unwrap();
        assert!(text.starts_with("`coder` has ended its work.\n\nFixed.\n"), "{text}");
        assert!(text.ends_with("Commits:\n\n- `0123456789` fix the parser"), "{text}");
        assert!(!text.contains("ghp_0123"), "{text}");
        let failed = TaskState::Failed { reason: "no disk".into() };
        let text = comment(&task(failed, "")).unwrap();
        assert!(text.starts_with("`coder` could not end its work: no disk"), "{text}");
        assert_eq!(comment(&task(TaskState::Cancelled, "x")), None);
    }

    #[test]
    fn marker_is_kept_if_the_comment_is_cut() {
        let id = ReplyId::new(Uuid::from_u128(7));
        let text = with_marker(&"ä".repeat(500), id, 200);
        assert_eq!(text.chars().count(), 200);
        assert!(text.ends_with(&marker(id)));
    }
}
