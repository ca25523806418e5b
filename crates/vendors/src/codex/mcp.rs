//! Registers an MCP server by arguments.

use segue_core::ports::{CommandLine, McpClient, McpServerCommand};
use segue_core::rules::environment::FOR_OWN_PROCESSES;

use super::{Codex, settings};
use crate::shared::mcp;

impl McpClient for Codex {
    /// Returns the settings of the server. Codex gives it only the variables that it is told to, and
    /// fails if the server does not start: else it would begin without the tools.
    fn registration(&self, server: &McpServerCommand<'_>) -> CommandLine {
        let list = |words: &mut dyn Iterator<Item = &str>| {
            let words: Vec<String> = words.map(settings::quoted).collect();
            format!("[{}]", words.join(","))
        };
        let settings = [
            ("command", settings::quoted(server.program)),
            ("args", list(&mut server.arguments.iter().map(String::as_str))),
            ("env_vars", list(&mut FOR_OWN_PROCESSES.into_iter())),
            ("tool_timeout_sec", mcp::TOOL_TIMEOUT_SECONDS.to_string()),
            ("required", "true".to_owned()),
        ];
        let name = mcp::NAME;
        let argument = |(key, value): (&str, String)| format!("mcp_servers.{name}.{key}={value}");
        let arguments = settings.map(argument).map(|setting| ["-c".to_owned(), setting]);
        CommandLine { arguments: arguments.into_iter().flatten().collect(), files: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{mcp_server, session, words};

    #[test]
    fn server_gets_the_variables_that_name_its_session() {
        let (session, arguments) = (session(), words("mcp"));
        let line = Codex.registration(&mcp_server(&session, &arguments));
        let settings: Vec<&String> = line.arguments.iter().filter(|it| *it != "-c").collect();
        let table: toml::Table =
            settings.iter().map(|it| format!("{it}\n")).collect::<String>().parse().unwrap();
        let server = &table["mcp_servers"]["segue"];
        assert_eq!(server["command"].as_str(), Some("/opt/se gue"));
        assert_eq!(server["args"][0].as_str(), Some("mcp"));
        let names = server["env_vars"].as_array().unwrap();
        for name in ["SEGUE_SESSION", "SEGUE_LAUNCH", "SEGUE_HOME"] {
            assert!(names.iter().any(|it| it.as_str() == Some(name)), "{name}");
        }
        assert_eq!(server["required"].as_bool(), Some(true));
        assert_eq!((line.arguments.len(), line.files.len()), (10, 0));
    }
}
