//! Parses one message in various formats.

use segue_core::model::{Role, Turn, Usage};
use serde_json::Value;

use super::content::{self, ContentReader};
use super::fields::{self, Fields, Speaker};

/// Fields that contain the text of a message.
const TEXT_FIELDS: [&str; 7] = ["content", "parts", "text", "value", "message", "body", "summary"];

/// Fields that may contain the message itself.
const WRAPPERS: [&str; 5] = ["message", "payload", "data", "item", "msg"];

/// Flags of a message from an agent to itself or to another agent.
const INTERNAL_FLAGS: [&str; 3] = ["isMeta", "isSidechain", "is_meta"];

/// Returns the turns of a message. `None` if the value is not a message. Messages of the system,
/// and messages from an agent to itself or to another agent, have no turns.
pub(super) fn turns(value: &Value) -> Option<Vec<Turn>> {
    parse(value.as_object()?, None)
}

fn parse(fields: &Fields, outer_speaker: Option<Speaker>) -> Option<Vec<Turn>> {
    if fields::is_true(fields, &INTERNAL_FLAGS) {
        return Some(Vec::new());
    }
    let speaker = Speaker::of(fields);
    let mut turns = match wrapped(fields, speaker.or(outer_speaker)) {
        Some(turns) => turns,
        None => parse_bare_message(fields, speaker.or(outer_speaker)?)?,
    };
    add_metadata(fields, &mut turns);
    Some(turns)
}

/// Returns the turns of a message inside this record. `None` if the record contains no message.
fn wrapped(fields: &Fields, outer_speaker: Option<Speaker>) -> Option<Vec<Turn>> {
    let has_text_field = |name: &&str| *name != "message" && fields.contains_key(*name);
    if TEXT_FIELDS.iter().any(has_text_field) {
        return None;
    }
    WRAPPERS.into_iter().find_map(|name| parse(fields.get(name)?.as_object()?, outer_speaker))
}

fn parse_bare_message(fields: &Fields, speaker: Speaker) -> Option<Vec<Turn>> {
    let role = match speaker {
        Speaker::User => Role::User,
        Speaker::Assistant => Role::Assistant,
        Speaker::Summary => Role::Summary,
        Speaker::Silent => return Some(Vec::new()),
        Speaker::Call => return Some(vec![content::parse_bare_call(fields)]),
        Speaker::Result => return Some(vec![content::result_turn((fields, fields))]),
    };
    let text = fields::first(fields, &TEXT_FIELDS);
    let calls = fields::first(fields, &["tool_calls", "toolCalls"]).and_then(Value::as_array);
    if text.is_none() && calls.is_none() {
        return None;
    }
    let mut content = ContentReader::new(role);
    text.into_iter().for_each(|text| content.add(text));
    let mut turns = content.finish();
    for call in calls.into_iter().flatten().filter_map(Value::as_object) {
        turns.push(content::parse_bare_call(call));
    }
    Some(turns)
}

/// Adds the time and the model of a record to its turns, and its token usage to the first turn.
/// Does not replace existing values.
fn add_metadata(fields: &Fields, turns: &mut [Turn]) {
    let at = fields::time(fields);
    for turn in turns.iter_mut() {
        turn.at = turn.at.or(at);
        if turn.model.is_none() && matches!(turn.role, Role::Assistant | Role::ToolCall) {
            turn.model = fields::text(fields, &["model"]).map(str::to_owned);
        }
    }
    if let Some(first) = turns.first_mut() {
        first.usage = first.usage.or_else(|| usage(fields));
    }
}

fn usage(fields: &Fields) -> Option<Usage> {
    let tokens = fields::first(fields, &["usage", "tokens"])?.as_object()?;
    let count = |names: &[&str]| fields::first(tokens, names).and_then(Value::as_u64);
    Some(Usage {
        input: count(&["input_tokens", "prompt_tokens", "inputTokens", "input"])?,
        output: count(&["output_tokens", "completion_tokens", "outputTokens", "output"])?,
        ..Usage::default()
    })
}
