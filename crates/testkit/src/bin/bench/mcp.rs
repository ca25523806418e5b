//! Measures a call of a tool of `segue mcp`, which asks the daemon. The baseline is a server on the same
//! library that returns its arguments.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ServerCapabilities,
    ServerConfig,
};
use rmcp::service::{RequestContext, serve_server};
use rmcp::transport::stdio_pipes;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use segue_testkit::runtime::block_on;
use segue_testkit::{ToolClient, World};
use serde_json::{Value, json};

use crate::table::{Aim, Figure, Row};
use crate::timing::{median, timed};

const CALLS: usize = 500;
const AIM: Aim = Aim::Within(2.0);

/// The word with which this program becomes the baseline's server.
pub(crate) const ECHO: &str = "mcp-echo";

pub(crate) fn measure(program: &Path) -> Vec<Row> {
    let world = World::new(program);
    world.ok(["run", "-d", "--vendor", "demo", "--name", "fox", "hello"]);
    world.ok(["wait", "fox"]);
    let mut client = ToolClient::start(&world);
    let arguments = json!({"session": "fox"});
    let list = call_times(&mut client, "agent_list", &json!({}));
    let status = call_times(&mut client, "agent_status", &arguments);
    let own = std::env::current_exe().expect("this program");
    let mut echo = ToolClient::spawn(Command::new(own).args(["alone", ECHO]));
    let bare = Figure::Time(call_times(&mut echo, "echo", &arguments));
    vec![
        Row::new("MCP call: agent_list", Figure::Time(list)).against(bare).aim(AIM),
        Row::new("MCP call: agent_status", Figure::Time(status)).against(bare).aim(AIM),
    ]
}

fn call_times(client: &mut ToolClient, tool: &str, arguments: &Value) -> Duration {
    // The first call connects.
    client.call(tool, arguments);
    median((0..CALLS).map(|_| timed(|| client.call(tool, arguments)).0).collect())
}

/// Serves the baseline until the input ends.
pub(crate) fn serve_echo() {
    block_on(async {
        let running = serve_server(EchoServer, stdio_pipes()).await.expect("a client");
        drop(running.waiting().await);
    });
}

/// A server whose only tool returns its arguments.
struct EchoServer;

impl ServerHandler for EchoServer {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let text = Value::Object(request.arguments.unwrap_or_default()).to_string();
        Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into())
    }
}
