//! Launches Copilot: id, arguments and environment.

use std::path::{Path, PathBuf};

use segue_core::Result;
use segue_core::model::{Environment, LaunchMode, Permission, Session, VendorSessionId};
use segue_core::ports::{
    CommandLine, CommandPlan, HeadlessLaunching, Launching, NewFile, Place, ProgramSpec,
};
use uuid::Uuid;

use super::paths::{self, CONFIG_DIR_VARIABLE};
use super::{Copilot, typing};
use crate::shared::launching::{self, FlagValue};

/// Paths of the native program, relative to the folder of the script that the package manager links
/// to. The script is not started, because it runs the program as a second process: a kill of one of
/// the two would leave the other one running.
const NATIVE_PATHS: [&str; 6] = [
    "../copilot-linux-x64/copilot",
    "node_modules/@github/copilot-linux-x64/copilot",
    "../copilot-linux-arm64/copilot",
    "node_modules/@github/copilot-linux-arm64/copilot",
    "../copilot-linuxmusl-x64/copilot",
    "../copilot-linuxmusl-arm64/copilot",
];

/// Environment variables that are removed before a launch. Copilot sets them for its own tools,
/// with one exception: `COPILOT_ALLOW_ALL` would override the session's permission.
const REMOVED_VARIABLES: [&str; 5] = [
    "COPILOT_AGENT_SESSION_ID",
    "COPILOT_ALLOW_ALL",
    "COPILOT_CLI",
    "COPILOT_CLI_BINARY_VERSION",
    "COPILOT_CLI_RESOLVED_DIST_DIR",
];

/// The environment variable that lists further folders with instructions, separated by commas.
const INSTRUCTIONS_VARIABLE: &str = "COPILOT_CUSTOM_INSTRUCTIONS_DIRS";

/// Name of the file with the session's instructions. In such a folder, Copilot reads files that end
/// in `.instructions.md`.
const INSTRUCTIONS_FILE: &str = "segue.instructions.md";

/// Flags among a session's own arguments that choose its conversation.
const CHOOSING_FLAGS: [(&str, FlagValue); 5] = [
    ("--session-id", FlagValue::Optional),
    ("--resume", FlagValue::Optional),
    ("-r", FlagValue::Optional),
    ("--connect", FlagValue::Optional),
    ("--continue", FlagValue::Never),
];

/// Flags among a session's own arguments that decide what Copilot may do without asking.
const PERMISSION_FLAGS: [&str; 6] = [
    "--allow-all",
    "--allow-all-tools",
    "--allow-tool",
    "--assisted-approval",
    "--available-tools",
    "--yolo",
];

impl Launching for Copilot {
    fn program(&self) -> ProgramSpec {
        ProgramSpec::Named { name: "copilot".to_owned(), native: &NATIVE_PATHS }
    }

    fn config_dir(&self, environment: &Environment) -> Result<PathBuf> {
        paths::config_dir(environment)
    }

    fn prepare_environment(&self, place: &Place, environment: &mut Environment) {
        environment.retain(|name| !REMOVED_VARIABLES.contains(&name));
        if paths::default_config_dir(environment).as_deref() == Some(&place.config_dir) {
            environment.retain(|name| name != CONFIG_DIR_VARIABLE);
        } else {
            environment.set(CONFIG_DIR_VARIABLE, place.config_dir.to_string_lossy());
        }
    }

    /// Adds the launch folder, which contains the session's instructions, to the folders that
    /// Copilot reads instructions from.
    fn add_settings(&self, session: &Session, folder: &Path, environment: &mut Environment) {
        if session.instructions.is_none() {
            return;
        }
        let own = folder.to_string_lossy();
        let listed = environment.get(INSTRUCTIONS_VARIABLE).filter(|value| !value.is_empty());
        let all = listed.map_or_else(|| own.to_string(), |listed| format!("{listed},{own}"));
        environment.set(INSTRUCTIONS_VARIABLE, all);
    }

    /// Returns `None` if the session's own arguments choose a conversation.
    fn preset_id(&self, session: &Session, unique: Uuid) -> Option<VendorSessionId> {
        let chooses_conversation =
            launching::has_flag(&session.args, &CHOOSING_FLAGS.map(|(flag, _)| flag));
        (!chooses_conversation).then(|| VendorSessionId::new(unique.to_string()))
    }

    fn command(&self, plan: &CommandPlan<'_>) -> Result<CommandLine> {
        let session = plan.session;
        let mut arguments = conversation_argument(plan)?;
        // Without this flag, Copilot would run a version that it has downloaded in another process.
        arguments.push("--no-auto-update".to_owned());
        // At this level, the log names the conversation before its first message.
        arguments.push("--log-level=info".to_owned());
        arguments.extend(permission_argument(session));
        arguments.extend(session.model.as_ref().map(|model| format!("--model={model}")));
        arguments.extend(launching::own_arguments(plan, &CHOOSING_FLAGS));
        if session.headless {
            arguments.push("--output-format=json".to_owned());
        }
        arguments.extend(message_argument(plan)?);
        Ok(CommandLine { arguments, files: instructions_files(plan) })
    }

    /// Copilot records the mode in its conversation.
    fn keeps_auto_permission(&self) -> bool {
        true
    }

    fn has_own_permission(&self, session: &Session) -> bool {
        launching::has_flag(&session.args, &PERMISSION_FLAGS)
    }

    fn headless(&self) -> Option<&dyn HeadlessLaunching> {
        Some(self)
    }
}

impl HeadlessLaunching for Copilot {}

/// Returns the argument that names the conversation. `--session-id` begins a new conversation or
/// opens an existing one. `--resume` never begins a new one.
fn conversation_argument(plan: &CommandPlan<'_>) -> Result<Vec<String>> {
    match (plan.mode, plan.id) {
        (LaunchMode::Fresh, None) => Ok(Vec::new()),
        (LaunchMode::Fresh, Some(id)) => Ok(vec![format!("--session-id={id}")]),
        (LaunchMode::Resume, Some(id)) if paths::is_id(id.as_str()) => {
            Ok(vec![format!("--resume={id}")])
        }
        // Copilot would treat any other text as the beginning of an id, or as a name.
        (LaunchMode::Resume, Some(id)) => {
            Err(launching::invalid_id(id, "the ids of Copilot are UUIDs"))
        }
        (LaunchMode::Resume, None) => Err(launching::missing_id(plan.session)),
    }
}

/// Returns the argument that decides what Copilot may do without asking. `None` if the default
/// applies, or if the session's own arguments decide. A headless Copilot refuses every action that
/// it would have to ask about.
fn permission_argument(session: &Session) -> Option<String> {
    if Launching::has_own_permission(&Copilot, session) {
        return None;
    }
    match session.permission {
        Permission::Ask => None,
        Permission::AcceptEdits => Some("--allow-tool=write".to_owned()),
        Permission::Auto => Some("--allow-all".to_owned()),
    }
}

/// Returns the message and its flag as one argument, so that Copilot does not parse a message as a
/// flag. An interactive Copilot would run a message that looks like a command, so such a message is
/// escaped.
fn message_argument(plan: &CommandPlan<'_>) -> Result<Option<String>> {
    match plan.message {
        Some(message) if plan.session.headless => Ok(Some(format!("--prompt={message}"))),
        Some(message) => Ok(Some(format!("--interactive={}", typing::escaped(message)))),
        None if plan.session.headless => Err(launching::missing_prompt(plan.session)),
        None => Ok(None),
    }
}

/// Returns the file with the session's instructions, if there are any. They apply to every file
/// that the agent works on.
fn instructions_files(plan: &CommandPlan<'_>) -> Vec<NewFile> {
    let text = plan.session.instructions.as_ref();
    let contents = text.map(|text| format!("---\napplyTo: \"**\"\n---\n{text}\n"));
    let path = plan.folder.join(INSTRUCTIONS_FILE);
    contents.map(|contents| NewFile { path, contents }).into_iter().collect()
}

#[cfg(test)]
mod tests;
