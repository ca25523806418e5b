//! Stopping sessions: which ones, and what a repeated request reports.

use std::collections::BTreeSet;

use crate::api::{
    self, FailedTarget, SessionRef, StopOutcome, StopReport, StopRequest, StoppedSession,
};
use crate::error::{Error, Result};
use crate::failpoint;
use crate::flows::requests::step;
use crate::flows::select::{self, Chosen, Selected};
use crate::model::{Principal, RequestKey, RequestStep, Session, SessionId};
use crate::ports::{Change, Commit, Ports};

/// Returns the sessions to stop. Skips sessions that ended by themselves, unless they are named.
pub async fn to_stop(
    ports: &Ports,
    principal: &Principal,
    request: &StopRequest,
) -> Result<Chosen> {
    let mut chosen = select::selected(ports, principal, &request.selection, &request.cwd).await?;
    chosen.sessions.retain(|it| !it.is_finished());
    Ok(chosen)
}

/// What is recorded about a request to stop sessions.
#[derive(Clone, Debug, Default)]
pub struct StopSteps {
    /// The sessions that an earlier attempt of the same request was about to stop.
    pub before: BTreeSet<SessionId>,
    /// Why this attempt could not be recorded. The agents are stopped anyway: the disk may be full.
    /// Then a repeated request cannot report which sessions this attempt stopped.
    pub unrecorded: Option<Error>,
}

/// Records which sessions a request is about to stop.
pub async fn record(
    ports: &Ports,
    key: Option<RequestKey>,
    chosen: &[Selected],
) -> Result<StopSteps> {
    let Some(key) = key else { return Ok(StopSteps::default()) };
    let stopping = |step| match step {
        RequestStep::Stopping { session } => Some(session),
        _ => None,
    };
    let steps = ports.store.request(key).await?;
    let before: BTreeSet<SessionId> = steps.into_iter().filter_map(stopping).collect();
    let running = chosen.iter().filter(|it| it.summary.open.is_some());
    let new = running.map(|it| it.summary.session.id).filter(|id| !before.contains(id));
    let steps = new.map(|session| RequestStep::Stopping { session });
    let changes: Vec<Change> = steps.flat_map(|it| step(ports, Some(key), it)).collect();
    if changes.is_empty() {
        return Ok(StopSteps { before, unrecorded: None });
    }
    let recorded = ports.store.commit(Commit { changes, events: Vec::new() }).await;
    if recorded.is_ok() {
        failpoint::hit("stop.request.after");
    }
    Ok(StopSteps { before, unrecorded: recorded.err() })
}

/// Returns the result for one session.
pub fn stopped(session: &Session, was_running: bool) -> StoppedSession {
    let outcome = if was_running { StopOutcome::Stopped } else { StopOutcome::NotRunning };
    StoppedSession { of: SessionRef::of(session), outcome }
}

/// Returns the report of a request. A session that an earlier attempt was about to stop counts as
/// stopped. Returns an error if nothing was stopped and a session or a name failed.
pub fn report(
    mut stopped: Vec<StoppedSession>,
    failed: Vec<FailedTarget>,
    before: &BTreeSet<SessionId>,
) -> Result<StopReport> {
    if stopped.is_empty()
        && let Some(error) = api::combined_error(&failed)
    {
        return Err(error);
    }
    for it in &mut stopped {
        if it.of.session.is_some_and(|id| before.contains(&id)) {
            it.outcome = StopOutcome::Stopped;
        }
    }
    Ok(StopReport { stopped, failed })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flows::samples;

    fn failed(target: &str) -> FailedTarget {
        let error = Error::not_found(format!("there is no session `{target}`"));
        FailedTarget { target: target.to_owned(), error }
    }

    #[test]
    fn session_that_an_earlier_attempt_stopped_is_reported_as_stopped() {
        let session = samples::session(1, "one");
        let table = [
            (true, false, StopOutcome::Stopped),
            (false, false, StopOutcome::NotRunning),
            (false, true, StopOutcome::Stopped),
        ];
        for (was_running, is_repeated, expected) in table {
            let before = BTreeSet::from_iter(is_repeated.then_some(session.id));
            let report = report(vec![stopped(&session, was_running)], Vec::new(), &before).unwrap();
            assert_eq!(report.stopped[0].outcome, expected, "{was_running} {is_repeated}");
        }
    }

    #[test]
    fn report_is_an_error_only_if_nothing_was_stopped_and_something_failed() {
        let one = || vec![stopped(&samples::session(1, "one"), true)];
        let none = BTreeSet::new();
        assert!(report(Vec::new(), Vec::new(), &none).is_ok());
        assert_eq!(report(one(), vec![failed("x")], &none).unwrap().failed.len(), 1);
        assert!(report(Vec::new(), vec![failed("x")], &none).is_err());
    }
}
