//! Adopting conversations that belong to no session.

use std::path::PathBuf;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Caller, SessionView};
use crate::model::{VendorId, VendorSessionId};

/// `POST /v1/adopt`
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct AdoptRequest {
    #[schemars(default)]
    pub caller: Caller,
    pub vendor: Option<String>,
    /// The vendor's own id. `None` lists the candidates, or adopts all of them if `all` is set.
    pub id: Option<String>,
    pub name: Option<String>,
    pub all: bool,
    pub since: Option<Timestamp>,
}

/// The conversations that could be adopted or were adopted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AdoptReport {
    pub candidates: Vec<AdoptCandidate>,
    pub adopted: Vec<SessionView>,
    pub skipped: Vec<SkippedConversation>,
}

/// A conversation that can be adopted because it belongs to no session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AdoptCandidate {
    pub vendor: VendorId,
    pub vendor_session_id: VendorSessionId,
    pub config_dir: PathBuf,
    pub cwd: PathBuf,
    pub began_at: Timestamp,
    pub updated_at: Timestamp,
    /// The beginning of the first message.
    pub begins: Option<String>,
    /// The PID of the process that has the conversation open, for example in a user's terminal.
    #[serde(default)]
    pub open_in: Option<u32>,
}

/// A conversation that could not be adopted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SkippedConversation {
    pub vendor: VendorId,
    pub vendor_session_id: VendorSessionId,
    pub why: String,
}

/// A conversation in the caller's folder that belongs to no session, as `segue` without arguments
/// lists it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UnknownConversation {
    pub vendor: VendorId,
    pub vendor_session_id: VendorSessionId,
    pub began_at: Timestamp,
    /// The beginning of the first message.
    pub begins: Option<String>,
}
