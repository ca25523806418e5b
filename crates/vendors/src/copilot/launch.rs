//! What to start: ids, arguments and environment of a launch.

use std::path::Path;

use segue_core::model::{Environment, LaunchMode, Permission, Session, VendorSessionId};
use segue_core::ports::{CommandLine, CommandPlan, NewFile, Place};
use segue_core::{Error, Result};
use uuid::Uuid;

use super::home::{self, HOME_VARIABLE};
use super::typing;

/// Set by Copilot for its tools; and what would allow everything, whatever the session's permission
/// is.
const NOT_FOR_IT: [&str; 5] = [
    "COPILOT_AGENT_SESSION_ID",
    "COPILOT_ALLOW_ALL",
    "COPILOT_CLI",
    "COPILOT_CLI_BINARY_VERSION",
    "COPILOT_CLI_RESOLVED_DIST_DIR",
];

/// Names further folders with instructions, with commas between them.
const INSTRUCTIONS_VARIABLE: &str = "COPILOT_CUSTOM_INSTRUCTIONS_DIRS";

/// In such a folder, files of this ending are instructions.
const INSTRUCTIONS: &str = "segue.instructions.md";

/// Arguments of a session with which it chooses its conversation itself, and whether a value may
/// follow.
const CHOOSES: [(&str, bool); 5] = [
    ("--session-id", true),
    ("--resume", true),
    ("-r", true),
    ("--connect", true),
    ("--continue", false),
];

/// Arguments by which a session says itself what may be done without asking.
const OWN_PERMISSION: [&str; 6] = [
    "--allow-all",
    "--allow-all-tools",
    "--allow-tool",
    "--assisted-approval",
    "--available-tools",
    "--yolo",
];

pub(super) fn prepare_environment(place: &Place, environment: &mut Environment) {
    environment.retain(|name| !NOT_FOR_IT.contains(&name));
    if home::default(environment).as_deref() == Some(&place.config_dir) {
        environment.retain(|name| name != HOME_VARIABLE);
    } else {
        environment.set(HOME_VARIABLE, place.config_dir.to_string_lossy());
    }
}

/// Adds the launch's folder, where the session's instructions are, to those that are looked at.
pub(super) fn tell_environment(session: &Session, folder: &Path, environment: &mut Environment) {
    if session.instructions.is_none() {
        return;
    }
    let own = folder.to_string_lossy();
    let known = environment.get(INSTRUCTIONS_VARIABLE).filter(|value| !value.is_empty());
    let all = known.map_or_else(|| own.to_string(), |known| format!("{known},{own}"));
    environment.set(INSTRUCTIONS_VARIABLE, all);
}

/// A session whose own arguments choose a conversation cannot be told an id.
pub(super) fn preset_id(session: &Session, unique: Uuid) -> Option<VendorSessionId> {
    let chooses = session.args.iter().any(|word| is_choice(word).is_some());
    (!chooses).then(|| VendorSessionId::new(unique.to_string()))
}

pub(super) fn command(plan: &CommandPlan<'_>) -> Result<CommandLine> {
    let session = plan.session;
    let mut arguments = identity(plan)?;
    // A newer version that it has downloaded would run as another process than the one started.
    arguments.push("--no-auto-update".to_owned());
    // Its log says which conversation it is in before anything is said there.
    arguments.push("--log-level=info".to_owned());
    arguments.extend(permission(session));
    arguments.extend(session.model.as_ref().map(|model| format!("--model={model}")));
    arguments.extend(own_arguments(plan));
    if session.headless {
        arguments.push("--output-format=json".to_owned());
    }
    arguments.extend(message(plan)?);
    Ok(CommandLine { arguments, files: instructions(plan) })
}

/// Returns how the conversation is named. The flag for a new one opens an old one, too, and the one
/// for an old one never begins a new one.
fn identity(plan: &CommandPlan<'_>) -> Result<Vec<String>> {
    match (plan.mode, plan.id) {
        (LaunchMode::Fresh, None) => Ok(Vec::new()),
        (LaunchMode::Fresh, Some(id)) => Ok(vec![format!("--session-id={id}")]),
        (LaunchMode::Resume, Some(id)) if home::is_id(id.as_str()) => {
            Ok(vec![format!("--resume={id}")])
        }
        // It would be taken for the beginning of an id, or for a name.
        (LaunchMode::Resume, Some(id)) => {
            Err(Error::vendor(format!("`{id}` is not an id of a conversation"))
                .caused_by("the ids of Copilot are UUIDs"))
        }
        (LaunchMode::Resume, None) => Err(Error::internal(format!(
            "cannot resume session `{}` without the id of its conversation",
            plan.session.address()
        ))),
    }
}

/// Returns what may be done without asking. Headless, what would be asked about is refused.
fn permission(session: &Session) -> Option<String> {
    let is_own = |word: &String| OWN_PERMISSION.iter().any(|flag| is_flag(word, flag));
    if session.args.iter().any(is_own) {
        return None;
    }
    match session.permission {
        Permission::Ask => None,
        Permission::AcceptEdits => Some("--allow-tool=write".to_owned()),
        Permission::Auto => Some("--allow-all".to_owned()),
    }
}

/// Returns the session's own arguments; those that chose the first conversation are for the first
/// launch only.
fn own_arguments(plan: &CommandPlan<'_>) -> Vec<String> {
    let args = &plan.session.args;
    if plan.mode == LaunchMode::Fresh {
        return args.clone();
    }
    let mut kept = Vec::new();
    let mut words = args.iter().peekable();
    while let Some(word) = words.next() {
        match is_choice(word) {
            Some(true) if !word.contains('=') => {
                // Its value goes with it.
                let _value = words.next_if(|value| !value.starts_with('-'));
            }
            Some(_) => {}
            None => kept.push(word.clone()),
        }
    }
    kept
}

/// Tells whether a word chooses a conversation, and if so whether a value may belong to it.
fn is_choice(word: &str) -> Option<bool> {
    CHOOSES.iter().find(|(flag, _)| is_flag(word, flag)).map(|(_, has_value)| *has_value)
}

fn is_flag(word: &str, flag: &str) -> bool {
    word.strip_prefix(flag).is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
}

/// Returns the message in one word with its flag, so that one that looks like a flag stays a message.
/// On a screen one that looks like a command would be one.
fn message(plan: &CommandPlan<'_>) -> Result<Option<String>> {
    match plan.message {
        Some(message) if plan.session.headless => Ok(Some(format!("--prompt={message}"))),
        Some(message) => Ok(Some(format!("--interactive={}", typing::plain(message)))),
        None if plan.session.headless => {
            let address = plan.session.address();
            Err(Error::usage(format!("session `{address}` is headless and was given no prompt"))
                .hint("run `segue run --headless PROMPT`"))
        }
        None => Ok(None),
    }
}

/// Returns the file with the session's instructions, which are for every file that is worked on.
fn instructions(plan: &CommandPlan<'_>) -> Vec<NewFile> {
    let text = plan.session.instructions.as_ref();
    let contents = text.map(|text| format!("---\napplyTo: \"**\"\n---\n{text}\n"));
    let path = plan.folder.join(INSTRUCTIONS);
    contents.map(|contents| NewFile { path, contents }).into_iter().collect()
}

#[cfg(test)]
mod tests;
