//! Makes the orders of a plan's tasks from its file.

use std::collections::HashMap;
use std::path::Path;

use crate::api::{Caller, WorktreeRequest};
use crate::error::{Error, Result};
use crate::flows::run::{self, RunPlan};
use crate::flows::tasks;
use crate::model::{
    AgentName, BranchName, FailurePolicy, FleetName, PlanFailureWord, PlanFile, PlanFileTask,
    PlanTaskDefinition, PlanTaskName, Principal, TaskMode, TaskOrder, TaskPriority, TaskWorktree,
};
use crate::ports::Ports;
use crate::rules::plans::PlanProblem;
use crate::rules::schedule::PLACES_PER_PRIORITY;

/// How often a task is started again if the file does not say it.
const DEFAULT_RETRIES: u32 = 2;

/// A task of the file: its name, its rank, and what it is.
pub(super) type DefinedTask = (PlanTaskName, i64, PlanTaskDefinition);

/// The agent or the vendor of a task, and whether the task has a worktree of its own.
type WorkerKey<'file> = (Option<&'file str>, Option<&'file str>, bool);

/// Makes the definitions of a plan's tasks. Each agent is looked up once.
pub(super) struct PlanOrders<'file> {
    ports: &'file Ports,
    principal: &'file Principal,
    caller: &'file Caller,
    folder: &'file Path,
    file: &'file PlanFile,
    workers: HashMap<WorkerKey<'file>, RunPlan>,
}

impl<'file> PlanOrders<'file> {
    pub(super) fn new(
        (ports, principal): (&'file Ports, &'file Principal),
        (caller, folder): (&'file Caller, &'file Path),
        file: &'file PlanFile,
    ) -> Self {
        Self { ports, principal, caller, folder, file, workers: HashMap::new() }
    }

    /// Returns the definitions of all tasks. `names` are the tasks in the order of the file. The
    /// inner error is a mistake of the file.
    pub(super) async fn all(
        mut self,
        names: &'file [String],
    ) -> Result<Result<(FleetName, Vec<DefinedTask>), PlanProblem>> {
        let (mut defined, mut fleet) = (Vec::new(), None);
        for (name, position) in names.iter().zip(0_i64..) {
            let Some(task) = self.file.tasks.get(name) else { continue };
            let order = match self.order(name, task).await {
                Ok(order) => order,
                Err(problem) => return Ok(Err(*problem)),
            };
            fleet = fleet.or_else(|| order.as_ref().map(|order| order.fleet.clone()));
            let priority = task.priority.unwrap_or(self.file.priority);
            let rank = position - i64::from(priority) * PLACES_PER_PRIORITY;
            defined.push((PlanTaskName::parse(name)?, rank, definition(task, order)?));
        }
        match fleet {
            Some(fleet) => Ok(Ok((fleet, defined))),
            None => {
                let name = names.first().map(String::as_str).unwrap_or_default();
                let message = "at least one task of a plan must have work";
                Ok(Err(PlanProblem::of_task(name, None, message)))
            }
        }
    }

    async fn order(
        &mut self,
        name: &str,
        task: &'file PlanFileTask,
    ) -> Result<Option<TaskOrder>, Box<PlanProblem>> {
        if task.is_pure_gate() {
            return Ok(None);
        }
        let key = if task.vendor.is_some() { "vendor" } else { "agent" };
        let problem =
            |error: &Error| Box::new(PlanProblem::of_task(name, Some(key), error.in_one_line()));
        let worktree = self.worktree(name, task).await.map_err(|error| problem(&error))?;
        let plan = self.worker(task, None).await.map_err(|error| problem(&error))?;
        let priority = task.priority.unwrap_or(self.file.priority);
        let worktree = worktree.or_else(|| {
            plan.worktree.as_ref().map(|plan| tasks::of_worktree(&plan.worktree, false))
        });
        let repository = |it: &TaskWorktree| tasks::repository(self.ports, Some(it), self.folder);
        let agent = match plan.agent_name() {
            Ok(agent) => agent.clone(),
            Err(_) => {
                AgentName::parse(plan.account().vendor.as_str()).map_err(|error| problem(&error))?
            }
        };
        Ok(Some(TaskOrder {
            fleet: plan.fleet().clone(),
            agent,
            account: plan.account(),
            folder: self.folder.to_owned(),
            repository: worktree.as_ref().map(repository),
            issue: None,
            branch: None,
            worktree,
            prompt: task.prompt.clone().unwrap_or_default(),
            parent: None,
            priority: TaskPriority::new(priority).map_err(|error| problem(&error))?,
            verify: task.verify.clone(),
            mode: TaskMode::Headless,
            continues: None,
            reply: None,
            vendor: task.vendor.as_ref().map(|_| plan.account().vendor),
            spawner: None,
            plan: None,
        }))
    }

    /// Returns the worktree that a task has of its own, or shares with another task.
    async fn worktree(
        &mut self,
        name: &str,
        task: &'file PlanFileTask,
    ) -> Result<Option<TaskWorktree>> {
        let (name, task) = match &task.worktree_of {
            None => (name, task),
            Some(owner) => match self.file.tasks.get(owner) {
                Some(other) => (owner.as_str(), other),
                None => return Ok(None),
            },
        };
        if task.worktree.is_none() {
            return Ok(None);
        }
        let branch = task.branch.clone();
        let branch = branch.unwrap_or_else(|| format!("plan/{}/{name}", self.file.name));
        let request = WorktreeRequest { branch: branch.clone(), ..WorktreeRequest::default() };
        let plan = self.worker(task, Some(request)).await?;
        let made = plan.worktree.as_ref().map(|plan| tasks::of_worktree(&plan.worktree, false));
        let Some(mut worktree) = made else { return Ok(None) };
        worktree.order.branch = BranchName::parse(&branch)?;
        Ok(Some(worktree))
    }

    /// Returns the plan of the first session of an agent or a vendor.
    async fn worker(
        &mut self,
        task: &'file PlanFileTask,
        worktree: Option<WorktreeRequest>,
    ) -> Result<RunPlan> {
        let key = (task.agent.as_deref(), task.vendor.as_deref(), worktree.is_some());
        if let Some(known) = self.workers.get(&key) {
            return Ok(known.clone());
        }
        let work = (self.folder, "prompt");
        let agent = task.agent.as_deref().unwrap_or_default();
        let environment = &self.caller.environment;
        let mut request = tasks::agent_request(agent, work, TaskMode::Headless, environment);
        if task.agent.is_none() {
            (request.agent, request.vendor) = (None, task.vendor.clone());
        }
        request.worktree = worktree;
        let plan = run::plan_unattended(self.ports, self.principal, &request).await?;
        self.workers.insert(key, plan.clone());
        Ok(plan)
    }
}

fn definition(task: &PlanFileTask, order: Option<TaskOrder>) -> Result<PlanTaskDefinition> {
    let on_failure = match task.on_failure {
        PlanFailureWord::Stop => FailurePolicy::Stop,
        PlanFailureWord::Continue => FailurePolicy::Continue,
        PlanFailureWord::Retry => {
            FailurePolicy::Retry { times: task.retries.unwrap_or(DEFAULT_RETRIES) }
        }
    };
    let needs: Result<Vec<PlanTaskName>> =
        task.needs.iter().map(|need| PlanTaskName::parse(need)).collect();
    let order = order.map(Box::new);
    Ok(PlanTaskDefinition { needs: needs?, gate: task.gate, on_failure, order })
}
