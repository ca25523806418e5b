//! Decides which sessions a resume brings back, which it leaves alone, and which it refuses.

use std::collections::BTreeSet;

use crate::api::{
    AgentOutcome, FailedTarget, LeftAlone, Outcome, OutcomeNote, PlannedDecision, PlannedOutcome,
    ResumeRequest, SessionRef,
};
use crate::error::Result;
use crate::flows::bringing_back::{BringBackDecider, Exclusion};
use crate::flows::look::SelectionMode;
use crate::flows::select::{self, Chosen, Selected};
use crate::model::{FleetName, Principal, Session, SessionId};
use crate::ports::{Ports, SessionSummary};
use crate::rules::bringing_back::{LeftAloneReason, UserSelection};
use crate::rules::scale;

/// What a resume does with the sessions of a request.
#[derive(Clone, Debug, Default)]
pub struct ResumePlan {
    pub sessions: Vec<SessionToResume>,
    /// Sessions that were ended on purpose and that the request does not name.
    pub left_alone: Vec<LeftAlone>,
    /// Names that match no session.
    pub failed: Vec<FailedTarget>,
}

/// A session that a resume starts or refuses.
#[derive(Clone, Debug)]
pub struct SessionToResume {
    pub summary: SessionSummary,
    pub selection: SelectionMode,
    /// Whether a new conversation starts.
    pub is_fresh: bool,
    /// Why the session is refused although the request names it. `None` if it is brought back.
    pub exclusion: Option<Exclusion>,
}

/// How a request wants one session to be started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestedStart {
    pub selection: SelectionMode,
    /// Whether a new conversation starts.
    pub is_fresh: bool,
    /// Whether a session that was stopped on purpose is started, too.
    pub with_stopped: bool,
}

impl RequestedStart {
    /// Returns how the user selected the session. A session that starts a new conversation was
    /// named.
    pub fn user_selection(self) -> UserSelection {
        UserSelection {
            by_name: self.selection == SelectionMode::ByName || self.is_fresh,
            with_stopped: self.with_stopped || self.is_fresh,
        }
    }
}

/// Decides what a resume does. Changes nothing.
pub async fn plan(
    ports: &Ports,
    principal: &Principal,
    request: &ResumeRequest,
) -> Result<ResumePlan> {
    let cwd = &request.caller.cwd;
    let mut chosen = select::selected(ports, principal, &request.selection, cwd).await?;
    remove_surplus(ports, &mut chosen.sessions).await?;
    let mut fresh = Vec::new();
    for name in &request.fresh {
        let summary = select::find_whole(ports, principal, name, cwd).await?;
        let id = summary.session.id;
        fresh.push(id);
        if chosen.sessions.iter().all(|it| it.summary.session.id != id) {
            chosen.sessions.push(Selected { summary, selection: SelectionMode::ByName });
        }
    }
    split(ports, chosen, &fresh, request.stopped).await
}

/// Splits the selected sessions into those to bring back and those to leave alone.
async fn split(
    ports: &Ports,
    chosen: Chosen,
    fresh: &[SessionId],
    with_stopped: bool,
) -> Result<ResumePlan> {
    let decider = BringBackDecider::new(ports).await?;
    let mut plan = ResumePlan { failed: chosen.failed, ..ResumePlan::default() };
    for Selected { summary, selection } in chosen.sessions {
        let is_fresh = fresh.contains(&summary.session.id);
        let requested = RequestedStart { selection, is_fresh, with_stopped };
        let exclusion = decider.exclusion(&summary, requested.user_selection()).await?;
        match ResumeAction::of(exclusion, selection) {
            ResumeAction::BroughtBack => {
                let exclusion = None;
                plan.sessions.push(SessionToResume { summary, selection, is_fresh, exclusion });
            }
            ResumeAction::Refused(exclusion) => {
                let exclusion = Some(exclusion);
                plan.sessions.push(SessionToResume { summary, selection, is_fresh, exclusion });
            }
            ResumeAction::LeftAlone(exclusion) => {
                plan.left_alone.push(exclusion.report(&summary.session));
            }
            ResumeAction::Skipped => {}
        }
    }
    Ok(plan)
}

/// What a resume does with one session.
#[derive(Clone, Debug)]
enum ResumeAction {
    BroughtBack,
    /// The session is not started although the request names it.
    Refused(Exclusion),
    /// The session is not started, and the report mentions it.
    LeftAlone(Exclusion),
    Skipped,
}

impl ResumeAction {
    fn of(exclusion: Option<Exclusion>, selection: SelectionMode) -> Self {
        match exclusion {
            None => Self::BroughtBack,
            Some(exclusion) if selection == SelectionMode::ByName => Self::Refused(exclusion),
            Some(exclusion) if exclusion.why.is_reported() => Self::LeftAlone(exclusion),
            Some(_) => Self::Skipped,
        }
    }
}

/// Removes the agents that exceed the configured count of their kind, unless the request names
/// them.
async fn remove_surplus(ports: &Ports, chosen: &mut Vec<Selected>) -> Result<()> {
    let fleets: BTreeSet<FleetName> =
        chosen.iter().map(|it| it.summary.session.fleet.clone()).collect();
    for fleet in fleets {
        let counts = ports.store.counts(&fleet).await?;
        chosen.retain(|it| {
            let Session { fleet: own, agent, .. } = &it.summary.session;
            let too_many = |agent| scale::exceeds_count(&counts, agent);
            it.selection == SelectionMode::ByName
                || *own != fleet
                || !agent.as_ref().is_some_and(too_many)
        });
    }
    Ok(())
}

impl ResumePlan {
    /// Moves the sessions that run on another machine to `failed`, because this machine cannot plan
    /// for them.
    #[must_use]
    pub fn without_other_machines(mut self) -> Self {
        let (elsewhere, here) = self.sessions.into_iter().partition(SessionToResume::is_elsewhere);
        self.sessions = here;
        let elsewhere: Vec<SessionToResume> = elsewhere;
        self.failed.extend(elsewhere.iter().filter_map(SessionToResume::failure));
        self
    }

    /// Returns the sessions that do not run. A handoff that is in progress may decide which of them
    /// continues a conversation.
    pub fn not_running(&self) -> Vec<SessionId> {
        let not_running = self.sessions.iter().filter(|it| it.summary.open.is_none());
        not_running.map(|it| it.summary.session.id).collect()
    }

    /// Returns how many sessions are started, or joined if they run.
    pub fn to_start(&self) -> usize {
        self.sessions.iter().filter(|it| it.exclusion.is_none()).count()
    }
}

impl SessionToResume {
    fn is_elsewhere(&self) -> bool {
        self.exclusion.as_ref().is_some_and(|it| it.why == LeftAloneReason::OtherMachine)
    }

    fn failure(&self) -> Option<FailedTarget> {
        let session = &self.summary.session;
        let error = self.exclusion.as_ref()?.error(session);
        Some(FailedTarget { target: session.address(), error })
    }

    /// Returns whether the session does not run and is not refused.
    pub fn is_due(&self) -> bool {
        self.exclusion.is_none() && self.summary.open.is_none()
    }

    /// Completes the plan for the session with what this request decides.
    pub fn planned(&self, planned: PlannedOutcome) -> PlannedOutcome {
        if self.is_fresh {
            let note = OutcomeNote::new("begin a new conversation, as asked");
            return PlannedOutcome { decision: PlannedDecision::Fresh, note, ..planned };
        }
        match &self.exclusion {
            Some(exclusion) => {
                let note = OutcomeNote::new(exclusion.reason());
                PlannedOutcome { decision: PlannedDecision::Refuse, note, ..planned }
            }
            None => planned,
        }
    }
}

/// Reports a session that is not started although the request names it: its conversation continues
/// in another session, or it runs on another machine.
pub fn refused_outcome(summary: &SessionSummary, exclusion: &Exclusion) -> AgentOutcome {
    let session = &summary.session;
    AgentOutcome {
        of: SessionRef::of(session),
        vendor: session.vendor.clone(),
        outcome: Outcome::Refused,
        vendor_session_id: summary.binding.as_ref().map(|it| it.vendor_session.clone()),
        note: OutcomeNote::of_error(&exclusion.error(session)),
        dialog: None,
        lost: true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn session_at_rest_is_refused_if_named_and_otherwise_reported_or_skipped() {
        let table = [
            (None, SelectionMode::InBulk, "brought back"),
            (None, SelectionMode::ByName, "brought back"),
            (Some(LeftAloneReason::HandedOver), SelectionMode::ByName, "refused"),
            (Some(LeftAloneReason::HandedOver), SelectionMode::InBulk, "left alone"),
            (Some(LeftAloneReason::Stopped), SelectionMode::InBulk, "left alone"),
            (Some(LeftAloneReason::NeverRan), SelectionMode::InBulk, "left alone"),
            (Some(LeftAloneReason::BetweenTurns), SelectionMode::InBulk, "skipped"),
            (Some(LeftAloneReason::TurnFailed), SelectionMode::InBulk, "skipped"),
        ];
        for (why, selection, expected) in table {
            let exclusion = why.map(|why| Exclusion { why, successor: None });
            let action = match ResumeAction::of(exclusion, selection) {
                ResumeAction::BroughtBack => "brought back",
                ResumeAction::Refused(_) => "refused",
                ResumeAction::LeftAlone(_) => "left alone",
                ResumeAction::Skipped => "skipped",
            };
            assert_eq!(action, expected, "{why:?} {selection:?}");
        }
    }

    #[test]
    fn session_with_a_new_conversation_counts_as_named_and_may_have_been_stopped() {
        let table = [
            ((SelectionMode::InBulk, false, false), (false, false)),
            ((SelectionMode::InBulk, false, true), (false, true)),
            ((SelectionMode::InBulk, true, false), (true, true)),
            ((SelectionMode::ByName, false, false), (true, false)),
            ((SelectionMode::ByName, false, true), (true, true)),
        ];
        for ((selection, is_fresh, with_stopped), (by_name, stopped)) in table {
            let expected = UserSelection { by_name, with_stopped: stopped };
            let requested = RequestedStart { selection, is_fresh, with_stopped };
            assert_eq!(requested.user_selection(), expected, "{requested:?}");
        }
    }
}
