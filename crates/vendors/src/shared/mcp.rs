//! The MCP servers of a launch in the settings of vendors' programs.

use segue_core::ports::{McpServers, NewFile};
use serde_json::{Map, Value, json};

/// How long a call may take, in seconds. The longest wait of a tool is 600 seconds.
pub(crate) const TOOL_TIMEOUT_SECONDS: u64 = 660;

/// The file of the launch with the settings.
pub(crate) const FILE: &str = "mcp.json";

/// Returns the file with the settings that most programs read. `more` is added to each server.
pub(crate) fn file(servers: &McpServers<'_>, more: &Value) -> NewFile {
    let entries: Map<String, Value> = servers
        .commands
        .iter()
        .map(|server| {
            let mut entry = json!({"command": server.program, "args": server.arguments});
            if let (Some(entry), Some(more)) = (entry.as_object_mut(), more.as_object()) {
                entry.extend(more.clone());
            }
            (server.name.clone(), entry)
        })
        .collect();
    let contents = json!({"mcpServers": entries}).to_string();
    NewFile { path: servers.folder.join(FILE), contents }
}

/// The timeout of a call in milliseconds, for programs that have it in the entry of a server.
pub(crate) fn timeout_ms() -> u64 {
    TOOL_TIMEOUT_SECONDS * 1000
}
