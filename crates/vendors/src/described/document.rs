//! A conversation that is one JSON document.

use segue_core::model::{Role, Turn};
use serde_json::Value;

use super::message;

/// Fields of a document that have its messages, even if there is only one.
const LISTS: [&str; 9] =
    ["messages", "conversation", "history", "turns", "chat", "contents", "items", "entries", "log"];

/// A list is one of messages when this many are in it.
const ENOUGH: usize = 2;

/// Returns the turns of the list with the most messages in it, wherever that is.
pub(super) fn turns(document: &Value) -> Vec<Turn> {
    let found = largest(document).or_else(|| Some(only(document)?.as_slice()));
    found.unwrap_or_default().iter().filter_map(message::turns).flatten().collect()
}

/// Returns the list where one is expected.
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

/// Returns the largest of the lists below these values; the first of two that are as large.
fn larger<'a>(values: impl Iterator<Item = &'a Value>) -> Option<&'a [Value]> {
    values
        .filter_map(largest)
        .reduce(|one, other| if count(other) > count(one) { other } else { one })
}

/// Counts the messages of a person or an agent: a list of tools has none.
fn count(list: &[Value]) -> usize {
    let is_words = |turn: &Turn| matches!(turn.role, Role::User | Role::Assistant);
    let is_message =
        |value: &&Value| message::turns(value).is_some_and(|turns| turns.iter().any(is_words));
    list.iter().filter(is_message).count()
}
