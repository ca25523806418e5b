//! The conversations that were handed over from one session to the next, as one story.

use std::collections::BTreeSet;

use crate::api::{ConversationPart, TakenOver};
use crate::error::Result;
use crate::flows::conversation;
use crate::model::{Handoff, SessionId, VendorSessionId};
use crate::ports::{Ports, SessionSummary};
use crate::rules::scope::Scope;
use crate::rules::story;

/// Returns where each part of a session's story can be read, the oldest first. What is forgotten, or
/// not for the caller to see, is left out.
pub async fn parts(
    ports: &Ports,
    scope: &Scope,
    summary: &SessionSummary,
) -> Result<Vec<ConversationPart>> {
    let steps = story::steps(&linked(ports, summary.session.id).await?, summary.session.id);
    let Some(first) = steps.first() else {
        return Ok(vec![conversation::of_session(ports, summary).await?]);
    };
    let sessions = ports.store.sessions().await?;
    let tellers = [first.from].into_iter().chain(steps.iter().map(|step| step.to));
    let mut parts = Vec::new();
    for (number, teller) in tellers.enumerate() {
        let known = sessions.iter().find(|it| it.session.id == teller);
        let known = known.filter(|it| scope.allow_session(teller, it.session.parent).is_ok());
        let Some(known) = known else { continue };
        let before = number.checked_sub(1).and_then(|number| steps.get(number));
        let id = id_of(known, before, steps.get(number));
        let mut part = conversation::part(ports, known, id).await?;
        part.taken_over =
            before.map(|step| TakenOver { mode: step.form.word().to_owned(), at: step.at });
        parts.push(part);
    }
    Ok(parts)
}

/// Returns which conversation a session was in between two steps.
fn id_of<'a>(
    teller: &'a SessionSummary,
    before: Option<&'a Handoff>,
    after: Option<&'a Handoff>,
) -> Option<&'a VendorSessionId> {
    let newest = teller.binding.as_ref().map(|binding| &binding.vendor_session);
    match after {
        Some(after) => after
            .from_conversation
            .as_ref()
            .or(before.and_then(|before| before.to_conversation.as_ref()))
            .or(newest),
        None => newest,
    }
}

/// Returns every handoff between sessions that are linked with this one, however far.
async fn linked(ports: &Ports, session: SessionId) -> Result<Vec<Handoff>> {
    let (mut open, mut seen) = (vec![session], BTreeSet::new());
    let mut handoffs: Vec<Handoff> = Vec::new();
    while let Some(session) = open.pop() {
        if !seen.insert(session) {
            continue;
        }
        for handoff in ports.store.handoffs(session).await? {
            open.extend([handoff.from, handoff.to]);
            if !handoffs.contains(&handoff) {
                handoffs.push(handoff);
            }
        }
    }
    Ok(handoffs)
}
