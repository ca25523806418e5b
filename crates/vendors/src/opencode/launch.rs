//! The arguments, files and environment of a launch.

use std::path::{Path, PathBuf};

use segue_core::Result;
use segue_core::model::{Environment, LaunchMode, Permission, Session, VendorSessionId};
use segue_core::ports::{
    CommandLine, CommandPlan, HeadlessLaunching, Launching, NewFile, Place, ProgramSpec,
};
use serde_json::{Value, json};
use uuid::Uuid;

use super::{OpenCode, paths};
use crate::shared::launch_files;
use crate::shared::launching::{self, FlagValue};

/// Paths of the native program, relative to the folder of the script that the package manager links
/// to. They are needed if the package manager did not replace the script with the program.
const NATIVE_PROGRAMS: [&str; 4] = [
    "../node_modules/opencode-linux-x64/bin/opencode",
    "../../opencode-linux-x64/bin/opencode",
    "../node_modules/opencode-linux-arm64/bin/opencode",
    "../../opencode-linux-arm64/bin/opencode",
];

/// The environment variable with settings that OpenCode adds to the settings files.
pub(super) const SETTINGS_VARIABLE: &str = "OPENCODE_CONFIG_CONTENT";

/// The plugin that reports the conversation and the activity of the process.
const PLUGIN: &str = include_str!("plugin.mjs");
const PLUGIN_FILE: &str = "segue-plugin.mjs";

const IMPORT_FILE: &str = "conversation.json";

/// The folder with the settings of the preparation, which is a process before the launch.
const PREPARATION_FOLDER: &str = "preparation";

/// Limits for the installation of a package. OpenCode tries this installation before it loads a
/// plugin, and continues if it fails. Without a network and without limits, it would try for
/// minutes. Segue's plugin does not need the package.
const INSTALL_LIMITS: [(&str, &str); 2] =
    [("npm_config_fetch_retries", "0"), ("npm_config_fetch_timeout", "30000")];

/// The environment variable that names the limits that Segue has set. The plugin removes these
/// limits, so that the agent's tools do not inherit them.
const LIMITS_VARIABLE: &str = "SEGUE_INSTALL_LIMITS";

/// Flags that choose a conversation.
const CHOOSING_FLAGS: [(&str, FlagValue); 5] = [
    ("--session", FlagValue::Always),
    ("-s", FlagValue::Always),
    ("--continue", FlagValue::Never),
    ("-c", FlagValue::Never),
    ("--fork", FlagValue::Never),
];

impl Launching for OpenCode {
    fn program(&self) -> ProgramSpec {
        ProgramSpec::Named { name: "opencode".to_owned(), native: &NATIVE_PROGRAMS }
    }

    fn config_dir(&self, environment: &Environment) -> Result<PathBuf> {
        paths::config_dir(environment)
    }

    fn prepare_environment(&self, place: &Place, environment: &mut Environment) {
        paths::prepare_environment(place, environment);
    }

    /// Adds the plugin and the session's instructions to the settings in the environment.
    fn add_settings(&self, session: &Session, folder: &Path, environment: &mut Environment) {
        let configured =
            environment.get(SETTINGS_VARIABLE).and_then(|text| serde_json::from_str(text).ok());
        let mut settings: Value = configured.filter(Value::is_object).unwrap_or_else(|| json!({}));
        replace_file(&mut settings["plugin"], Some(&folder.join(PLUGIN_FILE)));
        let instructions =
            session.instructions.as_ref().map(|_| folder.join(launch_files::INSTRUCTIONS_FILE));
        replace_file(&mut settings["instructions"], instructions.as_deref());
        environment.set(SETTINGS_VARIABLE, settings.to_string());
        limit_installation(environment);
    }

    /// Returns the id of a new conversation. `None` if the session's additional arguments choose a
    /// conversation.
    fn preset_id(&self, session: &Session, unique: Uuid) -> Option<VendorSessionId> {
        let chooses = launching::has_flag(&session.args, &CHOOSING_FLAGS.map(|(flag, _)| flag));
        (!chooses).then(|| VendorSessionId::new(format!("ses_{}", unique.simple())))
    }

    fn command(&self, plan: &CommandPlan<'_>) -> Result<CommandLine> {
        let session = plan.session;
        let folder = session.cwd.display().to_string();
        let mut arguments = if session.headless {
            // If the folder is not that of the conversation, OpenCode runs the turn and never
            // exits.
            vec![
                "run".to_owned(),
                "--format".to_owned(),
                "json".to_owned(),
                "--dir".to_owned(),
                folder,
            ]
        } else {
            vec![folder]
        };
        arguments.extend(conversation_arguments(plan)?);
        if let Some(model) = &session.model {
            arguments.push(format!("--model={model}"));
        }
        if session.permission == Permission::Auto {
            arguments.push("--auto".to_owned());
        }
        arguments.extend(launching::own_arguments(plan, &CHOOSING_FLAGS));
        ensure_message(plan)?;
        Ok(CommandLine { arguments, files: files(plan) })
    }

    /// Returns the arguments that import a conversation from a file: the file of the plan, or an
    /// empty conversation for a fresh launch. `None` if no import is needed.
    fn preparation(&self, plan: &CommandPlan<'_>) -> Option<Vec<String>> {
        let own = begins_conversation(plan).then(|| plan.folder.join(IMPORT_FILE));
        let file = plan.import.map(Path::to_owned).or(own)?.display().to_string();
        // `--pure` disables plugins, so that Segue's plugin does not report the import.
        Some(vec!["import".to_owned(), "--pure".to_owned(), file])
    }

    /// Returns the variables that stop the preparation from installing a package. Otherwise, the
    /// preparation would exit during the installation and leave a lock, for which the next process
    /// would wait a minute. The preparation needs no settings, so its settings folder is one in
    /// which the package seems to be installed.
    fn preparation_variables(&self, plan: &CommandPlan<'_>) -> Vec<String> {
        let folder = plan.folder.join(PREPARATION_FOLDER).display().to_string();
        vec![
            format!("XDG_CONFIG_HOME={folder}"),
            format!("OPENCODE_TEST_HOME={folder}"),
            "OPENCODE_DISABLE_PROJECT_CONFIG=1".to_owned(),
        ]
    }

    fn headless(&self) -> Option<&dyn HeadlessLaunching> {
        Some(self)
    }
}

impl HeadlessLaunching for OpenCode {
    /// Returns the file with the message. The message is not an argument, because OpenCode puts
    /// quotes around arguments with spaces and changes arguments that look like numbers.
    fn standard_input(&self, plan: &CommandPlan<'_>) -> Option<PathBuf> {
        launch_files::prompt_path(plan)
    }
}

/// Returns the arguments that name the conversation. A new conversation already exists, because the
/// preparation has imported it.
fn conversation_arguments(plan: &CommandPlan<'_>) -> Result<Vec<String>> {
    match (plan.mode, plan.id) {
        (_, Some(id)) if paths::is_id(id.as_str()) => Ok(vec!["-s".to_owned(), id.to_string()]),
        (_, Some(id)) => Err(launching::invalid_id(id, "OpenCode's ids begin with `ses_`")),
        (LaunchMode::Fresh, None) => Ok(Vec::new()),
        (LaunchMode::Resume, None) => Err(launching::missing_id(plan.session)),
    }
}

fn ensure_message(plan: &CommandPlan<'_>) -> Result<()> {
    if !plan.session.headless || plan.message.is_some() {
        return Ok(());
    }
    Err(launching::missing_prompt(plan.session))
}

/// Returns the files because of which OpenCode does not install the package.
fn preparation_files(plan: &CommandPlan<'_>) -> [NewFile; 2] {
    let settings = plan.folder.join(PREPARATION_FOLDER).join("opencode");
    let lock = json!({"packages": {"": {"dependencies": {"@opencode-ai/plugin": "*"}}}});
    [
        NewFile { path: settings.join("package-lock.json"), contents: lock.to_string() },
        NewFile { path: settings.join("node_modules/empty"), contents: String::new() },
    ]
}

/// Returns whether the launch begins a conversation with an id that Segue chose.
fn begins_conversation(plan: &CommandPlan<'_>) -> bool {
    plan.mode == LaunchMode::Fresh && plan.id.is_some() && plan.import.is_none()
}

fn files(plan: &CommandPlan<'_>) -> Vec<NewFile> {
    let file = |name: &str, contents| NewFile { path: plan.folder.join(name), contents };
    let mut files = vec![file(PLUGIN_FILE, plugin(plan))];
    files.extend(launch_files::instructions(plan));
    files.extend(launch_files::prompt(plan));
    if OpenCode.preparation(plan).is_some() {
        files.extend(preparation_files(plan));
    }
    if let Some(id) = plan.id.filter(|_| begins_conversation(plan)) {
        files.push(file(IMPORT_FILE, empty_conversation(plan, id)));
    }
    files
}

fn plugin(plan: &CommandPlan<'_>) -> String {
    let session = plan.session;
    let model = session.model.as_deref().and_then(|model| model.split_once('/'));
    let launch = json!({
        "hook": plan.hook,
        "folder": plan.folder,
        "session": plan.id,
        "message": plan.message.filter(|_| !session.headless),
        "model": model.map(|(provider, model)| json!({"providerID": provider, "modelID": model})),
        "headless": session.headless,
        "permission": session.permission,
    });
    format!("const launch = {launch};\n{PLUGIN}")
}

fn empty_conversation(plan: &CommandPlan<'_>, id: &VendorSessionId) -> String {
    let (session, now) = (plan.session, plan.now.as_millisecond());
    let info = json!({
        "id": id, "slug": session.name, "projectID": "global", "directory": session.cwd,
        "title": session.address(), "version": env!("CARGO_PKG_VERSION"),
        "time": {"created": now, "updated": now},
    });
    json!({"info": info, "messages": []}).to_string()
}

/// Sets the limits of an installation, except limits that the user has set.
fn limit_installation(environment: &mut Environment) {
    let earlier_limits = environment.get(LIMITS_VARIABLE).unwrap_or_default().to_owned();
    environment.retain(|name| {
        name != LIMITS_VARIABLE && earlier_limits.split(' ').all(|limit| limit != name)
    });
    let is_set =
        |limit: &str| environment.names().iter().any(|name| name.eq_ignore_ascii_case(limit));
    let missing_limits: Vec<(&str, &str)> =
        INSTALL_LIMITS.into_iter().filter(|(name, _)| !is_set(name)).collect();
    for (name, value) in &missing_limits {
        environment.set(*name, *value);
    }
    let names: Vec<&str> = missing_limits.iter().map(|(name, _)| *name).collect();
    if !names.is_empty() {
        environment.set(LIMITS_VARIABLE, names.join(" "));
    }
}

/// Adds a file to a list, and removes the files of an outer launch from the list.
fn replace_file(list: &mut Value, file: Option<&Path>) {
    let entries = list.as_array().cloned().unwrap_or_default();
    let is_from_segue = |entry: &Value| {
        let name = entry.as_str().and_then(|text| Path::new(text).file_name());
        name.is_some_and(|name| name == PLUGIN_FILE || name == launch_files::INSTRUCTIONS_FILE)
    };
    let mut all: Vec<Value> = entries.into_iter().filter(|entry| !is_from_segue(entry)).collect();
    all.extend(file.map(|file| json!(file)));
    *list = Value::Array(all);
}

#[cfg(test)]
mod tests;
