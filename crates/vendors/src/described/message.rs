//! One message, in any of many formats.

use segue_core::model::{Role, Turn, Usage};
use serde_json::Value;

use super::content::{self, ContentReader};
use super::words::{self, Fields, Speaker};

/// Fields that contain the text of a message.
const SAID: [&str; 7] = ["content", "parts", "text", "value", "message", "body", "summary"];

/// Fields that may contain the message itself.
const WRAPPERS: [&str; 5] = ["message", "payload", "data", "item", "msg"];

/// Fields that mark a message of an agent to itself or to another agent.
const ASIDE: [&str; 3] = ["isMeta", "isSidechain", "is_meta"];

/// Returns the turns of a message. `None` if the value is not a message. Messages of the system,
/// and those of an agent to itself or to another agent, have no turns.
pub(super) fn turns(value: &Value) -> Option<Vec<Turn>> {
    of(value.as_object()?, None)
}

fn of(fields: &Fields, known: Option<Speaker>) -> Option<Vec<Turn>> {
    if words::is_so(fields, &ASIDE) {
        return Some(Vec::new());
    }
    let own = Speaker::of(fields);
    let mut turns = match wrapped(fields, own.or(known)) {
        Some(turns) => turns,
        None => said(fields, own.or(known)?)?,
    };
    add_facts(fields, &mut turns);
    Some(turns)
}

/// Returns the turns of the message inside this record. `None` if there is none.
fn wrapped(fields: &Fields, known: Option<Speaker>) -> Option<Vec<Turn>> {
    let is_outside = |name: &&str| *name != "message" && fields.contains_key(*name);
    if SAID.iter().any(is_outside) {
        return None;
    }
    WRAPPERS.into_iter().find_map(|name| of(fields.get(name)?.as_object()?, known))
}

fn said(fields: &Fields, speaker: Speaker) -> Option<Vec<Turn>> {
    let role = match speaker {
        Speaker::User => Role::User,
        Speaker::Assistant => Role::Assistant,
        Speaker::Summary => Role::Summary,
        Speaker::Silent => return Some(Vec::new()),
        Speaker::Call => return Some(vec![content::any_call(fields)]),
        Speaker::Result => return Some(vec![content::told((fields, fields))]),
    };
    let inside = words::first(fields, &SAID);
    let calls = words::first(fields, &["tool_calls", "toolCalls"]).and_then(Value::as_array);
    if inside.is_none() && calls.is_none() {
        return None;
    }
    let mut content = ContentReader::new(role);
    inside.into_iter().for_each(|inside| content.take(inside));
    let mut turns = content.finish();
    for made in calls.into_iter().flatten().filter_map(Value::as_object) {
        turns.push(content::any_call(made));
    }
    Some(turns)
}

/// Adds the time and the model of a record to its turns, and its token usage to the first turn.
/// Values that a turn already has are kept.
fn add_facts(fields: &Fields, turns: &mut [Turn]) {
    let at = words::time(fields);
    for turn in turns.iter_mut() {
        turn.at = turn.at.or(at);
        if turn.model.is_none() && matches!(turn.role, Role::Assistant | Role::ToolCall) {
            turn.model = words::text_of(fields, &["model"]).map(str::to_owned);
        }
    }
    if let Some(first) = turns.first_mut() {
        first.usage = first.usage.or_else(|| usage(fields));
    }
}

fn usage(fields: &Fields) -> Option<Usage> {
    let told = words::first(fields, &["usage", "tokens"])?.as_object()?;
    let number = |names: &[&str]| words::first(told, names).and_then(Value::as_u64);
    Some(Usage {
        input: number(&["input_tokens", "prompt_tokens", "inputTokens", "input"])?,
        output: number(&["output_tokens", "completion_tokens", "outputTokens", "output"])?,
    })
}
