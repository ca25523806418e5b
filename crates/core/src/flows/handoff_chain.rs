//! Collects the conversations that handoffs connect, from the first session to the last.

use std::collections::BTreeSet;

use crate::api::{ConversationPart, TakenOver};
use crate::error::Result;
use crate::flows::conversation;
use crate::model::{Handoff, Principal, SessionId, VendorSessionId};
use crate::ports::{Ports, SessionQuery, SessionSummary};
use crate::rules::handoff_chain;

/// Returns where each conversation that handoffs connect with this session can be read, oldest
/// first. Sessions that were removed or that the caller may not see are left out.
pub async fn parts(
    ports: &Ports,
    principal: &Principal,
    summary: &SessionSummary,
) -> Result<Vec<ConversationPart>> {
    let steps = handoff_chain::steps(&linked(ports, summary.session.id).await?, summary.session.id);
    let Some(first) = steps.first() else {
        return Ok(vec![conversation::of_session(ports, summary).await?]);
    };
    let ids: Vec<SessionId> =
        [first.from].into_iter().chain(steps.iter().map(|step| step.to)).collect();
    let sessions = ports.store.sessions(&SessionQuery::ids(ids.clone())).await?;
    let mut parts = Vec::new();
    for (number, session) in ids.into_iter().enumerate() {
        let known = sessions.iter().find(|it| it.session.id == session);
        let known = known.filter(|it| principal.allow_session(session, it.session.parent).is_ok());
        let Some(known) = known else { continue };
        let before = number.checked_sub(1).and_then(|number| steps.get(number));
        let id = id_of(known, before, steps.get(number));
        let mut part = conversation::part(ports, known, id).await?;
        part.taken_over = before.map(|step| TakenOver { mode: step.form.into(), at: step.at });
        parts.push(part);
    }
    Ok(parts)
}

/// Returns the conversation that a session was in between two handoffs.
fn id_of<'a>(
    session: &'a SessionSummary,
    before: Option<&'a Handoff>,
    after: Option<&'a Handoff>,
) -> Option<&'a VendorSessionId> {
    let newest = session.binding.as_ref().map(|binding| &binding.vendor_session);
    match after {
        Some(after) => after
            .from_conversation
            .as_ref()
            .or(before.and_then(|before| before.to_conversation.as_ref()))
            .or(newest),
        None => newest,
    }
}

/// Returns all handoffs between sessions that are connected with this one, directly or indirectly.
async fn linked(ports: &Ports, session: SessionId) -> Result<Vec<Handoff>> {
    let (mut unvisited, mut visited) = (vec![session], BTreeSet::new());
    let mut handoffs: Vec<Handoff> = Vec::new();
    while let Some(session) = unvisited.pop() {
        if !visited.insert(session) {
            continue;
        }
        for handoff in ports.store.handoffs(session).await? {
            unvisited.extend([handoff.from, handoff.to]);
            if !handoffs.contains(&handoff) {
                handoffs.push(handoff);
            }
        }
    }
    Ok(handoffs)
}
