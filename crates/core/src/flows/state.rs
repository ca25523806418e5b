//! The state of a session that its actor keeps in memory. It always matches the store, because only
//! the actor changes the session.

use std::path::PathBuf;

use jiff::Timestamp;

use crate::error::{Error, Result};
use crate::flows::{usage, worktrees};
use crate::model::{
    AgentWorktree, Binding, EventPayload, Evidence, Failure, FailureClass, Launch, LaunchEnd,
    LaunchId, LaunchRecord, Message, MessageId, MessageState, NewEvent, ProcessRef, Session,
    SessionId, SessionNames, Source, Status, Usage, VendorSessionId,
};
use crate::ports::{Change, Commit, MessageQuery, Place, Ports};
use crate::rules::lifecycle::{LifecycleFacts, OpenLaunchFacts};

/// A session, its launches and its bindings.
#[derive(Clone, Debug)]
pub struct SessionState {
    pub session: Session,
    pub launches: Vec<Launch>,
    pub bindings: Vec<Binding>,
    /// The worktree in which the session works, as it was at the last launch.
    pub worktree: Option<AgentWorktree>,
    /// The result of the last turn that the newest launch reported.
    pub turn: Option<TurnResult>,
    /// The source of the open launch's current activity.
    pub source: Option<Source>,
    /// Messages that are not settled yet, oldest first.
    pub outbox: Vec<Message>,
    /// What the session has used. `None` if nothing was reported.
    pub usage: Option<Usage>,
    /// Transcripts of other conversations that the start of the open launch may delete. They are
    /// guarded.
    pub endangered: Vec<PathBuf>,
}

/// What a launch reported about its last turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnResult {
    pub ok: bool,
    pub text: String,
    pub failure: Option<Failure>,
}

impl TurnResult {
    fn class(&self) -> Option<FailureClass> {
        self.failure.as_ref().map(|failure| failure.class)
    }

    /// Keeps the reset time of an earlier report if both reports have the same class of failure and
    /// the new one has no reset time.
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
    /// Creates the state of a session that is not in the store yet.
    pub fn new(session: Session) -> Self {
        Self {
            session,
            launches: Vec::new(),
            bindings: Vec::new(),
            worktree: None,
            turn: None,
            source: None,
            outbox: Vec::new(),
            usage: None,
            endangered: Vec::new(),
        }
    }

    /// Loads a session from the store.
    pub async fn load(ports: &Ports, id: SessionId) -> Result<Self> {
        let unknown = || Error::not_found(format!("there is no session `{id}`"));
        let session = ports.store.session(id).await?.ok_or_else(unknown)?;
        let launches = ports.store.launches(id).await?;
        let bindings = ports.store.bindings(id).await?;
        let query = MessageQuery { session: Some(id), open: true };
        let outbox = ports.store.messages(&query).await?;
        let worktree = worktrees::of_session(ports, &session).await?;
        let usage = usage::of_session(ports, id).await?;
        Ok(Self { launches, bindings, worktree, outbox, usage, ..Self::new(session) })
    }

    /// Returns the message that the agent gets next. `None` if there is none, or if another message is
    /// being typed. Messages that are held are left out.
    pub fn next_message(&self) -> Option<&Message> {
        let first = self.outbox.iter().find(|message| !self.is_held(message));
        first.filter(|message| message.state == MessageState::Queued)
    }

    /// Returns whether a message waits until a person lets the messages between two agents go on.
    pub fn is_held(&self, message: &Message) -> bool {
        let held = self.session.repetition.as_ref().filter(|it| !it.is_known);
        let other = held.and_then(|repetition| repetition.other);
        other.is_some() && message.sender.map(|sender| sender.session) == other
    }

    /// Returns the newest launch if it has no recorded end.
    pub fn open(&self) -> Option<&Launch> {
        self.launches.last().filter(|launch| launch.is_open())
    }

    /// Returns the newest binding.
    pub fn bound(&self) -> Option<&Binding> {
        self.bindings.last()
    }

    pub fn vendor_session(&self) -> Option<&VendorSessionId> {
        self.bound().map(|binding| &binding.vendor_session)
    }

    /// Returns whether the launch's own process has shown which conversation it is in.
    pub fn is_confirmed(&self, launch: LaunchId) -> bool {
        let confirms = |it: &Binding| it.launch == Some(launch) && it.evidence != Evidence::Preset;
        self.bindings.iter().any(confirms)
    }

    /// Returns whether a launch has left the conversation that it started with, even if it returned
    /// to it later.
    pub fn has_moved_on(&self, launch: LaunchId) -> bool {
        let mut of_launch = self.bindings.iter().filter(|it| it.launch == Some(launch));
        let first = of_launch.next().map(|binding| &binding.vendor_session);
        of_launch.any(|binding| first != Some(&binding.vendor_session))
    }

    pub fn place(&self) -> Place {
        Place::of(&self.session)
    }

    /// Returns the facts that `rules::lifecycle` needs.
    pub fn lifecycle_facts(&self) -> LifecycleFacts {
        LifecycleFacts {
            status: self.session.status,
            open: self.open().map(|launch| OpenLaunchFacts {
                launch: launch.id,
                mode: launch.mode,
                confirmed: self.is_confirmed(launch.id),
                turn: self.turn.as_ref().map(|turn| turn.ok),
                failure: self.turn.as_ref().and_then(TurnResult::class),
            }),
            source: self.source,
            bound: self.bound().map(|it| (it.vendor_session.clone(), it.evidence)),
            headless: self.session.headless,
            restart: self.session.restart,
        }
    }

    /// Commits changes with their events, and then applies the changes to this copy.
    pub async fn commit(&mut self, ports: &Ports, commit: Commit) -> Result<()> {
        let changes = commit.changes.clone();
        ports.store.commit(commit).await?;
        changes.into_iter().for_each(|change| self.apply(change));
        Ok(())
    }

    /// Applies a committed change. A commit may also contain changes of other sessions; they are
    /// ignored.
    #[expect(clippy::too_many_lines, reason = "one line per change")]
    fn apply(&mut self, change: Change) {
        let own = self.session.id;
        match change {
            Change::SetStatus { session, status, at } if session == own => {
                self.session.status = status;
                self.session.updated_at = at;
            }
            Change::MarkHasContent { session } if session == own => self.session.has_content = true,
            Change::SetRepetition { session, repetition } if session == own => {
                self.session.repetition = repetition.map(|it| *it);
            }
            Change::RenameSession { session, names } if session == own => {
                SessionNames { name: self.session.name, up_name: self.session.up_name } = names;
            }
            Change::Configure { session, settings, changed_at } if session == own => {
                self.session.configure(*settings);
                let earlier = self.session.settings_changed_at;
                self.session.settings_changed_at = changed_at.or(earlier);
            }
            Change::CreateLaunch(launch) if launch.session == own => self.launches.push(*launch),
            Change::SetProcesses { launch, holder, agent } => {
                self.set_processes(launch, holder, agent);
            }
            Change::EndLaunch { launch, end } => self.end_launch(launch, end),
            Change::AddBinding(binding) if binding.session == own => self.bind(binding),
            Change::AddMessage(message) if message.session == own => self.outbox.push(*message),
            Change::SetMessage { message, state, at } => self.set_message(message, state, at),
            Change::AddUsage(increment) if increment.session == own => {
                let added = increment.counted.iter().map(|it| it.usage);
                self.usage = Usage::sum(self.usage.into_iter().chain(added));
            }
            Change::SetStatus { .. }
            | Change::MarkHasContent { .. }
            | Change::SetRepetition { .. }
            | Change::RenameSession { .. }
            | Change::Configure { .. }
            | Change::CreateLaunch(_)
            | Change::AddBinding(_)
            | Change::AddMessage(_)
            | Change::AddUsage(_)
            | Change::CreateSession(_)
            | Change::PutFleet(_)
            | Change::RemoveSession(_)
            | Change::PutTrust(_)
            | Change::AddHandoff(_)
            | Change::SetCount { .. }
            | Change::RecordRequest(_)
            | Change::AddWorktree(_)
            | Change::LeaseWorktree { .. }
            | Change::ReleaseWorktree { .. }
            | Change::SetWorktreeRemoval { .. }
            | Change::ForgetWorktree(_)
            | Change::SetTimers { .. }
            | Change::AddTask(_)
            | Change::CheckChildren { .. }
            | Change::SetTask { .. }
            | Change::PutPlan { .. }
            | Change::PutPlanTask(_)
            | Change::RemovePlanTask { .. }
            | Change::SetWorktreeBranch { .. }
            | Change::SetWorktreeCommands { .. }
            | Change::SetWorktreeSetUp { .. }
            | Change::AddChildReport(_)
            | Change::AddAgentReport(_)
            | Change::SendChildReport(_)
            | Change::SetIssueSession { .. }
            | Change::AddToken(_)
            | Change::RemoveToken(_)
            | Change::UseToken { .. }
            | Change::SetListener(_)
            | Change::AddDelivery(_)
            | Change::SetDelivery { .. }
            | Change::RemoveDelivery(_)
            | Change::PutTrackedIssue(_)
            | Change::RemoveTrackedIssue(_)
            | Change::AddReply(_)
            | Change::SetReply(_)
            | Change::SetNextSweep(_)
            | Change::RemoveDeliveryContent(_)
            | Change::PutPolledRepository(_)
            | Change::SetDiskLevel(_) => {}
        }
    }

    fn set_processes(
        &mut self,
        launch: LaunchId,
        holder: Option<ProcessRef>,
        agent: Option<ProcessRef>,
    ) {
        if let Some(launch) = self.launch_mut(launch) {
            launch.holder = holder;
            launch.agent = agent;
        }
    }

    fn end_launch(&mut self, launch: LaunchId, end: LaunchEnd) {
        if let Some(launch) = self.launch_mut(launch) {
            launch.end.get_or_insert(end);
        }
    }

    fn bind(&mut self, binding: Binding) {
        let is_same_conversation = self.vendor_session() == Some(&binding.vendor_session);
        self.session.has_content &= is_same_conversation;
        self.bindings.push(binding);
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

    /// Creates an event about this session.
    pub fn event(&self, ports: &Ports, payload: EventPayload) -> NewEvent {
        NewEvent {
            at: ports.clock.now(),
            session: Some(self.session.id),
            launch: self.launches.last().map(|launch| launch.id),
            payload,
        }
    }

    /// Returns the change and the event for a new status.
    pub fn status_change(&self, ports: &Ports, status: Status) -> (Change, NewEvent) {
        let payload = EventPayload::StatusChanged { status, source: None, note: None };
        let event = self.event(ports, payload);
        (Change::SetStatus { session: self.session.id, status, at: event.at }, event)
    }

    /// Writes the newest launch's `session.json` again with the current state.
    pub fn write_record(&self, ports: &Ports) -> Result<()> {
        let Some(launch) = self.launches.last() else { return Ok(()) };
        let bindings = self.bindings.clone();
        let worktree = self.worktree.clone();
        let record = LaunchRecord::new(self.session.clone(), launch.clone(), bindings);
        ports.folders.write(&LaunchRecord { worktree, ..record })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flows::samples::session;
    use crate::model::{SessionName, SessionSettings};

    #[test]
    fn change_of_another_session_leaves_this_one_as_it_is() {
        let (own, other) = (session(1, "own"), session(2, "other"));
        let mut state = SessionState::new(own.clone());
        let at = Timestamp::MAX;
        let unarchived = SessionSettings { archive: false, ..own.settings() };
        let changes = |session: SessionId| {
            [
                Change::SetStatus { session, status: Status::Idle, at },
                Change::MarkHasContent { session },
                Change::RenameSession {
                    session,
                    names: SessionNames { name: SessionName::parse("new").unwrap(), up_name: None },
                },
                Change::Configure {
                    session,
                    settings: Box::new(unarchived.clone()),
                    changed_at: Some(at),
                },
            ]
        };
        changes(other.id).into_iter().for_each(|change| state.apply(change));
        assert_eq!(state.session, own);
        changes(own.id).into_iter().for_each(|change| state.apply(change));
        assert_eq!((state.session.status, state.session.has_content), (Status::Idle, true));
        assert_eq!((state.session.name.as_str(), state.session.archive), ("new", false));
        assert_eq!(state.session.settings_changed_at, Some(at));
    }
}
