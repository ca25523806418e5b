//! A session as its one owner holds it in memory: always a copy of what the store has.

use std::path::PathBuf;

use jiff::Timestamp;

use crate::error::{Error, Result};
use crate::model::{
    Binding, EventKind, Evidence, Failure, FailureClass, Launch, LaunchId, LaunchRecord, Message,
    MessageId, MessageState, NewEvent, Session, SessionId, Source, Status, VendorSessionId,
};
use crate::ports::{Change, Commit, MessageQuery, Place, Ports};
use crate::rules::lifecycle::{OpenStanding, Standing};

/// A session, its launches and its ledger.
#[derive(Clone, Debug)]
pub struct SessionState {
    pub session: Session,
    pub launches: Vec<Launch>,
    pub bindings: Vec<Binding>,
    /// The open launch's word about its turn, if it is headless.
    pub turn: Option<TurnWord>,
    /// Who said what the open launch does now.
    pub source: Option<Source>,
    /// Messages whose fate is not settled, the oldest first.
    pub outbox: Vec<Message>,
    /// Others' transcripts that the open launch's start may delete; they are guarded.
    pub endangered: Vec<PathBuf>,
}

/// What a launch said about its last turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnWord {
    pub ok: bool,
    pub text: String,
    pub failure: Option<Failure>,
}

impl TurnWord {
    fn class(&self) -> Option<FailureClass> {
        self.failure.as_ref().map(|failure| failure.class)
    }

    /// Keeps what was said before about the same failure and is not said again: when it ends.
    pub(crate) fn after(mut self, before: Option<&Self>) -> Self {
        let known = before.and_then(|turn| turn.failure.as_ref());
        if let (Some(failure), Some(known)) = (&mut self.failure, known)
            && failure.class == known.class
        {
            failure.resets_at = failure.resets_at.or(known.resets_at);
        }
        self
    }
}

impl SessionState {
    /// Begins the memory of a session that the store does not have yet.
    pub fn new(session: Session) -> Self {
        Self {
            session,
            launches: Vec::new(),
            bindings: Vec::new(),
            turn: None,
            source: None,
            outbox: Vec::new(),
            endangered: Vec::new(),
        }
    }

    /// Loads what the store has.
    pub async fn load(ports: &Ports, id: SessionId) -> Result<Self> {
        let unknown = || Error::not_found(format!("there is no session `{id}`"));
        let session = ports.store.session(id).await?.ok_or_else(unknown)?;
        let launches = ports.store.launches(id).await?;
        let bindings = ports.store.bindings(id).await?;
        let query = MessageQuery { session: Some(id), open: true };
        let outbox = ports.store.messages(&query).await?;
        let endangered = Vec::new();
        Ok(Self { session, launches, bindings, turn: None, source: None, outbox, endangered })
    }

    /// Returns the launch that is thought to be alive.
    pub fn open(&self) -> Option<&Launch> {
        self.launches.last().filter(|launch| launch.is_open())
    }

    /// Returns the newest line of the ledger.
    pub fn bound(&self) -> Option<&Binding> {
        self.bindings.last()
    }

    pub fn vendor_session(&self) -> Option<&VendorSessionId> {
        self.bound().map(|binding| &binding.vendor_session)
    }

    /// Tells whether the launch's own process has shown which conversation it is in.
    pub fn is_confirmed(&self, launch: LaunchId) -> bool {
        let own = |it: &&Binding| it.launch == Some(launch) && it.evidence != Evidence::Preset;
        self.bindings.iter().any(|it| own(&it))
    }

    /// Tells whether a launch is in another conversation than the one that it began with.
    pub fn has_moved_on(&self, launch: LaunchId) -> bool {
        let mut own = self.bindings.iter().filter(|it| it.launch == Some(launch));
        let first = own.next().map(|binding| &binding.vendor_session);
        own.any(|binding| first != Some(&binding.vendor_session))
    }

    pub fn place(&self) -> Place {
        Place { config_dir: self.session.config_dir.clone(), cwd: self.session.cwd.clone() }
    }

    /// Returns what the rules of the life cycle look at.
    pub fn standing(&self) -> Standing {
        Standing {
            status: self.session.status,
            open: self.open().map(|launch| OpenStanding {
                launch: launch.id,
                mode: launch.mode,
                confirmed: self.is_confirmed(launch.id),
                turn: self.turn.as_ref().map(|turn| turn.ok),
                failure: self.turn.as_ref().and_then(TurnWord::class),
            }),
            source: self.source,
            bound: self.bound().map(|it| (it.vendor_session.clone(), it.evidence)),
            headless: self.session.headless,
            restart: self.session.restart,
        }
    }

    /// Commits changes with their events, and then does the same to this copy.
    pub async fn commit(&mut self, ports: &Ports, commit: Commit) -> Result<()> {
        let changes = commit.changes.clone();
        ports.store.commit(commit).await?;
        changes.into_iter().for_each(|change| self.apply(change));
        Ok(())
    }

    /// Applies a change that was committed. Changes of other sessions, which a commit may contain as
    /// well, leave this copy as it is.
    fn apply(&mut self, change: Change) {
        let own = self.session.id;
        match change {
            Change::SetStatus { session, status, at } if session == own => {
                self.session.status = status;
                self.session.updated_at = at;
            }
            Change::MarkSpoke { session } if session == own => self.session.spoke = true,
            Change::RenameSession { session, name } if session == own => self.session.name = name,
            Change::SetArchive { session, archive } if session == own => {
                self.session.archive = archive;
            }
            Change::TightenPermission { session, permission, .. } if session == own => {
                self.session.permission = permission;
            }
            Change::CreateLaunch(launch) if launch.session == own => self.launches.push(*launch),
            Change::SetProcesses { launch, holder, agent } => {
                if let Some(launch) = self.launch_mut(launch) {
                    launch.holder = holder;
                    launch.agent = agent;
                }
            }
            Change::EndLaunch { launch, end } => {
                if let Some(launch) = self.launch_mut(launch) {
                    launch.end.get_or_insert(end);
                }
            }
            Change::AddBinding(binding) if binding.session == own => {
                let goes_on = self.vendor_session() == Some(&binding.vendor_session);
                self.session.spoke &= goes_on;
                self.bindings.push(binding);
            }
            Change::AddMessage(message) if message.session == own => self.outbox.push(*message),
            Change::SetMessage { message, state, at } => self.set_message(message, state, at),
            Change::SetStatus { .. }
            | Change::MarkSpoke { .. }
            | Change::RenameSession { .. }
            | Change::SetArchive { .. }
            | Change::TightenPermission { .. }
            | Change::CreateLaunch(_)
            | Change::AddBinding(_)
            | Change::AddMessage(_)
            | Change::CreateSession(_)
            | Change::PutFleet(_)
            | Change::RemoveSession(_)
            | Change::PutTrust(_)
            | Change::AddHandoff(_)
            | Change::SetCount { .. }
            | Change::RecordRequest(_)
            | Change::SetTimers { .. } => {}
        }
    }

    fn set_message(&mut self, id: MessageId, state: MessageState, at: Timestamp) {
        if let Some(message) = self.outbox.iter_mut().find(|message| message.id == id) {
            message.state = state;
            message.updated_at = at;
        }
        self.outbox.retain(|message| !message.state.is_settled());
    }

    fn launch_mut(&mut self, id: LaunchId) -> Option<&mut Launch> {
        self.launches.iter_mut().find(|launch| launch.id == id)
    }

    /// Returns a fact about this session.
    pub fn event(&self, ports: &Ports, kind: EventKind, text: impl Into<String>) -> NewEvent {
        NewEvent {
            at: ports.clock.now(),
            session: Some(self.session.id),
            launch: self.launches.last().map(|launch| launch.id),
            kind,
            text: text.into(),
        }
    }

    /// Returns the change and the fact of a new status.
    pub fn status_change(&self, ports: &Ports, status: Status) -> (Change, NewEvent) {
        let text = match status.detail() {
            Some(detail) => format!("{} ({detail})", status.word()),
            None => status.word().to_owned(),
        };
        let event = self.event(ports, EventKind::StatusChanged, text);
        (Change::SetStatus { session: self.session.id, status, at: event.at }, event)
    }

    /// Writes the newest launch's `session.json` again, with what is known now.
    pub fn write_record(&self, ports: &Ports) -> Result<()> {
        let Some(launch) = self.launches.last() else { return Ok(()) };
        let record = LaunchRecord::new(self.session.clone(), launch.clone(), self.bindings.clone());
        ports.folders.write(&record)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flows::samples::session;
    use crate::model::{Permission, SessionName};

    #[test]
    fn change_of_another_session_leaves_this_one_as_it_is() {
        let (own, other) = (session(1, "own"), session(2, "other"));
        let mut state = SessionState::new(own.clone());
        let at = Timestamp::MAX;
        let changes = |session: SessionId| {
            [
                Change::SetStatus { session, status: Status::Idle, at },
                Change::MarkSpoke { session },
                Change::RenameSession { session, name: SessionName::parse("new").unwrap() },
                Change::SetArchive { session, archive: false },
                Change::TightenPermission { session, permission: Permission::Ask, at },
            ]
        };
        changes(other.id).into_iter().for_each(|change| state.apply(change));
        assert_eq!(state.session, own);
        changes(own.id).into_iter().for_each(|change| state.apply(change));
        assert_eq!((state.session.status, state.session.spoke), (Status::Idle, true));
        assert_eq!((state.session.name.as_str(), state.session.archive), ("new", false));
    }
}
