//! The sessions that need a person.

use axum::Json;
use segue_core::api::{AttentionList, AttentionView, SessionView};
use segue_core::flows::attention;
use segue_core::ports::SessionSummary;
use segue_core::rules::attention::Reason;
use segue_core::rules::scope::RestrictedAction;

use super::{Admitted, RouteResult};

pub(crate) async fn list(
    Admitted { supervisor, principal }: Admitted,
) -> RouteResult<AttentionList> {
    principal.allow(RestrictedAction::ReadAll)?;
    let (reasons, sessions): (Vec<_>, Vec<SessionSummary>) =
        attention::list(&supervisor.ports, &principal).await?.into_iter().unzip();
    let views = supervisor.views(&sessions, &[]).await?;
    let entry = |(reason, session): (Reason, SessionView)| AttentionView {
        reason: reason.word().to_owned(),
        text: reason.to_string(),
        since: session.updated_at,
        session,
    };
    Ok(Json(AttentionList { sessions: reasons.into_iter().zip(views).map(entry).collect() }))
}
