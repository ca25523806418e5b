//! Ids of conversations that are UUIDs.

use std::path::Path;

use jiff::Timestamp;
use segue_core::model::VendorSessionId;
use uuid::Uuid;

/// Returns whether a text is a UUID with dashes. Only such a text may become part of a path.
pub(crate) fn is_uuid(text: &str) -> bool {
    text.len() == 36 && Uuid::try_parse(text).is_ok()
}

/// Returns the time in an id, which is the time at which its conversation began. `None` if the id
/// contains no time.
pub(crate) fn created_at(id: &str) -> Option<Timestamp> {
    let (seconds, nanoseconds) = Uuid::parse_str(id).ok()?.get_timestamp()?.to_unix();
    Timestamp::new(i64::try_from(seconds).ok()?, i32::try_from(nanoseconds).ok()?).ok()
}

/// Returns the id in the name of a `.jsonl` file. `None` if the file has another extension, or if
/// `is_id` rejects the name.
pub(crate) fn of_jsonl(path: &Path, is_id: impl Fn(&str) -> bool) -> Option<VendorSessionId> {
    let is_jsonl = path.extension().is_some_and(|extension| extension == "jsonl");
    let stem = path.file_stem()?.to_str()?;
    (is_jsonl && is_id(stem)).then(|| VendorSessionId::new(stem))
}

/// Returns an id as a file name. Every character that could lead out of the file's folder becomes a
/// dash.
pub(crate) fn file_name(id: &str) -> String {
    id.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
}
