//! Prepares a launch: its arguments, and the transcript of a new conversation.

use std::path::{Path, PathBuf};

use segue_core::Result;
use segue_core::model::{Environment, LaunchMode, Permission, Session, VendorSessionId};
use segue_core::ports::{
    CommandLine, CommandPlan, HeadlessLaunching, Launching, NewFile, Place, ProgramSpec,
};
use serde_json::{Value, json};
use uuid::Uuid;

use super::{Gemini, messages, own_log, paths, typing};
use crate::shared::launch_files;
use crate::shared::launching::{self, FlagValue};

/// Flags that choose a conversation. Each has a value.
const CHOOSING_FLAGS: [&str; 4] = ["--resume", "-r", "--session-id", "--session-file"];

/// Flags with which a session's additional arguments set the permission.
const PERMISSION_FLAGS: [&str; 3] = ["--approval-mode", "-y", "--yolo"];

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
        own_log::set_up(&session.cwd, folder, environment);
    }

    /// Returns the id of a new conversation. `None` if the session's additional arguments choose a
    /// conversation, because Gemini then accepts no id.
    fn preset_id(&self, session: &Session, unique: Uuid) -> Option<VendorSessionId> {
        let chooses = launching::has_flag(&session.args, &CHOOSING_FLAGS);
        (!chooses).then(|| VendorSessionId::new(unique.to_string()))
    }

    fn command(&self, plan: &CommandPlan<'_>) -> Result<CommandLine> {
        let session = plan.session;
        let mut arguments =
            launching::own_arguments(plan, &CHOOSING_FLAGS.map(|flag| (flag, FlagValue::Always)));
        arguments.extend(permission_arguments(session));
        if let Some(model) = &session.model {
            arguments.push(format!("--model={model}"));
        }
        if session.headless {
            arguments.extend(["--output-format", "stream-json"].map(String::from));
        }
        arguments.extend(conversation_arguments(plan)?);
        arguments.extend(message_arguments(plan)?);
        let mut files = prepared_files(plan);
        files.extend(launch_files::prompt(plan).map(|file| {
            let contents = typing::escaped(&file.contents);
            NewFile { contents, ..file }
        }));
        Ok(CommandLine { arguments, files })
    }

    fn models(&self) -> &'static [&'static str] {
        &["pro", "flash", "flash-lite"]
    }

    fn has_own_permission(&self, session: &Session) -> bool {
        launching::has_flag(&session.args, &PERMISSION_FLAGS)
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

/// Returns the arguments that set the permission. A headless Gemini never asks: tools that need a
/// permission are not available.
fn permission_arguments(session: &Session) -> Vec<String> {
    if Launching::has_own_permission(&Gemini, session) {
        return Vec::new();
    }
    let mode = match session.permission {
        Permission::Ask => "default",
        Permission::AcceptEdits => "auto_edit",
        Permission::Auto => "yolo",
    };
    vec!["--approval-mode".to_owned(), mode.to_owned()]
}

/// Returns the arguments that name the conversation. A new conversation is also resumed, from the
/// prepared transcript.
fn conversation_arguments(plan: &CommandPlan<'_>) -> Result<Vec<String>> {
    match (plan.mode, plan.id) {
        (_, Some(id)) if paths::is_id(id.as_str()) => {
            Ok(vec!["--resume".to_owned(), id.to_string()])
        }
        // Gemini would accept other texts as the number of a conversation.
        (_, Some(id)) => Err(launching::invalid_id(id, "Gemini's ids are UUIDs")),
        (LaunchMode::Fresh, None) => Ok(Vec::new()),
        (LaunchMode::Resume, None) => Err(launching::missing_id(plan.session)),
    }
}

/// Returns the arguments that pass the message. Flag and message are one argument, so that Gemini
/// does not parse the message as a flag.
fn message_arguments(plan: &CommandPlan<'_>) -> Result<Vec<String>> {
    let flag = "--prompt-interactive";
    match plan.message {
        // A headless launch reads the message from its standard input.
        Some(_) if plan.session.headless => Ok(Vec::new()),
        Some(message) => {
            Ok(vec![format!("{flag}={}", with_quotes_kept(&typing::escaped(message)))])
        }
        None if plan.session.headless => Err(launching::missing_prompt(plan.session)),
        None => Ok(Vec::new()),
    }
}

/// Appends a space to a text that is enclosed in quotes. Otherwise, Gemini's argument parser would
/// remove the quotes.
fn with_quotes_kept(text: &str) -> String {
    let is_quoted = text.len() > 1 && text.starts_with(['"', '\'']) && text.ends_with(['"', '\'']);
    if is_quoted { format!("{text} ") } else { text.to_owned() }
}

fn prepared_files(plan: &CommandPlan<'_>) -> Vec<NewFile> {
    let session = plan.session;
    let (LaunchMode::Fresh, Some(id)) = (plan.mode, plan.id) else { return Vec::new() };
    let place = Place::of(session);
    let (path, contents) = paths::marker(plan.files, &place);
    let transcript = paths::prepared_path(&paths::chats(plan.files, &place), id.as_str());
    vec![
        NewFile { path, contents },
        NewFile { path: transcript, contents: prepared_transcript(plan, id) },
    ]
}

/// Returns the contents of a prepared transcript. Gemini would not resume an empty transcript, and
/// the next start of another Gemini process would delete it. So it contains the standing
/// instructions, or a thought that Gemini neither shows nor sends to the model.
fn prepared_transcript(plan: &CommandPlan<'_>, id: &VendorSessionId) -> String {
    let at = format!("{:.3}", paths::began_at(id.as_str()).unwrap_or(plan.now));
    let header = header(id, &at);
    let first = match &plan.session.instructions {
        Some(instructions_text) => instructions_message(id, &at, instructions_text),
        None => json!({
            "id": id, "timestamp": at, "type": "gemini", "content": "", "displayContent": " ",
            "thoughts": [{"subject": "", "description": "\u{200b}", "timestamp": at}],
        }),
    };
    format!("{header}\n{first}\n")
}

/// Returns the first line of a transcript with this start time.
pub(super) fn header(id: &VendorSessionId, at: &str) -> Value {
    json!({
        "sessionId": id, "projectHash": "segue", "startTime": at, "lastUpdated": at, "kind": "main",
    })
}

fn instructions_message(id: &VendorSessionId, at: &str, instructions_text: &str) -> Value {
    let end = messages::INSTRUCTIONS_PREFIX.replace('<', "</");
    let text = format!("{}\n{instructions_text}\n{end}", messages::INSTRUCTIONS_PREFIX);
    json!({
        "id": id, "timestamp": at, "type": "user", "content": [{"text": text}],
        "displayContent": " ",
    })
}

#[cfg(test)]
mod tests;
