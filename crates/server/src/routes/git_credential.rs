//! The route of `segue git-askpass`.

use axum::Json;
use segue_core::api::{GitCredentialAnswer, GitCredentialRequest};
use segue_core::flows::credentials;

use super::{Admitted, RequestingProcess, RouteResult, Sent};

/// Answers a question of git. A ticket counts only for a process that this daemon has started: an
/// agent can read the environment of other processes.
pub(crate) async fn answer(
    caller: RequestingProcess,
    Admitted { supervisor, principal }: Admitted,
    Sent(request): Sent<GitCredentialRequest>,
) -> RouteResult<GitCredentialAnswer> {
    let ports = &supervisor.ports;
    let ticket = request.ticket.filter(|_| caller.is_below_daemon());
    let asker = credentials::asker(ports, &principal, ticket.as_ref()).await?;
    let answer = credentials::answer(ports, &asker, &request.prompt).await?;
    Ok(Json(GitCredentialAnswer { answer }))
}
