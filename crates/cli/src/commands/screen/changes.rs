//! Requests of the UI that change something, and what it leaves its terminal to.

use segue_core::api::{
    AdoptReport, AdoptRequest, AnswerRequest, DryRun, HandoffReport, HandoffRequest, PlanReport,
    RestoreReport, ResumeAnswer, ResumeRequest, RunRequest, ScaleReport, ScaleRequest, Selection,
    SendRequest, StopReport, StopRequest, TaskAddRequest, TaskReport, TaskRetryRequest, Until,
    WaitRequest, WaitTarget, WorktreeAction, WorktreeActionReport, WorktreeActionRequest,
    WorktreeRequest,
};
use segue_core::model::{SessionId, TaskMode};
use segue_core::{Error, Kind, Result};
use segue_server::wiring::{self, AttachEnd};
use segue_tui::{AttachResult, HandoverOrder, NewSession, NewTask};

use super::daemon_client::DaemonClient;
use crate::progress::Interrupts;

/// The demo agents: names, and the first prompts. One of them asks a question.
const DEMO: [(&str, &str); 3] =
    [("fox", "remember the word amber"), ("owl", "/ask"), ("hare", "/slow 60")];

impl DaemonClient {
    pub(super) async fn send_message(
        &self,
        session: SessionId,
        text: String,
        interrupt: bool,
    ) -> Result<()> {
        let (caller, session) = (self.caller(), session.to_string());
        let until = Until::Recorded;
        let command = false;
        let request =
            SendRequest { caller, session, text, command, interrupt, until, timeout_ms: 0 };
        self.client().await?.send(&request).await.map(drop)
    }

    pub(super) async fn give_answer(
        &self,
        session: SessionId,
        question: String,
        answer: String,
    ) -> Result<()> {
        let (cwd, session) = (self.local.cwd().to_owned(), session.to_string());
        let request = AnswerRequest { cwd, session, answer, question: Some(question) };
        self.client().await?.answer(&request).await.map(drop)
    }

    pub(super) async fn stop_sessions(&self, sessions: &[SessionId]) -> Result<StopReport> {
        let names = sessions.iter().map(ToString::to_string).collect();
        let cwd = self.local.cwd().to_owned();
        let request = StopRequest { cwd, selection: Selection::Named(names) };
        self.client().await?.stop(&request).await
    }

    pub(super) async fn wait_and_stop(&self, session: SessionId) -> Result<StopReport> {
        let request = WaitRequest {
            cwd: self.local.cwd().to_owned(),
            session: session.to_string(),
            target: WaitTarget::Idle,
            timeout_ms: None,
        };
        let report = self.client().await?.wait(&request).await?;
        if !report.reached {
            let (name, status) = (&report.session.name, &report.session.status);
            return Err(Error::conflict(format!("{name} was not stopped: it is {status}")));
        }
        self.stop_sessions(&[session]).await
    }

    pub(super) async fn plan_resume(&self, sessions: Option<Vec<SessionId>>) -> Result<PlanReport> {
        match self.ask_to_resume(sessions, true).await? {
            ResumeAnswer::Planned(plan) => Ok(plan),
            ResumeAnswer::Restored(_) => Err(unexpected()),
        }
    }

    pub(super) async fn resume_sessions(
        &self,
        sessions: Option<Vec<SessionId>>,
    ) -> Result<RestoreReport> {
        match self.ask_to_resume(sessions, false).await? {
            ResumeAnswer::Restored(report) => Ok(report),
            ResumeAnswer::Planned(_) => Err(unexpected()),
        }
    }

    async fn ask_to_resume(
        &self,
        sessions: Option<Vec<SessionId>>,
        plan: bool,
    ) -> Result<ResumeAnswer> {
        let named =
            |ids: Vec<SessionId>| Selection::Named(ids.iter().map(ToString::to_string).collect());
        let selection = sessions.map_or(Selection::All, named);
        let (caller, fresh) = (self.caller(), Vec::new());
        let request = ResumeRequest { caller, selection, fresh, plan, stopped: false };
        self.client().await?.resume(&request).await
    }

    pub(super) async fn start_session(&self, new: NewSession) -> Result<SessionId> {
        let worktree =
            new.branch.map(|branch| WorktreeRequest { branch, ..WorktreeRequest::default() });
        let request = RunRequest {
            caller: self.caller(),
            prompt: new.prompt,
            vendor: new.vendor,
            name: new.name,
            cwd: new.folder,
            worktree,
            ..RunRequest::default()
        };
        Ok(self.client().await?.run(&request).await?.session.session)
    }

    /// Starts the demo agents. Returns the first of them.
    pub(super) async fn start_demo_sessions(&self) -> Result<SessionId> {
        let vendor = self.read_vendors().into_iter().find(|it| it.is_built_in);
        let vendor = vendor.map(|it| it.name);
        let mut first = None;
        for (name, prompt) in DEMO {
            let new = |name: Option<&str>| NewSession {
                vendor: vendor.clone(),
                name: name.map(str::to_owned),
                prompt: Some(prompt.to_owned()),
                ..NewSession::default()
            };
            let started = match self.start_session(new(Some(name))).await {
                // An earlier session has this name.
                Err(error) if error.kind == Kind::Conflict => self.start_session(new(None)).await,
                started => started,
            };
            first.get_or_insert(started?);
        }
        first.ok_or_else(unexpected)
    }

    pub(super) async fn queue_task(&self, new: NewTask) -> Result<TaskReport> {
        let request = TaskAddRequest {
            caller: self.caller(),
            prompt: new.prompt,
            agent: new.agent,
            repo: None,
            issue: None,
            branch: new.branch,
            from_fork: None,
            setup_fork: false,
            key: None,
            priority: 0,
            verify: None,
            parent: None,
            mode: TaskMode::default(),
            session: None,
            reply: None,
        };
        self.client().await?.add_task(&request).await
    }

    pub(super) async fn retry(&self, task: String) -> Result<TaskReport> {
        let request = TaskRetryRequest { caller: self.caller(), task, agent: None, fresh: false };
        self.client().await?.retry_task(&request).await
    }

    pub(super) async fn carry_over(
        &self,
        HandoverOrder { session, to, mode, budget, .. }: HandoverOrder,
        is_dry_run: bool,
    ) -> Result<HandoffReport> {
        let dry_run = if is_dry_run { DryRun::Turns } else { DryRun::No };
        let request = HandoffRequest {
            caller: self.caller(),
            from: session.to_string(),
            to,
            name: None,
            mode,
            budget,
            interrupt: false,
            dry_run,
        };
        self.client().await?.handoff(&request).await
    }

    /// Changes how many agents of a kind run. The project file is that of the session's folder.
    pub(super) async fn change_count(
        &self,
        session: SessionId,
        agent: String,
        count: u32,
    ) -> Result<ScaleReport> {
        let client = self.client().await?;
        let view = client.session(&session.to_string(), self.local.cwd()).await?;
        let mut caller = self.caller();
        caller.cwd = view.cwd;
        let fleet = Some(view.fleet.to_string());
        client.scale(&ScaleRequest { caller, agent, count, fleet }).await
    }

    pub(super) async fn adopt_conversation(
        &self,
        vendor: String,
        id: String,
    ) -> Result<AdoptReport> {
        let (caller, vendor, id) = (self.caller(), Some(vendor), Some(id));
        let request = AdoptRequest { caller, vendor, id, name: None, all: false, since: None };
        self.client().await?.adopt(&request).await
    }

    pub(super) async fn act_on_worktree(
        &self,
        action: WorktreeAction,
        name: String,
    ) -> Result<WorktreeActionReport> {
        let request = WorktreeActionRequest {
            cwd: self.local.cwd().to_owned(),
            environment: self.local.environment().clone(),
            name,
            branch: None,
        };
        self.client().await?.change_worktree(action, &request).await
    }

    pub(super) async fn attach_terminal(&self, session: SessionId) -> Result<AttachResult> {
        let client = self.client().await?;
        let point = client.attach_point(&session.to_string(), self.local.cwd()).await?;
        let name = &point.of.address;
        let result = |text: String, is_failure| AttachResult { text, is_failure };
        Ok(match wiring::attach(&self.local, &point).await? {
            AttachEnd::Detached => result(format!("detached from {name}; it goes on"), false),
            AttachEnd::AgentEnded(end) if end.is_requested || end.exit.is_clean() => {
                result(format!("{name} ended; its conversation is kept: r resumes it"), false)
            }
            AttachEnd::AgentEnded(end) => {
                result(format!("the agent of {name} ended: {}: 5 shows the log", end.exit), true)
            }
            AttachEnd::HolderGone => {
                result(format!("the terminal of {name} is gone: r brings it back"), true)
            }
        })
    }

    /// Opens the user's editor. Ctrl-C is for the editor meanwhile.
    pub(super) async fn edit_text(&self, text: String) -> Result<String> {
        let _interrupts = Interrupts::take()?;
        let local = self.local.clone();
        let edit = move || wiring::edit(&local, &text);
        let failed = |error| Error::internal("the editor cannot be waited for").caused_by(error);
        tokio::task::spawn_blocking(edit).await.map_err(failed)?
    }
}

fn unexpected() -> Error {
    Error::internal("the daemon answered something else than it was asked")
}
