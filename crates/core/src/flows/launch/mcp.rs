//! Registers Segue's own MCP server for a launch.

use std::path::PathBuf;

use crate::error::Result;
use crate::flows::projects;
use crate::model::{Environment, LaunchId, Session};
use crate::ports::{CommandLine, McpServerCommand, Ports, ProgramSpec, Vendor};

/// The subcommand that is the MCP server.
const SUBCOMMAND: &str = "mcp";

/// The MCP server of a launch.
struct OwnServer {
    program: String,
    arguments: Vec<String>,
    folder: PathBuf,
}

impl OwnServer {
    /// Returns the server of a launch. `None` if its session has none.
    fn of(ports: &Ports, session: &Session, launch: LaunchId) -> Option<Self> {
        if !session.mcp {
            return None;
        }
        let spec = ProgramSpec::Segue { subcommand: SUBCOMMAND };
        let program = ports.machine.find_program(&spec, &Environment::default());
        // A path in `/proc` means that the file was replaced: it becomes invalid when this process
        // ends. The vendor's program then finds the new file by its name.
        let program = program.filter(|program| !program.path.starts_with("/proc"));
        let folder = ports.folders.folder(launch);
        Some(match program {
            Some(program) => Self {
                program: program.path.display().to_string(),
                arguments: program.arguments,
                folder,
            },
            None => {
                let arguments = vec![SUBCOMMAND.to_owned()];
                Self { program: "segue".to_owned(), arguments, folder }
            }
        })
    }

    fn command<'a>(&'a self, session: &'a Session) -> McpServerCommand<'a> {
        let Self { program, arguments, folder } = self;
        McpServerCommand { session, program, arguments, folder }
    }
}

/// Adds the MCP server to a command line. Fails if the vendor's program cannot use it.
pub(super) fn register(
    ports: &Ports,
    vendor: &dyn Vendor,
    (session, launch): (&Session, LaunchId),
    line: CommandLine,
) -> Result<CommandLine> {
    let Some(server) = OwnServer::of(ports, session, launch) else { return Ok(line) };
    let client = projects::mcp_client(vendor)?;
    let CommandLine { mut arguments, mut files } = client.registration(&server.command(session));
    arguments.extend(line.arguments);
    files.extend(line.files);
    Ok(CommandLine { arguments, files })
}

/// Adds the MCP server to the environment of an agent, or removes that of an outer launch.
pub(super) fn add_settings(
    ports: &Ports,
    vendor: &dyn Vendor,
    (session, launch): (&Session, LaunchId),
    environment: &mut Environment,
) {
    let Some(client) = vendor.mcp() else { return };
    let server = OwnServer::of(ports, session, launch);
    let command = server.as_ref().map(|server| server.command(session));
    client.add_settings(command.as_ref(), environment);
}
