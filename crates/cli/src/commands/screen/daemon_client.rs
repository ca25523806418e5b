//! The UI's port to the daemon, with the client of the command line.

use async_trait::async_trait;
use segue_core::Result;
use segue_core::api::{
    AdoptReport, AgentKindList, AgentKindsRequest, Caller, HandoffReport, InterruptReport,
    InterruptRequest, MessageList, PlanGateView, PlanReport, PlanSelector, PlanTaskSelector,
    RenameReport, RenameRequest, RestoreReport, ScaleReport, SessionList, StopReport,
    TaskListRequest, TaskReport, TaskSummaryList, WorktreeAction, WorktreeActionReport,
    WorktreeDiffReport, WorktreeList,
};
use segue_core::model::{Event, PlanId, PlanTaskName, SessionId, Usage};
use segue_core::ports::TerminalStream;
use segue_server::client::{Client, EventStream};
use segue_server::wiring::{self, Local};
use segue_tui::{
    AttachResult, DaemonApi, DaemonEvents, DiffQuestion, HandoverOrder, NewSession, NewTask,
    TalkPage, VendorChoice,
};

/// Asks the daemon. Every request has a connection of its own, because a connection carries one
/// request at a time.
#[derive(Debug)]
pub(super) struct DaemonClient {
    pub(super) local: Local,
}

impl DaemonClient {
    pub(super) fn new(local: Local) -> Self {
        Self { local }
    }

    pub(super) async fn client(&self) -> Result<Client> {
        Client::connect(&self.local).await
    }

    pub(super) fn caller(&self) -> Caller {
        self.local.caller()
    }
}

#[async_trait]
impl DaemonApi for DaemonClient {
    async fn sessions(&self) -> Result<SessionList> {
        self.read_sessions().await
    }

    async fn events(&self) -> Result<Box<dyn DaemonEvents>> {
        let stream = self.client().await?.follow_from_now().await?;
        // An open screen costs nothing. Its requests notice a daemon that does not answer.
        Ok(Box::new(ClientEvents(stream.without_checks())))
    }

    async fn daemon_runs(&self) -> Result<()> {
        Client::when_running(&self.local).await.map(drop)
    }

    async fn terminal(&self, session: SessionId) -> Result<Box<dyn TerminalStream>> {
        self.watch(session).await
    }

    async fn talk(&self, session: SessionId, before: Option<String>) -> Result<TalkPage> {
        self.read_talk(session, before).await
    }

    async fn messages(&self, session: SessionId) -> Result<MessageList> {
        self.client().await?.messages(&[session.to_string()], self.local.cwd()).await
    }

    async fn log(&self, session: SessionId) -> Result<Vec<Event>> {
        self.read_log(session).await
    }

    async fn diff(&self, question: DiffQuestion) -> Result<WorktreeDiffReport> {
        self.read_diff(question).await
    }

    async fn tasks(&self, with_ended: bool) -> Result<TaskSummaryList> {
        let request = TaskListRequest { all: with_ended, ..TaskListRequest::default() };
        self.client().await?.task_summaries(&request).await
    }

    async fn task(&self, task: String) -> Result<TaskReport> {
        self.client().await?.task(&task).await
    }

    async fn worktrees(&self) -> Result<WorktreeList> {
        self.read_worktrees().await
    }

    async fn gates(&self) -> Result<Vec<PlanGateView>> {
        Ok(self.client().await?.attention().await?.gates)
    }

    async fn agents(&self) -> Result<AgentKindList> {
        let folder = self.local.cwd().to_owned();
        self.client().await?.agent_kinds(&AgentKindsRequest { folder }).await
    }

    async fn approve_gate(&self, plan: PlanId, task: PlanTaskName) -> Result<()> {
        let plan = PlanSelector { plan: plan.to_string(), folder: None };
        let selector = PlanTaskSelector { plan, task: task.to_string() };
        self.client().await?.approve_plan_gate(&selector).await.map(drop)
    }

    async fn usage_today(&self) -> Result<Usage> {
        self.read_usage_today().await
    }

    async fn vendors(&self) -> Result<Vec<VendorChoice>> {
        Ok(self.read_vendors())
    }

    async fn send(&self, session: SessionId, text: String, interrupts: bool) -> Result<()> {
        self.send_message(session, text, interrupts).await
    }

    async fn answer(&self, session: SessionId, question: String, answer: String) -> Result<()> {
        self.give_answer(session, question, answer).await
    }

    async fn interrupt(&self, session: SessionId) -> Result<InterruptReport> {
        let (cwd, session) = (self.local.cwd().to_owned(), session.to_string());
        self.client().await?.interrupt(&InterruptRequest { cwd, session }).await
    }

    async fn rename(&self, session: SessionId, name: String) -> Result<RenameReport> {
        let (cwd, session) = (self.local.cwd().to_owned(), session.to_string());
        self.client().await?.rename(&RenameRequest { cwd, session, name }).await
    }

    async fn stop(&self, sessions: Vec<SessionId>) -> Result<StopReport> {
        self.stop_sessions(&sessions).await
    }

    async fn stop_after_turn(&self, session: SessionId) -> Result<StopReport> {
        self.wait_and_stop(session).await
    }

    async fn plan(&self, sessions: Option<Vec<SessionId>>) -> Result<PlanReport> {
        self.plan_resume(sessions).await
    }

    async fn resume(&self, sessions: Option<Vec<SessionId>>) -> Result<RestoreReport> {
        self.resume_sessions(sessions).await
    }

    async fn start(&self, new: NewSession) -> Result<SessionId> {
        self.start_session(new).await
    }

    async fn start_demo(&self) -> Result<SessionId> {
        self.start_demo_sessions().await
    }

    async fn add_task(&self, new: NewTask) -> Result<TaskReport> {
        self.queue_task(new).await
    }

    async fn cancel_task(&self, task: String) -> Result<TaskReport> {
        self.client().await?.cancel_task(&task).await
    }

    async fn retry_task(&self, task: String) -> Result<TaskReport> {
        self.retry(task).await
    }

    async fn hand_over(&self, order: HandoverOrder, is_dry_run: bool) -> Result<HandoffReport> {
        self.carry_over(order, is_dry_run).await
    }

    async fn scale(&self, session: SessionId, agent: String, count: u32) -> Result<ScaleReport> {
        self.change_count(session, agent, count).await
    }

    async fn adoptable(&self) -> Result<AdoptReport> {
        self.find_conversations().await
    }

    async fn adopt(&self, vendor: String, id: String) -> Result<AdoptReport> {
        self.adopt_conversation(vendor, id).await
    }

    async fn change_worktree(
        &self,
        action: WorktreeAction,
        worktree: String,
    ) -> Result<WorktreeActionReport> {
        self.act_on_worktree(action, worktree).await
    }

    async fn attach(&self, session: SessionId) -> Result<AttachResult> {
        self.attach_terminal(session).await
    }

    async fn edit(&self, text: String) -> Result<String> {
        self.edit_text(text).await
    }

    fn suspend(&self) -> Result<()> {
        wiring::suspend()
    }

    fn now(&self) -> jiff::Timestamp {
        wiring::now()
    }
}

/// Events of the daemon.
#[derive(Debug)]
struct ClientEvents(EventStream);

#[async_trait]
impl DaemonEvents for ClientEvents {
    async fn next(&mut self) -> Option<Result<Event>> {
        self.0.next().await
    }
}
