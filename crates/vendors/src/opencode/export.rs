//! Exports a conversation from the database as a document that `OpenCode` can import.

use std::path::Path;

use rusqlite::Row;
use rusqlite::types::ValueRef;
use segue_core::model::VendorSessionId;
use segue_core::{Error, Result};
use serde_json::{Map, Value, json};

use super::paths;
use super::rows::{self, MessagePages};
use crate::shared::reading::ReadDirection;

/// The maximum size of an exported conversation. The document is held in memory.
const SIZE_LIMIT_BYTES: f64 = 256.0 * 1024.0 * 1024.0;

const SESSION_QUERY: &str = "SELECT * FROM session WHERE id = ?1";

const SIZE_QUERY: &str = "SELECT (SELECT total(length(data)) FROM part WHERE session_id = ?1)
    + (SELECT total(length(data)) FROM message WHERE session_id = ?1)";

/// Text columns of the session, and their names in the document.
const TEXT_COLUMNS: [(&str, &str); 10] = [
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
const JSON_COLUMNS: [&str; 4] = ["model", "metadata", "permission", "revert"];

/// Exports a conversation with its reverted messages. `None` if the conversation does not exist.
/// Fails if it is larger than `SIZE_LIMIT_BYTES`.
pub(super) fn export(config_dir: &Path, id: &VendorSessionId) -> Result<Option<Vec<u8>>> {
    export_up_to(config_dir, id, SIZE_LIMIT_BYTES)
}

fn export_up_to(
    config_dir: &Path,
    id: &VendorSessionId,
    size_limit: f64,
) -> Result<Option<Vec<u8>>> {
    let Some(database) = paths::open_database(config_dir)? else { return Ok(None) };
    let id = id.as_str();
    let Some(columns) = database.row(SESSION_QUERY, [id], columns)? else { return Ok(None) };
    let size = database.row(SIZE_QUERY, [id], |row| row.get::<_, f64>(0))?;
    if size.is_some_and(|size| size > size_limit) {
        return Err(Error::vendor(format!("the conversation `{id}` is too large to be copied")));
    }
    let mut out = format!("{{\"info\":{},\"messages\":[", info(&columns)).into_bytes();
    let mut messages = MessagePages::new(&database, id, ReadDirection::Forward);
    let mut separator = "\n";
    while let Some(message) = messages.next()? {
        let ids = [("id", message.id.as_str()), ("sessionID", id)];
        // Skips invalid messages, because OpenCode could not import them.
        let Some(info) = with_ids(&message.data.to_string(), &ids) else { continue };
        let part_with_ids = |(part, text): &(String, String)| {
            with_ids(text, &[("id", part), ("sessionID", id), ("messageID", &message.id)])
        };
        let parts = message.written_parts(&database)?;
        let parts: Vec<String> = parts.iter().filter_map(part_with_ids).collect();
        out.extend(separator.bytes());
        out.extend(format!("{{\"info\":{info},\"parts\":[{}]}}", parts.join(",")).bytes());
        separator = ",\n";
    }
    out.extend(b"\n]}\n");
    Ok(Some(out))
}

/// Adds ids to the text of an object. Does not change the rest of the text, unless the object is
/// empty or already has one of the ids. `None` if the text is not an object.
fn with_ids(text: &str, ids: &[(&str, &str)]) -> Option<String> {
    let mut fields: Map<String, Value> = serde_json::from_str(text).ok()?;
    if fields.is_empty() || ids.iter().any(|(name, _)| fields.contains_key(*name)) {
        fields.extend(ids.iter().map(|(name, id)| ((*name).to_owned(), json!(id))));
        return Some(Value::Object(fields).to_string());
    }
    let ids = ids.iter().map(|(name, id)| format!("\"{name}\":{},", json!(id)));
    Some(format!("{{{}{}", ids.collect::<String>(), text.trim_start().strip_prefix('{')?))
}

/// Returns the columns of a row by name, because the columns differ between versions of `OpenCode`.
fn columns(row: &Row<'_>) -> rusqlite::Result<Map<String, Value>> {
    let statement: &rusqlite::Statement<'_> = row.as_ref();
    let mut columns = Map::new();
    for (at, name) in statement.column_names().enumerate() {
        let value = match row.get_ref(at)? {
            ValueRef::Integer(number) => json!(number),
            ValueRef::Real(number) => json!(number),
            column if JSON_COLUMNS.contains(&name) || name == "summary_diffs" => rows::json(column),
            ValueRef::Text(text) => json!(String::from_utf8_lossy(text)),
            ValueRef::Null | ValueRef::Blob(_) => Value::Null,
        };
        columns.insert(name.to_owned(), value);
    }
    Ok(columns)
}

fn info(columns: &Map<String, Value>) -> Value {
    let column = |name: &str| columns.get(name).cloned().unwrap_or_default();
    let number_in = |name: &str| columns.get(name).filter(|value| value.is_number()).cloned();
    let number = |name: &str| number_in(name).unwrap_or_else(|| json!(0));
    let mut info = json!({
        "cost": number("cost"),
        "tokens": {
            "input": number("tokens_input"), "output": number("tokens_output"),
            "reasoning": number("tokens_reasoning"),
            "cache": {"read": number("tokens_cache_read"), "write": number("tokens_cache_write")},
        },
        "time": {
            "created": number("time_created"), "updated": number("time_updated"),
            "archived": column("time_archived"),
        },
    });
    for (column_name, name) in TEXT_COLUMNS {
        info[name] = column(column_name);
    }
    for name in JSON_COLUMNS {
        info[name] = column(name);
    }
    if number_in("summary_additions").is_some() {
        info["summary"] = without_nulls(json!({
            "additions": number("summary_additions"), "deletions": number("summary_deletions"),
            "files": number("summary_files"), "diffs": column("summary_diffs"),
        }));
    }
    info["time"] = without_nulls(info["time"].take());
    without_nulls(info)
}

/// Removes fields with the value null, because `OpenCode` omits missing values.
fn without_nulls(mut value: Value) -> Value {
    if let Some(fields) = value.as_object_mut() {
        fields.retain(|_, field| !field.is_null());
    }
    value
}

#[cfg(test)]
mod tests;
