//! Bringing up the agents of a project: which agents, and which running sessions are left over.

use crate::api::{SurplusSession, UpRequest};
use crate::error::Result;
use crate::flows::agent::AgentPlan;
use crate::flows::look::SelectionMode;
use crate::flows::projects::{OpenProject, ensure_fleet};
use crate::flows::resume::RequestedStart;
use crate::flows::{machines, trust};
use crate::model::{AgentName, Principal, Project, Session};
use crate::ports::{Ports, SessionActivity, SessionQuery, SessionSummary};
use crate::rules::scale;
use crate::rules::scope::RestrictedAction;

/// The agents that a request brings up.
#[derive(Clone, Debug)]
pub struct UpPlan {
    /// In the order of the project file.
    pub agents: Vec<AgentPlan>,
    project: Project,
    /// Whether the request names no agent.
    is_whole_project: bool,
}

/// Decides which agents a request brings up. Records the fleet of the project, and nothing else.
pub async fn plan(ports: &Ports, principal: &Principal, request: &UpRequest) -> Result<UpPlan> {
    principal.allow(RestrictedAction::Everything)?;
    let opened = OpenProject::around(ports, &request.caller.cwd, request.fleet.as_deref())?;
    let project = opened.scaled(ports, None).await?;
    for name in &request.fresh {
        project.exact_agent(name)?;
    }
    let wanted = project.agents_meant_by_all(&request.agents)?;
    trust::require(ports, &project).await?;
    ensure_fleet(ports, Some(&project)).await?;
    let is_whole_project = request.agents.is_empty();
    let selection = if is_whole_project { SelectionMode::InBulk } else { SelectionMode::ByName };
    let mut agents = Vec::new();
    // Create the drafts in order, so that new sessions are listed in the order of the file.
    for agent in wanted {
        let is_fresh = request.fresh.iter().any(|name| name == agent.name.as_str());
        let requested = RequestedStart { selection, is_fresh, with_stopped: request.stopped };
        let environment = &request.caller.environment;
        agents.push(AgentPlan::new(ports, (&project, agent), environment, requested)?);
    }
    Ok(UpPlan { agents, project, is_whole_project })
}

impl UpPlan {
    /// Returns the running sessions of agents that are no longer in the project. Empty if the
    /// request names agents.
    pub async fn surplus(&self, ports: &Ports) -> Result<Vec<SurplusSession>> {
        if !self.is_whole_project {
            return Ok(Vec::new());
        }
        let activity = Some(SessionActivity::Open);
        let query = SessionQuery { activity, ..SessionQuery::fleet(&self.project.fleet) };
        let mut sessions = ports.store.sessions(&query).await?;
        sessions.retain(|it| machines::other_machine(ports, it.open.as_ref()).is_none());
        Ok(surplus(&self.project, sessions))
    }
}

fn surplus(project: &Project, mut running: Vec<SessionSummary>) -> Vec<SurplusSession> {
    let agents: Vec<&AgentName> = project.agents.iter().map(|agent| &agent.name).collect();
    // A session that was started by an agent belongs to that agent.
    running.retain(|it| it.session.parent.is_none());
    let surplus = running.into_iter().filter_map(|SessionSummary { session, .. }| {
        let agent = scale::surplus(&agents, session.agent.as_ref())?.clone();
        let address = session.address();
        let stop = format!("segue stop {address}");
        let Session { id, name, fleet, vendor, .. } = session;
        Some(SurplusSession { session: id, name, fleet, address, agent, vendor, stop })
    });
    surplus.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flows::samples;
    use crate::model::SessionId;

    fn running(agent: Option<&str>, parent: Option<SessionId>) -> SessionSummary {
        let agent = agent.map(|name| AgentName::parse(name).unwrap());
        let session = Session { agent, parent, ..samples::session(1, "one") };
        SessionSummary {
            session,
            binding: None,
            open: None,
            launches: 1,
            queued_messages: 0,
            usage: None,
            worktree: None,
        }
    }

    #[test]
    fn running_session_of_an_agent_that_left_the_project_is_surplus() {
        let project = samples::project(&["coder"], &[("coder", "one")]);
        let parent = Some(samples::session(2, "two").id);
        let table = [
            (Some("coder"), None, false),
            (Some("gone"), None, true),
            (Some("gone"), parent, false),
            (None, None, false),
        ];
        for (agent, parent, expected) in table {
            let found = surplus(&project, vec![running(agent, parent)]);
            assert_eq!(found.len(), usize::from(expected), "{agent:?} {parent:?}");
            assert!(found.iter().all(|it| it.stop == "segue stop default/one"), "{found:?}");
        }
    }
}
