//! Segue's MCP server in the settings of vendors' programs.

use segue_core::ports::{McpServerCommand, NewFile};
use serde_json::{Value, json};

/// The name of the server in every vendor's settings. The vendors make it a part of the names of
/// tools.
pub(crate) const NAME: &str = "segue";

/// How long a call may take, in seconds. The longest wait of a tool is 600 seconds.
pub(crate) const TOOL_TIMEOUT_SECONDS: u64 = 660;

/// The file of the launch with the settings.
pub(crate) const FILE: &str = "mcp.json";

/// Returns the file with the settings that most programs read.
pub(crate) fn file(server: &McpServerCommand<'_>, more: &Value) -> NewFile {
    let mut entry = json!({"command": server.program, "args": server.arguments});
    if let (Some(entry), Some(more)) = (entry.as_object_mut(), more.as_object()) {
        entry.extend(more.clone());
    }
    let contents = json!({"mcpServers": {NAME: entry}}).to_string();
    NewFile { path: server.folder.join(FILE), contents }
}

/// The timeout of a call in milliseconds, for programs that have it in the entry of a server.
pub(crate) fn timeout_ms() -> u64 {
    TOOL_TIMEOUT_SECONDS * 1000
}
