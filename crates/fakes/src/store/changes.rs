//! Changes of the tables, with the conflicts that the port describes.

use jiff::{SignedDuration, Timestamp};
use segue_core::Result;
use segue_core::model::{
    AgentWorktree, Binding, CountedUsage, DailyUsage, Event, Fleet, Handoff, IssueKey, Launch,
    LaunchEnd, LaunchId, Message, MessageId, MessageState, NewEvent, PlanControl, ProcessRef,
    RequestRecord, Session, SessionId, SessionNames, Status, StoredToken, StoredUsageCursor, Task,
    TaskState, TaskStateKind, Timer, TokenId, UsageIncrement, WorkRef, WorktreeId,
};
use segue_core::ports::{Change, Conflict, Missing, PlacedTask};
use segue_core::rules::usage::day;

use super::{Tables, UsedBySession};

/// How long a step of a request is kept.
const STEP_LIFETIME: SignedDuration = SignedDuration::from_hours(24);
/// How many of the newest steps of each caller are kept.
const MAX_STEPS_PER_CALLER: usize = 512;

impl Tables {
    pub(super) fn append(&mut self, fact: NewEvent) {
        let seq = self.events.last().map_or(1, |event| event.seq + 1);
        self.events.push(Event { seq, fact });
    }

    #[expect(clippy::too_many_lines, reason = "one line per change")]
    pub(super) fn apply(&mut self, change: Change) -> Result<()> {
        match change {
            Change::PutFleet(fleet) => self.put_fleet(fleet)?,
            Change::CreateSession(session) => self.create_session(*session)?,
            Change::SetStatus { session, status, at } => self.set_status(session, status, at)?,
            Change::MarkHasContent { session } => self.session_mut(session)?.has_content = true,
            Change::SetRepetition { session, repetition } => {
                self.session_mut(session)?.repetition = repetition.map(|it| *it);
            }
            Change::Configure { session, settings, changed_at } => {
                let session = self.session_mut(session)?;
                session.configure(*settings);
                session.settings_changed_at = changed_at.or(session.settings_changed_at);
            }
            Change::RenameSession { session, names } => self.rename(session, names)?,
            Change::CreateLaunch(launch) => self.create_launch(*launch)?,
            Change::SetProcesses { launch, holder, agent } => {
                self.set_processes(launch, holder, agent)?;
            }
            Change::EndLaunch { launch, end } => self.end_launch(launch, end)?,
            Change::AddBinding(binding) => self.add_binding(binding)?,
            Change::RemoveSession(session) => self.remove_session(session)?,
            Change::AddHandoff(handoff) => self.add_handoff(*handoff)?,
            Change::PutTrust(trust) => drop(self.trusts.insert(trust.folder.clone(), trust)),
            Change::SetCount { fleet, agent, count } => {
                self.counts.insert((fleet, agent), count);
            }
            Change::SetTimers { session, timers } => self.set_timers(session, timers)?,
            Change::AddMessage(message) => self.add_message(*message)?,
            Change::SetMessage { message, state, at } => self.set_message(message, state, at)?,
            Change::AddWorktree(worktree) => self.add_worktree(*worktree)?,
            Change::LeaseWorktree { worktree, session } => self.lease(worktree, session)?,
            Change::ReleaseWorktree { worktree } => self.worktree_mut(worktree)?.session = None,
            Change::SetWorktreeRemoval { worktree, removal } => {
                self.worktree_mut(worktree)?.removal = removal;
            }
            Change::AddChildReport(report) => self.child_reports.push(*report),
            Change::AddAgentReport(report) => self.add_agent_report(*report),
            Change::PutPlan { plan, from } => self.put_plan(*plan, from)?,
            Change::PutPlanTask(task) => self.put_plan_task(*task)?,
            Change::RemovePlanTask { plan, name } => {
                self.plan_tasks.retain(|it| (it.plan, &it.name) != (plan, &name));
            }
            Change::SendChildReport(message) => self.send_child_report(message)?,
            Change::SetWorktreeBranch { worktree, branch } => {
                self.worktree_mut(worktree)?.branch = branch;
            }
            Change::SetWorktreeCommands { worktree, commands } => {
                self.worktree_mut(worktree)?.commands = commands;
            }
            Change::SetWorktreeSetUp { worktree, is_set_up } => {
                self.worktree_mut(worktree)?.is_set_up = is_set_up;
            }
            Change::ForgetWorktree(worktree) => {
                self.worktree_mut(worktree)?;
                self.worktrees.retain(|it| it.id != worktree);
            }
            Change::CheckChildren { parent, child, limit } => {
                self.check_children(parent, child, limit)?;
            }
            Change::AddTask(task) => self.add_task(*task)?,
            Change::SetTask { task, from } => self.set_task(*task, from)?,
            Change::SetIssueSession { key, session } => self.set_issue_session(key, session)?,
            Change::AddUsage(increment) => self.add_usage(*increment)?,
            Change::AddToken(token) => self.add_token(*token)?,
            Change::RemoveToken(token) => self.remove_token(token)?,
            Change::UseToken { token, at } => self.token_mut(token)?.last_used_at = Some(at),
            Change::SetListener(settings) => self.listener = settings.map(|settings| *settings),
            Change::AddDelivery(delivery) => self.add_delivery(*delivery)?,
            Change::SetDelivery { delivery, state } => self.set_delivery(delivery, state)?,
            Change::RemoveDelivery(delivery) => self.remove_delivery(delivery)?,
            Change::RemoveDeliveryContent(delivery) => self.remove_delivery_content(delivery),
            Change::PutPolledRepository(polled) => {
                let key = (polled.source.clone(), polled.address.id);
                self.polled_repositories.insert(key, *polled);
            }
            Change::PutTrackedIssue(issue) => self.put_tracked_issue(*issue),
            Change::RemoveTrackedIssue(key) => drop(self.tracked_issues.remove(&key)),
            Change::AddReply(reply) => self.replies.push(*reply),
            Change::SetReply(reply) => self.set_reply(*reply)?,
            Change::SetNextSweep(at) => self.housekeeping.next_sweep = Some(at),
            Change::SetDiskLevel(level) => self.housekeeping.disk_level = level,
            Change::RecordRequest(record) => self.record_request(*record)?,
        }
        Ok(())
    }

    fn set_status(&mut self, session: SessionId, status: Status, at: Timestamp) -> Result<()> {
        let session = self.session_mut(session)?;
        session.status = status;
        session.updated_at = at;
        Ok(())
    }

    fn set_timers(&mut self, session: SessionId, timers: Vec<Timer>) -> Result<()> {
        self.session_mut(session)?;
        self.timers.insert(session, timers);
        Ok(())
    }

    fn add_message(&mut self, message: Message) -> Result<()> {
        self.session_mut(message.session)?;
        self.messages.push(message);
        Ok(())
    }

    fn remove_token(&mut self, id: TokenId) -> Result<()> {
        self.token_mut(id)?;
        self.tokens.retain(|it| it.token.id != id && it.made_from != Some(id));
        Ok(())
    }

    fn add_token(&mut self, token: StoredToken) -> Result<()> {
        if self.tokens.iter().any(|it| it.token.name == token.token.name) {
            return Err(Conflict::TokenNameTaken { name: token.token.name }.into());
        }
        self.tokens.push(token);
        Ok(())
    }

    fn token_mut(&mut self, id: TokenId) -> Result<&mut StoredToken> {
        let found = self.tokens.iter_mut().find(|it| it.token.id == id);
        found.ok_or_else(|| Missing::Token(id).into())
    }

    fn add_handoff(&mut self, handoff: Handoff) -> Result<()> {
        self.session_mut(handoff.from)?;
        self.session_mut(handoff.to)?;
        self.handoffs.push(handoff);
        Ok(())
    }

    fn send_child_report(&mut self, message: MessageId) -> Result<()> {
        let known = self.child_reports.iter().position(|it| it.message == message);
        let known = known.ok_or(Conflict::ChildReportSent { message })?;
        self.child_reports.remove(known);
        Ok(())
    }

    fn add_usage(&mut self, increment: UsageIncrement) -> Result<()> {
        let UsageIncrement { session, source, from, to: cursor, counted } = increment;
        let owner = self.session_mut(session)?.clone();
        let is_same = |it: &StoredUsageCursor| it.session == session && it.source == source;
        let known = self.usage_cursors.iter().position(is_same);
        if known.map(|at| &self.usage_cursors[at].cursor) != from.as_ref() {
            return Err(Conflict::UsageIsCounted { session: owner.address() }.into());
        }
        self.usage_cursors.retain(|it| !is_same(it));
        self.usage_cursors.push(StoredUsageCursor { session, source, cursor });
        let Session { fleet, agent, vendor, .. } = owner;
        self.usage.extend(counted.into_iter().map(|CountedUsage { at, usage }| {
            let (fleet, agent, vendor) = (fleet.clone(), agent.clone(), vendor.clone());
            let used = DailyUsage { session, fleet, agent, vendor, day: day(at), usage };
            UsedBySession { at, used }
        }));
        Ok(())
    }

    fn put_fleet(&mut self, wanted: Fleet) -> Result<()> {
        match self.fleets.iter().find(|it| it.name == wanted.name).cloned() {
            None => self.fleets.push(wanted),
            Some(known) if known == wanted => {}
            Some(known) => return Err(Conflict::FleetOfAnotherFolder { known, wanted }.into()),
        }
        Ok(())
    }

    fn session_mut(&mut self, id: SessionId) -> Result<&mut Session> {
        let found = self.sessions.iter_mut().find(|it| it.id == id);
        Ok(found.ok_or(Missing::Session(id))?)
    }

    fn address(&mut self, id: SessionId) -> Result<String> {
        Ok(self.session_mut(id)?.address())
    }

    fn check_name_is_free(&self, session: &Session) -> Result<()> {
        let Session { fleet, name, .. } = session;
        if self.sessions.iter().all(|it| it.fleet != *fleet || it.name != *name) {
            return Ok(());
        }
        Err(Conflict::NameTaken { fleet: fleet.clone(), name: name.clone() }.into())
    }

    fn create_session(&mut self, session: Session) -> Result<()> {
        self.check_name_is_free(&session)?;
        if let Some(known) = self.session(session.id) {
            let (id, owner) = (session.id, known.address());
            return Err(Conflict::SessionIdTaken { id, owner }.into());
        }
        self.sessions.push(session);
        Ok(())
    }

    fn rename(&mut self, id: SessionId, names: SessionNames) -> Result<()> {
        let SessionNames { name, up_name } = names;
        let known = self.session_mut(id)?.clone();
        let is_other = known.name != name;
        let renamed = Session { name, up_name, ..known };
        if is_other {
            self.check_name_is_free(&renamed)?;
        }
        *self.session_mut(id)? = renamed;
        Ok(())
    }

    fn remove_session(&mut self, id: SessionId) -> Result<()> {
        let session = self.address(id)?;
        if self.has_open_launch(id) {
            return Err(Conflict::SessionIsOpen { session }.into());
        }
        self.sessions.retain(|it| it.id != id);
        self.launches.retain(|it| it.session != id);
        self.bindings.retain(|it| it.session != id);
        self.messages.retain(|it| it.session != id);
        self.handoffs.retain(|it| it.from != id && it.to != id);
        self.requests.retain(|it| it.key.caller != Some(id));
        self.timers.remove(&id);
        self.usage_cursors.retain(|it| it.session != id);
        for worktree in &mut self.worktrees {
            worktree.session = worktree.session.filter(|session| *session != id);
        }
        self.issue_sessions.retain(|_, session| *session != id);
        let own = self.tasks.iter_mut().filter(|it| it.task.session == Some(id));
        own.for_each(|it| it.task.session = None);
        Ok(())
    }

    fn add_worktree(&mut self, worktree: AgentWorktree) -> Result<()> {
        let AgentWorktree { path, port, .. } = &worktree;
        if self.worktrees.iter().any(|it| it.path == *path) {
            return Err(Conflict::WorktreePathTaken { path: path.clone() }.into());
        }
        if self.worktrees.iter().any(|it| it.port == *port) {
            return Err(Conflict::WorktreePortTaken { port: *port }.into());
        }
        self.worktrees.push(worktree);
        Ok(())
    }

    fn worktree_mut(&mut self, id: WorktreeId) -> Result<&mut AgentWorktree> {
        let found = self.worktrees.iter_mut().find(|it| it.id == id);
        Ok(found.ok_or(Missing::Worktree(id))?)
    }

    fn lease(&mut self, id: WorktreeId, session: SessionId) -> Result<()> {
        let AgentWorktree { branch, session: owner, .. } = self.worktree_mut(id)?.clone();
        if let Some(owner) = owner.filter(|owner| *owner != session)
            && !self.leaves_worktree(owner)
        {
            let owner = self.address(owner)?;
            return Err(Conflict::WorktreeLeased { branch, owner }.into());
        }
        let own = self.address(session)?;
        if self.worktrees.iter().any(|it| it.session == Some(session) && it.id != id) {
            return Err(Conflict::SecondWorktree { session: own }.into());
        }
        self.worktree_mut(id)?.session = Some(session);
        Ok(())
    }

    fn leaves_worktree(&self, owner: SessionId) -> bool {
        let runs = self.has_open_launch(owner);
        self.session(owner).is_none_or(|session| session.leaves_worktree(runs))
    }

    fn add_task(&mut self, task: Task) -> Result<()> {
        if let Some(session) = task.session {
            self.session_mut(session)?;
        }
        let has_same_key = |it: &&PlacedTask| task.key.is_some() && it.task.key == task.key;
        if let Some((known, key)) = self.tasks.iter().find(has_same_key).zip(task.key.clone()) {
            return Err(Conflict::TaskKeyTaken { key, owner: known.task.id }.into());
        }
        let place = self.tasks.last().map_or(1, |it| it.place + 1);
        self.tasks.push(PlacedTask { place, task });
        Ok(())
    }

    fn check_children(&mut self, parent: SessionId, child: WorkRef, limit: u32) -> Result<()> {
        let session = self.session_mut(parent)?.address();
        let is_own = |task: &Task| {
            task.order.spawner.as_ref().is_some_and(|spawner| spawner.session == parent)
        };
        let tasks = || self.tasks.iter().map(|it| &it.task).filter(|task| is_own(task));
        let open_tasks =
            tasks().filter(|it| !it.state.has_ended() && WorkRef::Task(it.id) != child).count();
        let is_open = |it: &&Session| {
            it.parent == Some(parent)
                && WorkRef::Session(it.id) != child
                && self.has_open_launch(it.id)
                && !tasks().any(|task| task.session == Some(it.id))
        };
        let open = open_tasks + self.sessions.iter().filter(is_open).count();
        if open >= limit as usize {
            return Err(Conflict::TooManyChildren { session, limit }.into());
        }
        Ok(())
    }

    fn set_task(&mut self, task: Task, from: TaskStateKind) -> Result<()> {
        if let Some(session) = task.session {
            self.session_mut(session)?;
        }
        let known = self.tasks.iter().position(|it| it.task.id == task.id);
        let known = known.ok_or(Missing::Task(task.id))?;
        let state = self.tasks[known].task.state.kind();
        if state != from {
            return Err(Conflict::TaskHasMoved { id: task.id, state }.into());
        }
        let member = task.order.plan.as_ref().filter(|_| task.state == TaskState::Running);
        if let Some(member) = member.filter(|_| from == TaskStateKind::Queued) {
            let plan = self.plans.iter().find(|it| it.id == member.plan);
            if plan.is_some_and(|plan| plan.control != PlanControl::Active) {
                return Err(Conflict::PlanIsHeld { name: member.plan_name.clone() }.into());
            }
        }
        self.tasks[known].task = task;
        Ok(())
    }

    fn set_issue_session(&mut self, key: IssueKey, session: Option<SessionId>) -> Result<()> {
        match session {
            Some(session) => {
                self.session_mut(session)?;
                self.issue_sessions.insert(key, session);
            }
            None => drop(self.issue_sessions.remove(&key)),
        }
        Ok(())
    }

    fn create_launch(&mut self, launch: Launch) -> Result<()> {
        let session = self.address(launch.session)?;
        if launch.is_open() && self.has_open_launch(launch.session) {
            return Err(Conflict::SecondOpenLaunch { session }.into());
        }
        if self.launches.iter().any(|it| it.id == launch.id) {
            return Err(Conflict::LaunchIdTaken { id: launch.id }.into());
        }
        self.launches.push(launch);
        Ok(())
    }

    fn launch_mut(&mut self, id: LaunchId) -> Result<&mut Launch> {
        let found = self.launches.iter_mut().find(|it| it.id == id);
        Ok(found.ok_or(Missing::Launch(id))?)
    }

    fn set_processes(
        &mut self,
        id: LaunchId,
        holder: Option<ProcessRef>,
        agent: Option<ProcessRef>,
    ) -> Result<()> {
        let launch = self.launch_mut(id)?;
        if launch.is_open() {
            launch.holder = holder.or(launch.holder.take());
            launch.agent = agent.or(launch.agent.take());
            return Ok(());
        }
        let session = launch.session;
        let session = self.address(session)?;
        Err(Conflict::LaunchHasEnded { id, session }.into())
    }

    fn end_launch(&mut self, id: LaunchId, end: LaunchEnd) -> Result<()> {
        self.launch_mut(id)?.end.get_or_insert(end);
        Ok(())
    }

    fn add_binding(&mut self, binding: Binding) -> Result<()> {
        let vendor = self.session_mut(binding.session)?.vendor.clone();
        if let Some(id) = binding.launch {
            let owner = self.launch_mut(id)?.session;
            if owner != binding.session {
                let (owner, session) = (self.address(owner)?, self.address(binding.session)?);
                return Err(Conflict::LaunchOfAnotherSession { id, owner, session }.into());
            }
        }
        let id = binding.vendor_session.clone();
        let others = self.bindings.iter().filter(|it| it.session != binding.session);
        let same =
            others.filter(|it| it.vendor_session == id).filter_map(|it| self.session(it.session));
        if let Some(owner) = same.into_iter().find(|it| it.vendor == vendor) {
            let owner = owner.address();
            return Err(Conflict::ConversationTaken { vendor, id, owner }.into());
        }
        let newest = self.bindings.iter().rfind(|it| it.session == binding.session);
        if newest.is_none_or(|it| it.vendor_session != id) {
            self.session_mut(binding.session)?.has_content = false;
        }
        self.bindings.push(binding);
        Ok(())
    }

    fn set_message(&mut self, id: MessageId, state: MessageState, at: Timestamp) -> Result<()> {
        let found = self.messages.iter_mut().find(|it| it.id == id);
        let message: &mut Message = found.ok_or(Missing::Message(id))?;
        if message.state.is_settled() {
            return Err(Conflict::MessageIsSettled { id, state: message.state.clone() }.into());
        }
        message.state = state;
        message.updated_at = at;
        Ok(())
    }

    fn record_request(&mut self, record: RequestRecord) -> Result<()> {
        let is_same =
            |it: &RequestRecord| it.key == record.key && it.step.name() == record.step.name();
        if self.requests.iter().any(is_same) {
            return Err(Conflict::RequestRepeated { id: record.key.id }.into());
        }
        let (caller, now) = (record.key.caller, record.at);
        self.requests.push(record);
        let own = self.requests.iter().filter(|it| it.key.caller == caller).count();
        let mut surplus = own.saturating_sub(MAX_STEPS_PER_CALLER);
        self.requests.retain(|it| {
            let is_surplus = it.key.caller == caller && surplus > 0;
            surplus -= usize::from(is_surplus);
            !is_surplus && it.at.duration_until(now) <= STEP_LIFETIME
        });
        Ok(())
    }
}
