//! Sessions in answers: the same fields with the same names everywhere.

use std::path::PathBuf;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::model::{
    AgentName, Dialog, Evidence, FleetName, Session, SessionId, SessionName, Usage, VendorId,
    VendorSessionId,
};

/// Which session an object stands for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionRef {
    /// `None` if the session does not exist: it could not be made, or was not meant to be.
    pub session: Option<SessionId>,
    pub name: SessionName,
    pub fleet: FleetName,
    /// `fleet/name`.
    pub address: String,
}

impl SessionRef {
    /// Names a session that exists.
    pub fn of(session: &Session) -> Self {
        Self { session: Some(session.id), ..Self::of_draft(session) }
    }

    /// Names a session that does not exist yet.
    pub fn of_draft(session: &Session) -> Self {
        Self {
            session: None,
            name: session.name.clone(),
            fleet: session.fleet.clone(),
            address: session.address(),
        }
    }
}

/// A session as `segue ls --json` shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionView {
    pub session: SessionId,
    /// The same as `session`: programs of earlier versions read it.
    pub id: SessionId,
    pub name: SessionName,
    pub fleet: FleetName,
    /// `fleet/name`.
    pub address: String,
    pub agent: Option<AgentName>,
    pub vendor: VendorId,
    pub vendor_session_id: Option<VendorSessionId>,
    pub evidence: Option<Evidence>,
    pub status: String,
    pub status_detail: Option<String>,
    /// The address of the session in which its conversation goes on, if it was handed over.
    #[serde(default)]
    pub goes_on_as: Option<String>,
    /// What it asks a person.
    #[serde(default)]
    pub dialog: Option<Dialog>,
    pub cwd: PathBuf,
    pub worktree: Option<PathBuf>,
    pub branch: Option<String>,
    /// The queued work that it was started for.
    #[serde(default)]
    pub task: Option<String>,
    pub headless: bool,
    pub pid: Option<u32>,
    pub holder_pid: Option<u32>,
    pub launches: u32,
    /// Messages that the agent has not taken yet.
    #[serde(default)]
    pub queued_messages: u32,
    /// What its conversation has used; `None` while nobody counts it.
    #[serde(default)]
    pub usage: Option<Usage>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// `POST /v1/list`: which sessions are wanted, in the words of a person.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListRequest {
    /// Includes sessions that ended more than a day ago.
    pub all: bool,
    /// Fleets, whole or by the beginning of their names.
    pub fleets: Vec<String>,
    /// Vendors, whole or by the beginning of their names.
    pub vendors: Vec<String>,
    /// Words for statuses.
    pub statuses: Vec<String>,
    /// Only sessions that work in this folder or below.
    pub folder: Option<PathBuf>,
}

/// `GET /v1/sessions` and `POST /v1/list`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionList {
    pub sessions: Vec<SessionView>,
    /// Sessions that are wanted, but ended more than a day ago.
    #[serde(default)]
    pub hidden: usize,
}
