//! The tools. Their names and parameters are documented in `docs/mcp.md` and stay the same.

mod agents;
mod plans;
mod reading;
mod tasks;
mod waiting;

use std::fmt::Debug;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;

use schemars::JsonSchema;
use segue_core::api::Caller;
use segue_core::{Error, Result};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::port::ApiCalls;
use crate::schemas;

pub(crate) use agents::find as find_session;
pub(crate) use reading::page as transcript_page;

/// A tool: parameters, and the requests that it makes.
trait McpTool {
    const NAME: &'static str;
    const DESCRIPTION: &'static str;
    /// The tool changes nothing. A cancelled call is dropped at once.
    const IS_READ_ONLY: bool;
    /// The tool waits for an agent. The end of the client's input ends the wait.
    const WAITS: bool = false;
    const AUDIENCE: ToolAudience = ToolAudience::All;
    type Parameters: DeserializeOwned + JsonSchema + Send;

    fn call(
        api: Arc<dyn ApiCalls>,
        parameters: Self::Parameters,
    ) -> impl Future<Output = Result<Value>> + Send;
}

/// Who may use a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ToolAudience {
    All,
    /// People, and programs that they start. The daemon refuses the tool to agents, so it is not
    /// listed for them.
    People,
}

type ToolFuture = Pin<Box<dyn Future<Output = Result<Value>> + Send>>;

/// A tool without its types.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ToolEntry {
    pub(crate) name: &'static str,
    pub(crate) description: &'static str,
    pub(crate) is_read_only: bool,
    pub(crate) waits: bool,
    pub(crate) audience: ToolAudience,
    pub(crate) schema: fn() -> Map<String, Value>,
    call: fn(Arc<dyn ApiCalls>, Value) -> ToolFuture,
}

const fn entry<T: McpTool + 'static>() -> ToolEntry {
    ToolEntry {
        name: T::NAME,
        description: T::DESCRIPTION,
        is_read_only: T::IS_READ_ONLY,
        waits: T::WAITS,
        audience: T::AUDIENCE,
        schema: schemas::parameters::<T::Parameters>,
        call: |api, arguments| {
            Box::pin(async move {
                let parameters = serde_json::from_value(arguments).map_err(|error| {
                    Error::usage(format!("the arguments of `{}` are wrong", T::NAME))
                        .caused_by(error)
                        .hint("compare them with the schema of the tool")
                })?;
                T::call(api, parameters).await
            })
        },
    }
}

/// All tools.
static TOOLS: [ToolEntry; 13] = [
    entry::<agents::AgentList>(),
    entry::<agents::AgentStatus>(),
    entry::<agents::AgentStarting>(),
    entry::<agents::AgentSend>(),
    entry::<waiting::AgentWaitTool>(),
    entry::<reading::AgentRead>(),
    entry::<agents::AgentAnswer>(),
    entry::<agents::AgentHandoff>(),
    entry::<tasks::TaskAdd>(),
    entry::<tasks::TaskWaitTool>(),
    entry::<tasks::TaskReporting>(),
    entry::<plans::PlanApply>(),
    entry::<plans::PlanShow>(),
];

pub(crate) fn all() -> &'static [ToolEntry] {
    &TOOLS
}

pub(crate) fn find(name: &str) -> Option<&'static ToolEntry> {
    TOOLS.iter().find(|tool| tool.name == name)
}

impl ToolEntry {
    pub(crate) async fn call(&self, api: Arc<dyn ApiCalls>, arguments: Value) -> Result<Value> {
        (self.call)(api, arguments).await
    }
}

/// A tool as the documentation lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolListing {
    pub name: &'static str,
    pub parameters: Vec<ToolParameter>,
}

/// A parameter of a tool as the documentation lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolParameter {
    pub name: String,
    pub is_required: bool,
}

/// Returns all tools, for the comparison with the documentation.
pub fn listing() -> Vec<ToolListing> {
    let tool = |tool: &ToolEntry| {
        let schema = (tool.schema)();
        let required = schema.get("required").and_then(Value::as_array).cloned();
        let required = required.unwrap_or_default();
        let properties = schema.get("properties").and_then(Value::as_object);
        let names = properties.into_iter().flat_map(Map::keys).cloned();
        let parameters = names.map(|name| ToolParameter {
            is_required: required.contains(&Value::String(name.clone())),
            name,
        });
        ToolListing { name: tool.name, parameters: parameters.collect() }
    };
    TOOLS.iter().map(tool).collect()
}

/// Returns the caller with this folder as its working folder. `None` is the caller's own folder.
fn caller_in(api: &dyn ApiCalls, folder: Option<PathBuf>) -> Result<Caller> {
    let caller = api.caller();
    match folder {
        Some(cwd) if cwd.is_absolute() => Ok(Caller { cwd, ..caller }),
        Some(relative) => {
            let relative = relative.display();
            Err(Error::usage(format!("`folder` must be an absolute path, got `{relative}`")))
        }
        None if api.has_folder() => Ok(caller),
        None => Err(Error::usage("`folder` is needed: a client on a network has no folder")
            .hint("give the absolute path of the project's folder on the machine of the daemon")),
    }
}
