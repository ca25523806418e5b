//! A conversation that is one JSON document.

use segue_core::model::{Role, Turn};
use serde_json::Value;

use super::message;

/// Fields of a document that contain its messages, even if there is only one message.
const LISTS: [&str; 9] =
    ["messages", "conversation", "history", "turns", "chat", "contents", "items", "entries", "log"];

/// The smallest number of messages by which a list is recognized as a list of messages.
const ENOUGH: usize = 2;

/// Returns the turns of the list that contains the most messages, wherever it is in the document.
pub(super) fn turns(document: &Value) -> Vec<Turn> {
    let found = largest(document).or_else(|| Some(only(document)?.as_slice()));
    found.unwrap_or_default().iter().filter_map(message::turns).flatten().collect()
}

/// Returns the list at one of the usual places.
fn only(document: &Value) -> Option<&Vec<Value>> {
    match document {
        Value::Array(list) => Some(list),
        Value::Object(fields) => LISTS.into_iter().find_map(|name| fields.get(name)?.as_array()),
        _ => None,
    }
}

fn largest(value: &Value) -> Option<&[Value]> {
    match value {
        Value::Array(list) if count(list) >= ENOUGH => Some(list),
        Value::Array(list) => larger(list.iter()),
        Value::Object(fields) => larger(fields.values()),
        _ => None,
    }
}

/// Returns the largest of the lists below these values. Of two equally large lists, returns the
/// first.
fn larger<'a>(values: impl Iterator<Item = &'a Value>) -> Option<&'a [Value]> {
    values
        .filter_map(largest)
        .reduce(|one, other| if count(other) > count(one) { other } else { one })
}

/// Counts the messages of a person or an agent. A list of tools contains none.
fn count(list: &[Value]) -> usize {
    let is_words = |turn: &Turn| matches!(turn.role, Role::User | Role::Assistant);
    let is_message =
        |value: &&Value| message::turns(value).is_some_and(|turns| turns.iter().any(is_words));
    list.iter().filter(is_message).count()
}
