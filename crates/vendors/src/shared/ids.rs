//! Ids of conversations that are UUIDs.

use std::path::Path;

use jiff::Timestamp;
use segue_core::model::VendorSessionId;
use uuid::Uuid;

/// Returns whether a text is a UUID with dashes. Any other text must not become part of a path.
pub(crate) fn is_uuid(text: &str) -> bool {
    text.len() == 36 && Uuid::try_parse(text).is_ok()
}

/// Returns when an id was made, which is when its conversation began. `None` if the id contains no
/// time.
pub(crate) fn created_at(id: &str) -> Option<Timestamp> {
    let (seconds, nanoseconds) = Uuid::parse_str(id).ok()?.get_timestamp()?.to_unix();
    Timestamp::new(i64::try_from(seconds).ok()?, i32::try_from(nanoseconds).ok()?).ok()
}

/// Returns the id in the name of a `.jsonl` file. `None` if the file has another extension, or if
/// `is_id` rejects the name.
pub(crate) fn of_jsonl(path: &Path, is_id: impl Fn(&str) -> bool) -> Option<VendorSessionId> {
    let is_transcript = path.extension().is_some_and(|extension| extension == "jsonl");
    let stem = path.file_stem()?.to_str()?;
    (is_transcript && is_id(stem)).then(|| VendorSessionId::new(stem))
}
