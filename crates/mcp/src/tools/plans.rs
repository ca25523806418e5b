//! Tools for plans of tasks.

use std::path::PathBuf;
use std::sync::Arc;

use schemars::JsonSchema;
use segue_core::Result;
use segue_core::api::{
    PlanApplyReport, PlanApplyRequest, PlanSelector, PlanSummaryView, PlanTaskView, PlanView,
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{McpTool, ToolAudience, caller_in};
use crate::answers;
use crate::port::{ApiCalls, ask, change};

/// The most tasks in an answer of `plan_show`.
const MAX_TASKS: usize = 200;

/// `plan_apply`
pub(super) struct PlanApply;

/// The parameters of `plan_apply`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PlanApplyParameters {
    /// The content of the plan's file, as TOML or JSON.
    text: String,
    /// The folder of the project, or a folder in it, as an absolute path. The default value is your
    /// own folder.
    #[serde(default)]
    folder: Option<PathBuf>,
}

impl McpTool for PlanApply {
    const NAME: &'static str = "plan_apply";
    const DESCRIPTION: &'static str = "Applies a plan: tasks with their needs, which Segue starts in \
        the right order. Applying a changed plan again changes only what differs; running tasks go \
        on. An error names the line, and nothing is started.";
    const IS_READ_ONLY: bool = false;
    const AUDIENCE: ToolAudience = ToolAudience::People;
    type Parameters = PlanApplyParameters;

    async fn call(api: Arc<dyn ApiCalls>, parameters: PlanApplyParameters) -> Result<Value> {
        let PlanApplyParameters { text, folder } = parameters;
        let caller = caller_in(api.as_ref(), folder)?;
        let request = PlanApplyRequest { caller, text, file: None };
        let report: PlanApplyReport = change(api.as_ref(), "/v1/plans/apply", &request).await?;
        let mut answer = summary(&report.plan);
        answer["changes"] = json!(report.changes);
        answer["unchanged"] = json!(report.unchanged);
        Ok(answer)
    }
}

/// `plan_show`
pub(super) struct PlanShow;

/// The parameters of `plan_show`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PlanShowParameters {
    /// The plan: its name, `fleet/name`, or its id.
    plan: String,
}

impl McpTool for PlanShow {
    const NAME: &'static str = "plan_show";
    const DESCRIPTION: &'static str = "Shows how far a plan is: its state, and the status of each of \
        its tasks. Call `task_wait` with the `task` of a task to wait for it.";
    const IS_READ_ONLY: bool = true;
    const AUDIENCE: ToolAudience = ToolAudience::People;
    type Parameters = PlanShowParameters;

    async fn call(api: Arc<dyn ApiCalls>, parameters: PlanShowParameters) -> Result<Value> {
        let folder = Some(api.caller().cwd);
        let selector = PlanSelector { plan: parameters.plan, folder };
        let view: PlanView = ask(api.as_ref(), "/v1/plans/show", &selector).await?;
        let mut answer = summary(&view.plan);
        let tasks: Vec<Value> = view.tasks.iter().take(MAX_TASKS).map(task).collect();
        answer["tasks"] = json!(tasks);
        let left_out = view.tasks.len().saturating_sub(MAX_TASKS);
        if left_out > 0 {
            answer["left_out"] = json!(left_out);
        }
        Ok(answer)
    }
}

fn summary(plan: &PlanSummaryView) -> Value {
    json!({
        "plan": format!("{}/{}", plan.fleet, plan.name),
        "id": plan.id,
        "state": plan.state,
        "counts": plan.counts,
    })
}

fn task(task: &PlanTaskView) -> Value {
    let mut view = json!({"name": task.name, "status": task.status});
    let mut set = |name: &str, value: Value| {
        if !value.is_null() {
            view[name] = value;
        }
    };
    set("task", json!(task.task));
    set("agent", json!(task.agent));
    set("reason", json!(task.reason.as_deref().map(answers::line)));
    set("needs", json!(Some(&task.needs).filter(|needs| !needs.is_empty())));
    view
}
