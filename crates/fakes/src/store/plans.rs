//! Plans and their tasks, and reports of agents.

use segue_core::Result;
use segue_core::model::{AgentReport, Plan, PlanTask};
use segue_core::ports::{
    AgentReportQuery, Conflict, MAX_AGENT_REPORTS, Missing, PlanQuery, PlanTaskQuery,
};

use super::Tables;

impl Tables {
    pub(super) fn put_plan(&mut self, plan: Plan, from: Option<i64>) -> Result<()> {
        let is_same = |it: &&mut Plan| (&it.folder, &it.name) == (&plan.folder, &plan.name);
        let known = self.plans.iter_mut().find(is_same);
        if known.as_ref().map(|known| known.revision) != from {
            return Err(Conflict::PlanHasMoved { name: plan.name }.into());
        }
        match known {
            Some(known) => *known = plan,
            None => self.plans.push(plan),
        }
        Ok(())
    }

    pub(super) fn put_plan_task(&mut self, task: PlanTask) -> Result<()> {
        if !self.plans.iter().any(|plan| plan.id == task.plan) {
            return Err(Missing::Plan(task.plan).into());
        }
        self.plan_tasks.retain(|it| (it.plan, &it.name) != (task.plan, &task.name));
        self.plan_tasks.push(task);
        Ok(())
    }

    pub(super) fn add_agent_report(&mut self, report: AgentReport) {
        let session = report.session;
        self.agent_reports.push(report);
        let own = self.agent_reports.iter().filter(|it| it.session == session).count();
        if own > MAX_AGENT_REPORTS as usize
            && let Some(oldest) = self.agent_reports.iter().position(|it| it.session == session)
        {
            self.agent_reports.remove(oldest);
        }
    }

    pub(super) fn reports_of(&self, query: &AgentReportQuery) -> Vec<AgentReport> {
        let is_meant = |it: &&AgentReport| {
            query.task.is_none_or(|task| it.task == Some(task))
                && query.session.is_none_or(|session| it.session == session)
        };
        self.agent_reports.iter().filter(is_meant).cloned().collect()
    }

    pub(super) fn plans_of(&self, query: &PlanQuery) -> Vec<Plan> {
        let is_meant = |it: &&Plan| {
            query.id.is_none_or(|id| it.id == id)
                && query.id_prefix.as_ref().is_none_or(|it_is| it.id.to_string().starts_with(it_is))
                && query.name.as_ref().is_none_or(|name| it.name == *name)
                && query.folder.as_ref().is_none_or(|folder| it.folder == *folder)
                && query.control.is_none_or(|control| it.control == control)
        };
        self.plans.iter().filter(is_meant).cloned().collect()
    }

    pub(super) fn tasks_of_plan(&self, query: &PlanTaskQuery) -> Vec<PlanTask> {
        let is_meant = |it: &&PlanTask| {
            it.plan == query.plan
                && query.names.as_ref().is_none_or(|names| names.contains(&it.name))
                && query.needing.as_ref().is_none_or(|need| it.definition.needs.contains(need))
                && query.state.is_none_or(|state| it.state == state)
        };
        let mut found: Vec<PlanTask> = self.plan_tasks.iter().filter(is_meant).cloned().collect();
        found.sort_by(|a, b| (a.rank, &a.name).cmp(&(b.rank, &b.name)));
        found.truncate(query.first.map_or(usize::MAX, |first| first as usize));
        found
    }
}
