//! How a vendor's program uses MCP servers that are registered for one launch.

use std::fmt::Debug;
use std::path::Path;

use super::CommandLine;
use crate::model::Environment;
use crate::rules::editor_servers;

/// How a vendor's program gets MCP servers for one launch. The user's settings are not changed.
pub trait McpClient: Debug + Send + Sync {
    /// Returns the arguments that register the servers, and the files that they refer to. They come
    /// before all other arguments. There is at least one server.
    fn registration(&self, servers: &McpServers<'_>) -> CommandLine;

    /// Adds the servers to settings that the program accepts only as environment variables, and
    /// removes those that an outer launch has added.
    fn add_settings(&self, _servers: &McpServers<'_>, _environment: &mut Environment) {}
}

/// The MCP servers of a launch.
#[derive(Clone, Copy, Debug)]
pub struct McpServers<'a> {
    /// Each with a name of its own.
    pub commands: &'a [McpServerCommand],
    /// The launch's folder, for files that only this launch needs.
    pub folder: &'a Path,
}

/// An MCP server of a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct McpServerCommand {
    /// Letters, digits, `-` and `_`. The vendors make it a part of the names of tools.
    pub name: String,
    /// The path of the program.
    pub program: String,
    pub arguments: Vec<String>,
    /// The variables of the agent's environment that the server needs.
    pub variables: Vec<&'static str>,
    /// Whether the agent must not begin without the server.
    pub is_required: bool,
}

impl McpServerCommand {
    /// The name of Segue's own server.
    pub const OWN_NAME: &str = editor_servers::RESERVED_NAME;
}
