//! Shows what a handoff would transfer, and changes nothing.

use super::write::content_of;
use super::{
    DigestMessage, HandoffPlan, SourceConversation, TargetSession, TransferSummary, digest_message,
    gather,
};
use crate::api::{CarriedTurn, DryRun, HandoffReport, OutcomeNote};
use crate::error::Result;
use crate::model::{HandoffForm, Turn};
use crate::ports::Ports;
use crate::rules::handoff::HandoffMethod;

/// Reports exactly what the target would get. [`DryRun::Raw`] adds the content that the vendor's
/// own file would have.
pub fn preview(
    ports: &Ports,
    plan: &HandoffPlan,
    target: &TargetSession,
    (method, dry_run): (HandoffMethod, DryRun),
) -> Result<HandoffReport> {
    let source = plan.source.conversation.as_ref().filter(|_| method != HandoffMethod::Plain);
    match source {
        None => Ok(plan.report(
            target,
            &TransferSummary::empty(HandoffForm::Plain),
            OutcomeNote::default(),
        )),
        Some(source) if method == HandoffMethod::Digest => {
            preview_digest(ports, plan, target, source)
        }
        Some(source) => preview_native(ports, plan, target, (source, dry_run)),
    }
}

fn preview_digest(
    ports: &Ports,
    plan: &HandoffPlan,
    target: &TargetSession,
    source: &SourceConversation,
) -> Result<HandoffReport> {
    let DigestMessage { excerpt, text: content } = digest_message(ports, plan, source)?;
    let form = if content.is_some() { HandoffForm::Digest } else { HandoffForm::Plain };
    let characters = content.as_deref().map_or(0, |text| text.chars().count() as u64);
    let summary = TransferSummary { characters, ..TransferSummary::of(&excerpt, form) };
    let turns = carried(&excerpt.turns);
    Ok(HandoffReport { content, turns, ..plan.report(target, &summary, OutcomeNote::default()) })
}

fn preview_native(
    ports: &Ports,
    plan: &HandoffPlan,
    target: &TargetSession,
    (source, dry_run): (&SourceConversation, DryRun),
) -> Result<HandoffReport> {
    let excerpt =
        gather(ports, source, plan.limit(plan.context_characters()), &plan.known_secrets)?;
    let form = if excerpt.has_messages() { HandoffForm::Native } else { HandoffForm::Plain };
    let summary = TransferSummary::of(&excerpt, form);
    let report = plan.report(target, &summary, OutcomeNote::default());
    let written = match dry_run {
        DryRun::Raw => content_of(ports, &excerpt, &plan.destination(ports, target))?,
        DryRun::No | DryRun::Turns => None,
    };
    let content = written.map(|it| String::from_utf8_lossy(&it).into_owned());
    Ok(HandoffReport { turns: carried(&excerpt.turns), content, ..report })
}

fn carried(turns: &[Turn]) -> Vec<CarriedTurn> {
    turns.iter().map(CarriedTurn::new).collect()
}
