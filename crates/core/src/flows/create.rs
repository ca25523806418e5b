//! The one way to make a session: what a request decides, and the defaults of everything else.

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
    /// The real path of the folder it works in.
    pub cwd: PathBuf,
    pub config_dir: PathBuf,
    pub agent: Option<AgentName>,
    pub settings: SessionSettings,
    pub headless: bool,
    /// The session whose agent asks for this one.
    pub parent: Option<SessionId>,
    pub beginning: SessionBeginning,
}

/// How a session begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionBeginning {
    /// Its first launch is committed together with it.
    Launch,
    /// It takes over a conversation that was begun by hand, and does not run yet.
    Adoption,
    /// A conversation is handed over to it. It counts as a session that ended unexpectedly until
    /// its first launch, so that a resume of all sessions starts it.
    Handoff,
}

impl SessionBeginning {
    /// Returns a session that is not stored yet, as it begins in this way.
    pub fn begin(self, session: Session) -> Session {
        let (status, spoke) = match self {
            Self::Launch => (Status::Starting, false),
            Self::Adoption => (Status::Ended(How::Quit), true),
            Self::Handoff => (Status::Ended(How::NeverStarted), false),
        };
        Session { status, spoke, ..session }
    }
}

/// Makes the session of a draft. Nothing is stored.
pub fn create(ports: &Ports, draft: SessionDraft) -> Session {
    let settings = draft.settings;
    let now = ports.clock.now();
    draft.beginning.begin(Session {
        id: SessionId::new(ports.clock.new_id()),
        name: draft.name,
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
        args: settings.args,
        env: settings.env,
        parent: draft.parent,
        status: Status::Starting,
        spoke: false,
        created_at: now,
        updated_at: now,
    })
}
