//! Arguments of a launch, and the file that gives a conversation its id.
//!
//! Pi has no permissions: it asks for nothing and does whatever the model requests, with the rights
//! of its user. So a session's `permission` has no effect, neither at the start nor on a resume.
//! What Pi can do at all is limited by the session's own arguments, such as
//! `--tools read,grep,find,ls`.

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

/// Arguments by which a session chooses its conversation itself, and whether a value follows.
const CHOOSES: [(&str, bool); 7] = [
    ("--session", true),
    ("--fork", true),
    ("--continue", false),
    ("-c", false),
    ("--resume", false),
    ("-r", false),
    ("--no-session", false),
];

const APPEND: &str = "--append-system-prompt";

impl Launching for Pi {
    fn program(&self) -> ProgramSpec {
        // The script is the program itself: it starts no other process.
        ProgramSpec::Named { name: "pi".to_owned(), native: &[] }
    }

    fn config_dir(&self, environment: &Environment) -> Result<PathBuf> {
        paths::config_dir(environment)
    }

    fn prepare_environment(&self, place: &Place, environment: &mut Environment) {
        paths::prepare_environment(place, environment);
    }

    /// Returns the id of a new conversation. `None` if the session's own arguments choose a
    /// conversation.
    fn preset_id(&self, session: &Session, unique: Uuid) -> Option<VendorSessionId> {
        let chooses = session.args.iter().any(|word| is_choice(word).is_some());
        (!chooses).then(|| VendorSessionId::new(unique.to_string()))
    }

    fn command(&self, plan: &CommandPlan<'_>) -> Result<CommandLine> {
        let session = plan.session;
        let extension = extension::file(plan);
        let mut arguments = given(plan);
        arguments.extend(own_arguments(plan));
        // These follow the session's own arguments, because Pi takes the last one of a repeated
        // argument. Pi does not take any of these flags for the value of an unknown flag before it.
        if session.headless {
            arguments.extend(["--mode", "json"].map(String::from));
        }
        arguments.extend(["--extension".to_owned(), extension.path.display().to_string()]);
        let (words, prepared) = identity(plan)?;
        arguments.extend(words);
        arguments.extend(message(plan)?);
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
fn given(plan: &CommandPlan<'_>) -> Vec<String> {
    let session = plan.session;
    let mut words = Vec::new();
    if let Some(model) = &session.model {
        words.extend(["--model".to_owned(), model.clone()]);
    }
    if let Some(own) = launch_files::instructions(plan) {
        // Pi does not read the user's own file if any other is given.
        let users = users_instructions(plan);
        let all = users.into_iter().chain([own.path.display().to_string()]);
        words.extend(all.flat_map(|path| [APPEND.to_owned(), path]));
    }
    words
}

/// Returns the file with the user's own additions to the system prompt. Searches the same folders
/// as Pi, in the same order. `None` if there is no such file, or if the session's arguments replace
/// it.
fn users_instructions(plan: &CommandPlan<'_>) -> Option<String> {
    let session = plan.session;
    if session.args.iter().any(|word| word == APPEND) {
        return None;
    }
    let places = [session.cwd.join(".pi"), session.config_dir.clone()];
    let mut paths = places.into_iter().map(|folder| folder.join("APPEND_SYSTEM.md"));
    let found = paths.find(|path| files::exists(plan.files, path))?;
    Some(found.display().to_string())
}

/// Returns the session's own arguments. A resume leaves out the arguments that chose the first
/// conversation.
fn own_arguments(plan: &CommandPlan<'_>) -> Vec<String> {
    let mut kept = Vec::new();
    let mut words = plan.session.args.iter();
    while let Some(word) = words.next() {
        match is_choice(word).filter(|_| plan.mode == LaunchMode::Resume) {
            Some(true) => {
                // Drop the value of the argument, too.
                let _value = words.next();
            }
            Some(false) => {}
            None => kept.push(word.clone()),
        }
    }
    kept
}

/// Checks whether an argument chooses a conversation. Returns whether a value follows it; `None` if
/// it chooses none.
fn is_choice(word: &str) -> Option<bool> {
    CHOOSES.iter().find(|(flag, _)| word == *flag).map(|(_, has_value)| *has_value)
}

/// Returns the arguments that name the conversation, and the file that has to exist for it. Pi
/// finds a file by its path from every folder, and works in the folder that the file names.
fn identity(plan: &CommandPlan<'_>) -> Result<(Vec<String>, Option<NewFile>)> {
    let session = plan.session;
    let place = Place::of(session);
    let folder = paths::transcripts(&place).display().to_string();
    let mut words = vec!["--session-dir".to_owned(), folder];
    let id = match (plan.mode, plan.id) {
        (_, Some(id)) => id,
        (LaunchMode::Fresh, None) => return Ok((words, None)),
        (LaunchMode::Resume, None) => return Err(launching::missing_id(session)),
    };
    let path = paths::transcript(plan.files, &place, id.as_str());
    words.extend(["--session".to_owned(), path.display().to_string()]);
    if plan.mode == LaunchMode::Fresh {
        let began = paths::began_at(id.as_str()).unwrap_or(plan.now);
        let contents = prepared(id, &session.cwd, began);
        return Ok((words, Some(NewFile { path, contents })));
    }
    transcript::check(plan.files, &path, id)?;
    Ok((words, None))
}

/// The id of the last line of a conversation without messages.
pub(super) const PREPARED_TIP: &str = "00000002";

/// Returns the transcript of a conversation without messages.
///
/// Pi keeps everything in memory until the file contains an answer, so it would lose the first
/// prompt if its process died. That is why the file contains an empty answer, on a branch that is
/// left at once. Pi continues from the last line, and neither shows nor sends lines that are not
/// its ancestors.
pub(super) fn prepared(id: &VendorSessionId, cwd: &Path, began: Timestamp) -> String {
    let at = format!("{began:.3}");
    let free = json!({"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0});
    let usage = json!({
        "input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 0, "cost": free,
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

fn message(plan: &CommandPlan<'_>) -> Result<Option<String>> {
    match plan.message {
        Some(message) => Ok(Some(typing::argument(message))),
        None if plan.session.headless => Err(launching::missing_prompt(plan.session)),
        None => Ok(None),
    }
}

#[cfg(test)]
mod tests;
