//! A store in memory. It passes the same contract suite as the real one.

mod changes;
mod deliveries;
mod plans;
mod queries;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use jiff::Timestamp;
use segue_core::Result;
use segue_core::model::{
    AgentName, AgentReport, AgentWorktree, Binding, ChildReport, Counts, DailyUsage, Delivery,
    DeliveryId, DeliverySummary, Event, ExchangedMessage, Fleet, FleetName, ForgeReply, Handoff,
    HousekeepingState, IssueKey, IssueRef, Launch, LaunchIndexEntry, ListenSettings, MachineId,
    Message, MessageId, Plan, PlanTask, PolledRepository, ReplyState, RepositoryId, RequestKey,
    RequestRecord, RequestStep, Session, SessionId, SourceName, StatusKind, StoredToken,
    StoredUsageCursor, Timer, TrackedIssue, TrackedIssueKey, Trust, VendorId, WorkRef,
};
use segue_core::ports::{
    AgentReportQuery, Commit, DeliveryQuery, EventQuery, MessageQuery, PlacedTask, PlanQuery,
    PlanTaskQuery, SessionQuery, SessionSummary, Store, TaskQuery, TaskSummary, UsageQuery,
    VendorPlace, WorktreeQuery,
};
use tokio::sync::watch;

use crate::Calls;

/// Everything that is stored. A commit changes a copy, which then replaces the original, so that a
/// commit that fails changes nothing.
#[derive(Clone, Debug, Default)]
struct Tables {
    fleets: Vec<Fleet>,
    /// In the order in which they were added, as are all lists.
    sessions: Vec<Session>,
    launches: Vec<Launch>,
    bindings: Vec<Binding>,
    events: Vec<Event>,
    counts: BTreeMap<(FleetName, AgentName), u32>,
    timers: BTreeMap<SessionId, Vec<Timer>>,
    trusts: BTreeMap<PathBuf, Trust>,
    messages: Vec<Message>,
    handoffs: Vec<Handoff>,
    worktrees: Vec<AgentWorktree>,
    tasks: Vec<PlacedTask>,
    issue_sessions: BTreeMap<IssueKey, SessionId>,
    usage: Vec<UsedBySession>,
    usage_cursors: Vec<StoredUsageCursor>,
    child_reports: Vec<ChildReport>,
    agent_reports: Vec<AgentReport>,
    plans: Vec<Plan>,
    plan_tasks: Vec<PlanTask>,
    tokens: Vec<StoredToken>,
    listener: Option<ListenSettings>,
    deliveries: Vec<Delivery>,
    tracked_issues: BTreeMap<TrackedIssueKey, TrackedIssue>,
    polled_repositories: BTreeMap<(SourceName, u64), PolledRepository>,
    replies: Vec<ForgeReply>,
    housekeeping: HousekeepingState,
    requests: Vec<RequestRecord>,
}

/// What a session has used until a point in time.
#[derive(Clone, Debug)]
struct UsedBySession {
    at: Timestamp,
    used: DailyUsage,
}

/// A store in memory. Clones are handles of the same store.
#[derive(Clone, Debug)]
pub struct FakeStore {
    calls: Calls,
    tables: Arc<Mutex<Tables>>,
    newest: Arc<watch::Sender<i64>>,
}

impl FakeStore {
    pub fn new(calls: Calls) -> Self {
        Self { calls, tables: Arc::default(), newest: Arc::new(watch::Sender::new(0)) }
    }

    /// Returns the texts of a session's events, oldest first.
    pub fn event_texts(&self, session: SessionId) -> Vec<String> {
        let tables = self.tables.lock().unwrap();
        let own = tables.events.iter().filter(|it| it.fact.session == Some(session));
        own.map(|it| format!("{}: {}", it.fact.payload.kind().word(), it.fact.payload)).collect()
    }

    /// Reads the tables, unless this call has to fail.
    fn read<T>(&self, call: &'static str, read: impl FnOnce(&Tables) -> T) -> Result<T> {
        self.calls.enter(call)?;
        Ok(read(&self.tables.lock().unwrap()))
    }
}

#[async_trait]
impl Store for FakeStore {
    async fn commit(&self, commit: Commit) -> Result<i64> {
        self.calls.enter("store.commit")?;
        let newest = {
            let mut tables = self.tables.lock().unwrap();
            let mut changed = tables.clone();
            for change in commit.changes {
                changed.apply(change)?;
            }
            commit.events.into_iter().for_each(|event| changed.append(event));
            let newest = changed.events.last().map_or(0, |event| event.seq);
            *tables = changed;
            newest
        };
        self.newest.send_replace(newest);
        Ok(newest)
    }

    async fn session(&self, id: SessionId) -> Result<Option<Session>> {
        self.read("store.session", |it| it.session(id).cloned())
    }

    async fn sessions(&self, query: &SessionQuery) -> Result<Vec<SessionSummary>> {
        self.read("store.sessions", |it| it.summaries(query))
    }

    async fn count_sessions(&self, query: &SessionQuery) -> Result<u32> {
        let sessions = self.read("store.count_sessions", |it| it.summaries(query))?;
        Ok(u32::try_from(sessions.len()).unwrap())
    }

    async fn count_statuses(&self) -> Result<Vec<(StatusKind, u64)>> {
        self.read("store.count_statuses", |it| {
            let count = |kind: StatusKind| {
                let has = |session: &&Session| session.status.kind() == kind;
                (kind, it.sessions.iter().filter(has).count() as u64)
            };
            StatusKind::ALL.iter().map(|kind| count(*kind)).collect()
        })
    }

    async fn resting_places(&self, limit: u32) -> Result<Vec<VendorPlace>> {
        self.read("store.resting_places", |it| it.resting_places(limit as usize))
    }

    async fn vendor_ids(&self) -> Result<Vec<VendorId>> {
        self.read("store.vendor_ids", |it| {
            let mut ids: Vec<VendorId> = it.sessions.iter().map(|it| it.vendor.clone()).collect();
            ids.sort();
            ids.dedup();
            ids
        })
    }

    async fn config_dirs(&self, vendor: &VendorId) -> Result<Vec<PathBuf>> {
        self.read("store.config_dirs", |it| {
            let own = it.sessions.iter().filter(|it| it.vendor == *vendor);
            let mut dirs: Vec<PathBuf> = own.map(|it| it.config_dir.clone()).collect();
            dirs.sort();
            dirs.dedup();
            dirs
        })
    }

    async fn models(&self, vendor: &VendorId, limit: u32) -> Result<Vec<String>> {
        self.read("store.models", |it| {
            let mut sessions: Vec<&Session> =
                it.sessions.iter().filter(|it| it.vendor == *vendor).collect();
            sessions.sort_by_key(|it| std::cmp::Reverse((it.created_at, it.id)));
            let mut models: Vec<String> = Vec::new();
            for model in sessions.into_iter().filter_map(|it| it.model.clone()) {
                if !models.contains(&model) {
                    models.push(model);
                }
            }
            models.truncate(limit as usize);
            models
        })
    }

    async fn launches(&self, session: SessionId) -> Result<Vec<Launch>> {
        self.read("store.launches", |it| {
            let own = it.launches.iter().filter(|it| it.session == session);
            let mut own: Vec<Launch> = own.cloned().collect();
            own.sort_by_key(|it| (it.number, it.created_at, it.id));
            own
        })
    }

    async fn open_launches(&self, machines: &[MachineId]) -> Result<Vec<Launch>> {
        self.read("store.open_launches", |it| {
            let is_there = |it: &&Launch| it.machine.is_none_or(|id| machines.contains(&id));
            let open = it.launches.iter().filter(|it| it.is_open()).filter(is_there);
            let mut open: Vec<Launch> = open.cloned().collect();
            open.sort_by_key(|it| (it.created_at, it.id));
            open
        })
    }

    async fn bindings(&self, session: SessionId) -> Result<Vec<Binding>> {
        self.read("store.bindings", |it| {
            it.bindings.iter().filter(|it| it.session == session).cloned().collect()
        })
    }

    async fn events(&self, query: &EventQuery) -> Result<Vec<Event>> {
        self.read("store.events", |it| it.events_of(query))
    }

    async fn wait_for_events(&self, after: i64) -> Result<i64> {
        self.calls.enter("store.wait_for_events")?;
        let mut newest = self.newest.subscribe();
        // This store keeps the sender alive, so this cannot fail.
        Ok(*newest.wait_for(|newest| *newest > after).await.unwrap())
    }

    async fn fleet(&self, name: &FleetName) -> Result<Option<Fleet>> {
        self.read("store.fleet", |it| it.fleets.iter().find(|it| it.name == *name).cloned())
    }

    async fn fleet_names(&self) -> Result<Vec<FleetName>> {
        self.read("store.fleet_names", |it| {
            let mut names: Vec<FleetName> = it.fleets.iter().map(|it| it.name.clone()).collect();
            names.sort();
            names
        })
    }

    async fn fleets_of(&self, folder: &Path) -> Result<Vec<Fleet>> {
        self.read("store.fleets_of", |it| {
            let own = |it: &&Fleet| it.folder.as_deref() == Some(folder);
            it.fleets.iter().filter(own).cloned().collect()
        })
    }

    async fn counts(&self, fleet: &FleetName) -> Result<Counts> {
        self.read("store.counts", |it| {
            let own = it.counts.iter().filter(|((of, _), _)| of == fleet);
            own.map(|((_, agent), count)| (agent.clone(), *count)).collect()
        })
    }

    async fn timers(&self, session: SessionId) -> Result<Vec<Timer>> {
        self.read("store.timers", |it| it.timers.get(&session).cloned().unwrap_or_default())
    }

    async fn trust(&self, folder: &Path) -> Result<Option<Trust>> {
        self.read("store.trust", |it| it.trusts.get(folder).cloned())
    }

    async fn messages(&self, query: &MessageQuery) -> Result<Vec<Message>> {
        self.read("store.messages", |it| {
            let is_meant = |it: &&Message| {
                query.session.is_none_or(|session| session == it.session)
                    && !(query.open && it.state.is_settled())
            };
            it.messages.iter().filter(is_meant).cloned().collect()
        })
    }

    async fn exchanged_messages(
        &self,
        sessions: (SessionId, SessionId),
        limit: u32,
    ) -> Result<Vec<ExchangedMessage>> {
        self.read("store.exchanged_messages", |it| {
            let is_meant = |it: &&Message| it.session == sessions.0 || it.session == sessions.1;
            let exchanged = |it: &Message| ExchangedMessage { to: it.session, sender: it.sender };
            let newest = it.messages.iter().rev().filter(is_meant);
            newest.map(exchanged).take(limit as usize).collect()
        })
    }

    async fn handoffs(&self, session: SessionId) -> Result<Vec<Handoff>> {
        self.handoffs_of(&[session]).await
    }

    async fn handoffs_of(&self, sessions: &[SessionId]) -> Result<Vec<Handoff>> {
        self.read("store.handoffs_of", |it| {
            let is_meant = |it: &&Handoff| sessions.contains(&it.from) || sessions.contains(&it.to);
            it.handoffs.iter().filter(is_meant).cloned().collect()
        })
    }

    async fn worktrees(&self, query: &WorktreeQuery) -> Result<Vec<AgentWorktree>> {
        self.read("store.worktrees", |it| {
            let is_meant = |it: &&AgentWorktree| {
                query.session.is_none_or(|session| it.session == Some(session))
                    && query.path.as_ref().is_none_or(|path| *path == it.path)
            };
            let mut found: Vec<AgentWorktree> =
                it.worktrees.iter().filter(is_meant).cloned().collect();
            found.sort_by_key(|it| (it.created_at, it.id));
            found
        })
    }

    async fn message(&self, id: MessageId) -> Result<Option<Message>> {
        self.read("store.message", |it| it.messages.iter().find(|it| it.id == id).cloned())
    }

    async fn tasks(&self, query: &TaskQuery) -> Result<Vec<PlacedTask>> {
        self.read("store.tasks", |it| it.tasks(query))
    }

    async fn task_summaries(&self, query: &TaskQuery) -> Result<Vec<TaskSummary>> {
        self.read("store.task_summaries", |it| it.task_summaries(query))
    }

    async fn count_tasks(&self, query: &TaskQuery) -> Result<u32> {
        self.read("store.count_tasks", |it| u32::try_from(it.tasks(query).len()).unwrap())
    }

    async fn child_reports(&self, parent: Option<WorkRef>) -> Result<Vec<ChildReport>> {
        self.read("store.child_reports", |it| {
            let is_meant = |it: &&ChildReport| parent.is_none_or(|parent| it.parent == parent);
            it.child_reports.iter().filter(is_meant).cloned().collect()
        })
    }

    async fn agent_reports(&self, query: &AgentReportQuery) -> Result<Vec<AgentReport>> {
        self.read("store.agent_reports", |it| it.reports_of(query))
    }

    async fn plans(&self, query: &PlanQuery) -> Result<Vec<Plan>> {
        self.read("store.plans", |it| it.plans_of(query))
    }

    async fn plan_tasks(&self, query: &PlanTaskQuery) -> Result<Vec<PlanTask>> {
        self.read("store.plan_tasks", |it| it.tasks_of_plan(query))
    }

    async fn issue_session(&self, key: &IssueKey) -> Result<Option<SessionId>> {
        self.read("store.issue_session", |it| it.issue_sessions.get(key).copied())
    }

    async fn usage_cursors(&self, sessions: &[SessionId]) -> Result<Vec<StoredUsageCursor>> {
        self.read("store.usage_cursors", |it| {
            let is_meant = |it: &&StoredUsageCursor| sessions.contains(&it.session);
            let mut found: Vec<_> = it.usage_cursors.iter().filter(is_meant).cloned().collect();
            found.sort_by(|a, b| (a.session, &a.source).cmp(&(b.session, &b.source)));
            found
        })
    }

    async fn usage(&self, query: &UsageQuery) -> Result<Vec<DailyUsage>> {
        self.read("store.usage", |it| it.daily_usage(query))
    }

    async fn tokens(&self) -> Result<Vec<StoredToken>> {
        self.read("store.tokens", |it| {
            let mut tokens = it.tokens.clone();
            tokens.sort_by_key(|it| (it.created_at, it.token.id));
            tokens
        })
    }

    async fn issue_sessions(&self) -> Result<Vec<(IssueKey, SessionId)>> {
        self.read("store.issue_sessions", |it| {
            it.issue_sessions.iter().map(|(key, session)| (key.clone(), *session)).collect()
        })
    }

    async fn launch_index(&self) -> Result<Vec<LaunchIndexEntry>> {
        self.read("store.launch_index", Tables::launch_index)
    }

    async fn housekeeping(&self) -> Result<HousekeepingState> {
        self.read("store.housekeeping", |it| it.housekeeping)
    }

    async fn listener(&self) -> Result<Option<ListenSettings>> {
        self.read("store.listener", |it| it.listener.clone())
    }

    async fn deliveries(&self, query: &DeliveryQuery) -> Result<Vec<DeliverySummary>> {
        self.read("store.deliveries", |it| it.deliveries_of(query))
    }

    async fn delivery(&self, id: DeliveryId) -> Result<Option<Delivery>> {
        self.read("store.delivery", |it| {
            it.deliveries.iter().find(|it| it.summary.id == id).cloned()
        })
    }

    async fn known_delivery(
        &self,
        source: &SourceName,
        forge_id: Option<&str>,
        digest: &str,
    ) -> Result<Option<DeliveryId>> {
        self.read("store.known_delivery", |it| it.known_delivery(source, forge_id, digest))
    }

    async fn polled_repositories(&self, source: &SourceName) -> Result<Vec<PolledRepository>> {
        self.read("store.polled_repositories", |it| {
            let all = it.polled_repositories.values();
            all.filter(|it| it.source == *source).cloned().collect()
        })
    }

    async fn tracked_issues(&self, source: Option<&SourceName>) -> Result<Vec<TrackedIssue>> {
        self.read("store.tracked_issues", |it| {
            let is_meant = |it: &&TrackedIssue| source.is_none_or(|source| *source == it.source);
            it.tracked_issues.values().filter(is_meant).cloned().collect()
        })
    }

    async fn waiting_replies(&self) -> Result<Vec<ForgeReply>> {
        self.read("store.waiting_replies", |it| {
            it.replies.iter().filter(|it| it.state == ReplyState::Waiting).cloned().collect()
        })
    }

    async fn sessions_of_issue(
        &self,
        repository: &RepositoryId,
        issue: &IssueRef,
    ) -> Result<Vec<(IssueKey, SessionId)>> {
        self.read("store.sessions_of_issue", |it| {
            let own = it.issue_sessions.iter();
            let own = own.filter(|(key, _)| (&key.repository, &key.issue) == (repository, issue));
            own.map(|(key, session)| (key.clone(), *session)).collect()
        })
    }

    async fn request(&self, key: RequestKey) -> Result<Vec<RequestStep>> {
        self.read("store.request", |it| {
            it.requests.iter().filter(|it| it.key == key).map(|it| it.step.clone()).collect()
        })
    }
}
