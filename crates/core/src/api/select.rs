//! The sessions that a command applies to.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{LeftAlone, SessionView};
use crate::Error;

/// The sessions that a request applies to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Selection {
    /// The sessions of fleets that belong to the caller's folder, and the sessions that work in
    /// that folder.
    Here,
    All,
    /// Fleets or sessions, by their addresses.
    Named(Vec<String>),
}

/// `POST /v1/select`: finds the sessions that names refer to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SelectRequest {
    pub cwd: PathBuf,
    pub names: Vec<String>,
    /// Names must be complete. A prefix of a name does not match.
    pub whole: bool,
    /// A fleet's name also selects its sessions that were ended on purpose or handed over.
    pub finished: bool,
}

/// The sessions that the names refer to, without duplicates.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SelectReport {
    pub sessions: Vec<SessionView>,
    /// Sessions of a fleet that were left out because they were ended on purpose or handed over.
    #[serde(default)]
    pub left_out: Vec<LeftAlone>,
    /// Names that match no session.
    pub failed: Vec<FailedTarget>,
}

/// The query parameters of `/v1/session` and `GET /v1/attach`: the address of a session, and the
/// caller's folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AddressQuery {
    /// `fleet/name`, a name that is unique, or the beginning of an id.
    pub address: String,
    /// The folder of the caller, in which short names are looked up.
    pub cwd: PathBuf,
    /// Also delete the copy of the conversation in the archive.
    #[serde(default)]
    pub purge: bool,
    /// If the address is a fleet, it means the only session of the fleet that asks a question.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub asking: bool,
}

impl AddressQuery {
    pub fn new(address: &str, cwd: &Path, purge: bool) -> Self {
        Self { address: address.to_owned(), cwd: cwd.to_owned(), purge, asking: false }
    }
}

/// A session or fleet for which a command failed. The command may have named several.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FailedTarget {
    /// The name as the user gave it, or the address of a session of a fleet.
    pub target: String,
    pub error: Error,
}

/// Combines the errors of a command that failed for every name. `None` if `failed` is empty. A single
/// error is returned unchanged. Several errors become causes of a new error, which has the kind of
/// the first one.
pub fn combined_error(failed: &[FailedTarget]) -> Option<Error> {
    let (first, rest) = failed.split_first()?;
    if rest.is_empty() {
        return Some(first.error.clone());
    }
    let message = format!("nothing was done for any of {} names", failed.len());
    let all = Error::new(first.error.kind, message);
    let all = failed.iter().fold(all, |all, it| all.caused_by(&it.error));
    let hints = failed.iter().flat_map(|it| it.error.hints.iter().map(move |hint| (it, hint)));
    Some(hints.fold(all, |all, (it, hint)| {
        let is_shared = failed.iter().all(|other| other.error.hints.contains(hint));
        // A hint that does not apply to all names is prefixed with its name.
        let hint = if is_shared { hint.clone() } else { format!("`{}`: {hint}", it.target) };
        if all.hints.contains(&hint) { all } else { all.hint(hint) }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_several_names_become_causes_of_one_error() {
        let failed = |target: &str, hints: &[&str]| {
            let error = Error::not_found(format!("there is no session `{target}`"));
            let error = hints.iter().fold(error, |error, hint| error.hint(*hint));
            FailedTarget { target: target.to_owned(), error }
        };
        assert_eq!(combined_error(&[]), None);
        let one = failed("a", &["run `segue ls`"]);
        assert_eq!(combined_error(std::slice::from_ref(&one)), Some(one.error.clone()));
        let two = failed("fx", &["did you mean `fox`?", "run `segue ls`"]);
        let expected = Error::not_found("nothing was done for any of 2 names")
            .caused_by("there is no session `a`")
            .caused_by("there is no session `fx`")
            .hint("run `segue ls`")
            .hint("`fx`: did you mean `fox`?");
        assert_eq!(combined_error(&[one, two]), Some(expected));
    }
}
