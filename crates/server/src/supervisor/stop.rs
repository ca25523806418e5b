//! Ends the processes of sessions.

use std::sync::Arc;

use segue_core::Result;
use segue_core::api::{FailedTarget, StopReport, StopRequest, StoppedSession};
use segue_core::flows::select::Chosen;
use segue_core::flows::stop;
use segue_core::model::{Principal, RequestKey, Session};

use super::Supervisor;
use super::concurrent::each;

/// Ends the processes of the selected sessions.
pub(crate) async fn stop(
    supervisor: &Arc<Supervisor>,
    principal: &Principal,
    key: Option<RequestKey>,
    request: StopRequest,
) -> Result<StopReport> {
    let ports = &supervisor.ports;
    let Chosen { sessions, mut failed } = stop::to_stop(ports, principal, &request).await?;
    let steps = stop::record(ports, key, &sessions).await?;
    if let Some(error) = steps.unrecorded {
        tracing::warn!(%error, "the steps of a stop could not be recorded");
    }
    let addresses: Vec<String> = sessions.iter().map(|it| it.summary.session.address()).collect();
    let tasks = sessions.into_iter().map(|it| end(supervisor, it.summary.session));
    let mut stopped = Vec::new();
    for (target, ended) in addresses.into_iter().zip(each(tasks).await?) {
        match ended {
            Ok(ended) => stopped.push(ended),
            Err(error) => failed.push(FailedTarget { target, error }),
        }
    }
    stop::report(stopped, failed, &steps.before)
}

/// Ends the process of a session.
pub(super) fn end(
    supervisor: &Arc<Supervisor>,
    session: Session,
) -> impl Future<Output = Result<StoppedSession>> + Send + 'static {
    let supervisor = Arc::clone(supervisor);
    async move { Ok(stop::stopped(&session, supervisor.end(session.id).await?)) }
}
