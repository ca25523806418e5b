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
    /// The file beside it that has the texts; `None` if there are none.
    #[serde(default)]
    pub texts: Option<String>,
}

/// The texts of a launch, which are in a file of their own: `session.json` is for people to look at
/// and to pass on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaunchTexts {
    pub instructions: Option<String>,
    pub message: Option<String>,
}

impl LaunchRecord {
    /// Takes the texts out of the record, which names the file that has them from now on. `None` if
    /// there are none.
    pub fn take_texts(&mut self, file: &str) -> Option<LaunchTexts> {
        let instructions = self.session.instructions.take();
        let texts = LaunchTexts { instructions, message: self.launch.message.take() };
        let texts = (texts != LaunchTexts::default()).then_some(texts);
        self.texts = texts.as_ref().map(|_| file.to_owned());
        texts
    }

    /// Puts the texts back.
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
            texts: None,
        }
    }
}
