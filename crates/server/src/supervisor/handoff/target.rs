//! Finds the vendor or the agent that a conversation is handed over to.

use std::sync::Arc;

use segue_core::Result;
use segue_core::api::HandoffRequest;
use segue_core::flows::handoff::{HandoffTarget, TargetAgent};
use segue_core::flows::trust;
use segue_core::model::{Project, VendorId};
use segue_core::rules::address;

use super::super::Supervisor;

/// Finds the vendor or the agent that the request names. Fails if its program is not installed.
pub(super) async fn find(
    supervisor: &Arc<Supervisor>,
    request: &HandoffRequest,
) -> Result<HandoffTarget> {
    let ports = &supervisor.ports;
    let cwd = ports.machine.folder(&request.caller.cwd)?.real_path;
    let project = ports.projects.around(&cwd)?;
    let name = VendorId::new(whole_name(supervisor, project.as_ref(), &request.to)?);
    let described = project.as_ref().and_then(|project| project.vendors.get(&name));
    let agent = project.as_ref().and_then(|project| project.exact_agent(name.as_str()).ok());
    let is_vendor = ports.vendors.get(&name).is_ok() || described.is_some();
    let (id, agent) = match agent {
        _ if is_vendor => (name, None),
        Some(agent) => (agent.vendor.clone(), Some(agent.clone())),
        // This lookup fails with an error that suggests similar names.
        None => match ports.vendors.named(name.as_str()) {
            Ok(vendor) => (vendor.id(), None),
            Err(error) => {
                return Err(error.hint("or use the name of an agent of `segue.toml`"));
            }
        },
    };
    if let (Some(project), true) = (&project, agent.is_some() || described.is_some()) {
        trust::require(ports, project).await?;
    }
    let description = project.and_then(|project| project.vendors.get(&id).cloned());
    let environment = request.caller.environment.clone();
    let agent = agent.map(|agent| TargetAgent {
        settings: agent.settings(description.clone()),
        environment: agent.environment(&environment),
        name: agent.name,
    });
    HandoffTarget::new(ports, (id, description), agent, environment)
}

/// Returns the full name of the vendor or the agent that a word means.
fn whole_name(
    supervisor: &Arc<Supervisor>,
    project: Option<&Project>,
    word: &str,
) -> Result<String> {
    let built_in: Vec<VendorId> =
        supervisor.ports.vendors.all().iter().map(|vendor| vendor.id()).collect();
    let described = project.map(|project| project.vendors.keys()).into_iter().flatten();
    let vendors = built_in.iter().chain(described).map(VendorId::as_str);
    let agents = project.map(Project::agent_names).unwrap_or_default();
    let names: Vec<&str> = vendors.chain(agents).collect();
    address::whole_name(&names, word)
}
