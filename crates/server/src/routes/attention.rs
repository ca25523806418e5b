//! The sessions and the plans that need a person.

use axum::Json;
use segue_core::api::{AttentionList, AttentionView, SessionView};
use segue_core::flows::{attention, plans};
use segue_core::ports::SessionSummary;
use segue_core::rules;
use segue_core::rules::attention::Reason;
use segue_core::rules::scope::RestrictedAction;

use super::{Admitted, RouteResult};

pub(crate) async fn list(
    Admitted { supervisor, principal }: Admitted,
) -> RouteResult<AttentionList> {
    principal.allow(RestrictedAction::ReadAll)?;
    let failure = |session| supervisor.failure(session);
    let found = attention::list(&supervisor.ports, &principal, failure).await?;
    let (reasons, sessions): (Vec<_>, Vec<SessionSummary>) = found.into_iter().unzip();
    let views = supervisor.views(&sessions, &[]).await?;
    let listed = reasons.into_iter().zip(views);
    // A conversation that goes on in another session needs a person there.
    let listed = listed.filter(|(_, session)| session.goes_on_as.is_none());
    let gates = match principal.allow(RestrictedAction::ReadTasks) {
        Ok(()) => plans::gates(&supervisor.ports).await?,
        Err(_) => Vec::new(),
    };
    Ok(Json(AttentionList { sessions: listed.map(entry).collect(), gates }))
}

fn entry((reason, session): (Reason, SessionView)) -> AttentionView {
    let advice = match reason {
        Reason::Failed(class) => Some(class.advice().to_owned()),
        Reason::Repeats(kind) => Some(rules::attention::repetition_advice(kind, &session.address)),
        Reason::Waiting(_) | Reason::Lost => None,
    };
    let repetition = session.repetition.as_ref().filter(|_| matches!(reason, Reason::Repeats(_)));
    let text = match repetition {
        Some(repetition) => format!("{reason}: {}", repetition.summary()),
        None => reason.to_string(),
    };
    AttentionView {
        reason: reason.word().to_owned(),
        text,
        since: repetition.map_or(session.updated_at, |it| it.since),
        advice,
        command: rules::attention::command(reason, &session),
        session,
    }
}
