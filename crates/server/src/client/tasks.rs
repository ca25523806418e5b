//! The requests about tasks.

use hyper::Method;
use segue_core::Result;
use segue_core::api::{
    AgentReportAnswer, AgentReportRequest, TaskAddRequest, TaskListRequest, TaskReport,
    TaskRetryRequest, TaskSelector, TaskSummaryList, TaskWaitRequest,
};
use serde_json::value::RawValue;

use super::Client;

impl Client {
    pub async fn add_task(&self, request: &TaskAddRequest) -> Result<TaskReport> {
        self.line.change(Method::POST, "/v1/tasks", request).await
    }

    /// Returns a [`TaskList`](segue_core::api::TaskList) as the daemon wrote it, for a caller that
    /// only prints it.
    pub async fn tasks_json(&self, request: &TaskListRequest) -> Result<Box<RawValue>> {
        self.line.ask(Method::POST, "/v1/tasks/list", request).await
    }

    pub async fn task_summaries(&self, request: &TaskListRequest) -> Result<TaskSummaryList> {
        self.line.ask(Method::POST, "/v1/tasks/summaries", request).await
    }

    pub async fn task(&self, task: &str) -> Result<TaskReport> {
        let selector = TaskSelector { task: task.to_owned() };
        self.line.ask(Method::POST, "/v1/tasks/show", &selector).await
    }

    /// Waits until a task has ended, or until only a person can make it go on.
    pub async fn wait_task(&self, request: &TaskWaitRequest) -> Result<TaskReport> {
        self.line.ask(Method::POST, "/v1/tasks/wait", request).await
    }

    pub async fn report_work(&self, request: &AgentReportRequest) -> Result<AgentReportAnswer> {
        self.line.change(Method::POST, "/v1/tasks/report", request).await
    }

    pub async fn cancel_task(&self, task: &str) -> Result<TaskReport> {
        let selector = TaskSelector { task: task.to_owned() };
        self.line.change(Method::POST, "/v1/tasks/cancel", &selector).await
    }

    pub async fn retry_task(&self, request: &TaskRetryRequest) -> Result<TaskReport> {
        self.line.change(Method::POST, "/v1/tasks/retry", request).await
    }
}
