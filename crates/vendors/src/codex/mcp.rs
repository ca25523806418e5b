//! Registers an MCP server by arguments.

use segue_core::ports::{CommandLine, McpClient, McpServerCommand, McpServers};
use segue_core::rules::editor_servers;

use super::{Codex, settings};
use crate::shared::mcp;

/// Without this setting, Codex writes the environment of its shell into a file, and so the secrets of
/// an editor's servers.
const NO_SHELL_SNAPSHOT: &str = "features.shell_snapshot=false";

impl McpClient for Codex {
    fn registration(&self, servers: &McpServers<'_>) -> CommandLine {
        let mut arguments: Vec<String> = servers.commands.iter().flat_map(arguments).collect();
        let has_definitions =
            |server: &McpServerCommand| server.variables.contains(&editor_servers::VARIABLE);
        if servers.commands.iter().any(has_definitions) {
            arguments.extend(["-c".to_owned(), NO_SHELL_SNAPSHOT.to_owned()]);
        }
        CommandLine { arguments, files: Vec::new() }
    }
}

/// Returns the settings of a server. Codex gives it only the variables that it is told to, and fails
/// if a required server does not start: else it would begin without the tools.
fn arguments(server: &McpServerCommand) -> Vec<String> {
    let list = |words: &mut dyn Iterator<Item = &str>| {
        let words: Vec<String> = words.map(settings::quoted).collect();
        format!("[{}]", words.join(","))
    };
    let settings = [
        ("command", settings::quoted(&server.program)),
        ("args", list(&mut server.arguments.iter().map(String::as_str))),
        ("env_vars", list(&mut server.variables.iter().copied())),
        ("tool_timeout_sec", mcp::TOOL_TIMEOUT_SECONDS.to_string()),
        ("required", server.is_required.to_string()),
    ];
    let name = &server.name;
    let argument = |(key, value): (&str, String)| format!("mcp_servers.{name}.{key}={value}");
    settings.map(argument).into_iter().flat_map(|setting| ["-c".to_owned(), setting]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{mcp_commands, mcp_servers};

    #[test]
    fn servers_get_the_variables_that_they_need() {
        let line = Codex.registration(&mcp_servers(&mcp_commands()));
        let settings: Vec<&String> = line.arguments.iter().filter(|it| *it != "-c").collect();
        let table: toml::Table =
            settings.iter().map(|it| format!("{it}\n")).collect::<String>().parse().unwrap();
        for command in mcp_commands() {
            let server = &table["mcp_servers"][&command.name];
            assert_eq!(server["command"].as_str(), Some("/opt/se gue"));
            assert_eq!(server["args"], command.arguments.into());
            assert_eq!(server["env_vars"], command.variables.into());
            assert_eq!(server["required"].as_bool(), Some(command.is_required));
        }
        assert_eq!((line.arguments.len(), line.files.len()), (22, 0));
        assert_eq!(table["features"]["shell_snapshot"].as_bool(), Some(false));
        let own = Codex.registration(&mcp_servers(&mcp_commands()[..1]));
        assert_eq!(own.arguments.len(), 10);
    }
}
