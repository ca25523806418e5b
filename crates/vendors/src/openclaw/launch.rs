//! Arguments and files of one headless turn.

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

/// Arguments by which a session chooses its conversation itself. They are refused, because Segue
/// could not find out which conversation that is.
const CHOOSES: [&str; 4] = ["--session-id", "--session-key", "--to", "-t"];

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
        check(plan.session)?;
        let id = identity(plan)?;
        let message = message(plan)?;
        // Without `--local`, OpenClaw's gateway would run the turn, in a process that Segue did not
        // start.
        let mut arguments = vec!["agent".to_owned(), "--local".to_owned()];
        if let Some(model) = &plan.session.model {
            arguments.extend(["--model".to_owned(), model.clone()]);
        }
        arguments.extend(plan.session.args.iter().cloned());
        arguments.extend(["--session-id".to_owned(), id.to_string()]);
        // The message is in a file, because every user of the machine can see command-line
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

/// Refuses sessions that OpenClaw does not support.
fn check(session: &Session) -> Result<()> {
    let address = session.address();
    if !session.headless {
        return Err(Error::usage(format!("session `{address}` cannot be interactive"))
            .caused_by("OpenClaw runs only one turn at a time, without a terminal")
            .hint("run `segue run --headless PROMPT`"));
    }
    if session.instructions.is_some() {
        return Err(Error::usage(format!("session `{address}` cannot be given instructions"))
            .caused_by("OpenClaw reads them from its workspace only")
            .hint("put them into `AGENTS.md` of OpenClaw's workspace"));
    }
    let flag = |word: &String| word.split('=').next().unwrap_or_default().to_owned();
    match session.args.iter().map(flag).find(|flag| CHOOSES.contains(&flag.as_str())) {
        Some(flag) => Err(Error::usage(format!("session `{address}` cannot have `{flag}`"))
            .caused_by("its conversation is chosen by Segue")),
        None => Ok(()),
    }
}

/// Returns the id of the conversation. A resume of an unknown conversation fails, because OpenClaw
/// would begin a blank one under that id.
fn identity<'a>(plan: &CommandPlan<'a>) -> Result<&'a VendorSessionId> {
    let Some(id) = plan.id else {
        let address = plan.session.address();
        let what = format!("cannot start session `{address}` without an id for its conversation");
        return Err(Error::internal(what));
    };
    let found = OpenClaw.conversation(plan.files, &Place::of(plan.session), id)?;
    if plan.mode == LaunchMode::Resume && found.is_none() {
        return Err(Error::vendor(format!("OpenClaw has no conversation `{id}`"))
            .caused_by("it would begin a blank one under the same id")
            .hint("restore its database if there is a copy"));
    }
    Ok(id)
}

fn message(plan: &CommandPlan<'_>) -> Result<NewFile> {
    let message = plan.message.ok_or_else(|| launching::missing_prompt(plan.session))?;
    Ok(NewFile { path: plan.folder.join("message.txt"), contents: message.to_owned() })
}

#[cfg(test)]
mod tests;
