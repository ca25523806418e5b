//! What tools answer: short views of sessions, and texts of agents with a maximum size. A text of an
//! agent is quoted, because it goes into the context of a model: it is data, not an instruction.

use segue_core::Error;
use segue_core::api::{SessionView, StartedSession};
use segue_core::model::{Dialog, Role, Turn};
use segue_core::rules::display::one_line;
use segue_core::rules::quoting::quoted;
use serde_json::{Map, Value, json};

/// The most bytes of the text of an agent in the answer of a tool.
pub(crate) const MAX_TEXT_BYTES: usize = 16_000;

/// The most bytes of a short text of an agent, such as a question.
const MAX_LINE_BYTES: usize = 1_000;

/// The part of a session that a model needs.
pub(crate) fn session(view: &SessionView) -> Value {
    let mut brief = Map::new();
    let mut set = |name: &str, value: Value| {
        if !value.is_null() {
            brief.insert(name.to_owned(), value);
        }
    };
    set("session", json!(view.address));
    set("id", json!(view.session));
    set("agent", json!(view.agent));
    set("vendor", json!(view.vendor));
    set("status", json!(view.status));
    set("waiting_for", json!(view.waiting_for));
    set("detail", json!(view.status_detail.as_deref().map(line)));
    set("question", view.dialog.as_ref().map_or(Value::Null, question));
    set("continues_as", json!(view.goes_on_as));
    set("folder", json!(view.cwd));
    set("branch", json!(view.branch));
    set("task", json!(view.task));
    set("headless", view.headless.then_some(true).map_or(Value::Null, Value::Bool));
    set("queued_messages", json!(Some(view.queued_messages).filter(|count| *count > 0)));
    set("created_at", json!(view.created_at));
    set("updated_at", json!(view.updated_at));
    Value::Object(brief)
}

/// The session that a tool has started.
pub(crate) fn started(started: &StartedSession) -> Value {
    let mut brief = session(&started.session);
    if !started.notices.is_empty() {
        brief["notices"] = json!(started.notices);
    }
    brief
}

fn question(dialog: &Dialog) -> Value {
    let choices: Vec<String> = dialog.choices.iter().map(|choice| line(choice)).collect();
    json!({
        "id": dialog.id,
        "kind": dialog.kind,
        "text": line(&dialog.question),
        "choices": choices,
    })
}

/// Returns a text on one line, with a maximum length.
pub(crate) fn line(text: &str) -> String {
    let text = one_line(text);
    let end = text.floor_char_boundary(MAX_LINE_BYTES);
    if end < text.len() { format!("{} [cut]", &text[..end]) } else { text }
}

/// Returns the text of an agent as quoted lines, with at most `limit` bytes before the quotation. The
/// end of a long text is kept if `keeps_end` is set, else its beginning.
pub(crate) fn text(text: &str, limit: usize, keeps_end: bool) -> String {
    if text.len() <= limit {
        return quoted(text);
    }
    let (whole, cut) = (text.len(), text.len() - limit);
    if keeps_end {
        let kept = &text[text.ceil_char_boundary(cut)..];
        return format!("[the first {cut} of {whole} bytes are left out]\n{}", quoted(kept));
    }
    let kept = &text[..text.floor_char_boundary(limit)];
    format!("{}\n[the last {cut} of {whole} bytes are left out]", quoted(kept))
}

/// Returns the last message of the agent among turns.
pub(crate) fn last_answer(turns: &[Turn]) -> Option<String> {
    let answer = turns.iter().rev().find(|turn| turn.role == Role::Assistant)?;
    Some(text(&answer.text, MAX_TEXT_BYTES, true))
}

/// Returns turns with at most `limit` bytes of text altogether. Long turns are shortened first.
pub(crate) fn turns(turns: &[Turn], limit: usize) -> Vec<Value> {
    let share = share(turns.iter().map(|turn| turn.text.len()), limit);
    let view = |turn: &Turn| {
        let keeps_end = turn.role == Role::Assistant;
        let mut view = json!({"role": turn.role, "text": text(&turn.text, share, keeps_end)});
        if let Some(tool) = &turn.tool {
            view["tool"] = json!(line(&tool.name));
        }
        if let Some(at) = turn.at {
            view["at"] = json!(at);
        }
        view
    };
    turns.iter().map(view).collect()
}

/// Returns how long each text may be, so that all of them together have at most `limit` bytes. Texts
/// that are shorter leave their rest to the longer ones.
fn share(lengths: impl Iterator<Item = usize>, limit: usize) -> usize {
    let mut lengths: Vec<usize> = lengths.collect();
    lengths.sort_unstable();
    let (mut left, mut count) = (limit, lengths.len());
    for length in lengths {
        if length.saturating_mul(count) > left {
            return left / count;
        }
        left -= length;
        count -= 1;
    }
    limit
}

/// Returns an error as a text for a model: the message, its causes and its hints.
pub(crate) fn failure(error: &Error) -> String {
    let causes = error.causes.iter().map(|cause| format!("cause: {}", one_line(cause)));
    let hints = error.hints.iter().map(|hint| format!("hint: {}", one_line(hint)));
    let lines: Vec<String> =
        std::iter::once(one_line(&error.message)).chain(causes).chain(hints).collect();
    text_of_error(&lines.join("\n"))
}

fn text_of_error(text: &str) -> String {
    text[..text.floor_char_boundary(MAX_TEXT_BYTES)].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_shortened_before_short_ones() {
        let table: [(&[usize], usize, usize); 6] = [
            (&[], 100, 100),
            (&[10, 20], 100, 100),
            (&[10, 200], 100, 90),
            (&[200, 10, 200], 110, 50),
            (&[50, 50], 100, 100),
            (&[51, 50], 100, 50),
        ];
        for (lengths, limit, expected) in table {
            assert_eq!(share(lengths.iter().copied(), limit), expected, "{lengths:?} {limit}");
        }
    }

    #[test]
    fn long_text_is_cut_at_a_character_and_says_how_much_is_missing() {
        assert_eq!(text("short\nlines", 100, true), "> short\n> lines");
        let long = "ä".repeat(50);
        let end = text(&long, 11, true);
        assert_eq!(end, format!("[the first 89 of 100 bytes are left out]\n> {}", "ä".repeat(5)));
        let beginning = text(&long, 11, false);
        assert!(beginning.starts_with(&format!("> {}\n[the last", "ä".repeat(5))), "{beginning}");
    }

    #[test]
    fn failure_has_message_causes_and_hints() {
        let error = Error::not_found("there is no session `x`").caused_by("gone").hint("run `y`");
        assert_eq!(failure(&error), "there is no session `x`\ncause: gone\nhint: run `y`");
    }
}
