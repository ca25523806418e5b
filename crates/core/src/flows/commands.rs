//! Commands of vendors' programs that messages run.

use crate::error::{Error, Result};
use crate::model::{CommandEffect, Message, Principal, ProgramCommand, Session};
use crate::ports::{Place, Ports, ProgramCommands, Vendor};
use crate::rules::commands;
use crate::rules::scope::RestrictedAction;

/// Lists the commands that a message may run in a session.
pub fn list(ports: &Ports, session: &Session) -> Result<Vec<ProgramCommand>> {
    if session.headless {
        return Ok(Vec::new());
    }
    let vendor = ports.vendors.of(session)?;
    let Some(program) = vendor.commands() else { return Ok(Vec::new()) };
    let of_files = program.of_files(ports.files.as_ref(), &Place::of(session));
    Ok(commands::merge(program.built_in(), of_files))
}

/// Checks a command that a message is to run.
pub fn check(ports: &Ports, principal: &Principal, session: &Session, text: &str) -> Result<()> {
    principal.allow(RestrictedAction::RunCommand)?;
    if session.headless {
        let error = Error::usage(format!("`{}` has no terminal", session.address()));
        return Err(error.caused_by("commands are typed into the terminal of an agent"));
    }
    commands::find(text, &list(ports, session)?).map(drop)
}

/// Returns what the command of a message does. A command of a file begins a turn.
pub(crate) fn effect(vendor: &dyn Vendor, message: &Message) -> CommandEffect {
    let built_in = vendor.commands().map(ProgramCommands::built_in).unwrap_or_default();
    let name = commands::name_of(&message.text);
    let found = built_in.into_iter().find(|command| Some(command.name.as_str()) == name);
    found.map_or(CommandEffect::Prompt, |command| command.effect)
}
