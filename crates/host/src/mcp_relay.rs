//! The process that becomes an MCP server of an editor.

use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use segue_core::rules::editor_servers::{self, EditorServer};
use segue_core::{Error, Result};

use crate::process_context::ProcessContext;

/// Becomes the server whose name is the only argument. Its definition is in the environment of this
/// process. Returns only if that fails. The error contains nothing of the definition.
pub fn become_server(arguments: impl IntoIterator<Item = OsString>) -> Error {
    let Err(error) = exec(arguments.into_iter().next());
    error
}

fn exec(name: Option<OsString>) -> Result<std::convert::Infallible> {
    let name = name.and_then(|name| name.into_string().ok()).ok_or_else(|| {
        Error::usage(format!("only an agent's program may use `{}`", editor_servers::SUBCOMMAND))
    })?;
    let environment = ProcessContext::read()?.environment;
    let EditorServer { name, command, args, env } = editor_servers::find(&environment, &name)?;
    let error =
        Command::new(command).args(args).env_remove(editor_servers::VARIABLE).envs(env).exec();
    Err(Error::unavailable(format!("cannot start the MCP server `{name}`")).caused_by(error))
}
