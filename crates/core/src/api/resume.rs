//! Bringing sessions back.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Caller, PlanReport, RestoreReport, Selection};

/// `POST /v1/resume`
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ResumeRequest {
    #[schemars(default)]
    pub caller: Caller,
    pub selection: Selection,
    pub fresh: Vec<String>,
    /// Only report what would be done.
    pub plan: bool,
    /// Also bring back sessions that were ended on purpose.
    #[serde(default)]
    pub stopped: bool,
}

/// The response to `POST /v1/resume`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ResumeAnswer {
    Restored(RestoreReport),
    /// The request was `--plan`.
    Planned(PlanReport),
}

/// `POST /v1/resume/count`: how many sessions `segue resume` would bring back in this folder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ResumeCount {
    /// How many sessions do not run and would be brought back.
    pub to_bring_back: usize,
}
