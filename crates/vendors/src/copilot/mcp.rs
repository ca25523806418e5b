//! Registers an MCP server by an argument.

use segue_core::ports::{CommandLine, McpClient, McpServers};
use serde_json::json;

use super::Copilot;
use crate::shared::mcp;

impl McpClient for Copilot {
    fn registration(&self, servers: &McpServers<'_>) -> CommandLine {
        let entry = json!({"type": "local", "tools": ["*"], "timeout": mcp::timeout_ms()});
        let file = mcp::file(servers, &entry);
        let arguments = vec![format!("--additional-mcp-config=@{}", file.path.display())];
        CommandLine { arguments, files: vec![file] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{mcp_commands, mcp_servers};

    #[test]
    fn servers_are_a_file_of_the_launch_with_a_timeout_for_long_waits() {
        let line = Copilot.registration(&mcp_servers(&mcp_commands()));
        assert_eq!(line.arguments, ["--additional-mcp-config=@/launch/mcp.json"]);
        let written: serde_json::Value = serde_json::from_str(&line.files[0].contents).unwrap();
        for name in ["segue", "my-files"] {
            let entry = &written["mcpServers"][name];
            assert_eq!((&entry["tools"], &entry["timeout"]), (&json!(["*"]), &json!(660_000)));
        }
        assert_eq!(written["mcpServers"]["my-files"]["args"], json!(["relay", "my-files"]));
    }
}
