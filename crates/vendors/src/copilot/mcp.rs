//! Registers an MCP server by an argument.

use segue_core::ports::{CommandLine, McpClient, McpServerCommand};
use serde_json::json;

use super::Copilot;
use crate::shared::mcp;

impl McpClient for Copilot {
    fn registration(&self, server: &McpServerCommand<'_>) -> CommandLine {
        let entry = json!({"type": "local", "tools": ["*"], "timeout": mcp::timeout_ms()});
        let file = mcp::file(server, &entry);
        let arguments = vec![format!("--additional-mcp-config=@{}", file.path.display())];
        CommandLine { arguments, files: vec![file] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{mcp_server, session, words};

    #[test]
    fn server_is_a_file_of_the_launch_with_a_timeout_for_long_waits() {
        let (session, arguments) = (session(), words("mcp"));
        let line = Copilot.registration(&mcp_server(&session, &arguments));
        assert_eq!(line.arguments, ["--additional-mcp-config=@/launch/mcp.json"]);
        let written: serde_json::Value = serde_json::from_str(&line.files[0].contents).unwrap();
        let entry = &written["mcpServers"]["segue"];
        assert_eq!((&entry["tools"], &entry["timeout"]), (&json!(["*"]), &json!(660_000)));
    }
}
