//! The command line of a launch, and the command that prepares it.

use std::path::PathBuf;

use super::message_text::command_line_text;
use super::{LaunchRequest, mcp};
use crate::error::Result;
use crate::model::{Environment, LaunchId, LaunchMode, Session};
use crate::ports::{CommandLine, CommandPlan, Place, Ports, Program, ProgramSpec, Vendor};
use crate::rules::words;

/// The program that runs another program with additional environment variables.
const ENV: &str = "/usr/bin/env";

/// The command line of a launch and of its preparation.
pub(super) struct Planned {
    pub(super) line: CommandLine,
    /// The arguments for a preparation that runs before the launch.
    pub(super) preparation: Option<Vec<String>>,
    /// Additional environment variables for the preparation, as `NAME=value`.
    pub(super) variables: Vec<String>,
    pub(super) input: Option<PathBuf>,
}

pub(super) fn plan_command(
    ports: &Ports,
    vendor: &dyn Vendor,
    session: &Session,
    request: &LaunchRequest,
    (launch, version): (LaunchId, Option<&str>),
) -> Result<Planned> {
    // The model and the id become arguments. They are checked here because they may come from an
    // older Segue version, a handoff or a vendor's file.
    session.model.as_deref().map_or(Ok(()), words::check_model)?;
    request.id.as_ref().map_or(Ok(()), words::check_id)?;
    let message =
        request.message.as_deref().map(|message| command_line_text(ports, launch, message));
    let import =
        request.import.clone().or_else(|| import_for_resume(ports, vendor, session, request));
    let plan = CommandPlan {
        session,
        version,
        mode: request.mode,
        id: request.id.as_ref(),
        message: message.as_deref(),
        import: import.as_deref(),
        files: ports.files.as_ref(),
        folder: &ports.folders.folder(launch),
        hook: &own_command(ports, "hook").unwrap_or_else(|| "true".to_owned()),
        // Without the command, the vendor gets no reply, and refuses.
        ask: &own_command(ports, "ask-person").unwrap_or_else(|| "false".to_owned()),
        now: ports.clock.now(),
    };
    let launching = vendor.launching();
    Ok(Planned {
        line: mcp::register(
            ports,
            vendor,
            (session, launch),
            &request.environment,
            launching.command(&plan)?,
        )?,
        preparation: launching.preparation(&plan),
        variables: launching.preparation_variables(&plan),
        input: launching.headless().and_then(|it| it.standard_input(&plan)),
    })
}

/// Replaces the message in the recorded arguments.
const MESSAGE_WORD: &str = "<message>";

/// Replaces the instructions in the recorded arguments.
const INSTRUCTIONS_WORD: &str = "<instructions>";

/// Returns the arguments to record, with placeholders for the message and the instructions. `None`
/// if the launch has neither, so that its real arguments can be recorded.
pub(super) fn recorded_arguments(
    ports: &Ports,
    vendor: &dyn Vendor,
    session: &Session,
    request: &LaunchRequest,
    launched: (LaunchId, Option<&str>),
) -> Result<Option<Vec<String>>> {
    if request.message.is_none() && session.instructions.is_none() {
        return Ok(None);
    }
    let mut session = session.clone();
    session.instructions = session.instructions.map(|_| INSTRUCTIONS_WORD.to_owned());
    let message = request.message.as_ref().map(|_| MESSAGE_WORD.to_owned());
    let request = LaunchRequest { message, ..request.clone() };
    Ok(Some(plan_command(ports, vendor, &session, &request, launched)?.line.arguments))
}

/// Returns a command line that runs the command with these environment variables.
pub(super) fn with_variables(command: Vec<String>, variables: Vec<String>) -> Vec<String> {
    if command.is_empty() || variables.is_empty() {
        return command;
    }
    std::iter::once(ENV.to_owned()).chain(variables).chain(command).collect()
}

/// Finds a pending import for a resume whose request names none. `None` if the vendor has the
/// conversation already.
fn import_for_resume(
    ports: &Ports,
    vendor: &dyn Vendor,
    session: &Session,
    request: &LaunchRequest,
) -> Option<PathBuf> {
    let id = request.id.as_ref().filter(|_| request.mode == LaunchMode::Resume)?;
    let document = pending_import(ports, vendor, session)?;
    let place = Place::of(session);
    let known = vendor.transcript_database()?.conversation(ports.files.as_ref(), &place, id);
    matches!(known, Ok(None)).then_some(document)
}

/// Returns the document with a conversation that was handed over to the session, for import by the
/// vendor's program. `None` if there is no document, or if the vendor has files of its own.
pub(crate) fn pending_import(
    ports: &Ports,
    vendor: &dyn Vendor,
    session: &Session,
) -> Option<PathBuf> {
    let document = ports.folders.import(session.id);
    let is_there = |path: &PathBuf| matches!(ports.files.facts(path), Ok(Some(_)));
    Some(document).filter(|path| vendor.transcript_database().is_some() && is_there(path))
}

pub(super) fn argv(program: &Program, arguments: Vec<String>) -> Vec<String> {
    let mut argv = vec![program.path.display().to_string()];
    argv.extend(program.arguments.iter().cloned());
    argv.extend(arguments);
    argv
}

/// Returns the shell command that runs a subcommand of this program. `None` if the file of the
/// program was replaced: its only path is in `/proc` and becomes invalid when this process ends.
fn own_command(ports: &Ports, subcommand: &'static str) -> Option<String> {
    let spec = ProgramSpec::Segue { subcommand };
    let program = ports.machine.find_program(&spec, &Environment::default());
    let program = program.filter(|program| !program.path.starts_with("/proc"))?;
    let path = program.path.display().to_string().replace('\'', r"'\''");
    Some(format!("'{path}' {}", program.arguments.join(" ")))
}
