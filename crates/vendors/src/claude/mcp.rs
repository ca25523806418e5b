//! Registers an MCP server by an argument. Other servers of the user stay.

use segue_core::model::Environment;
use segue_core::ports::{CommandLine, McpClient, McpServers};
use serde_json::json;

use super::Claude;
use crate::shared::mcp;

/// Settings with which a launch waits until its MCP servers are connected. Without them, its first turn
/// may begin without their tools.
const WAITING: [(&str, &str); 2] =
    [("MCP_CONNECTION_NONBLOCKING", "0"), ("MCP_CONNECT_TIMEOUT_MS", "20000")];

impl McpClient for Claude {
    fn registration(&self, servers: &McpServers<'_>) -> CommandLine {
        let file = mcp::file(servers, &json!({"type": "stdio"}));
        // Flag and value are one argument: the flag takes any number of values.
        let arguments = vec![format!("--mcp-config={}", file.path.display())];
        CommandLine { arguments, files: vec![file] }
    }

    fn add_settings(&self, servers: &McpServers<'_>, environment: &mut Environment) {
        // Both values are those of an outer or an earlier launch. If they stayed, their names would be
        // recorded, and the session would wait for them after a reboot.
        if WAITING.iter().all(|&(name, value)| environment.get(name) == Some(value)) {
            environment.retain(|name| WAITING.iter().all(|&(ours, _)| name != ours));
        }
        for (name, value) in WAITING.into_iter().filter(|_| !servers.commands.is_empty()) {
            if environment.get(name).is_none() {
                environment.set(name, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{environment, mcp_commands, mcp_servers};

    #[test]
    fn servers_are_a_file_of_the_launch_and_their_tools_are_there_for_the_first_turn() {
        let commands = mcp_commands();
        let servers = mcp_servers(&commands);
        let line = Claude.registration(&servers);
        assert_eq!(line.arguments, ["--mcp-config=/launch/mcp.json"]);
        let written: serde_json::Value = serde_json::from_str(&line.files[0].contents).unwrap();
        let entry = |args| json!({"type": "stdio", "command": "/opt/se gue", "args": args});
        let (own, other) = (entry(json!(["mcp"])), entry(json!(["relay", "my-files"])));
        assert_eq!(written, json!({"mcpServers": {"segue": own, "my-files": other}}));
        let mut variables = environment(&[("MCP_CONNECT_TIMEOUT_MS", "5")]);
        Claude.add_settings(&servers, &mut variables);
        assert_eq!(variables.get("MCP_CONNECTION_NONBLOCKING"), Some("0"));
        assert_eq!(variables.get("MCP_CONNECT_TIMEOUT_MS"), Some("5"), "the user has set it");
        let outer = [("MCP_CONNECTION_NONBLOCKING", "0"), ("MCP_CONNECT_TIMEOUT_MS", "20000")];
        for before in [environment(&[]), environment(&outer)] {
            let mut variables = before;
            Claude.add_settings(&mcp_servers(&[]), &mut variables);
            assert_eq!(variables, environment(&[]));
        }
        let mut variables = environment(&[]);
        Claude.add_settings(&servers, &mut variables);
        assert_eq!(variables, environment(&outer));
    }
}
