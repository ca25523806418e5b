//! Registers an MCP server by a file with default settings, which have the lowest rank: the settings of
//! the user stay.

use std::path::Path;

use segue_core::model::Environment;
use segue_core::ports::{CommandLine, McpClient, McpServers};
use serde_json::json;

use super::Gemini;
use crate::shared::mcp;

/// The environment variable with the path of default settings.
const DEFAULTS_VARIABLE: &str = "GEMINI_CLI_SYSTEM_DEFAULTS_PATH";

impl McpClient for Gemini {
    fn registration(&self, servers: &McpServers<'_>) -> CommandLine {
        let file = mcp::file(servers, &json!({"timeout": mcp::timeout_ms()}));
        CommandLine { arguments: Vec::new(), files: vec![file] }
    }

    fn add_settings(&self, servers: &McpServers<'_>, environment: &mut Environment) {
        // The file of an outer launch has the name of our own file.
        let is_of_launch = environment
            .get(DEFAULTS_VARIABLE)
            .and_then(|path| Path::new(path).file_name())
            .is_some_and(|name| name == mcp::FILE);
        if is_of_launch {
            environment.retain(|name| name != DEFAULTS_VARIABLE);
        }
        if !servers.commands.is_empty() {
            let path = servers.folder.join(mcp::FILE);
            environment.set(DEFAULTS_VARIABLE, path.to_string_lossy());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{environment, mcp_commands, mcp_servers};

    #[test]
    fn default_settings_of_the_launch_replace_those_of_an_outer_launch_only() {
        let commands = mcp_commands();
        let servers = mcp_servers(&commands);
        assert_eq!(Gemini.registration(&servers).files[0].path, Path::new("/launch/mcp.json"));
        let table = [
            (None, true, Some("/launch/mcp.json")),
            (Some("/outer/mcp.json"), true, Some("/launch/mcp.json")),
            (Some("/outer/mcp.json"), false, None),
            (Some("/etc/defaults.json"), false, Some("/etc/defaults.json")),
            (None, false, None),
        ];
        for (before, has_server, after) in table {
            let mut variables = environment(&[]);
            if let Some(before) = before {
                variables.set(DEFAULTS_VARIABLE, before);
            }
            let servers = if has_server { servers } else { mcp_servers(&[]) };
            Gemini.add_settings(&servers, &mut variables);
            assert_eq!(variables.get(DEFAULTS_VARIABLE), after, "{before:?} {has_server}");
        }
    }
}
