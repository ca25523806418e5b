//! The requests about disk use, old things, and conversations about issues.

use hyper::Method;
use segue_core::Result;
use segue_core::api::{
    DiskReport, DiskRequest, ResetReport, ResetRequest, SweepReport, SweepRequest,
};

use super::Client;
use crate::routes::query;

impl Client {
    pub async fn disk(&self, request: &DiskRequest) -> Result<DiskReport> {
        self.line.ask(Method::GET, &query("/v1/disk", request)?, &()).await
    }

    pub async fn sweep(&self, request: &SweepRequest) -> Result<SweepReport> {
        self.line.change(Method::POST, "/v1/sweep", request).await
    }

    pub async fn reset(&self, request: &ResetRequest) -> Result<ResetReport> {
        self.line.change(Method::POST, "/v1/reset", request).await
    }
}
