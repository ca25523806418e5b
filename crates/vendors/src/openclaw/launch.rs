//! The arguments and files of one headless turn.

use std::path::PathBuf;

use segue_core::model::{Environment, LaunchMode, Session, VendorSessionId};
use segue_core::ports::{
    CommandLine, CommandPlan, HeadlessLaunching, Interaction, Launching, NewFile, Place,
    ProgramSpec, Transcripts as _,
};
use segue_core::{Error, Result};
use uuid::Uuid;

use super::{OpenClaw, paths};
use crate::shared::launching;

/// Flags that choose a conversation. They are refused, because Segue could not determine the id of
/// that conversation.
const CHOOSING_FLAGS: [&str; 4] = ["--session-id", "--session-key", "--to", "-t"];

impl Launching for OpenClaw {
    fn program(&self) -> ProgramSpec {
        ProgramSpec::Named { name: "openclaw".to_owned(), native: &[] }
    }

    fn config_dir(&self, environment: &Environment) -> Result<PathBuf> {
        paths::config_dir(environment)
    }

    fn prepare_environment(&self, place: &Place, environment: &mut Environment) {
        paths::prepare_environment(place, environment);
    }

    fn preset_id(&self, _session: &Session, unique: Uuid) -> Option<VendorSessionId> {
        Some(VendorSessionId::new(unique.to_string()))
    }

    fn command(&self, plan: &CommandPlan<'_>) -> Result<CommandLine> {
        refuse_unsupported(plan.session)?;
        let id = conversation_id(plan)?;
        let message = message_file(plan)?;
        // Without `--local`, OpenClaw's gateway would run the turn, in a process that Segue did not
        // start.
        let mut arguments = vec!["agent".to_owned(), "--local".to_owned()];
        if let Some(model) = &plan.session.model {
            arguments.extend(["--model".to_owned(), model.clone()]);
        }
        arguments.extend(plan.session.args.iter().cloned());
        arguments.extend(["--session-id".to_owned(), id.to_string()]);
        // The message is in a file, because every user of the machine can read command-line
        // arguments, and their length is limited.
        let path = message.path.display().to_string();
        arguments.extend(["--message-file".to_owned(), path, "--json".to_owned()]);
        Ok(CommandLine { arguments, files: vec![message] })
    }

    fn headless(&self) -> Option<&dyn HeadlessLaunching> {
        Some(self)
    }
}

impl HeadlessLaunching for OpenClaw {}

impl Interaction for OpenClaw {}

/// Returns an error if OpenClaw does not support the session.
fn refuse_unsupported(session: &Session) -> Result<()> {
    let address = session.address();
    if !session.headless {
        return Err(Error::usage(format!("session `{address}` cannot be interactive"))
            .caused_by("OpenClaw runs only one turn at a time, without a terminal")
            .hint("run `segue run --headless PROMPT`"));
    }
    if session.instructions.is_some() {
        return Err(Error::usage(format!("session `{address}` cannot have instructions"))
            .caused_by("OpenClaw reads instructions from its workspace only")
            .hint("put the instructions into `AGENTS.md` of OpenClaw's workspace"));
    }
    let flag = |argument: &String| argument.split('=').next().unwrap_or_default().to_owned();
    match session.args.iter().map(flag).find(|flag| CHOOSING_FLAGS.contains(&flag.as_str())) {
        Some(flag) => Err(Error::usage(format!("session `{address}` cannot have `{flag}`"))
            .caused_by("Segue chooses the conversation")),
        None => Ok(()),
    }
}

/// Returns the id of the conversation. A resume of an unknown conversation is an error, because
/// OpenClaw would begin a new conversation with that id.
fn conversation_id<'a>(plan: &CommandPlan<'a>) -> Result<&'a VendorSessionId> {
    let Some(id) = plan.id else {
        let address = plan.session.address();
        let text = format!("cannot start session `{address}` without an id for its conversation");
        return Err(Error::internal(text));
    };
    let found = OpenClaw.conversation(plan.files, &Place::of(plan.session), id)?;
    if plan.mode == LaunchMode::Resume && found.is_none() {
        return Err(Error::vendor(format!("OpenClaw has no conversation `{id}`"))
            .caused_by("OpenClaw would begin a new conversation with the same id")
            .hint("restore OpenClaw's database from a copy"));
    }
    Ok(id)
}

fn message_file(plan: &CommandPlan<'_>) -> Result<NewFile> {
    let message = plan.message.ok_or_else(|| launching::missing_prompt(plan.session))?;
    Ok(NewFile { path: plan.folder.join("message.txt"), contents: message.to_owned() })
}

#[cfg(test)]
mod tests;
