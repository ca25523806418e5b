//! Lists the sessions that need a person.

use crate::error::Result;
use crate::flows::select::reachable;
use crate::model::{Failure, Principal, Repetition, SessionId};
use crate::ports::{Ports, SessionActivity, SessionQuery, SessionSummary};
use crate::rules::attention::{Reason, reason};
use crate::rules::listing::RECENT;

/// Returns the sessions that need a person and that the caller may reach, the most urgent first and
/// then the one that has waited longest. Sessions that ended more than a day ago are left out.
/// `failure` returns why the last turn of a session failed, as its process reported it.
pub async fn list(
    ports: &Ports,
    principal: &Principal,
    failure: impl Fn(SessionId) -> Option<Failure>,
) -> Result<Vec<(Reason, SessionSummary)>> {
    let since = ports.clock.now() - RECENT;
    let activity = Some(SessionActivity::UnsettledOrChangedSince(since));
    let sessions = ports.store.sessions(&SessionQuery { activity, ..reachable(principal) }).await?;
    let with_reason = |summary: SessionSummary| {
        let class = failure(summary.session.id).map(|failure| failure.class);
        let repetition = summary.session.repetition.as_ref();
        let repetition = repetition.and_then(Repetition::needs_person);
        let reason = reason(summary.session.status, class, repetition)?;
        Some((reason, summary))
    };
    let mut found: Vec<_> = sessions.into_iter().filter_map(with_reason).collect();
    found.sort_by_key(|(reason, it)| (reason.urgency(), it.session.updated_at, it.session.id));
    Ok(found)
}
