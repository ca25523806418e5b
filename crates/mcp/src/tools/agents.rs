//! Tools that list, start, and talk to agents.

use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use segue_core::api::{
    AddressQuery, AnswerReport, AnswerRequest, DryRun, HandoffReport, HandoffRequest, ListRequest,
    RunRequest, SendReport, SendRequest, SessionList, SessionView, StartedSession, Until,
    WorktreeRequest,
};
use segue_core::model::{Permission, StatusKind};
use segue_core::rules::handoff::HandoffMode;
use segue_core::{Error, Result};
use serde::Deserialize;
use serde_json::{Value, json};

use super::waiting::{ANSWER_MARGIN, MAX_SECONDS};
use super::{McpTool, ToolAudience};
use crate::answers;
use crate::port::{ApiCalls, ask, change, get};

/// The most sessions in an answer of `agent_list`.
const MAX_LISTED: usize = 100;

/// `agent_list`
pub(super) struct AgentList;

/// The parameters of `agent_list`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct ListParameters {
    /// Only sessions with one of these statuses.
    statuses: Vec<StatusKind>,
    /// Only sessions of this vendor.
    vendor: Option<String>,
    /// Only sessions of this fleet.
    fleet: Option<String>,
    /// Also sessions that ended more than a day ago.
    all: bool,
}

impl McpTool for AgentList {
    const NAME: &'static str = "agent_list";
    const DESCRIPTION: &'static str = "Lists the agent sessions that you may reach: your own and \
        those that you started. Each has `session` (its address), `status` (starting, working, \
        waiting, idle, interrupted, ended, lost) and `question` if it asks one.";
    const IS_READ_ONLY: bool = true;
    type Parameters = ListParameters;

    async fn call(api: Arc<dyn ApiCalls>, parameters: ListParameters) -> Result<Value> {
        let ListParameters { statuses, vendor, fleet, all } = parameters;
        let request = ListRequest {
            all,
            fleets: fleet.into_iter().collect(),
            vendors: vendor.into_iter().collect(),
            statuses,
            ..ListRequest::default()
        };
        let list: SessionList = ask(api.as_ref(), "/v1/list", &request).await?;
        let left_out = list.sessions.len().saturating_sub(MAX_LISTED);
        // The newest sessions are at the end of the list.
        let sessions: Vec<Value> =
            list.sessions.iter().skip(left_out).map(answers::session).collect();
        let mut answer = json!({"sessions": sessions});
        if left_out > 0 {
            answer["left_out"] = json!(left_out);
            answer["note"] = json!("use `statuses`, `vendor` or `fleet` to see the others");
        }
        Ok(answer)
    }
}

/// `agent_status`
pub(super) struct AgentStatus;

/// The parameters of a tool that needs only a session.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SessionParameters {
    /// The session: its address `fleet/name`, its name, or its id.
    session: String,
}

impl McpTool for AgentStatus {
    const NAME: &'static str = "agent_status";
    const DESCRIPTION: &'static str = "Returns the status of one agent session: what it does, and \
        the question that it asks, if any.";
    const IS_READ_ONLY: bool = true;
    type Parameters = SessionParameters;

    async fn call(api: Arc<dyn ApiCalls>, parameters: SessionParameters) -> Result<Value> {
        Ok(answers::session(&find(api.as_ref(), &parameters.session).await?))
    }
}

/// Finds a session by its address.
pub(crate) async fn find(api: &dyn ApiCalls, address: &str) -> Result<SessionView> {
    let query = AddressQuery::new(address, &api.caller().cwd, false);
    get(api, "/v1/session", &query).await
}

/// `agent_start`
pub(super) struct AgentStarting;

/// The parameters of `agent_start`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct StartParameters {
    /// The first message: the complete task, because the new agent knows nothing else.
    prompt: Option<String>,
    /// An agent of the project file `segue.toml`.
    agent: Option<String>,
    /// The vendor of the agent, if `agent` is not given.
    vendor: Option<String>,
    /// The name of the session. A free name is chosen if it is left out.
    name: Option<String>,
    /// The folder in which the agent works. The default value is your own folder.
    folder: Option<String>,
    /// The model, as the vendor names it.
    model: Option<String>,
    /// What the agent may do without asking. Never more than you may do yourself.
    permission: Option<Permission>,
    /// Run one turn without a terminal, and end.
    headless: bool,
    /// Work on this branch, in a checkout of its own.
    worktree: Option<String>,
    /// Give the agent these tools, so that it can start agents itself.
    mcp: bool,
}

impl McpTool for AgentStarting {
    const NAME: &'static str = "agent_start";
    const DESCRIPTION: &'static str = "Starts another coding agent in a session of its own, and \
        returns at once. Its `session` is the address for the other tools: call `agent_wait` to \
        wait for its result. The session survives crashes and restarts.";
    const IS_READ_ONLY: bool = false;
    type Parameters = StartParameters;

    async fn call(api: Arc<dyn ApiCalls>, parameters: StartParameters) -> Result<Value> {
        let worktree = parameters
            .worktree
            .map(|branch| WorktreeRequest { branch, ..WorktreeRequest::default() });
        let request = RunRequest {
            caller: api.caller(),
            prompt: parameters.prompt,
            agent: parameters.agent,
            vendor: parameters.vendor,
            name: parameters.name,
            cwd: parameters.folder.map(Into::into),
            model: parameters.model,
            permission: parameters.permission,
            headless: parameters.headless,
            args: Vec::new(),
            worktree,
            mcp: parameters.mcp,
        };
        let started: StartedSession = change(api.as_ref(), "/v1/run", &request).await?;
        Ok(answers::started(&started))
    }
}

/// `agent_send`
pub(super) struct AgentSend;

/// The parameters of `agent_send`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SendParameters {
    /// The session: its address `fleet/name`, its name, or its id.
    session: String,
    /// The message.
    text: String,
    /// Interrupt the agent's current turn first.
    #[serde(default)]
    interrupt: bool,
    /// Wait at most this many seconds for the answer, from 0 to 600. With 0, the tool returns as soon
    /// as the message is recorded.
    #[serde(default)]
    #[schemars(range(min = 0, max = 600))]
    wait_seconds: u64,
}

impl McpTool for AgentSend {
    const NAME: &'static str = "agent_send";
    const DESCRIPTION: &'static str = "Sends a message to an agent. The message is recorded, and the \
        agent gets it once, as soon as it is ready. With `wait_seconds`, returns the agent's answer \
        if its turn ends in time; else call `agent_wait`, and do not send the message again.";
    const IS_READ_ONLY: bool = false;
    type Parameters = SendParameters;

    async fn call(api: Arc<dyn ApiCalls>, parameters: SendParameters) -> Result<Value> {
        let SendParameters { session, text, interrupt, wait_seconds } = parameters;
        if wait_seconds > MAX_SECONDS {
            return Err(Error::usage(format!(
                "`wait_seconds` must be between 0 and {MAX_SECONDS}, got {wait_seconds}"
            )));
        }
        let until = if wait_seconds == 0 { Until::Recorded } else { Until::TurnEnded };
        let timeout_ms = wait_seconds.saturating_mul(1000);
        let caller = api.caller();
        let command = false;
        let request = SendRequest { caller, session, text, command, interrupt, until, timeout_ms };
        let send = change(api.as_ref(), "/v1/send", &request);
        let report: SendReport = match until {
            Until::TurnEnded => {
                let limit = Duration::from_secs(wait_seconds) + ANSWER_MARGIN;
                let sent = tokio::time::timeout(limit, send).await;
                sent.map_err(|_| unknown_delivery(&request.session))??
            }
            Until::Recorded | Until::Taken => send.await?,
        };
        Ok(sent(&report))
    }
}

fn unknown_delivery(session: &str) -> Error {
    Error::unavailable(format!("the daemon has not reported yet whether `{session}` has answered"))
        .hint("call `agent_wait`, then `agent_read` to see whether the message has arrived")
}

fn sent(report: &SendReport) -> Value {
    let mut answer = json!({
        "session": report.session.address,
        "status": report.session.status,
        "message": report.message.id,
        "state": report.message.state,
        "turn_ended": report.turn_ended,
    });
    if let Some(text) = &report.answer {
        answer["answer"] = json!(answers::text(text, answers::MAX_TEXT_BYTES, true));
    }
    if let Some(failure) = &report.failure {
        answer["failure"] = json!(failure);
    }
    if let Some(note) = &report.note {
        answer["note"] = json!(note);
    }
    answer
}

/// `agent_answer`
pub(super) struct AgentAnswer;

/// The parameters of `agent_answer`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AnswerParameters {
    /// The session: its address `fleet/name`, its name, or its id.
    session: String,
    /// The `id` of the question, from `agent_status` or `agent_wait`.
    question: String,
    /// `yes`, `no`, or a choice by its number or its first words.
    answer: String,
}

impl McpTool for AgentAnswer {
    const NAME: &'static str = "agent_answer";
    const DESCRIPTION: &'static str = "Answers a question of an agent that you started. You may not \
        answer your own questions, nor whether a folder is trusted. You may answer whether it may \
        use a tool only if you yourself may use tools without asking.";
    const IS_READ_ONLY: bool = false;
    type Parameters = AnswerParameters;

    async fn call(api: Arc<dyn ApiCalls>, parameters: AnswerParameters) -> Result<Value> {
        let AnswerParameters { session, question, answer } = parameters;
        let cwd = api.caller().cwd;
        let request = AnswerRequest { cwd, session, answer, question: Some(question) };
        let report: AnswerReport = change(api.as_ref(), "/v1/answer", &request).await?;
        Ok(json!({"answered": report.answered}))
    }
}

/// `agent_handoff`
pub(super) struct AgentHandoff;

/// The parameters of `agent_handoff`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct HandoffParameters {
    /// The session: its address `fleet/name`, its name, or its id.
    session: String,
    /// The vendor, or the agent of the project file, that continues the conversation.
    to: String,
    /// The name of the new session. A free name is chosen if it is left out.
    #[serde(default)]
    name: Option<String>,
    /// How the conversation is carried over.
    #[serde(default)]
    mode: HandoffMode,
    /// Interrupt the old agent's turn instead of waiting for its end.
    #[serde(default)]
    interrupt: bool,
}

impl McpTool for AgentHandoff {
    const NAME: &'static str = "agent_handoff";
    const DESCRIPTION: &'static str = "Continues the conversation of an agent with another vendor, \
        in a new session. The old agent ends after its turn.";
    const IS_READ_ONLY: bool = false;
    const AUDIENCE: ToolAudience = ToolAudience::People;
    type Parameters = HandoffParameters;

    async fn call(api: Arc<dyn ApiCalls>, parameters: HandoffParameters) -> Result<Value> {
        let HandoffParameters { session, to, name, mode, interrupt } = parameters;
        let request = HandoffRequest {
            caller: api.caller(),
            from: session,
            to,
            name,
            mode,
            budget: None,
            interrupt,
            dry_run: DryRun::No,
        };
        let report: HandoffReport = change(api.as_ref(), "/v1/handoff", &request).await?;
        Ok(json!({
            "from": report.from,
            "session": report.to,
            "vendor": report.vendor,
            "mode": report.mode,
            "turns_carried": report.turns_carried,
        }))
    }
}
