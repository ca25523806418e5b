//! Builds the record of a new session. Every request that creates a session uses [`create`]; the
//! caller commits the record.

use std::path::PathBuf;

use crate::model::{
    AgentName, FleetName, How, Session, SessionId, SessionName, SessionSettings, Status, VendorId,
};
use crate::ports::Ports;

/// A session before it has an id.
#[derive(Clone, Debug)]
pub struct SessionDraft {
    pub fleet: FleetName,
    pub name: SessionName,
    pub vendor: VendorId,
    /// The folder in which the agent works, without symlinks.
    pub cwd: PathBuf,
    pub config_dir: PathBuf,
    pub agent: Option<AgentName>,
    pub settings: SessionSettings,
    pub headless: bool,
    /// The session whose agent requests this session.
    pub parent: Option<SessionId>,
    pub beginning: SessionBeginning,
}

/// How a session begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionBeginning {
    /// The session is committed together with its first launch.
    Launch,
    /// The session adopts a conversation that was begun without Segue. It does not run yet.
    Adoption,
    /// A conversation is handed over to the session. Until its first launch, the session counts as
    /// ended unexpectedly, so that a resume of all sessions starts it.
    Handoff,
}

impl SessionBeginning {
    /// Returns a new session with the initial status for this beginning.
    pub fn begin(self, session: Session) -> Session {
        let (status, has_content) = match self {
            Self::Launch => (Status::Starting, false),
            Self::Adoption => (Status::Ended(How::Quit), true),
            Self::Handoff => (Status::Ended(How::NeverStarted), false),
        };
        Session { status, has_content, ..session }
    }
}

/// Creates the session of a draft. Stores nothing.
pub fn create(ports: &Ports, draft: SessionDraft) -> Session {
    let settings = draft.settings;
    let now = ports.clock.now();
    draft.beginning.begin(Session {
        id: SessionId::new(ports.clock.new_id()),
        name: draft.name,
        up_name: None,
        fleet: draft.fleet,
        agent: draft.agent,
        vendor: draft.vendor,
        description: settings.description,
        cwd: draft.cwd,
        config_dir: draft.config_dir,
        model: settings.model,
        permission: settings.permission,
        instructions: settings.instructions,
        headless: draft.headless,
        restart: settings.restart,
        archive: settings.archive,
        mcp: settings.mcp,
        args: settings.args,
        env: settings.env,
        parent: draft.parent,
        status: Status::Starting,
        has_content: false,
        repetition: None,
        settings_changed_at: None,
        created_at: now,
        updated_at: now,
    })
}
