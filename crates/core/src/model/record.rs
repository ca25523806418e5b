//! The write-ahead record of a launch: `launches/<id>/session.json`.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{AgentWorktree, Binding, Launch, Session, VendorSessionId};

/// Everything that is needed to repeat a launch. It is on disk before the process exists.
///
/// The first five fields are a stable interface for users and scripts. `segue doctor` uses the
/// other fields to rebuild the store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaunchRecord {
    pub agent_id: String,
    pub cli_command: Vec<String>,
    pub session_name: String,
    /// The vendor's session id. `null` until it is known.
    pub session_id: Option<VendorSessionId>,
    pub spawned_at: Timestamp,
    pub session: Session,
    pub launch: Launch,
    pub bindings: Vec<Binding>,
    /// The worktree in which the session works.
    #[serde(default)]
    pub worktree: Option<AgentWorktree>,
    /// Name of the file next to this one that contains the texts. `None` if there are no texts.
    #[serde(default)]
    pub texts: Option<String>,
}

/// The texts of a launch. They are in a separate file because users look at `session.json` and
/// share it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaunchTexts {
    pub instructions: Option<String>,
    pub message: Option<String>,
}

impl LaunchRecord {
    /// Moves the texts out of the record and stores the name of the file that contains them.
    /// Returns `None` if there are no texts.
    pub fn take_texts(&mut self, file: &str) -> Option<LaunchTexts> {
        let instructions = self.session.instructions.take();
        let texts = LaunchTexts { instructions, message: self.launch.message.take() };
        let texts = (texts != LaunchTexts::default()).then_some(texts);
        self.texts = texts.as_ref().map(|_| file.to_owned());
        texts
    }

    /// Puts the texts back into the record.
    pub fn put_texts(&mut self, LaunchTexts { instructions, message }: LaunchTexts) {
        self.session.instructions = instructions;
        self.launch.message = message;
        self.texts = None;
    }

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
            worktree: None,
            texts: None,
        }
    }
}
