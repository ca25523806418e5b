//! Finds the messages in a conversation that is one JSON document.

use segue_core::model::{Role, Turn};
use serde_json::Value;

use super::message;

/// Fields that contain the list of messages. A list in another place counts only if it has
/// `MIN_MESSAGES` messages.
const LIST_FIELDS: [&str; 9] =
    ["messages", "conversation", "history", "turns", "chat", "contents", "items", "entries", "log"];

/// A list with at least this many messages counts as the list of messages.
const MIN_MESSAGES: usize = 2;

/// Returns the turns of the list with the most messages, at any place in the document.
pub(super) fn turns(document: &Value) -> Vec<Turn> {
    let found = largest(document).or_else(|| Some(list_at_known_place(document)?.as_slice()));
    found.unwrap_or_default().iter().filter_map(message::turns).flatten().collect()
}

/// Returns the document if it is a list, or the list in one of `LIST_FIELDS`.
fn list_at_known_place(document: &Value) -> Option<&Vec<Value>> {
    match document {
        Value::Array(list) => Some(list),
        Value::Object(fields) => {
            LIST_FIELDS.into_iter().find_map(|name| fields.get(name)?.as_array())
        }
        _ => None,
    }
}

fn largest(value: &Value) -> Option<&[Value]> {
    match value {
        Value::Array(list) if count(list) >= MIN_MESSAGES => Some(list),
        Value::Array(list) => largest_of(list.iter()),
        Value::Object(fields) => largest_of(fields.values()),
        _ => None,
    }
}

/// Returns the list with the most messages in these values, and the first one of several.
fn largest_of<'a>(values: impl Iterator<Item = &'a Value>) -> Option<&'a [Value]> {
    values
        .filter_map(largest)
        .reduce(|largest, other| if count(other) > count(largest) { other } else { largest })
}

/// Counts the messages of the user and the agent. The count of a list of tools is 0.
fn count(list: &[Value]) -> usize {
    let is_spoken = |turn: &Turn| matches!(turn.role, Role::User | Role::Assistant);
    let is_message =
        |value: &&Value| message::turns(value).is_some_and(|turns| turns.iter().any(is_spoken));
    list.iter().filter(is_message).count()
}
