//! `agent_wait`: waits for the end of an agent's turn.

use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use segue_core::api::{TranscriptPage, WaitReport, WaitRequest, WaitTarget};
use segue_core::model::SessionId;
use segue_core::{Error, Result};
use serde::Deserialize;
use serde_json::{Value, json};

use super::McpTool;
use crate::answers;
use crate::port::{ApiCalls, ask, get};

/// How long a wait takes by default. Some clients give up after 60 seconds.
const DEFAULT_SECONDS: u64 = 50;

/// The longest wait.
pub(super) const MAX_SECONDS: u64 = 600;

/// How many turns are read to find the last answer of an agent.
const ANSWER_TURNS: u32 = 20;

/// How much longer than its own timeout a request may take before the tool gives up on it.
pub(super) const ANSWER_MARGIN: Duration = Duration::from_secs(2);

const STILL_WORKING: &str =
    "the agent is not there yet: call `agent_wait` again with the same arguments";

/// `agent_wait`
pub(super) struct AgentWaitTool;

/// The parameters of `agent_wait`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WaitParameters {
    /// The session: its address `fleet/name`, its name, or its id.
    session: String,
    /// The status to wait for. The default value is `rest`: the turn is over, or the agent asks a
    /// question or has ended.
    #[serde(default)]
    until: Option<WaitTarget>,
    /// Wait at most this many seconds, from 1 to 600. The default value is 50.
    #[serde(default)]
    #[schemars(range(min = 1, max = 600))]
    seconds: Option<u64>,
}

impl McpTool for AgentWaitTool {
    const NAME: &'static str = "agent_wait";
    const DESCRIPTION: &'static str = "Waits until an agent's turn is over, it asks a question, or it \
        has ended; returns its status and its `last_answer`. If `reached` is false, it still works: \
        call again with the same arguments, as often as needed. Waiting changes nothing, and a \
        cancelled wait does not stop the agent.";
    const IS_READ_ONLY: bool = true;
    const WAITS: bool = true;
    type Parameters = WaitParameters;

    async fn call(api: Arc<dyn ApiCalls>, parameters: WaitParameters) -> Result<Value> {
        let seconds = seconds(parameters.seconds)?;
        let request = WaitRequest {
            cwd: api.caller().cwd,
            session: parameters.session,
            target: parameters.until.unwrap_or(WaitTarget::Rest),
            timeout_ms: Some(seconds.saturating_mul(1000)),
        };
        let limit = Duration::from_secs(seconds) + ANSWER_MARGIN;
        let wait = ask::<WaitReport>(api.as_ref(), "/v1/wait", &request);
        // A daemon that was restarted meanwhile begins to wait anew.
        let Ok(report) = tokio::time::timeout(limit, wait).await else {
            return Ok(json!({"reached": false, "note": STILL_WORKING}));
        };
        let report = report?;
        let mut answer = answers::session(&report.session);
        answer["reached"] = json!(report.reached);
        if !report.why.is_empty() {
            answer["why"] = json!(answers::text(&report.why.join("\n"), 2_000, true));
        }
        if !report.reached {
            answer["note"] = json!(STILL_WORKING);
        } else if let Some(text) = last_answer(api.as_ref(), report.session.session).await {
            answer["last_answer"] = json!(text);
        }
        Ok(answer)
    }
}

/// Returns the last message of the agent. `None` if the conversation cannot be read: the status is
/// an answer without it.
async fn last_answer(api: &dyn ApiCalls, session: SessionId) -> Option<String> {
    let path = format!("/v1/sessions/{session}/transcript");
    let page = get::<TranscriptPage>(api, &path, &[("limit", ANSWER_TURNS)]).await.ok()?;
    answers::last_answer(&page.turns)
}

/// Returns how long a call waits. Fails if the caller asks for too many seconds.
pub(super) fn seconds(wanted: Option<u64>) -> Result<u64> {
    let seconds = wanted.unwrap_or(DEFAULT_SECONDS);
    if (1..=MAX_SECONDS).contains(&seconds) {
        return Ok(seconds);
    }
    Err(Error::usage(format!("`seconds` must be between 1 and {MAX_SECONDS}, got {seconds}")))
}
