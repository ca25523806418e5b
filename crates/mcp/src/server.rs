//! The server of the protocol: answers its requests with tools, resources and prompts.

use std::sync::Arc;
use std::time::Duration;

use rmcp::ErrorData;
use rmcp::RoleServer;
use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, GetPromptRequestParams,
    GetPromptResponse, GetPromptResult, Implementation, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ProgressNotificationParam, ProgressToken, Prompt, PromptArgument, PromptMessage,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, Resource,
    ResourceContents, ResourceTemplate, Role, ServerCapabilities, ServerConfig, Tool,
    ToolAnnotations,
};
use rmcp::service::{Peer, RequestContext};
use segue_core::{Error, Kind, Result};
use serde_json::Value;
use tokio::sync::watch;
use tokio::time::{Instant, MissedTickBehavior, interval_at};

use crate::port::ApiCalls;
use crate::tools::{ToolAudience, ToolEntry};
use crate::{answers, prompts, resources, tools};

/// How often a call that takes long reports progress. Clients give up after 60 seconds without it.
const PROGRESS_PAUSE: Duration = Duration::from_secs(5);

const INSTRUCTIONS: &str = "Segue runs coding agents in sessions that survive crashes. Start agents \
    with agent_start, wait with agent_wait (again if `reached` is false), read their work with \
    agent_read. You reach your own session and the sessions that you started.";

/// The MCP server. It needs no handshake before a request, and asks the daemon only for calls.
#[derive(Clone, Debug)]
pub(crate) struct McpServer {
    api: Arc<dyn ApiCalls>,
    /// Becomes true when the client has closed its end. `None` if the transport reports that itself.
    input_ended: Option<watch::Receiver<bool>>,
}

impl McpServer {
    pub(crate) fn new(api: Arc<dyn ApiCalls>, input_ended: Option<watch::Receiver<bool>>) -> Self {
        Self { api, input_ended }
    }

    /// Calls a tool, and reports progress to the client until it returns.
    async fn call(
        &self,
        tool: &'static ToolEntry,
        arguments: Value,
        context: &RequestContext<RoleServer>,
    ) -> Result<Value> {
        let mut call = std::pin::pin!(tool.call(Arc::clone(&self.api), arguments));
        let token = context.meta.get_progress_token();
        let began = Instant::now();
        let mut ticks = interval_at(began + PROGRESS_PAUSE, PROGRESS_PAUSE);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                result = &mut call => return result,
                () = context.ct.cancelled(), if tool.is_read_only => return Err(cancelled()),
                () = end(self.input_ended.clone()), if tool.waits => return Err(cancelled()),
                _ = ticks.tick(), if token.is_some() => {
                    report_progress(&context.peer, token.as_ref(), began.elapsed()).await;
                }
            }
        }
    }
}

/// Waits for the end of the client's input.
async fn end(input_ended: Option<watch::Receiver<bool>>) {
    match input_ended {
        // An error means that the transport is gone.
        Some(mut ended) => drop(ended.wait_for(|ended| *ended).await),
        None => std::future::pending().await,
    }
}

/// Returns the error of a call whose client has stopped waiting for the answer.
fn cancelled() -> Error {
    Error::unavailable("the client has cancelled the call")
}

async fn report_progress(
    peer: &Peer<RoleServer>,
    token: Option<&ProgressToken>,
    elapsed: Duration,
) {
    let Some(token) = token else { return };
    let seconds = elapsed.as_secs();
    let progress = ProgressNotificationParam::new(token.clone(), elapsed.as_secs_f64())
        .with_message(format!("waiting for {seconds} seconds"));
    // A client that is gone needs no progress.
    let _ignored = peer.notify_progress(progress).await;
}

fn tool(entry: &ToolEntry) -> Tool {
    let mut annotations = ToolAnnotations::default();
    annotations.read_only_hint = Some(entry.is_read_only);
    annotations.destructive_hint = Some(false);
    annotations.open_world_hint = Some(false);
    Tool::new(entry.name, entry.description, Arc::new((entry.schema)()))
        .with_annotations(annotations)
}

/// Converts an error of a request other than a tool call, which has no result for errors.
fn error_data(error: &Error) -> ErrorData {
    let text = answers::failure(error);
    match error.kind {
        Kind::NotFound => ErrorData::resource_not_found(text, None),
        Kind::Usage => ErrorData::invalid_params(text, None),
        _ => ErrorData::internal_error(text, None),
    }
}

impl ServerHandler for McpServer {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_prompts()
            .build();
        let mut own = Implementation::new("segue", env!("CARGO_PKG_VERSION"));
        own.title = Some("Segue".to_owned());
        ServerConfig::new(capabilities).with_server_info(own).with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> std::result::Result<ListToolsResult, ErrorData> {
        // A tool that the daemon always refuses would only cost the agent tokens and turns.
        let is_agent = self.api.is_agent();
        let is_listed = |it: &&ToolEntry| !is_agent || it.audience == ToolAudience::All;
        let listed = tools::all().iter().filter(is_listed);
        Ok(ListToolsResult::with_all_items(listed.map(tool).collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> std::result::Result<CallToolResponse, ErrorData> {
        let Some(tool) = tools::find(&request.name) else {
            let name: String = request.name.chars().take(60).collect();
            let message = format!("there is no tool `{}`", name.escape_debug());
            return Err(ErrorData::invalid_params(message, None));
        };
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        let result = match self.call(tool, arguments, &context).await {
            Ok(answer) => CallToolResult::success(vec![ContentBlock::text(answer.to_string())]),
            Err(error) => CallToolResult::error(vec![ContentBlock::text(answers::failure(&error))]),
        };
        Ok(result.into())
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> std::result::Result<ListResourcesResult, ErrorData> {
        let found = resources::list(self.api.as_ref()).await;
        let resource = |it: resources::ListedResource| {
            Resource::new(it.uri, it.name).with_mime_type(resources::MIME_TYPE)
        };
        Ok(ListResourcesResult::with_all_items(found.into_iter().map(resource).collect()))
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> std::result::Result<ListResourceTemplatesResult, ErrorData> {
        let template = |(uri, name, description): (&str, &str, &str)| {
            ResourceTemplate::new(uri, name)
                .with_description(description)
                .with_mime_type(resources::MIME_TYPE)
        };
        let templates = resources::TEMPLATES.into_iter().map(template).collect();
        Ok(ListResourceTemplatesResult::with_all_items(templates))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> std::result::Result<ReadResourceResponse, ErrorData> {
        let text = resources::read(self.api.as_ref(), &request.uri).await;
        let text = text.map_err(|error| error_data(&error))?;
        let contents = ResourceContents::text(text, request.uri);
        Ok(ReadResourceResult::new(vec![contents]).into())
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> std::result::Result<ListPromptsResult, ErrorData> {
        let argument = |it: &prompts::PromptInput| {
            PromptArgument::new(it.name)
                .with_description(it.description)
                .with_required(it.is_required)
        };
        let prompt = |it: &prompts::McpPrompt| {
            let arguments = it.inputs.iter().map(argument).collect();
            Prompt::new(it.name, Some(it.description), Some(arguments))
        };
        Ok(ListPromptsResult::with_all_items(prompts::ALL.iter().map(prompt).collect()))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> std::result::Result<GetPromptResponse, ErrorData> {
        let inputs = request.arguments.unwrap_or_default();
        let input = |name: &str| {
            inputs.get(name).and_then(Value::as_str).map(str::trim).filter(|it| !it.is_empty())
        };
        let text = prompts::text(&request.name, input).map_err(|error| error_data(&error))?;
        let message = PromptMessage::new_text(Role::User, text);
        Ok(GetPromptResult::new(vec![message]).into())
    }
}
