//! Registers an MCP server in the settings of the environment.

use segue_core::model::Environment;
use segue_core::ports::{CommandLine, McpClient, McpServerCommand, McpServers};
use segue_core::rules::editor_servers;
use serde_json::{Value, json};

use super::OpenCode;
use super::launch::SETTINGS_VARIABLE;
use crate::shared::mcp;

impl McpClient for OpenCode {
    fn registration(&self, _servers: &McpServers<'_>) -> CommandLine {
        CommandLine::default()
    }

    /// Adds the servers to the settings, and removes those of an outer launch.
    fn add_settings(&self, servers: &McpServers<'_>, environment: &mut Environment) {
        let text = environment.get(SETTINGS_VARIABLE);
        let configured = text.and_then(|text| serde_json::from_str::<Value>(text).ok());
        let mut settings = configured.filter(Value::is_object).unwrap_or_else(|| json!({}));
        let known = settings.get("mcp").and_then(Value::as_object).cloned().unwrap_or_default();
        let mut entries = known.clone();
        entries.retain(|name, entry| name != McpServerCommand::OWN_NAME && !is_relay(entry));
        entries.extend(servers.commands.iter().map(|server| (server.name.clone(), entry(server))));
        if entries != known {
            settings["mcp"] = Value::Object(entries);
            environment.set(SETTINGS_VARIABLE, settings.to_string());
        }
    }
}

/// Returns whether a launch has added this server of an editor.
fn is_relay(entry: &Value) -> bool {
    entry["command"].get(1).is_some_and(|word| word == editor_servers::SUBCOMMAND)
}

fn entry(server: &McpServerCommand) -> Value {
    let program = std::iter::once(&server.program);
    let command: Vec<&String> = program.chain(&server.arguments).collect();
    json!({"type": "local", "command": command, "enabled": true, "timeout": mcp::timeout_ms()})
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{environment, mcp_commands, mcp_servers};

    #[test]
    fn servers_are_added_to_the_settings_of_the_user_and_those_of_an_outer_launch_are_removed() {
        let commands = mcp_commands();
        let entry = |command: Value| json!({"type": "local", "command": command, "enabled": true, "timeout": 660_000});
        let own = entry(json!(["/opt/se gue", "mcp"]));
        let files = entry(json!(["/opt/se gue", "relay", "my-files"]));
        let other = json!({"type": "remote"});
        let users = json!({"theme": "x", "mcp": {"other": other}});
        let relay = json!({"type": "local", "command": ["/opt/segue", "mcp-relay", "x"]});
        let table = [
            (None, 2, Some(json!({"mcp": {"segue": own, "my-files": files}}))),
            (
                Some(users.clone()),
                1,
                Some(json!({"theme": "x", "mcp": {"other": other, "segue": own}})),
            ),
            (
                Some(json!({"theme": "x", "mcp": {"other": other, "segue": {}}})),
                0,
                Some(users.clone()),
            ),
            (
                Some(json!({"theme": "x", "mcp": {"other": other, "x": relay}})),
                1,
                Some(json!({"theme": "x", "mcp": {"other": other, "segue": own}})),
            ),
            (Some(users.clone()), 0, Some(users)),
            (None, 0, None),
        ];
        for (before, count, after) in table {
            let mut variables = environment(&[]);
            if let Some(before) = &before {
                variables.set(SETTINGS_VARIABLE, before.to_string());
            }
            OpenCode.add_settings(&mcp_servers(&commands[..count]), &mut variables);
            let found = variables.get(SETTINGS_VARIABLE);
            let found: Option<Value> = found.map(|text| serde_json::from_str(text).unwrap());
            assert_eq!(found, after, "{before:?} {count}");
        }
    }
}
