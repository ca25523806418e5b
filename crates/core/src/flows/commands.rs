//! Commands of vendors' programs that messages run.

use crate::error::{Error, Result};
use crate::model::{CommandEffect, Message, Principal, ProgramCommand, Session};
use crate::ports::{Place, Ports};
use crate::rules::commands;
use crate::rules::scope::RestrictedAction;

/// At most this many commands of a session are listed.
const MAX_COMMANDS: usize = 200;

/// Lists the commands that a message may run in a session, sorted by their names.
pub fn list(ports: &Ports, session: &Session) -> Result<Vec<ProgramCommand>> {
    if session.headless {
        return Ok(Vec::new());
    }
    let vendor = ports.vendors.of(session)?;
    let Some(program) = vendor.commands() else { return Ok(Vec::new()) };
    let mut found = program.list(ports.files.as_ref(), &Place::of(session));
    found.retain(|command| commands::is_name(&command.name));
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found.dedup_by(|a, b| a.name == b.name);
    found.truncate(MAX_COMMANDS);
    Ok(found)
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

/// Returns what the command of a message does.
pub(crate) fn effect(ports: &Ports, session: &Session, message: &Message) -> Result<CommandEffect> {
    // A command that was removed since then began a turn at most.
    let found = list(ports, session)?;
    Ok(commands::find(&message.text, &found).map_or(CommandEffect::Prompt, |it| it.effect))
}
