//! Prepares a launch: its arguments, and the transcript that gives a conversation its id.

use std::path::{Path, PathBuf};

use segue_core::Result;
use segue_core::model::{Environment, LaunchMode, Permission, Session, VendorSessionId};
use segue_core::ports::{
    CommandLine, CommandPlan, HeadlessLaunching, Launching, NewFile, Place, ProgramSpec,
};
use serde_json::{Value, json};
use uuid::Uuid;

use super::{Gemini, own_log, paths, records, typing};
use crate::shared::launch_files;
use crate::shared::launching::{self, FlagValue};

/// Flags among a session's own arguments that choose its conversation. A value follows each of
/// them.
const CHOOSES: [&str; 4] = ["--resume", "-r", "--session-id", "--session-file"];

/// Arguments by which a session itself decides what may be done without asking.
const OWN_PERMISSION: [&str; 3] = ["--approval-mode", "-y", "--yolo"];

impl Launching for Gemini {
    fn program(&self) -> ProgramSpec {
        ProgramSpec::Named { name: "gemini".to_owned(), native: &[] }
    }

    fn config_dir(&self, environment: &Environment) -> Result<PathBuf> {
        paths::config_dir(environment)
    }

    fn prepare_environment(&self, place: &Place, environment: &mut Environment) {
        paths::prepare_environment(place, environment);
    }

    fn add_settings(&self, session: &Session, folder: &Path, environment: &mut Environment) {
        own_log::tell(&session.cwd, folder, environment);
    }

    /// Makes the id of a new conversation. `None` if the session's own arguments choose a
    /// conversation, because Gemini then accepts no id.
    fn preset_id(&self, session: &Session, unique: Uuid) -> Option<VendorSessionId> {
        let chooses = launching::has_flag(&session.args, &CHOOSES);
        (!chooses).then(|| VendorSessionId::new(unique.to_string()))
    }

    fn command(&self, plan: &CommandPlan<'_>) -> Result<CommandLine> {
        let session = plan.session;
        let mut arguments =
            launching::own_arguments(plan, &CHOOSES.map(|flag| (flag, FlagValue::Always)));
        arguments.extend(permission(session));
        if let Some(model) = &session.model {
            arguments.push(format!("--model={model}"));
        }
        if session.headless {
            arguments.extend(["--output-format", "stream-json"].map(String::from));
        }
        arguments.extend(identity(plan)?);
        arguments.extend(message(plan)?);
        let mut files = prepared(plan);
        files.extend(launch_files::prompt(plan).map(|file| {
            let contents = typing::guarded(&file.contents);
            NewFile { contents, ..file }
        }));
        Ok(CommandLine { arguments, files })
    }

    fn headless(&self) -> Option<&dyn HeadlessLaunching> {
        Some(self)
    }
}

impl HeadlessLaunching for Gemini {
    fn standard_input(&self, plan: &CommandPlan<'_>) -> Option<PathBuf> {
        launch_files::prompt_path(plan)
    }
}

/// Returns the arguments that decide what may be done without asking. A headless Gemini never asks:
/// tools that need a permission are not available.
fn permission(session: &Session) -> Vec<String> {
    if launching::has_flag(&session.args, &OWN_PERMISSION) {
        return Vec::new();
    }
    let mode = match session.permission {
        Permission::Ask => "default",
        Permission::AcceptEdits => "auto_edit",
        Permission::Auto => "yolo",
    };
    vec!["--approval-mode".to_owned(), mode.to_owned()]
}

/// Returns the arguments that name the conversation. A new conversation is resumed, too: from the
/// transcript that we prepared.
fn identity(plan: &CommandPlan<'_>) -> Result<Vec<String>> {
    match (plan.mode, plan.id) {
        (_, Some(id)) if paths::is_id(id.as_str()) => {
            Ok(vec!["--resume".to_owned(), id.to_string()])
        }
        // Any other text may be the number of another conversation.
        (_, Some(id)) => Err(launching::invalid_id(id, "the ids of Gemini are UUIDs")),
        (LaunchMode::Fresh, None) => Ok(Vec::new()),
        (LaunchMode::Resume, None) => Err(launching::missing_id(plan.session)),
    }
}

/// Returns the arguments that pass the message. Flag and message are one word, so that a message
/// that looks like a flag stays a message.
fn message(plan: &CommandPlan<'_>) -> Result<Vec<String>> {
    let flag = "--prompt-interactive";
    match plan.message {
        // A headless launch reads the message from its standard input.
        Some(_) if plan.session.headless => Ok(Vec::new()),
        Some(message) => Ok(vec![format!("{flag}={}", unquoted(&typing::guarded(message)))]),
        None if plan.session.headless => Err(launching::missing_prompt(plan.session)),
        None => Ok(Vec::new()),
    }
}

/// Appends a space to a text that is enclosed in quotes. Otherwise, Gemini's argument parser would
/// remove the quotes.
fn unquoted(text: &str) -> String {
    let is_quoted = text.len() > 1 && text.starts_with(['"', '\'']) && text.ends_with(['"', '\'']);
    if is_quoted { format!("{text} ") } else { text.to_owned() }
}

fn prepared(plan: &CommandPlan<'_>) -> Vec<NewFile> {
    let session = plan.session;
    let (LaunchMode::Fresh, Some(id)) = (plan.mode, plan.id) else { return Vec::new() };
    let place = Place::of(session);
    let (path, contents) = paths::marker(plan.files, &place);
    let path_of_transcript = paths::prepared(&paths::chats(plan.files, &place), id.as_str());
    vec![
        NewFile { path, contents },
        NewFile { path: path_of_transcript, contents: transcript(plan, id) },
    ]
}

/// Returns a transcript without messages of a person. Gemini would not resume an empty transcript,
/// and the next start of any other Gemini would delete it. So it contains the standing
/// instructions, or else a thought that is neither shown nor sent to the model.
fn transcript(plan: &CommandPlan<'_>, id: &VendorSessionId) -> String {
    let at = format!("{:.3}", paths::began_at(id.as_str()).unwrap_or(plan.now));
    let header = header(id, &at);
    let first = match &plan.session.instructions {
        Some(own) => instructions(id, &at, own),
        None => json!({
            "id": id, "timestamp": at, "type": "gemini", "content": "", "displayContent": " ",
            "thoughts": [{"subject": "", "description": "\u{200b}", "timestamp": at}],
        }),
    };
    format!("{header}\n{first}\n")
}

/// Returns the first line of a transcript that begins at this time.
pub(super) fn header(id: &VendorSessionId, at: &str) -> Value {
    json!({
        "sessionId": id, "projectHash": "segue", "startTime": at, "lastUpdated": at, "kind": "main",
    })
}

fn instructions(id: &VendorSessionId, at: &str, own: &str) -> Value {
    let end = records::INSTRUCTIONS.replace('<', "</");
    let text = format!("{}\n{own}\n{end}", records::INSTRUCTIONS);
    json!({
        "id": id, "timestamp": at, "type": "user", "content": [{"text": text}],
        "displayContent": " ",
    })
}

#[cfg(test)]
mod tests;
