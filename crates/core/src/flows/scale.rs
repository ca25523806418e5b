//! Changing how many agents of a kind a project has.

use crate::api::ScaleRequest;
use crate::error::{Error, Result};
use crate::flows::agent::AgentPlan;
use crate::flows::look::SelectionMode;
use crate::flows::projects::{OpenProject, ensure_fleet};
use crate::flows::resume::RequestedStart;
use crate::flows::trust;
use crate::model::{AgentName, Counts, FleetName, Principal, ProjectAgent, Session};
use crate::ports::{Change, Commit, Ports, SessionQuery, SessionSummary};
use crate::rules::scale;
use crate::rules::scope::RestrictedAction;

/// What has to be done so that the requested number of agents runs.
#[derive(Clone, Debug)]
pub struct ScalePlan {
    pub fleet: FleetName,
    /// The agents to bring up.
    pub agents: Vec<AgentPlan>,
    /// The sessions of agents that exceed the number. Their conversations are kept.
    pub to_stop: Vec<Session>,
}

/// Records the requested number of agents, and returns which agents have to be started and stopped.
pub async fn plan(
    ports: &Ports,
    principal: &Principal,
    request: &ScaleRequest,
) -> Result<ScalePlan> {
    principal.allow(RestrictedAction::Everything)?;
    let ScaleRequest { caller, agent, count, fleet } = request;
    check_count(agent, *count)?;
    let opened = OpenProject::around(ports, &caller.cwd, fleet.as_deref())?;
    let kind = opened.project.kind(agent)?;
    let project = opened.scaled(ports, Some((kind.clone(), *count))).await?;
    trust::require(ports, &project).await?;
    let fleet = ensure_fleet(ports, Some(&project)).await?;
    record(ports, &fleet, &kind, *count).await?;
    let to_stop = surplus_sessions(ports, &fleet, Counts::from([(kind.clone(), *count)])).await?;
    // A request for this number of agents includes those that were stopped.
    let requested =
        RequestedStart { selection: SelectionMode::InBulk, is_fresh: false, with_stopped: true };
    let is_own = |it: &&ProjectAgent| scale::number(kind.as_str(), it.name.as_str()).is_some();
    let own = project.agents.iter().filter(is_own);
    let agents =
        own.map(|agent| AgentPlan::new(ports, (&project, agent), &caller.environment, requested));
    let agents = agents.collect::<Result<Vec<_>>>()?;
    Ok(ScalePlan { fleet, agents, to_stop })
}

fn check_count(agent: &str, count: u32) -> Result<()> {
    let most = scale::MAX_AGENTS_OF_KIND;
    if count == 0 || scale::is_in_range(count) {
        return Ok(());
    }
    let error = format!("the number of agents must be between 0 and {most}, got {count}");
    Err(Error::config(error).hint(format!("run `segue scale {agent} {most}` to have the most")))
}

async fn record(ports: &Ports, fleet: &FleetName, kind: &AgentName, count: u32) -> Result<()> {
    let change = Change::SetCount { fleet: fleet.clone(), agent: kind.clone(), count };
    ports.store.commit(Commit { changes: vec![change], events: Vec::new() }).await?;
    Ok(())
}

/// Returns the sessions of agents that exceed the requested number.
async fn surplus_sessions(
    ports: &Ports,
    fleet: &FleetName,
    counts: Counts,
) -> Result<Vec<Session>> {
    let query = SessionQuery { has_agent: true, ..SessionQuery::fleet(fleet) };
    let sessions = ports.store.sessions(&query).await?;
    let sessions = sessions.into_iter().map(|SessionSummary { session, .. }| session);
    let exceeds_count =
        |it: &Session| it.agent.as_ref().is_some_and(|agent| scale::exceeds_count(&counts, agent));
    Ok(sessions.filter(exceeds_count).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn count_above_the_limit_is_an_error_that_states_the_range() {
        for count in [0, 1, scale::MAX_AGENTS_OF_KIND] {
            assert!(check_count("coder", count).is_ok(), "{count}");
        }
        let error = check_count("coder", 101).unwrap_err();
        assert_eq!(error.message, "the number of agents must be between 0 and 100, got 101");
        assert_eq!(error.hints, ["run `segue scale coder 100` to have the most"]);
    }
}
