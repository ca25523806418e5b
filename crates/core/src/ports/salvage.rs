//! Data that was recovered from a damaged store.

use crate::model::{
    AgentName, AgentReport, AgentWorktree, Binding, ChildReport, Fleet, FleetName, Handoff,
    IssueKey, Launch, Message, NewEvent, Plan, PlanTask, RequestRecord, Session, SessionId, Task,
    Timer, Trust,
};

/// The rows that could be read from a damaged store and from its backup. If both have a row, the row
/// of the damaged store is used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Salvaged {
    pub fleets: Vec<Fleet>,
    pub sessions: Vec<SalvagedSession>,
    pub counts: Vec<(FleetName, AgentName, u32)>,
    pub trusts: Vec<Trust>,
    pub timers: Vec<(SessionId, Vec<Timer>)>,
    pub handoffs: Vec<Handoff>,
    pub worktrees: Vec<AgentWorktree>,
    /// In the order in which they were queued.
    pub messages: Vec<Message>,
    /// In the order of the queue.
    pub tasks: Vec<Task>,
    /// Oldest first.
    pub agent_reports: Vec<AgentReport>,
    pub plans: Vec<Plan>,
    pub plan_tasks: Vec<PlanTask>,
    pub issue_sessions: Vec<(IssueKey, SessionId)>,
    /// Reports that may have been sent since the backup.
    pub child_reports: Vec<ChildReport>,
    pub requests: Vec<RequestRecord>,
    /// Oldest first.
    pub events: Vec<NewEvent>,
    /// Tables with rows that could be read neither from the store nor from the backup.
    pub unreadable: Vec<&'static str>,
    /// Tables for which the backup had additional rows.
    pub from_backup: Vec<&'static str>,
}

/// A session with its launches and its bindings, both oldest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SalvagedSession {
    pub session: Session,
    pub launches: Vec<Launch>,
    pub bindings: Vec<Binding>,
}
