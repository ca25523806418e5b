//! The requests about plans.

use hyper::Method;
use segue_core::Result;
use segue_core::api::{
    PlanApplyReport, PlanApplyRequest, PlanList, PlanListRequest, PlanSelector, PlanTaskSelector,
    PlanView,
};

use super::Client;

impl Client {
    pub async fn apply_plan(&self, request: &PlanApplyRequest) -> Result<PlanApplyReport> {
        self.line.change(Method::POST, "/v1/plans/apply", request).await
    }

    pub async fn plans(&self, request: &PlanListRequest) -> Result<PlanList> {
        self.line.ask(Method::POST, "/v1/plans/list", request).await
    }

    pub async fn plan(&self, selector: &PlanSelector) -> Result<PlanView> {
        self.line.ask(Method::POST, "/v1/plans/show", selector).await
    }

    pub async fn pause_plan(&self, selector: &PlanSelector) -> Result<PlanView> {
        self.line.change(Method::POST, "/v1/plans/pause", selector).await
    }

    pub async fn resume_plan(&self, selector: &PlanSelector) -> Result<PlanView> {
        self.line.change(Method::POST, "/v1/plans/resume", selector).await
    }

    pub async fn cancel_plan(&self, selector: &PlanSelector) -> Result<PlanView> {
        self.line.change(Method::POST, "/v1/plans/cancel", selector).await
    }

    pub async fn retry_plan_task(&self, selector: &PlanTaskSelector) -> Result<PlanView> {
        self.line.change(Method::POST, "/v1/plans/retry", selector).await
    }

    pub async fn approve_plan_gate(&self, selector: &PlanTaskSelector) -> Result<PlanView> {
        self.line.change(Method::POST, "/v1/plans/approve", selector).await
    }
}
