//! Tools for the queue of tasks.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use segue_core::Result;
use segue_core::api::{
    AgentReportAnswer, AgentReportRequest, TaskAddRequest, TaskReport, TaskWaitRequest,
};
use segue_core::model::{ReportedState, TaskMode};
use serde::Deserialize;
use serde_json::{Value, json};

use super::waiting::{ANSWER_MARGIN, seconds};
use super::{McpTool, caller_in};
use crate::answers;
use crate::port::{ApiCalls, ask, change};

/// `task_add`
pub(super) struct TaskAdd;

/// The parameters of `task_add`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct TaskAddParameters {
    /// What is to be done.
    prompt: String,
    /// An agent of the project file `segue.toml`.
    agent: String,
    /// A text that identifies the task. A second task with the same key is not added.
    #[serde(default)]
    key: Option<String>,
    /// The folder of the project, or a folder in it, as an absolute path. The default value is your
    /// own folder.
    #[serde(default)]
    folder: Option<PathBuf>,
    /// The branch on which the agent works, in a checkout of its own.
    #[serde(default)]
    branch: Option<String>,
    /// A shell command that checks the result.
    #[serde(default)]
    verify: Option<String>,
    /// From -9 to 9. A task with a higher number starts earlier. The default value is 0.
    #[serde(default)]
    #[schemars(range(min = -9, max = 9))]
    priority: i8,
}

impl McpTool for TaskAdd {
    const NAME: &'static str = "task_add";
    const DESCRIPTION: &'static str = "Adds a task to the queue. An agent of the project does it as \
        soon as there is a free place. Returns its `task`: call `task_wait` to wait for its result.";
    const IS_READ_ONLY: bool = false;
    type Parameters = TaskAddParameters;

    async fn call(api: Arc<dyn ApiCalls>, parameters: TaskAddParameters) -> Result<Value> {
        let TaskAddParameters { prompt, agent, key, folder, branch, verify, priority } = parameters;
        let request = TaskAddRequest {
            caller: caller_in(api.as_ref(), folder)?,
            prompt,
            agent,
            repo: None,
            issue: None,
            branch,
            from_fork: None,
            setup_fork: false,
            key,
            priority,
            verify,
            parent: None,
            mode: TaskMode::default(),
            session: None,
            reply: None,
        };
        let report: TaskReport = change(api.as_ref(), "/v1/tasks", &request).await?;
        Ok(view(&report))
    }
}

/// `task_wait`
pub(super) struct TaskWaitTool;

/// The parameters of `task_wait`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct TaskWaitParameters {
    /// The task: its id, the beginning of its id, or its key.
    task: String,
    /// Wait at most this many seconds, from 1 to 600. The default value is 50.
    #[serde(default)]
    #[schemars(range(min = 1, max = 600))]
    seconds: Option<u64>,
}

impl McpTool for TaskWaitTool {
    const NAME: &'static str = "task_wait";
    const DESCRIPTION: &'static str = "Waits until a task has ended; returns its state and the \
        `answer` of its agent. If `reached` is false, it is not over yet: call again with the same \
        arguments, as often as needed. Waiting changes nothing.";
    const IS_READ_ONLY: bool = true;
    const WAITS: bool = true;
    type Parameters = TaskWaitParameters;

    async fn call(api: Arc<dyn ApiCalls>, parameters: TaskWaitParameters) -> Result<Value> {
        let seconds = seconds(parameters.seconds)?;
        let timeout_ms = Some(seconds.saturating_mul(1000));
        let request = TaskWaitRequest { task: parameters.task, timeout_ms };
        let limit = Duration::from_secs(seconds) + ANSWER_MARGIN;
        let wait = ask::<TaskReport>(api.as_ref(), "/v1/tasks/wait", &request);
        let mut answer = match tokio::time::timeout(limit, wait).await {
            Ok(report) => view(&report?),
            Err(_) => json!({"reached": false}),
        };
        if answer["reached"] == false {
            answer["note"] = json!("not over yet: call `task_wait` again with the same arguments");
        }
        Ok(answer)
    }
}

/// `task_report`
pub(super) struct TaskReporting;

/// The parameters of `task_report`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct TaskReportParameters {
    /// The report: what was done, or why it failed.
    text: String,
    /// What is reported. The default value is `progress`.
    #[serde(default)]
    state: Option<ReportedState>,
}

impl McpTool for TaskReporting {
    const NAME: &'static str = "task_report";
    const DESCRIPTION: &'static str = "Reports your own work to the agent that started you, or that \
        added your task. It gets the report once, as a message. Report `done` with your result, or \
        `failed` with the reason, before you end your turn.";
    const IS_READ_ONLY: bool = false;
    type Parameters = TaskReportParameters;

    async fn call(api: Arc<dyn ApiCalls>, parameters: TaskReportParameters) -> Result<Value> {
        let state = parameters.state.unwrap_or(ReportedState::Progress);
        let request = AgentReportRequest { state, text: parameters.text };
        let answer: AgentReportAnswer = change(api.as_ref(), "/v1/tasks/report", &request).await?;
        let AgentReportAnswer { report } = answer;
        Ok(json!({"reported": report.state, "at": report.at}))
    }
}

fn view(report: &TaskReport) -> Value {
    let task = &report.task;
    let mut view = json!({
        "task": task.id,
        "state": task.state,
        "agent": task.agent,
        "reached": task.ended_at.is_some(),
    });
    let mut set = |name: &str, value: Value| {
        if !value.is_null() {
            view[name] = value;
        }
    };
    set("key", json!(task.key));
    set("session", json!(task.address));
    set("branch", json!(task.branch));
    set("reason", json!(task.reason.as_deref().map(answers::line)));
    let answer = task.result.as_ref().and_then(|result| result.answer.as_deref());
    set("answer", json!(answer.map(|text| answers::text(text, answers::MAX_TEXT_BYTES, true))));
    view
}
