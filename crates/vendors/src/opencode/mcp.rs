//! Registers an MCP server in the settings of the environment.

use segue_core::model::Environment;
use segue_core::ports::{CommandLine, McpClient, McpServerCommand};
use serde_json::{Value, json};

use super::OpenCode;
use super::launch::SETTINGS_VARIABLE;
use crate::shared::mcp;

impl McpClient for OpenCode {
    fn registration(&self, _server: &McpServerCommand<'_>) -> CommandLine {
        CommandLine::default()
    }

    /// Adds the server to the settings, or removes that of an outer launch.
    fn add_settings(&self, server: Option<&McpServerCommand<'_>>, environment: &mut Environment) {
        let text = environment.get(SETTINGS_VARIABLE);
        let configured = text.and_then(|text| serde_json::from_str::<Value>(text).ok());
        let mut settings = configured.filter(Value::is_object).unwrap_or_else(|| json!({}));
        let entry = server.map(entry);
        let is_known = settings["mcp"].get(mcp::NAME).is_some();
        match (entry, settings["mcp"].as_object_mut()) {
            (Some(entry), Some(servers)) => drop(servers.insert(mcp::NAME.to_owned(), entry)),
            (Some(entry), None) => settings["mcp"] = json!({mcp::NAME: entry}),
            (None, Some(servers)) if is_known => drop(servers.remove(mcp::NAME)),
            (None, _) => return,
        }
        environment.set(SETTINGS_VARIABLE, settings.to_string());
    }
}

fn entry(server: &McpServerCommand<'_>) -> Value {
    let program = std::iter::once(server.program);
    let command: Vec<&str> = program.chain(server.arguments.iter().map(String::as_str)).collect();
    json!({"type": "local", "command": command, "enabled": true, "timeout": mcp::timeout_ms()})
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{environment, mcp_server, session, words};

    #[test]
    fn server_is_added_to_the_settings_of_the_user_and_that_of_an_outer_launch_is_removed() {
        let (session, arguments) = (session(), words("mcp"));
        let server = mcp_server(&session, &arguments);
        let own = json!({"type": "local", "command": ["/opt/se gue", "mcp"], "enabled": true,
            "timeout": 660_000});
        let other = json!({"type": "remote"});
        let users = json!({"theme": "x", "mcp": {"other": other}});
        let table = [
            (None, true, Some(json!({"mcp": {"segue": own}}))),
            (
                Some(users.clone()),
                true,
                Some(json!({"theme": "x", "mcp": {"other": other, "segue": own}})),
            ),
            (
                Some(json!({"theme": "x", "mcp": {"other": other, "segue": {}}})),
                false,
                Some(users.clone()),
            ),
            (Some(users.clone()), false, Some(users)),
            (None, false, None),
        ];
        for (before, has_server, after) in table {
            let mut variables = environment(&[]);
            if let Some(before) = &before {
                variables.set(SETTINGS_VARIABLE, before.to_string());
            }
            OpenCode.add_settings(has_server.then_some(&server), &mut variables);
            let found = variables.get(SETTINGS_VARIABLE);
            let found: Option<Value> = found.map(|text| serde_json::from_str(text).unwrap());
            assert_eq!(found, after, "{before:?} {has_server}");
        }
    }
}
