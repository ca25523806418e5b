//! Arguments of a launch, and its plugin.

use std::path::PathBuf;

use segue_core::model::{Environment, LaunchMode, Permission, Session, VendorSessionId};
use segue_core::ports::{
    CommandLine, CommandPlan, HeadlessLaunching, Launching, Place, ProgramSpec,
};
use segue_core::{Error, Result};
use uuid::Uuid;

use super::{CursorVendor, paths, plugin, transcript, typing};
use crate::shared::launching::{self, FlagValue};

/// Arguments of a headless turn, whose output Segue reads. `--trust` is needed because no person
/// can be asked whether the folder is trusted; the user chose the folder by starting a session in
/// it. An interactive Cursor does not accept `--trust`.
const HEADLESS: [&str; 4] = ["-p", "--output-format", "stream-json", "--trust"];

/// Arguments of a session that set what the agent may do without asking.
const OWN_PERMISSION: [&str; 6] = ["-f", "--force", "--yolo", "--auto-review", "--mode", "--plan"];

const RESUME: &str = "--resume";

/// Flags among a session's own arguments that choose its conversation.
const CHOOSES: [(&str, FlagValue); 2] =
    [(RESUME, FlagValue::Optional), ("--continue", FlagValue::Never)];

impl Launching for CursorVendor {
    fn program(&self) -> ProgramSpec {
        ProgramSpec::Named { name: "cursor-agent".to_owned(), native: &[] }
    }

    fn config_dir(&self, environment: &Environment) -> Result<PathBuf> {
        paths::config_dir(environment)
    }

    fn prepare_environment(&self, place: &Place, environment: &mut Environment) {
        paths::prepare_environment(place, environment);
    }

    /// Returns `None`: Cursor has no argument for an id. According to reports, its own command for
    /// making an id does not exit.
    fn preset_id(&self, _session: &Session, _unique: Uuid) -> Option<VendorSessionId> {
        None
    }

    fn command(&self, plan: &CommandPlan<'_>) -> Result<CommandLine> {
        let session = plan.session;
        let files = plugin::files(plan);
        let mut arguments = given(session);
        arguments.extend(launching::own_arguments(plan, &CHOOSES));
        if session.headless {
            arguments.extend(HEADLESS.map(String::from));
        }
        if !files.is_empty() {
            let folder = plugin::folder(plan.folder).display().to_string();
            arguments.extend(["--plugin-dir".to_owned(), folder]);
        }
        arguments.extend(identity(plan)?);
        arguments.extend(message(plan)?);
        Ok(CommandLine { arguments, files })
    }

    fn headless(&self) -> Option<&dyn HeadlessLaunching> {
        Some(self)
    }
}

impl HeadlessLaunching for CursorVendor {}

/// Returns the arguments for the session's folder, permission and model. In another folder than the
/// conversation's own, Cursor would continue in a copy of the conversation.
fn given(session: &Session) -> Vec<String> {
    let mut words = vec!["--workspace".to_owned(), session.cwd.display().to_string()];
    let has_own = launching::has_flag(&session.args, &OWN_PERMISSION);
    // Cursor has no argument that allows only edits, so any lower permission is left to its own
    // settings.
    if session.permission == Permission::Auto && !has_own {
        words.push("--force".to_owned());
    }
    if let Some(model) = &session.model {
        words.extend(["--model".to_owned(), model.clone()]);
    }
    words
}

/// Returns the argument that names the conversation. Flag and value have to be one argument: the
/// flag alone would open a list.
fn identity(plan: &CommandPlan<'_>) -> Result<Option<String>> {
    let session = plan.session;
    match (plan.mode, plan.id) {
        (LaunchMode::Resume, Some(id)) if paths::is_id(id.as_str()) => {
            let place = Place::of(session);
            transcript::check(plan.files, &place, id)?;
            Ok(Some(format!("{RESUME}={id}")))
        }
        (LaunchMode::Fresh, None) => Ok(None),
        (_, Some(id)) => {
            Err(Error::vendor(format!("`{id}` is not an id of a conversation that can be resumed"))
                .caused_by("Cursor makes the ids of new conversations itself, and they are UUIDs"))
        }
        (LaunchMode::Resume, None) => Err(launching::missing_id(session)),
    }
}

/// Returns the message after `--`, so that Cursor does not parse it as a flag.
fn message(plan: &CommandPlan<'_>) -> Result<Vec<String>> {
    match plan.message {
        Some(message) => Ok(vec!["--".to_owned(), typing::argument(message)]),
        None if plan.session.headless => Err(launching::missing_prompt(plan.session)),
        None => Ok(Vec::new()),
    }
}

#[cfg(test)]
mod tests;
