//! The session or conversation that a handoff starts from.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

use jiff::Timestamp;

use crate::api::AdoptCandidate;
use crate::error::{Error, Result};
use crate::flows::look::{self, SelectionMode};
use crate::flows::{SessionState, adopt, conversation, view};
use crate::model::{AgentWorktree, Launch, Role, Session, VendorSessionId};
use crate::ports::{Place, Ports, Transcripts, Vendor};
use crate::rules::editor_servers;
use crate::rules::redaction::KnownSecrets;

/// A conversation to hand over.
#[derive(Clone, Debug)]
pub struct SourceConversation {
    pub vendor: Arc<dyn Vendor>,
    pub place: Place,
    pub id: VendorSessionId,
    /// The file to read: the vendor's own transcript, a guard or a copy from the archive.
    pub transcript: PathBuf,
}

impl SourceConversation {
    pub(super) fn transcripts(&self) -> Result<&dyn Transcripts> {
        transcripts_of(self.vendor.as_ref())
    }

    /// Returns the timestamp of the newest turn that has one. `None` if no turn has a timestamp.
    pub(super) fn newest_timestamp(&self, ports: &Ports) -> Result<Option<Timestamp>> {
        let mut newest = None;
        self.transcripts()?.turns_back(ports.files.as_ref(), &self.transcript, &mut |turn| {
            newest = turn.at;
            if newest.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        Ok(newest)
    }

    /// Returns whether the conversation contains a message or a summary.
    fn has_messages(&self, ports: &Ports) -> Result<bool> {
        let mut has_messages = false;
        self.transcripts()?.turns_back(ports.files.as_ref(), &self.transcript, &mut |turn| {
            has_messages |= matches!(turn.role, Role::User | Role::Assistant | Role::Summary);
            if has_messages { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        Ok(has_messages)
    }
}

/// Returns a vendor's transcripts, or an error if it has none that can be read.
pub(super) fn transcripts_of(vendor: &dyn Vendor) -> Result<&dyn Transcripts> {
    let missing = || Error::vendor(format!("Segue cannot read transcripts of `{}`", vendor.id()));
    vendor.transcripts().ok_or_else(missing)
}

/// The session that a handoff starts from, and its conversation if it has one.
#[derive(Clone, Debug)]
pub struct HandoffSource {
    pub session: Session,
    pub conversation: Option<SourceConversation>,
    /// The worktree in which it works. The next session works there, too.
    pub worktree: Option<AgentWorktree>,
    /// How many messages are queued for its agent. They stay there.
    pub queued: usize,
    /// Whether its last turn is incomplete.
    pub is_cut_off: bool,
    /// Secret values of its session and its launch, which must not be handed over. The caller adds
    /// those of files in its folder.
    pub known_secrets: KnownSecrets,
    /// `Some` if the conversation was started without Segue and has no session yet.
    unadopted: Option<VendorSessionId>,
}

impl HandoffSource {
    /// Finds the conversation of a session. Returns an error if its vendor has conversations that
    /// Segue cannot read.
    pub async fn of_session(ports: &Ports, session: Session) -> Result<Self> {
        let vendor = ports.vendors.of(&session)?;
        let state = SessionState::load(ports, session.id).await?;
        if vendor.transcripts().is_none() && state.vendor_session().is_some() {
            return Err(unreadable(&session));
        }
        let observed = look::look(ports, &state, SelectionMode::ByName).await?;
        let is_cut_off = observed.conversation.as_ref().is_some_and(|it| it.turn_open);
        let own = observed.conversation.map(|it| (it.id, it.transcript));
        let kept = match own {
            Some(own) => Some(own),
            // The vendor's own transcript is gone. Read the guard or the archive instead.
            None => conversation::of_session(ports, &view::summary(&state))
                .await
                .map(|part| part.vendor_session_id.zip(part.transcript))?,
        };
        let place = state.place();
        let conversation =
            kept.map(|(id, transcript)| SourceConversation { vendor, place, id, transcript });
        let queued = state.outbox.len();
        let known_secrets = known_secrets(ports, &session, state.launches.last()).await;
        let (worktree, unadopted) = (state.worktree, None);
        Ok(Self { session, conversation, worktree, queued, is_cut_off, known_secrets, unadopted })
    }

    /// Returns the source for a conversation that has no session yet. `draft` is the session that
    /// [`Self::adopted`] creates.
    pub async fn of_unadopted(ports: &Ports, found: UnadoptedConversation, draft: Session) -> Self {
        let UnadoptedConversation { id, conversation, is_cut_off } = found;
        let known_secrets = known_secrets(ports, &draft, None).await;
        let (session, worktree, unadopted) = (draft, None, Some(id));
        Self { session, conversation, worktree, queued: 0, is_cut_off, known_secrets, unadopted }
    }

    /// Creates the session of a conversation that has none.
    pub async fn adopted(mut self, ports: &Ports) -> Result<Self> {
        if let Some(id) = self.unadopted.take() {
            adopt::record(ports, self.session.clone(), &id, Vec::new()).await?;
        }
        Ok(self)
    }

    /// Returns whether there is a conversation with a message or a summary.
    pub fn has_messages(&self, ports: &Ports) -> Result<bool> {
        self.conversation.as_ref().map_or(Ok(false), |it| it.has_messages(ports))
    }
}

/// A conversation that was started without Segue and has no session.
#[derive(Clone, Debug)]
pub struct UnadoptedConversation {
    id: VendorSessionId,
    conversation: Option<SourceConversation>,
    is_cut_off: bool,
}

impl UnadoptedConversation {
    /// Reads a conversation. Returns an error if a process has it open.
    pub fn read(ports: &Ports, candidate: &AdoptCandidate) -> Result<Self> {
        let AdoptCandidate { vendor, vendor_session_id: id, .. } = candidate;
        if let Some(pid) = candidate.open_in {
            return Err(Error::conflict(format!("`{vendor}:{id}` is open in process {pid}"))
                .hint("end that process, then try again"));
        }
        let vendor = ports.vendors.get(vendor)?;
        let (config_dir, cwd) = (candidate.config_dir.clone(), candidate.cwd.clone());
        let place = Place { config_dir, cwd };
        let known = conversation::read(ports, vendor.as_ref(), &place, id)?;
        let is_cut_off = known.as_ref().is_some_and(|it| it.turn_open);
        let conversation = known.map(|it| {
            let (id, transcript) = (it.id, it.transcript);
            SourceConversation { vendor, place, id, transcript }
        });
        Ok(Self { id: id.clone(), conversation, is_cut_off })
    }
}

/// Returns the error for a session whose conversation Segue cannot read.
fn unreadable(session: &Session) -> Error {
    let (name, vendor) = (session.address(), &session.vendor);
    Error::vendor(format!("the conversation of `{name}` cannot be read"))
        .caused_by(format!("Segue cannot read transcripts of `{vendor}`"))
        .hint(format!("name it with `transcript = \"…\"` in `[vendors.{vendor}]`"))
}

/// Collects the secret values in the settings of a session and in the environment of its launch.
/// They are kept in memory only.
async fn known_secrets(ports: &Ports, session: &Session, launch: Option<&Launch>) -> KnownSecrets {
    let mut known = KnownSecrets::default();
    known.add_environment(session.env.iter().map(|(name, value)| (name.as_str(), value.as_str())));
    if let Some(launch) = launch
        && let Ok(Some(environment)) = ports.holders.environment(launch.id).await
    {
        known.add_environment(environment.iter());
        for server in editor_servers::servers(&environment) {
            let values = server.env.iter().map(|(name, value)| (name.as_str(), value.as_str()));
            known.add_environment(values);
        }
    }
    known
}
