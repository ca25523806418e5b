//! The write-ahead record of a launch: `launches/<id>/session.json`.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Binding, Launch, Session, VendorSessionId};

/// Everything needed to do a launch again, on disk before its process exists.
///
/// The first five fields are the contract with people and scripts; the rest lets `segue doctor`
/// rebuild the store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaunchRecord {
    pub agent_id: String,
    pub cli_command: Vec<String>,
    pub session_name: String,
    /// The vendor's id; null until it is known.
    pub session_id: Option<VendorSessionId>,
    pub spawned_at: Timestamp,
    pub session: Session,
    pub launch: Launch,
    pub bindings: Vec<Binding>,
}

impl LaunchRecord {
    pub fn new(session: Session, launch: Launch, bindings: Vec<Binding>) -> Self {
        Self {
            agent_id: session
                .agent
                .as_ref()
                .map_or(session.name.as_str(), |a| a.as_str())
                .to_owned(),
            cli_command: launch.argv.clone(),
            session_name: session.address(),
            session_id: bindings.last().map(|binding| binding.vendor_session.clone()),
            spawned_at: launch.created_at,
            session,
            launch,
            bindings,
        }
    }
}
