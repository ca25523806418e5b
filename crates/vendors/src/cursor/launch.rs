//! Launches Cursor: arguments and plugin.

use std::path::PathBuf;

use segue_core::model::{Environment, LaunchMode, Permission, Session, VendorSessionId};
use segue_core::ports::{
    CommandLine, CommandPlan, HeadlessLaunching, Launching, Place, ProgramSpec,
};
use segue_core::{Error, Result};
use uuid::Uuid;

use super::{CursorVendor, paths, plugin, transcript, typing};
use crate::shared::launching::{self, FlagValue};

/// Arguments of a headless turn, whose output Segue reads. `--trust` is needed because Cursor
/// cannot ask the user whether the folder is trusted. The user has started a session in the folder,
/// which counts as trust. An interactive Cursor does not accept `--trust`.
const HEADLESS_ARGUMENTS: [&str; 4] = ["-p", "--output-format", "stream-json", "--trust"];

/// Flags among a session's own arguments that decide what Cursor may do without asking.
const PERMISSION_FLAGS: [&str; 6] =
    ["-f", "--force", "--yolo", "--auto-review", "--mode", "--plan"];

const RESUME_FLAG: &str = "--resume";

/// Flags among a session's own arguments that choose its conversation.
const CHOOSING_FLAGS: [(&str, FlagValue); 2] =
    [(RESUME_FLAG, FlagValue::Optional), ("--continue", FlagValue::Never)];

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

    /// Returns `None`, because Cursor has no argument for an id. According to reports, its own
    /// command for creating an id does not exit.
    fn preset_id(&self, _session: &Session, _unique: Uuid) -> Option<VendorSessionId> {
        None
    }

    fn command(&self, plan: &CommandPlan<'_>) -> Result<CommandLine> {
        let session = plan.session;
        let files = plugin::files(plan);
        let mut arguments = session_arguments(session);
        arguments.extend(launching::own_arguments(plan, &CHOOSING_FLAGS));
        if session.headless {
            arguments.extend(HEADLESS_ARGUMENTS.map(String::from));
        }
        if !files.is_empty() {
            let folder = plugin::folder(plan.folder).display().to_string();
            arguments.extend(["--plugin-dir".to_owned(), folder]);
        }
        arguments.extend(conversation_argument(plan)?);
        arguments.extend(message_arguments(plan)?);
        Ok(CommandLine { arguments, files })
    }

    fn headless(&self) -> Option<&dyn HeadlessLaunching> {
        Some(self)
    }
}

impl HeadlessLaunching for CursorVendor {}

/// Returns the arguments for the session's folder, permission and model. In another folder than the
/// conversation's own, Cursor would continue in a copy of the conversation.
fn session_arguments(session: &Session) -> Vec<String> {
    let mut arguments = vec!["--workspace".to_owned(), session.cwd.display().to_string()];
    let has_own_permission = launching::has_flag(&session.args, &PERMISSION_FLAGS);
    // Cursor has no argument that allows only edits. For a lower permission than `auto`, its own
    // settings decide.
    if session.permission == Permission::Auto && !has_own_permission {
        arguments.push("--force".to_owned());
    }
    if let Some(model) = &session.model {
        arguments.extend(["--model".to_owned(), model.clone()]);
    }
    arguments
}

/// Returns the argument that names the conversation. Flag and value are one argument, because the
/// flag alone would open a list.
fn conversation_argument(plan: &CommandPlan<'_>) -> Result<Option<String>> {
    let session = plan.session;
    match (plan.mode, plan.id) {
        (LaunchMode::Resume, Some(id)) if paths::is_id(id.as_str()) => {
            let place = Place::of(session);
            transcript::ensure_database(plan.files, &place, id)?;
            Ok(Some(format!("{RESUME_FLAG}={id}")))
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
fn message_arguments(plan: &CommandPlan<'_>) -> Result<Vec<String>> {
    match plan.message {
        Some(message) => Ok(vec!["--".to_owned(), typing::argument(message)]),
        None if plan.session.headless => Err(launching::missing_prompt(plan.session)),
        None => Ok(Vec::new()),
    }
}

#[cfg(test)]
mod tests;
