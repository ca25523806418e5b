//! Registers an MCP server by an argument. Other servers of the user stay.

use segue_core::model::Environment;
use segue_core::ports::{CommandLine, McpClient, McpServerCommand};
use serde_json::json;

use super::Claude;
use crate::shared::mcp;

/// Settings with which a launch waits until its MCP servers are connected. Without them, its first turn
/// may begin without their tools.
const WAITING: [(&str, &str); 2] =
    [("MCP_CONNECTION_NONBLOCKING", "0"), ("MCP_CONNECT_TIMEOUT_MS", "20000")];

impl McpClient for Claude {
    fn registration(&self, server: &McpServerCommand<'_>) -> CommandLine {
        let file = mcp::file(server, &json!({"type": "stdio"}));
        // Flag and value are one argument: the flag takes any number of values.
        let arguments = vec![format!("--mcp-config={}", file.path.display())];
        CommandLine { arguments, files: vec![file] }
    }

    fn add_settings(&self, server: Option<&McpServerCommand<'_>>, environment: &mut Environment) {
        for (name, value) in WAITING.into_iter().filter(|_| server.is_some()) {
            if environment.get(name).is_none() {
                environment.set(name, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{environment, mcp_server, session, words};

    #[test]
    fn server_is_a_file_of_the_launch_and_its_tools_are_there_for_the_first_turn() {
        let (session, arguments) = (session(), words("mcp"));
        let server = mcp_server(&session, &arguments);
        let line = Claude.registration(&server);
        assert_eq!(line.arguments, ["--mcp-config=/launch/mcp.json"]);
        let written: serde_json::Value = serde_json::from_str(&line.files[0].contents).unwrap();
        let entry = json!({"type": "stdio", "command": "/opt/se gue", "args": ["mcp"]});
        assert_eq!(written, json!({"mcpServers": {"segue": entry}}));
        let mut variables = environment(&[("MCP_CONNECT_TIMEOUT_MS", "5")]);
        Claude.add_settings(Some(&server), &mut variables);
        assert_eq!(variables.get("MCP_CONNECTION_NONBLOCKING"), Some("0"));
        assert_eq!(variables.get("MCP_CONNECT_TIMEOUT_MS"), Some("5"), "the user has set it");
        let mut variables = environment(&[]);
        Claude.add_settings(None, &mut variables);
        assert_eq!(variables, environment(&[]));
    }
}
