//! A daemon in memory with one session. It does nothing that it is asked for.

use async_trait::async_trait;
use jiff::Timestamp;
use segue_core::api::{
    AdoptReport, AgentKindList, HandoffReport, InterruptReport, MessageList, PlanGateView,
    PlanReport, RenameReport, RestoreReport, ScaleReport, SessionList, StopReport, TaskReport,
    TaskSummaryList, WorktreeAction, WorktreeActionReport, WorktreeDiffReport, WorktreeList,
};
use segue_core::model::{Event, PlanId, PlanTaskName, SessionId, Usage};
use segue_core::ports::TerminalStream;
use segue_core::{Error, Result};
use segue_tui::{
    AttachResult, DaemonApi, DaemonEvents, DiffQuestion, HandoverOrder, NewSession, NewTask,
    TalkPage, VendorChoice,
};
use serde_json::json;

/// What goes wrong when a session is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mishap {
    None,
    Panic,
}

#[derive(Debug)]
pub(crate) struct FakeDaemon {
    mishap: Mishap,
}

impl FakeDaemon {
    pub(crate) fn new(mishap: Mishap) -> Self {
        Self { mishap }
    }
}

/// Events of a daemon in which nothing happens.
#[derive(Debug)]
struct QuietEvents;

#[async_trait]
impl DaemonEvents for QuietEvents {
    async fn next(&mut self) -> Option<Result<Event>> {
        std::future::pending().await
    }
}

fn nothing<T>() -> Result<T> {
    Err(Error::unavailable("the daemon in memory does nothing"))
}

#[async_trait]
impl DaemonApi for FakeDaemon {
    async fn sessions(&self) -> Result<SessionList> {
        let id = "0198f9d2-0000-7000-8000-000000000001";
        let session = json!({
            "session": id, "id": id, "name": "fox", "fleet": "shop", "address": "shop/fox",
            "agent": null, "vendor": "pi", "vendor_session_id": "1", "evidence": null,
            "status": "idle", "waiting_for": null, "status_detail": null, "cwd": "/shop",
            "worktree": null, "branch": null, "headless": false, "pid": 7, "holder_pid": 8,
            "launches": 1, "created_at": self.now(), "updated_at": self.now(),
        });
        Ok(serde_json::from_value(json!({ "sessions": [session], "hidden": 0 })).unwrap())
    }

    async fn events(&self) -> Result<Box<dyn DaemonEvents>> {
        Ok(Box::new(QuietEvents))
    }

    async fn daemon_runs(&self) -> Result<()> {
        std::future::pending().await
    }

    async fn terminal(&self, _: SessionId) -> Result<Box<dyn TerminalStream>> {
        nothing()
    }

    async fn talk(&self, _: SessionId, _: Option<String>) -> Result<TalkPage> {
        nothing()
    }

    async fn messages(&self, _: SessionId) -> Result<MessageList> {
        nothing()
    }

    async fn log(&self, _: SessionId) -> Result<Vec<Event>> {
        nothing()
    }

    async fn diff(&self, _: DiffQuestion) -> Result<WorktreeDiffReport> {
        nothing()
    }

    async fn tasks(&self, _: bool) -> Result<TaskSummaryList> {
        nothing()
    }

    async fn task(&self, _: String) -> Result<TaskReport> {
        nothing()
    }

    async fn worktrees(&self) -> Result<WorktreeList> {
        nothing()
    }

    async fn gates(&self) -> Result<Vec<PlanGateView>> {
        nothing()
    }

    async fn agents(&self) -> Result<AgentKindList> {
        nothing()
    }

    async fn approve_gate(&self, _: PlanId, _: PlanTaskName) -> Result<()> {
        nothing()
    }

    async fn usage_today(&self) -> Result<Usage> {
        nothing()
    }

    async fn vendors(&self) -> Result<Vec<VendorChoice>> {
        nothing()
    }

    async fn send(&self, _: SessionId, _: String, _: bool) -> Result<()> {
        nothing()
    }

    async fn answer(&self, _: SessionId, _: String, _: String) -> Result<()> {
        nothing()
    }

    async fn interrupt(&self, _: SessionId) -> Result<InterruptReport> {
        nothing()
    }

    async fn rename(&self, _: SessionId, _: String) -> Result<RenameReport> {
        nothing()
    }

    async fn stop(&self, _: Vec<SessionId>) -> Result<StopReport> {
        assert!(self.mishap != Mishap::Panic, "the daemon in memory panics");
        nothing()
    }

    async fn stop_after_turn(&self, _: SessionId) -> Result<StopReport> {
        nothing()
    }

    async fn plan(&self, _: Option<Vec<SessionId>>) -> Result<PlanReport> {
        nothing()
    }

    async fn resume(&self, _: Option<Vec<SessionId>>) -> Result<RestoreReport> {
        nothing()
    }

    async fn start(&self, _: NewSession) -> Result<SessionId> {
        nothing()
    }

    async fn start_demo(&self) -> Result<SessionId> {
        nothing()
    }

    async fn add_task(&self, _: NewTask) -> Result<TaskReport> {
        nothing()
    }

    async fn cancel_task(&self, _: String) -> Result<TaskReport> {
        nothing()
    }

    async fn retry_task(&self, _: String) -> Result<TaskReport> {
        nothing()
    }

    async fn hand_over(&self, _: HandoverOrder, _: bool) -> Result<HandoffReport> {
        nothing()
    }

    async fn scale(&self, _: SessionId, _: String, _: u32) -> Result<ScaleReport> {
        nothing()
    }

    async fn adoptable(&self) -> Result<AdoptReport> {
        nothing()
    }

    async fn adopt(&self, _: String, _: String) -> Result<AdoptReport> {
        nothing()
    }

    async fn change_worktree(&self, _: WorktreeAction, _: String) -> Result<WorktreeActionReport> {
        nothing()
    }

    async fn attach(&self, _: SessionId) -> Result<AttachResult> {
        nothing()
    }

    async fn edit(&self, _: String) -> Result<String> {
        nothing()
    }

    fn suspend(&self) -> Result<()> {
        nothing()
    }

    fn now(&self) -> Timestamp {
        "2026-03-05T12:41:30Z".parse().unwrap()
    }
}
