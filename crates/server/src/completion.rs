//! Names for shell completion. The functions return quickly, report no errors and start no process.

use std::path::Path;
use std::time::Duration;

use segue_core::api::{ListRequest, PlanListRequest, SessionView};

use crate::client::Client;
use crate::wiring::{self, Local};

/// Returns the sessions that the caller may reach. Empty if no daemon answers within the timeout.
pub fn sessions(local: &Local, timeout: Duration) -> Vec<SessionView> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let Ok(runtime) = runtime else { return Vec::new() };
    let ask = async {
        let client = Client::connect_running(local).await.ok()??;
        let all = ListRequest { all: true, ..ListRequest::default() };
        Some(client.list(&all).await.ok()?.sessions)
    };
    let sessions = runtime.block_on(async { tokio::time::timeout(timeout, ask).await });
    // Do not wait for a thread that still waits for the daemon.
    runtime.shutdown_background();
    sessions.ok().flatten().unwrap_or_default()
}

/// Returns the names of the plans. Empty if no daemon answers within the timeout.
pub fn plans(local: &Local, timeout: Duration) -> Vec<String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let Ok(runtime) = runtime else { return Vec::new() };
    let ask = async {
        let client = Client::connect_running(local).await.ok()??;
        Some(client.plans(&PlanListRequest { all: true }).await.ok()?.plans)
    };
    let plans = runtime.block_on(async { tokio::time::timeout(timeout, ask).await });
    // Do not wait for a thread that still waits for the daemon.
    runtime.shutdown_background();
    let plans = plans.ok().flatten().unwrap_or_default();
    plans.into_iter().map(|plan| plan.name.to_string()).collect()
}

/// Returns the names of the agents of the project around a folder. Empty if the project cannot be
/// read. The project does not have to be trusted.
pub fn agents(folder: &Path) -> Vec<String> {
    let projects = wiring::projects_without_settings();
    let project = projects.around(folder).ok().flatten();
    project.map_or_else(Vec::new, |project| {
        let agents = project.agent_names().into_iter().map(str::to_owned);
        agents.chain(project.kinds.iter().map(ToString::to_string)).collect()
    })
}

/// Returns the names of the vendors.
pub fn vendors() -> Vec<String> {
    wiring::vendors().all().iter().map(|vendor| vendor.id().to_string()).collect()
}
