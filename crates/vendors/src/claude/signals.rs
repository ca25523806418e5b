//! Reads signals of a launch from files, hooks and output.

use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use segue_core::model::{
    Activity, Evidence, Failure, FailureClass, ProcessRef, Signal, Source, UsdAmount,
};
use segue_core::ports::{Files, Place, SignalSources};
use serde::Deserialize;

use super::failures::ClaudeError;
use super::{Claude, paths, registry};
use crate::shared::signals;

impl SignalSources for Claude {
    fn evidence_timeout(&self) -> Duration {
        // A start takes two seconds alone, and several times as long while other agents start.
        Duration::from_secs(60)
    }

    fn watched(&self, place: &Place) -> Vec<PathBuf> {
        vec![paths::registry(&place.config_dir), paths::transcripts(&place.config_dir, &place.cwd)]
    }

    /// Reads the registry entry of the launch's own process.
    fn file_signals(&self, files: &dyn Files, changed: &Path, agent: &ProcessRef) -> Vec<Signal> {
        if registry::pid_of(changed) != Some(agent.pid) {
            return Vec::new();
        }
        let Some(entry) = registry::read(files, changed) else { return Vec::new() };
        // A crashed process leaves its entry behind, and another process may have its process id.
        if entry.started() != Some(agent.started) {
            return Vec::new();
        }
        let activity =
            entry.activity().map(|activity| signals::activity(activity, Source::Registry));
        [signals::conversation(entry.session_id, Evidence::Registry)]
            .into_iter()
            .chain(activity)
            .collect()
    }

    fn stream_signals(&self, line: &str) -> Vec<Signal> {
        match serde_json::from_str(line) {
            Ok(ClaudeStreamLine::System { subtype, session_id })
                if subtype == "init" && paths::is_id(&session_id) =>
            {
                let working = signals::activity(Activity::Working, Source::Stream);
                vec![signals::conversation(session_id, Evidence::Stream), working]
            }
            Ok(ClaudeStreamLine::RateLimitEvent { rate_limit_info }) => {
                rate_limit_info.signal().into_iter().collect()
            }
            Ok(ClaudeStreamLine::Result(outcome)) => outcome.signals(),
            _ => Vec::new(),
        }
    }

    /// Uses only hooks about prompts and ends of turns. They never name a wrong conversation, but
    /// the hook at the start of a fork names the original one.
    fn hook_signals(&self, payload: &str) -> Vec<Signal> {
        let Ok(payload) = serde_json::from_str::<ClaudeHookPayload>(payload) else {
            return Vec::new();
        };
        if payload.agent_id.is_some() || !paths::is_id(&payload.session_id) {
            return Vec::new();
        }
        let text = payload.last_assistant_message.unwrap_or_default();
        let meaning = match payload.hook_event_name.as_str() {
            "UserPromptSubmit" => signals::activity(Activity::Working, Source::Hook),
            // The agent may not be idle yet, because another hook may make it continue. The
            // registry reports when it is idle.
            "Stop" => signals::answered(text),
            "StopFailure" => {
                let kind = payload.error.as_deref();
                let failure = ClaudeError { status: None, kind, text: &text }.failure();
                signals::failed(text, failure)
            }
            _ => return Vec::new(),
        };
        vec![signals::conversation(payload.session_id, Evidence::Hook), meaning]
    }
}

/// The fields of a hook's payload that are used as signals.
#[derive(Deserialize)]
struct ClaudeHookPayload {
    hook_event_name: String,
    session_id: String,
    /// Set if the hook reports about a subagent.
    agent_id: Option<String>,
    last_assistant_message: Option<String>,
    error: Option<String>,
}

/// A line of a headless turn's output, if it is used as a signal.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ClaudeStreamLine {
    System { subtype: String, session_id: String },
    RateLimitEvent { rate_limit_info: Limit },
    Result(ClaudeTurnResult),
}

/// The state of an account's usage limit.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Limit {
    status: String,
    resets_at: Option<i64>,
}

impl Limit {
    /// Returns a signal if the limit is reached. Only this event has the exact end of the limit.
    /// The result of the turn describes it in words.
    fn signal(self) -> Option<Signal> {
        let at =
            Timestamp::from_second(self.resets_at.filter(|_| self.status == "rejected")?).ok()?;
        let message = format!("it ends at {at}");
        let class = FailureClass::UsageLimit;
        let failure = Failure { class, message: message.clone(), resets_at: Some(at) };
        Some(signals::failed(message, failure))
    }
}

/// The result of a turn. Its `subtype` is `success` for failures, too.
#[derive(Deserialize)]
struct ClaudeTurnResult {
    is_error: bool,
    api_error_status: Option<u16>,
    result: Option<String>,
    #[serde(default)]
    errors: Vec<String>,
    /// The cost of all requests of this process. Transcripts have no costs.
    total_cost_usd: Option<f64>,
}

impl ClaudeTurnResult {
    /// Returns the cost before the end of the turn, so that the result of a task contains it.
    fn signals(self) -> Vec<Signal> {
        let cost = self.total_cost_usd.and_then(UsdAmount::from_dollars);
        let cost = cost.filter(|cost| cost.billionths() > 0);
        cost.map(|total| Signal::Cost { total }).into_iter().chain([self.end()]).collect()
    }

    fn end(self) -> Signal {
        let text = self.result.unwrap_or_else(|| self.errors.join("; "));
        if !self.is_error {
            return signals::answered(text);
        }
        let failure =
            ClaudeError { status: self.api_error_status, kind: None, text: &text }.failure();
        signals::failed(text, failure)
    }
}

#[cfg(test)]
mod tests;
