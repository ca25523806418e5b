//! Finds finished CI runs of agents' branches on a forge that cannot send deliveries.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::decide::DispatchContext;
use crate::error::Result;
use crate::model::{
    CiConclusion, ForgeEvent, ForgeRepository, ListedRun, PolledRepository, TriggerKind,
};
use crate::ports::{ForgeApi, Ports, WorktreeQuery};

/// Returns an event for each CI run of an agent's branch that has finished since the last question,
/// and adds the runs to the record. Asks nothing if no rule is about CI runs.
pub async fn finished_runs(
    ports: &Ports,
    context: &DispatchContext,
    api: &dyn ForgeApi,
    record: &mut PolledRepository,
) -> Result<Vec<ForgeEvent>> {
    let is_about_runs = |on| matches!(on, TriggerKind::CiFailed | TriggerKind::CiSucceeded);
    if !context.rules.iter().any(|rule| is_about_runs(rule.on)) {
        return Ok(Vec::new());
    }
    let mut known = std::mem::take(&mut record.runs);
    let mut found = Vec::new();
    for (branch, made_at) in branches(ports, context, record.address.id).await? {
        let before = known.remove(&branch);
        let runs = api.finished_runs(&record.address, &branch).await?;
        let keys = runs.iter().map(key).collect();
        record.runs.insert(branch, keys);
        // The first answer has runs from before the work on the branch.
        let is_new = |run: &ListedRun| match &before {
            Some(before) => !before.contains(&key(run)),
            None => run.updated_at >= Some(made_at),
        };
        found.extend(runs.into_iter().filter(is_new));
    }
    if found.is_empty() {
        return Ok(Vec::new());
    }
    let repository = api.repository(&record.address).await?;
    Ok(found.into_iter().map(|run| event(run, &repository)).collect())
}

/// Returns the branches of open issues of a repository, and when their worktrees were made.
async fn branches(
    ports: &Ports,
    context: &DispatchContext,
    repository: u64,
) -> Result<BTreeMap<String, Timestamp>> {
    let mut branches = BTreeMap::new();
    let open = context.tracked.iter().filter(|it| it.closed_at.is_none());
    for issue in open.filter(|it| it.address.id == repository) {
        let sessions = ports.store.sessions_of_issue(&issue.repository, &issue.issue).await?;
        for (_, session) in sessions {
            let query = WorktreeQuery { session: Some(session), path: None };
            let worktrees = ports.store.worktrees(&query).await?;
            branches.extend(worktrees.into_iter().map(|it| (it.branch.to_string(), it.created_at)));
        }
    }
    Ok(branches)
}

/// Returns a text that is the same for the same end of a run.
fn key(ListedRun { run, updated_at }: &ListedRun) -> String {
    let sha = run.sha.as_ref().map(ToString::to_string).unwrap_or_default();
    let at = updated_at.map(|at| at.to_string()).unwrap_or_default();
    format!("{} {sha} {} {at}", run.name, run.conclusion.word())
}

fn event(ListedRun { run, updated_at }: ListedRun, repository: &ForgeRepository) -> ForgeEvent {
    let trigger = match run.conclusion {
        CiConclusion::Failed => TriggerKind::CiFailed,
        CiConclusion::Succeeded => TriggerKind::CiSucceeded,
    };
    let branch = run.branch.clone();
    let event = ForgeEvent::new(trigger, repository.clone());
    ForgeEvent { ci: Some(run), branch, updated_at, ..event }
}
