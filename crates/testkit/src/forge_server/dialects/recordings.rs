//! Recorded deliveries, which are test data of the crate `forges`.

use serde_json::Value;

macro_rules! recording {
    ($name:literal) => {
        include_str!(concat!("../../../../forges/tests/fixtures/", $name, ".json"))
    };
}

pub(super) const GITEA_ASSIGNED: &str = recording!("gitea-issue-assigned");
pub(super) const GITEA_COMMENT: &str = recording!("gitea-issue-comment");
pub(super) const GITEA_REVIEW: &str = recording!("gitea-pull-review-rejected");
pub(super) const FORGEJO_MERGED: &str = recording!("forgejo-pull-merged");
pub(super) const GITLAB_NOTE: &str = recording!("gitlab-note-issue");
pub(super) const GITLAB_REVIEWERS: &str = recording!("gitlab-merge-request-review-requested");
pub(super) const GITLAB_MERGED: &str = recording!("gitlab-merge-request-merged");
pub(super) const GITLAB_PIPELINE: &str = recording!("gitlab-pipeline");

/// Returns a recorded delivery with other values of some fields.
pub(super) fn changed(recording: &str, changes: Value) -> Value {
    let mut whole = serde_json::from_str(recording).expect("a recording");
    replace(&mut whole, changes);
    whole
}

/// Replaces the fields of an object, and the fields of objects in it. Lists are replaced as a whole.
fn replace(place: &mut Value, changes: Value) {
    match (place, changes) {
        (Value::Object(fields), Value::Object(changes)) => {
            for (name, value) in changes {
                replace(fields.entry(name).or_insert(Value::Null), value);
            }
        }
        (place, value) => *place = value,
    }
}
