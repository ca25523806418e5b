//! Exports a conversation from the database as the document that `OpenCode` imports.

use std::path::Path;

use rusqlite::Row;
use rusqlite::types::ValueRef;
use segue_core::model::VendorSessionId;
use segue_core::{Error, Result};
use serde_json::{Map, Value, json};

use super::paths;
use super::rows::{self, MessagePages};
use crate::shared::reading::ReadDirection;

/// Maximum size of an exported conversation in bytes. The whole document is held in memory.
const LARGEST: f64 = 256.0 * 1024.0 * 1024.0;

const SESSION: &str = "SELECT * FROM session WHERE id = ?1";

const SIZE: &str = "SELECT (SELECT total(length(data)) FROM part WHERE session_id = ?1)
    + (SELECT total(length(data)) FROM message WHERE session_id = ?1)";

/// Text columns of the session, and their names in the document.
const TEXTS: [(&str, &str); 10] = [
    ("id", "id"),
    ("slug", "slug"),
    ("project_id", "projectID"),
    ("workspace_id", "workspaceID"),
    ("directory", "directory"),
    ("path", "path"),
    ("parent_id", "parentID"),
    ("title", "title"),
    ("agent", "agent"),
    ("version", "version"),
];

/// Columns that contain JSON.
const NESTED: [&str; 4] = ["model", "metadata", "permission", "revert"];

/// Exports a whole conversation, including its reverted messages. `None` if it does not exist.
/// Fails if it is too large.
pub(super) fn export(config_dir: &Path, id: &VendorSessionId) -> Result<Option<Vec<u8>>> {
    bounded(config_dir, id, LARGEST)
}

fn bounded(config_dir: &Path, id: &VendorSessionId, largest: f64) -> Result<Option<Vec<u8>>> {
    let Some(database) = paths::open_database(config_dir)? else { return Ok(None) };
    let id = id.as_str();
    let Some(columns) = database.row(SESSION, [id], columns)? else { return Ok(None) };
    let size = database.row(SIZE, [id], |row| row.get::<_, f64>(0))?;
    if size.is_some_and(|size| size > largest) {
        return Err(Error::vendor(format!("the conversation `{id}` is too large to be copied")));
    }
    let mut out = format!("{{\"info\":{},\"messages\":[", info(&columns)).into_bytes();
    let mut messages = MessagePages::new(&database, id, ReadDirection::Forward);
    let mut separator = "\n";
    while let Some(message) = messages.next()? {
        let ids = [("id", message.id.as_str()), ("sessionID", id)];
        // OpenCode could not import a message that cannot be parsed.
        let Some(info) = placed(&message.data.to_string(), &ids) else { continue };
        let of_part = |(part, text): &(String, String)| {
            placed(text, &[("id", part), ("sessionID", id), ("messageID", &message.id)])
        };
        let parts = message.written_parts(&database)?;
        let parts: Vec<String> = parts.iter().filter_map(of_part).collect();
        out.extend(separator.bytes());
        out.extend(format!("{{\"info\":{info},\"parts\":[{}]}}", parts.join(",")).bytes());
        separator = ",\n";
    }
    out.extend(b"\n]}\n");
    Ok(Some(out))
}

/// Adds ids to an object. The rest of the text stays as it is written, unless the object is empty
/// or has one of the ids already. `None` if the text is not an object.
fn placed(text: &str, ids: &[(&str, &str)]) -> Option<String> {
    let mut fields: Map<String, Value> = serde_json::from_str(text).ok()?;
    if fields.is_empty() || ids.iter().any(|(name, _)| fields.contains_key(*name)) {
        fields.extend(ids.iter().map(|(name, id)| ((*name).to_owned(), json!(id))));
        return Some(Value::Object(fields).to_string());
    }
    let ids = ids.iter().map(|(name, id)| format!("\"{name}\":{},", json!(id)));
    Some(format!("{{{}{}", ids.collect::<String>(), text.trim_start().strip_prefix('{')?))
}

/// Returns the columns of a row by their names, because versions of `OpenCode` have different
/// columns.
fn columns(row: &Row<'_>) -> rusqlite::Result<Map<String, Value>> {
    let statement: &rusqlite::Statement<'_> = row.as_ref();
    let mut columns = Map::new();
    for (at, name) in statement.column_names().enumerate() {
        let value = match row.get_ref(at)? {
            ValueRef::Integer(number) => json!(number),
            ValueRef::Real(number) => json!(number),
            column if NESTED.contains(&name) || name == "summary_diffs" => rows::json(column),
            ValueRef::Text(text) => json!(String::from_utf8_lossy(text)),
            ValueRef::Null | ValueRef::Blob(_) => Value::Null,
        };
        columns.insert(name.to_owned(), value);
    }
    Ok(columns)
}

fn info(columns: &Map<String, Value>) -> Value {
    let of = |name: &str| columns.get(name).cloned().unwrap_or_default();
    let count = |name: &str| columns.get(name).filter(|it| it.is_number()).cloned();
    let number = |name: &str| count(name).unwrap_or_else(|| json!(0));
    let mut info = json!({
        "cost": number("cost"),
        "tokens": {
            "input": number("tokens_input"), "output": number("tokens_output"),
            "reasoning": number("tokens_reasoning"),
            "cache": {"read": number("tokens_cache_read"), "write": number("tokens_cache_write")},
        },
        "time": {
            "created": number("time_created"), "updated": number("time_updated"),
            "archived": of("time_archived"),
        },
    });
    for (column, name) in TEXTS {
        info[name] = of(column);
    }
    for name in NESTED {
        info[name] = of(name);
    }
    if count("summary_additions").is_some() {
        info["summary"] = without_nulls(json!({
            "additions": number("summary_additions"), "deletions": number("summary_deletions"),
            "files": number("summary_files"), "diffs": of("summary_diffs"),
        }));
    }
    info["time"] = without_nulls(info["time"].take());
    without_nulls(info)
}

/// Removes null fields: a missing value has no name in the document.
fn without_nulls(mut value: Value) -> Value {
    if let Some(fields) = value.as_object_mut() {
        fields.retain(|_, field| !field.is_null());
    }
    value
}

#[cfg(test)]
mod tests;
