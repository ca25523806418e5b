//! Launches Claude Code: id, arguments and environment.

use std::path::PathBuf;

use segue_core::Result;
use segue_core::model::{Environment, LaunchMode, Permission, Session, VendorSessionId};
use segue_core::ports::{
    CommandLine, CommandPlan, HeadlessLaunching, HeadlessQuestions, Launching, NewFile, Place,
    ProgramSpec,
};
use uuid::Uuid;

use super::paths::{self, CONFIG_DIR_VARIABLE};
use super::{Claude, settings, versions};
use crate::shared::launch_files;
use crate::shared::launching::{self, FlagValue};

/// Environment variables that Claude Code sets for its tools and hooks. An agent that inherits them
/// believes that it runs inside another Claude Code.
const NESTED_VARIABLES: [&str; 9] = [
    "AI_AGENT",
    "CLAUDECODE",
    "CLAUDE_CODE_CHILD_SESSION",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_EXECPATH",
    "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_EFFORT",
    "CLAUDE_ENV_FILE",
    "CLAUDE_PROJECT_DIR",
];

/// Flags among a session's own arguments that choose its conversation.
const CHOOSING_FLAGS: [&str; 5] = ["--session-id", "--resume", "-r", "--continue", "-c"];
const FORK_FLAG: &str = "--fork-session";

/// Flags that a resume omits, because it chooses the conversation itself.
const FIRST_LAUNCH_FLAGS: [(&str, FlagValue); 6] = [
    ("--session-id", FlagValue::Always),
    ("--resume", FlagValue::Always),
    ("-r", FlagValue::Always),
    ("--continue", FlagValue::Never),
    ("-c", FlagValue::Never),
    (FORK_FLAG, FlagValue::Never),
];

impl Launching for Claude {
    fn program(&self) -> ProgramSpec {
        ProgramSpec::Named { name: "claude".to_owned(), native: &[] }
    }

    fn config_dir(&self, environment: &Environment) -> Result<PathBuf> {
        paths::config_dir(environment)
    }

    fn prepare_environment(&self, place: &Place, environment: &mut Environment) {
        environment.retain(|name| !NESTED_VARIABLES.contains(&name));
        let recorded = place.config_dir.to_string_lossy();
        if environment.get(CONFIG_DIR_VARIABLE) == Some(recorded.as_ref()) {
            return;
        }
        // With the variable, Claude Code reads `.claude.json` from the config dir, and not from the
        // user's home. So the default config dir is selected without the variable.
        if paths::default_config_dir(environment).as_deref() == Some(&place.config_dir) {
            environment.retain(|name| name != CONFIG_DIR_VARIABLE);
        } else {
            environment.set(CONFIG_DIR_VARIABLE, recorded);
        }
    }

    /// Returns `None` if the session's own arguments choose a conversation, because Claude Code
    /// then accepts no id. There is one exception: a fork of another conversation accepts an id,
    /// unless the arguments contain `--session-id`.
    fn preset_id(&self, session: &Session, unique: Uuid) -> Option<VendorSessionId> {
        let chooses = launching::has_flag(&session.args, &CHOOSING_FLAGS);
        let has_own_id = launching::has_flag(&session.args, &["--session-id"]);
        let forks = session.args.iter().any(|word| word == FORK_FLAG);
        let accepts_id = !chooses || (forks && !has_own_id);
        accepts_id.then(|| VendorSessionId::new(unique.to_string()))
    }

    fn command(&self, plan: &CommandPlan<'_>) -> Result<CommandLine> {
        let session = plan.session;
        let mut arguments = conversation_arguments(plan)?;
        if session.headless {
            arguments
                .extend(["-p", "--output-format", "stream-json", "--verbose"].map(String::from));
        }
        // Flag and value are one argument, so that a value that looks like a flag stays a value.
        let mut option = |name: &str, value: Option<&str>| {
            arguments.extend(value.map(|value| format!("{name}={value}")));
        };
        option("--model", session.model.as_deref());
        option("--permission-mode", Some(permission_mode(plan)));
        let instructions = launch_files::instructions(plan);
        let path = instructions.as_ref().map(|file| file.path.display().to_string());
        option("--append-system-prompt-file", path.as_deref());
        let own = launching::own_arguments(plan, &FIRST_LAUNCH_FLAGS);
        let mut files: Vec<NewFile> = instructions.into_iter().collect();
        if session.headless {
            files.extend(launch_files::prompt(plan));
        }
        let (rest, file) = settings::prepare(plan, own)?;
        arguments.extend(rest);
        if let Some(file) = file {
            arguments.extend(["--settings".to_owned(), file.path.display().to_string()]);
            files.push(file);
        }
        arguments.extend(message_arguments(plan)?);
        Ok(CommandLine { arguments, files })
    }

    fn models(&self) -> &'static [&'static str] {
        &["opus", "sonnet", "haiku"]
    }

    fn headless(&self) -> Option<&dyn HeadlessLaunching> {
        Some(self)
    }
}

impl HeadlessLaunching for Claude {
    fn standard_input(&self, plan: &CommandPlan<'_>) -> Option<PathBuf> {
        launch_files::prompt_path(plan)
    }

    fn questions(&self, version: Option<&str>) -> Option<&dyn HeadlessQuestions> {
        versions::asks_headless(version).then_some(self)
    }
}

fn conversation_arguments(plan: &CommandPlan<'_>) -> Result<Vec<String>> {
    let named = ["--name".to_owned(), plan.session.address()];
    match (plan.mode, plan.id) {
        (LaunchMode::Fresh, None) => Ok(named.to_vec()),
        (LaunchMode::Fresh, Some(id)) => {
            let mut arguments = vec!["--session-id".to_owned(), id.to_string()];
            arguments.extend(named);
            Ok(arguments)
        }
        (LaunchMode::Resume, Some(id)) => Ok(vec!["--resume".to_owned(), id.to_string()]),
        (LaunchMode::Resume, None) => Err(launching::missing_id(plan.session)),
    }
}

/// Returns the name of the permission mode. It is always passed: without a mode, newer versions do
/// not ask for permission.
fn permission_mode(plan: &CommandPlan<'_>) -> &'static str {
    match plan.session.permission {
        Permission::Ask => versions::asking_mode(plan.version),
        Permission::AcceptEdits => "acceptEdits",
        Permission::Auto => "bypassPermissions",
    }
}

/// Returns the arguments that pass the message. It comes after `--`, because several flags would
/// take it as their value, and because a message that looks like a flag must stay a message.
fn message_arguments(plan: &CommandPlan<'_>) -> Result<Vec<String>> {
    match plan.message {
        // A headless launch reads the message from its standard input.
        Some(_) if plan.session.headless => Ok(Vec::new()),
        Some(message) => Ok(vec!["--".to_owned(), message.to_owned()]),
        None if plan.session.headless => Err(launching::missing_prompt(plan.session)),
        None => Ok(Vec::new()),
    }
}

#[cfg(test)]
mod tests;
