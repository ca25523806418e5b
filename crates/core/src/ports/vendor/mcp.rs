//! How a vendor's program uses an MCP server that is registered for one launch.

use std::fmt::Debug;
use std::path::Path;

use super::CommandLine;
use crate::model::{Environment, Session};

/// How a vendor's program gets an MCP server for one launch. The user's settings are not changed.
pub trait McpClient: Debug + Send + Sync {
    /// Returns the arguments that register the server, and the files that they refer to. They come
    /// before all other arguments.
    fn registration(&self, server: &McpServerCommand<'_>) -> CommandLine;

    /// Adds the server to settings that the program accepts only as environment variables. Without
    /// a server, removes what an outer launch has added.
    fn add_settings(&self, _server: Option<&McpServerCommand<'_>>, _environment: &mut Environment) {
    }
}

/// The MCP server of a launch.
#[derive(Clone, Copy, Debug)]
pub struct McpServerCommand<'a> {
    pub session: &'a Session,
    /// The path of the program.
    pub program: &'a str,
    pub arguments: &'a [String],
    /// The launch's folder, for files that only this launch needs.
    pub folder: &'a Path,
}
