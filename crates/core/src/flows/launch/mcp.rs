//! Registers Segue's own MCP server for a launch.

use crate::error::Result;
use crate::flows::projects;
use crate::model::{Environment, LaunchId, Session};
use crate::ports::{CommandLine, McpServerCommand, McpServers, Ports, ProgramSpec, Vendor};
use crate::rules::environment::FOR_OWN_PROCESSES;

/// The subcommand that is the MCP server.
const SUBCOMMAND: &str = "mcp";

/// Returns Segue's own server. `None` if the session has none.
fn own_server(ports: &Ports, session: &Session) -> Option<McpServerCommand> {
    session.mcp.then(|| {
        let (program, arguments) = own_program(ports, SUBCOMMAND);
        McpServerCommand {
            name: McpServerCommand::OWN_NAME.to_owned(),
            program,
            arguments,
            variables: FOR_OWN_PROCESSES.to_vec(),
            is_required: true,
        }
    })
}

/// Returns the program and the arguments that run a subcommand of this program.
fn own_program(ports: &Ports, subcommand: &'static str) -> (String, Vec<String>) {
    let spec = ProgramSpec::Segue { subcommand };
    let program = ports.machine.find_program(&spec, &Environment::default());
    // A path in `/proc` means that the file was replaced: it becomes invalid when this process
    // ends. The vendor's program then finds the new file by its name.
    match program.filter(|program| !program.path.starts_with("/proc")) {
        Some(program) => (program.path.display().to_string(), program.arguments),
        None => ("segue".to_owned(), vec![subcommand.to_owned()]),
    }
}

/// Adds the MCP server to a command line. Fails if the vendor's program cannot use it.
pub(super) fn register(
    ports: &Ports,
    vendor: &dyn Vendor,
    (session, launch): (&Session, LaunchId),
    line: CommandLine,
) -> Result<CommandLine> {
    let Some(server) = own_server(ports, session) else { return Ok(line) };
    let client = projects::mcp_client(vendor)?;
    let folder = ports.folders.folder(launch);
    let servers = McpServers { commands: &[server], folder: &folder };
    let CommandLine { mut arguments, mut files } = client.registration(&servers);
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
    let commands: Vec<McpServerCommand> = own_server(ports, session).into_iter().collect();
    let folder = ports.folders.folder(launch);
    client.add_settings(&McpServers { commands: &commands, folder: &folder }, environment);
}
