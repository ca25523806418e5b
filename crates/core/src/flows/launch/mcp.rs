//! Registers MCP servers for a launch: Segue's own server, and those of the editor that caused the
//! launch.

use crate::error::Result;
use crate::flows::projects;
use crate::model::{Environment, LaunchId, Session};
use crate::ports::{CommandLine, McpServerCommand, McpServers, Ports, ProgramSpec, Vendor};
use crate::rules::editor_servers::{self, EditorServer};
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

/// Returns the servers of an editor in the environment of a caller, each as the command that becomes
/// it. Empty if the vendor's program cannot use them.
fn editor_servers(
    ports: &Ports,
    vendor: &dyn Vendor,
    caller: &Environment,
) -> Vec<McpServerCommand> {
    if vendor.mcp().is_none() {
        return Vec::new();
    }
    let server = |server: EditorServer| {
        let (program, mut arguments) = own_program(ports, editor_servers::SUBCOMMAND);
        arguments.push(server.name.clone());
        let mut variables = FOR_OWN_PROCESSES.to_vec();
        variables.push(editor_servers::VARIABLE);
        McpServerCommand { name: server.name, program, arguments, variables, is_required: false }
    };
    editor_servers::servers(caller).into_iter().map(server).collect()
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

/// Adds the MCP servers to a command line. `caller` is the environment of the request. Fails if the
/// session has Segue's own server, and the vendor's program cannot use it.
pub(super) fn register(
    ports: &Ports,
    vendor: &dyn Vendor,
    (session, launch): (&Session, LaunchId),
    caller: &Environment,
    line: CommandLine,
) -> Result<CommandLine> {
    let mut commands: Vec<McpServerCommand> = own_server(ports, session).into_iter().collect();
    commands.extend(editor_servers(ports, vendor, caller));
    if commands.is_empty() {
        return Ok(line);
    }
    let client = projects::mcp_client(vendor)?;
    let folder = ports.folders.folder(launch);
    let servers = McpServers { commands: &commands, folder: &folder };
    let CommandLine { mut arguments, mut files } = client.registration(&servers);
    arguments.extend(line.arguments);
    files.extend(line.files);
    Ok(CommandLine { arguments, files })
}

/// Adds Segue's own MCP server to the environment of an agent, and removes the servers of an outer
/// launch.
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

/// Adds the servers of an editor to the environment of an agent that has the settings of
/// [`add_settings`] already.
pub(super) fn add_editor_servers(
    ports: &Ports,
    vendor: &dyn Vendor,
    (session, launch): (&Session, LaunchId),
    caller: &Environment,
    environment: &mut Environment,
) {
    let of_editor = editor_servers(ports, vendor, caller);
    let (Some(client), Some(definitions)) = (vendor.mcp(), caller.get(editor_servers::VARIABLE))
    else {
        return;
    };
    if of_editor.is_empty() {
        return;
    }
    let commands: Vec<McpServerCommand> =
        own_server(ports, session).into_iter().chain(of_editor).collect();
    let folder = ports.folders.folder(launch);
    client.add_settings(&McpServers { commands: &commands, folder: &folder }, environment);
    environment.set(editor_servers::VARIABLE, definitions);
}
