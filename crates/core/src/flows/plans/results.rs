//! The results of earlier tasks that the prompt of a task uses.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::{Error, Result};
use crate::model::{PlanTask, PlanTaskName, Task, TaskId};
use crate::ports::{PlanTaskQuery, Ports, TaskQuery};
use crate::rules::plans::{NeededResult, PlanProgress, named_tasks, render_prompt};

/// Returns the prompt of a task that is released. `ended` is the task whose end releases it: its
/// result is not stored yet. The inner error is a prompt that cannot be rendered.
pub(super) async fn prompt(
    ports: &Ports,
    progress: &PlanProgress,
    task: &PlanTask,
    ended: Option<&Task>,
) -> Result<Result<String>> {
    let template = task.definition.order.as_ref().map(|order| order.prompt.as_str());
    let template = template.unwrap_or_default();
    let named = match named_tasks(template) {
        Ok(named) => named,
        Err((_, message)) => return Ok(Err(Error::config(message))),
    };
    if named.tasks.is_empty() && !named.may_name_all {
        return Ok(render_prompt(template, BTreeMap::new()));
    }
    let needed = match named.may_name_all {
        true => transitive_needs(ports, task).await?,
        false => named_needs(ports, task, &named.tasks).await?,
    };
    let needed: Vec<PlanTask> = needed.into_iter().map(|it| progress.current(it)).collect();
    let ids: Vec<TaskId> = needed.iter().filter_map(|it| it.task).collect();
    let query = TaskQuery { ids: Some(ids), ..TaskQuery::default() };
    let stored = ports.store.tasks(&query).await?.into_iter().map(|it| it.task);
    let mut tasks: BTreeMap<TaskId, Task> = stored.map(|task| (task.id, task)).collect();
    tasks.extend(ended.map(|ended| (ended.id, ended.clone())));
    let result = |it: PlanTask| {
        let task = it.task.and_then(|id| tasks.get(&id));
        (it.name.to_string(), needed_result(&it, task))
    };
    Ok(render_prompt(template, needed.into_iter().map(result).collect()))
}

async fn named_needs(
    ports: &Ports,
    task: &PlanTask,
    names: &BTreeSet<String>,
) -> Result<Vec<PlanTask>> {
    let names = names.iter().filter_map(|name| PlanTaskName::parse(name).ok()).collect();
    ports.store.plan_tasks(&PlanTaskQuery::named(task.plan, names)).await
}

async fn transitive_needs(ports: &Ports, task: &PlanTask) -> Result<Vec<PlanTask>> {
    let (mut found, mut open) = (BTreeMap::new(), task.definition.needs.clone());
    while !open.is_empty() {
        let query = PlanTaskQuery::named(task.plan, std::mem::take(&mut open));
        for need in ports.store.plan_tasks(&query).await? {
            let is_new = |name: &&PlanTaskName| !found.contains_key(*name);
            open.extend(need.definition.needs.iter().filter(is_new).cloned());
            found.insert(need.name.clone(), need);
        }
    }
    Ok(found.into_values().collect())
}

fn needed_result(needed: &PlanTask, task: Option<&Task>) -> NeededResult {
    let answer = task.and_then(|task| task.result.as_ref()?.answer.clone());
    let worktree = task.and_then(|task| task.order.worktree.as_ref());
    NeededResult {
        answer: answer.unwrap_or_default(),
        state: needed.state.word().to_owned(),
        branch: worktree.map(|it| it.order.branch.to_string()).unwrap_or_default(),
    }
}
