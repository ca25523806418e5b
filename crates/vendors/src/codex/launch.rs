//! Launches Codex: arguments, and the rollout that gives a conversation its id.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use segue_core::Result;
use segue_core::model::{Environment, LaunchMode, Permission, Session, VendorSessionId};
use segue_core::ports::{
    CommandLine, CommandPlan, HeadlessLaunching, Launching, NewFile, Place, ProgramSpec,
};
use serde_json::{Value, json};
use uuid::Uuid;

use super::{Codex, paths, settings};
use crate::shared::{launch_files, launching};

/// Paths of the native program, relative to the folder of the script that the package manager links
/// to. The native program is started directly: with the script, there would be two processes, and a
/// kill could leave either of them running.
const NATIVE_PATHS: [&str; 4] = [
    "../node_modules/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex",
    "../../codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex",
    "../node_modules/@openai/codex-linux-arm64/vendor/aarch64-unknown-linux-musl/bin/codex",
    "../../codex-linux-arm64/vendor/aarch64-unknown-linux-musl/bin/codex",
];

/// Settings of an interactive launch. Codex does not ask about updates at its start. Its title
/// shows the activity, and not the title that the user has configured.
const INTERACTIVE_SETTINGS: [&str; 2] =
    ["check_for_update_on_startup=false", r#"tui.terminal_title=["activity","project-name"]"#];

/// Without this setting, Codex waits for the network forever, and a failed turn looks like a
/// running one.
const LIMITED_RETRIES: &str = "features.unbounded_connection_retries=false";

/// Flags among a session's own arguments that decide what Codex may do without asking.
const PERMISSION_FLAGS: [&str; 8] = [
    "-a",
    "--ask-for-approval",
    "-s",
    "--sandbox",
    "--approve-for-me",
    "--dangerously-bypass-approvals-and-sandbox",
    "--yolo",
    "--full-auto",
];

impl Launching for Codex {
    fn program(&self) -> ProgramSpec {
        ProgramSpec::Named { name: "codex".to_owned(), native: &NATIVE_PATHS }
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
        let session = plan.session;
        let mut arguments = if session.headless { vec!["exec".to_owned()] } else { Vec::new() };
        arguments.extend(session_arguments(plan));
        arguments.extend(session.args.iter().cloned());
        // This flag has no value. It ends the list of values of a flag before it.
        let last = if session.headless { "--json" } else { "--no-daemon" };
        arguments.push(last.to_owned());
        arguments.extend(conversation_arguments(plan)?);
        arguments.extend(message_arguments(plan)?);
        Ok(CommandLine {
            arguments,
            files: prepared_files(plan).into_iter().chain(launch_files::prompt(plan)).collect(),
        })
    }

    fn has_own_permission(&self, session: &Session) -> bool {
        launching::has_flag(&session.args, &PERMISSION_FLAGS)
    }

    fn headless(&self) -> Option<&dyn HeadlessLaunching> {
        Some(self)
    }
}

impl HeadlessLaunching for Codex {
    fn standard_input(&self, plan: &CommandPlan<'_>) -> Option<PathBuf> {
        launch_files::prompt_path(plan)
    }
}

/// Returns the arguments for the session's configuration.
fn session_arguments(plan: &CommandPlan<'_>) -> Vec<String> {
    let session = plan.session;
    let mut arguments = permission_arguments(session);
    arguments.extend(["-C".to_owned(), session.cwd.display().to_string()]);
    if session.headless {
        // Codex would refuse a folder that is neither under version control nor trusted. The user
        // has chosen this folder for the session, and the sandbox stays the same.
        arguments.push("--skip-git-repo-check".to_owned());
    }
    if let Some(model) = &session.model {
        arguments.push(format!("--model={model}"));
    }
    let mut set = |setting: String| arguments.extend(["-c".to_owned(), setting]);
    set(LIMITED_RETRIES.to_owned());
    if !session.headless {
        INTERACTIVE_SETTINGS.iter().for_each(|setting| set((*setting).to_owned()));
    }
    if let Some(instructions) = instructions(plan) {
        set(format!("developer_instructions={}", settings::quoted(&instructions)));
    }
    arguments
}

/// Returns the arguments that decide what Codex may do without asking. A headless Codex never asks:
/// an action that its sandbox does not allow fails.
///
/// | permission | sandbox | beyond it |
/// |---|---|---|
/// | ask | reads anything, writes nothing | asks |
/// | accept-edits | writes in the session's folder | asks |
/// | auto | writes in the session's folder | fails |
fn permission_arguments(session: &Session) -> Vec<String> {
    if Launching::has_own_permission(&Codex, session) {
        return Vec::new();
    }
    let (approval, sandbox) = match session.permission {
        Permission::Ask => ("on-request", "read-only"),
        Permission::AcceptEdits => ("on-request", "workspace-write"),
        Permission::Auto => ("never", "workspace-write"),
    };
    let arguments =
        if session.headless { vec!["-s", sandbox] } else { vec!["-a", approval, "-s", sandbox] };
    arguments.into_iter().map(str::to_owned).collect()
}

/// Returns the user's instructions, followed by the session's instructions. The argument replaces
/// the user's instructions, so it must contain them.
fn instructions(plan: &CommandPlan<'_>) -> Option<String> {
    let session = plan.session;
    let own = session.instructions.as_deref()?;
    let users = settings::instructions(plan.files, &session.config_dir, &session.args);
    Some(users.map_or_else(|| own.to_owned(), |users| format!("{users}\n\n{own}")))
}

/// Returns the arguments that name the conversation. A new conversation is resumed, too: from the
/// rollout that Segue prepared.
fn conversation_arguments(plan: &CommandPlan<'_>) -> Result<Vec<String>> {
    match (plan.mode, plan.id) {
        (_, Some(id)) if paths::is_id(id.as_str()) => Ok(vec!["resume".to_owned(), id.to_string()]),
        // For an unknown name, Codex begins a new conversation without a warning.
        (_, Some(id)) => Err(launching::invalid_id(id, "the ids of Codex are UUIDs")),
        (LaunchMode::Fresh, None) => Ok(Vec::new()),
        (LaunchMode::Resume, None) => Err(launching::missing_id(plan.session)),
    }
}

/// Returns the arguments that pass the message. It comes after `--`, so that a message that looks
/// like a flag stays a message.
fn message_arguments(plan: &CommandPlan<'_>) -> Result<Vec<String>> {
    match plan.message {
        // The message is in the standard input.
        Some(_) if plan.session.headless => Ok(vec!["-".to_owned()]),
        // A `-` alone would mean the standard input.
        Some("-") => Ok(vec!["--".to_owned(), "- ".to_owned()]),
        Some(message) => Ok(vec!["--".to_owned(), message.to_owned()]),
        None if plan.session.headless => Err(launching::missing_prompt(plan.session)),
        None => Ok(Vec::new()),
    }
}

fn prepared_files(plan: &CommandPlan<'_>) -> Vec<NewFile> {
    match (plan.mode, plan.id) {
        (LaunchMode::Fresh, Some(id)) => vec![rollout(plan, id)],
        _ => Vec::new(),
    }
}

/// Returns the rollout of a conversation without messages. An interactive Codex accepts a rollout
/// only if it names the configured provider.
fn rollout(plan: &CommandPlan<'_>, id: &VendorSessionId) -> NewFile {
    let session = plan.session;
    let at = paths::created_at(id.as_str()).unwrap_or(plan.now);
    let provider = settings::provider(plan.files, &session.config_dir, &session.args);
    let line = header(id, at, &session.cwd, &provider);
    let path = paths::prepared(&session.config_dir, id.as_str());
    NewFile { path, contents: format!("{line}\n") }
}

/// Returns the first line of a rollout without ordinals.
pub(super) fn header(id: &VendorSessionId, at: Timestamp, cwd: &Path, provider: &str) -> Value {
    let at = format!("{at:.3}");
    json!({"timestamp": at, "type": "session_meta", "payload": {
        "id": id, "timestamp": at, "cwd": cwd, "originator": "segue",
        "cli_version": env!("CARGO_PKG_VERSION"), "source": "cli", "model_provider": provider,
    }})
}

#[cfg(test)]
mod tests;
