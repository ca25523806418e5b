//! Prepares a launch: its arguments, and the transcript of a new conversation.
//!
//! Pi has no permissions: it runs all tools that the model requests, with the rights of the user.
//! So a session's `permission` has no effect. The session's additional arguments can limit the
//! tools: `--tools read,grep,find,ls`.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use segue_core::Result;
use segue_core::model::{Environment, LaunchMode, Session, VendorSessionId};
use segue_core::ports::{
    CommandLine, CommandPlan, HeadlessLaunching, Launching, NewFile, Place, ProgramSpec,
};
use serde_json::json;
use uuid::Uuid;

use super::{Pi, extension, paths, transcript, typing};
use crate::shared::{files, launch_files, launching};

/// Flags that choose a conversation, and whether a value follows the flag.
const CHOOSING_FLAGS: [(&str, bool); 7] = [
    ("--session", true),
    ("--fork", true),
    ("--continue", false),
    ("-c", false),
    ("--resume", false),
    ("-r", false),
    ("--no-session", false),
];

const APPEND_FLAG: &str = "--append-system-prompt";

impl Launching for Pi {
    fn program(&self) -> ProgramSpec {
        // The script does not start another program.
        ProgramSpec::Named { name: "pi".to_owned(), native: &[] }
    }

    fn config_dir(&self, environment: &Environment) -> Result<PathBuf> {
        paths::config_dir(environment)
    }

    fn prepare_environment(&self, place: &Place, environment: &mut Environment) {
        paths::prepare_environment(place, environment);
    }

    /// Returns the id of a new conversation. `None` if the session's additional arguments choose a
    /// conversation.
    fn preset_id(&self, session: &Session, unique: Uuid) -> Option<VendorSessionId> {
        let chooses =
            session.args.iter().any(|argument| choosing_flag_has_value(argument).is_some());
        (!chooses).then(|| VendorSessionId::new(unique.to_string()))
    }

    fn command(&self, plan: &CommandPlan<'_>) -> Result<CommandLine> {
        let session = plan.session;
        let extension = extension::file(plan);
        let mut arguments = session_arguments(plan);
        arguments.extend(own_arguments(plan));
        // These flags follow the session's additional arguments, because Pi uses the last one of a
        // repeated flag. Pi does not parse a flag as the value of an unknown flag before it.
        if session.headless {
            arguments.extend(["--mode", "json"].map(String::from));
        }
        arguments.extend(["--extension".to_owned(), extension.path.display().to_string()]);
        let (conversation, prepared) = conversation_arguments(plan)?;
        arguments.extend(conversation);
        arguments.extend(message_argument(plan)?);
        let files = prepared
            .into_iter()
            .chain([extension])
            .chain(launch_files::instructions(plan))
            .collect();
        Ok(CommandLine { arguments, files })
    }

    fn headless(&self) -> Option<&dyn HeadlessLaunching> {
        Some(self)
    }
}

impl HeadlessLaunching for Pi {}

/// Returns the arguments for the session's model and instructions.
fn session_arguments(plan: &CommandPlan<'_>) -> Vec<String> {
    let session = plan.session;
    let mut arguments = Vec::new();
    if let Some(model) = &session.model {
        arguments.extend(["--model".to_owned(), model.clone()]);
    }
    if let Some(instructions) = launch_files::instructions(plan) {
        // Pi does not read the user's file if the arguments name another file.
        let user_file = user_instructions(plan);
        let all = user_file.into_iter().chain([instructions.path.display().to_string()]);
        arguments.extend(all.flat_map(|path| [APPEND_FLAG.to_owned(), path]));
    }
    arguments
}

/// Returns the file with the user's additions to the system prompt. Searches the same folders as
/// Pi, in the same order. `None` if there is no such file, or if the session's arguments name
/// another file.
fn user_instructions(plan: &CommandPlan<'_>) -> Option<String> {
    let session = plan.session;
    if session.args.iter().any(|argument| argument == APPEND_FLAG) {
        return None;
    }
    let places = [session.cwd.join(".pi"), session.config_dir.clone()];
    let mut paths = places.into_iter().map(|folder| folder.join("APPEND_SYSTEM.md"));
    let found = paths.find(|path| files::exists(plan.files, path))?;
    Some(found.display().to_string())
}

/// Returns the session's additional arguments. A resume omits the flags that choose a conversation.
fn own_arguments(plan: &CommandPlan<'_>) -> Vec<String> {
    let mut remaining = Vec::new();
    let mut arguments = plan.session.args.iter();
    while let Some(argument) = arguments.next() {
        match choosing_flag_has_value(argument).filter(|_| plan.mode == LaunchMode::Resume) {
            Some(true) => {
                // Also omit the value of the flag.
                let _value = arguments.next();
            }
            Some(false) => {}
            None => remaining.push(argument.clone()),
        }
    }
    remaining
}

/// Returns whether a value follows this flag. `None` if the argument does not choose a
/// conversation.
fn choosing_flag_has_value(argument: &str) -> Option<bool> {
    CHOOSING_FLAGS.iter().find(|(flag, _)| argument == *flag).map(|(_, has_value)| *has_value)
}

/// Returns the arguments that name the conversation, and the transcript to prepare. The transcript
/// is named by its path, and Pi works in the folder that the transcript names.
fn conversation_arguments(plan: &CommandPlan<'_>) -> Result<(Vec<String>, Option<NewFile>)> {
    let session = plan.session;
    let place = Place::of(session);
    let folder = paths::transcripts_folder(&place).display().to_string();
    let mut arguments = vec!["--session-dir".to_owned(), folder];
    let id = match (plan.mode, plan.id) {
        (_, Some(id)) => id,
        (LaunchMode::Fresh, None) => return Ok((arguments, None)),
        (LaunchMode::Resume, None) => return Err(launching::missing_id(session)),
    };
    let path = paths::transcript(plan.files, &place, id.as_str());
    arguments.extend(["--session".to_owned(), path.display().to_string()]);
    if plan.mode == LaunchMode::Fresh {
        let began = paths::began_at(id.as_str()).unwrap_or(plan.now);
        let contents = prepared_transcript(id, &session.cwd, began);
        return Ok((arguments, Some(NewFile { path, contents })));
    }
    transcript::check(plan.files, &path, id)?;
    Ok((arguments, None))
}

/// The id of the last line of a prepared transcript.
pub(super) const PREPARED_TIP: &str = "00000002";

/// Returns the contents of a prepared transcript.
///
/// Pi writes no message until the file contains an answer, and would lose the first prompt in a
/// crash. So the prepared file contains an empty answer on an abandoned branch. Pi continues from
/// the last line, and neither shows nor sends lines that are not its ancestors.
pub(super) fn prepared_transcript(id: &VendorSessionId, cwd: &Path, began: Timestamp) -> String {
    let at = format!("{began:.3}");
    let zero_cost = json!({"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0});
    let usage = json!({
        "input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 0,
        "cost": zero_cost,
    });
    let header = json!({
        "type": "session", "version": 3, "id": id, "timestamp": at, "cwd": cwd,
    });
    let answer = json!({
        "type": "message", "id": "00000001", "parentId": null, "timestamp": at,
        "message": {
            "role": "assistant", "content": [], "api": "none", "provider": "none", "model": "none",
            "usage": usage, "stopReason": "stop", "timestamp": began.as_millisecond(),
        },
    });
    let tip = json!({
        "type": "custom", "customType": "segue", "data": {}, "id": PREPARED_TIP, "parentId": null,
        "timestamp": at,
    });
    format!("{header}\n{answer}\n{tip}\n")
}

fn message_argument(plan: &CommandPlan<'_>) -> Result<Option<String>> {
    match plan.message {
        Some(message) => Ok(Some(typing::argument(message))),
        None if plan.session.headless => Err(launching::missing_prompt(plan.session)),
        None => Ok(None),
    }
}

#[cfg(test)]
mod tests;
