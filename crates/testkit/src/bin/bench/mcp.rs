//! Measures calls of tools of `segue mcp`. The baseline of what the server does itself is a server on
//! the same library that returns its arguments. The baseline of what the daemon does for a call is
//! the same request to the daemon without MCP.

use std::path::Path;
use std::process::Command;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ServerCapabilities,
    ServerConfig,
};
use rmcp::service::{RequestContext, serve_server};
use rmcp::transport::stdio_pipes;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use segue_testkit::runtime::block_on;
use segue_testkit::{RawClient, ToolClient, World};
use serde_json::{Value, json};

use crate::table::{Aim, Figure, Row};
use crate::timing::{median, timed};

const CALLS: usize = 500;
const AIM: Aim = Aim::Within(2.0);

/// The body of a request for the sessions that a list shows.
const EVERYTHING: &str = r#"{"all":false,"fleets":[],"vendors":[],"statuses":[],"folder":null}"#;

/// The word with which this program becomes the baseline's server.
pub(crate) const ECHO: &str = "mcp-echo";

pub(crate) fn measure(program: &Path) -> Vec<Row> {
    let world = World::new(program);
    world.ok(["run", "-d", "--vendor", "demo", "--name", "fox", "hello"]);
    world.ok(["wait", "fox"]);
    let fox = json!({"session": "fox"});
    let own = std::env::current_exe().expect("this program");
    let mut echo = ToolClient::spawn(Command::new(own).args(["alone", ECHO]));
    let echo = times(|| drop(echo.call("echo", &fox)));
    let mut client = ToolClient::start(&world);
    let refused = times(|| drop(client.try_call("agent_status", &json!({"agent": "fox"}))));
    let list = times(|| drop(client.call("agent_list", &json!({}))));
    let status = times(|| drop(client.call("agent_status", &fox)));
    let mut daemon = RawClient::connect(&world);
    let bare_list = times(|| request(&mut daemon, "POST /v1/list", EVERYTHING));
    let path = format!("GET /v1/session?address=fox&cwd={}", world.project().display());
    let bare_status = times(|| request(&mut daemon, &path, ""));
    vec![
        Row::new("MCP call that needs no daemon", refused).against(echo).aim(AIM),
        Row::new("MCP call: agent_list, against its request", list).against(bare_list).aim(AIM),
        Row::new("MCP call: agent_status, against its request", status)
            .against(bare_status)
            .aim(AIM),
        Row::new("MCP call: agent_list, against a call without work", list).against(echo),
    ]
}

fn times(mut call: impl FnMut()) -> Figure {
    // The first call connects.
    call();
    Figure::Time(median((0..CALLS).map(|_| timed(&mut call).0).collect()))
}

/// Sends a request and waits for its answer.
fn request(daemon: &mut RawClient, request: &str, body: &str) {
    let length = body.len();
    daemon.write(&format!(
        "{request} HTTP/1.1\r\nhost: segue\r\ncontent-type: application/json\r\n\
         content-length: {length}\r\n\r\n{body}"
    ));
    let (status, answer) = daemon.answer();
    assert_eq!(status, 200, "{answer:#}");
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
