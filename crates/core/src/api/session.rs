//! Sessions in responses. All responses use the same fields with the same names.

use std::path::PathBuf;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::MaybeKnown;
use crate::model::{
    AgentName, Dialog, Evidence, Failure, FleetName, Permission, Repetition, Session, SessionId,
    SessionName, StatusKind, Usage, VendorId, VendorSessionId, WaitingFor,
};

/// Identifies the session that a response object is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionRef {
    /// `None` if the session does not exist: it could not be created, or the request creates none.
    pub session: Option<SessionId>,
    pub name: SessionName,
    pub fleet: FleetName,
    /// `fleet/name`.
    pub address: String,
}

impl SessionRef {
    /// Refers to a session that exists.
    pub fn of(session: &Session) -> Self {
        Self { session: Some(session.id), ..Self::of_draft(session) }
    }

    /// Refers to a session that does not exist yet.
    pub fn of_draft(session: &Session) -> Self {
        Self {
            session: None,
            name: session.name.clone(),
            fleet: session.fleet.clone(),
            address: session.address(),
        }
    }
}

/// A session that was started, with what its user should know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StartedSession {
    #[serde(flatten)]
    pub session: SessionView,
    #[serde(default)]
    pub notices: Vec<String>,
}

/// A session as `segue ls --json` shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "three properties that are independent of each other"
)]
pub struct SessionView {
    pub session: SessionId,
    /// The same as `session`, for programs that were written for earlier versions.
    pub id: SessionId,
    pub name: SessionName,
    pub fleet: FleetName,
    /// `fleet/name`.
    pub address: String,
    pub agent: Option<AgentName>,
    pub vendor: VendorId,
    pub vendor_session_id: Option<VendorSessionId>,
    pub evidence: Option<Evidence>,
    pub status: MaybeKnown<StatusKind>,
    /// What the session waits for, if its status is `waiting`.
    #[serde(default)]
    pub waiting_for: Option<MaybeKnown<WaitingFor>>,
    /// Details of the status as a text for people. Programs read the other fields.
    pub status_detail: Option<String>,
    /// The id of a process that Segue did not start and that has the conversation open.
    #[serde(default)]
    pub open_in: Option<u32>,
    /// The address of the session in which the conversation continues, if it was handed over.
    #[serde(default)]
    pub goes_on_as: Option<String>,
    /// The question that the agent shows to the user.
    #[serde(default)]
    pub dialog: Option<Dialog>,
    /// Why the last turn failed. `None` if it did not fail, or if the session has gone on since.
    #[serde(default)]
    pub last_failure: Option<Failure>,
    /// Work that repeats itself without a person. `None` if none was noticed.
    #[serde(default)]
    pub repetition: Option<Repetition>,
    /// The names of the environment variables that a restart lacks.
    #[serde(default)]
    pub missing_variables: Vec<String>,
    /// Whether `segue resume` without names brings the session back: its process is gone, and no user ended
    /// it on purpose.
    #[serde(default)]
    pub comes_back: bool,
    pub cwd: PathBuf,
    pub worktree: Option<PathBuf>,
    pub branch: Option<String>,
    /// The queued task that the session was started for.
    #[serde(default)]
    pub task: Option<String>,
    pub headless: bool,
    /// The model of the next launch. `None` for the vendor's default.
    #[serde(default)]
    pub model: Option<String>,
    /// What the agent may do without asking. Missing in answers of earlier versions.
    #[serde(default)]
    pub permission: Option<MaybeKnown<Permission>>,
    /// Whether a person has changed settings since the agent was started. The agent is started again
    /// for its next message.
    #[serde(default)]
    pub settings_outdated: bool,
    pub pid: Option<u32>,
    pub holder_pid: Option<u32>,
    pub launches: u32,
    /// The number of messages that have not arrived yet.
    #[serde(default)]
    pub queued_messages: u32,
    /// The tokens that the conversation has used. `None` if they are not counted.
    #[serde(default)]
    pub usage: Option<Usage>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// `POST /v1/list`: filters for sessions, as the user wrote them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ListRequest {
    /// Includes sessions that ended more than a day ago.
    pub all: bool,
    /// Names of fleets, or prefixes of names.
    pub fleets: Vec<String>,
    /// Names of vendors, or prefixes of names.
    pub vendors: Vec<String>,
    pub statuses: Vec<StatusKind>,
    /// Only sessions that work in this folder or in a folder below it.
    pub folder: Option<PathBuf>,
    /// At most this many sessions, from 1 to 1000. A page may have fewer, even if it is not the
    /// last one. A list that leaves out what ended long ago and has at most one fleet and one
    /// vendor has no pages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1000))]
    pub limit: Option<u32>,
    /// The value of `next` in the previous page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

/// `GET /v1/sessions` and `POST /v1/list`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionList {
    pub sessions: Vec<SessionView>,
    /// The number of sessions that match the filters but are hidden because they ended more than a
    /// day ago.
    #[serde(default)]
    pub hidden: usize,
    /// The cursor of the next page. Missing in the last page, and in a list without pages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}
