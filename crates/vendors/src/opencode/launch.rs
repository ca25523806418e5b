//! Arguments, files and environment of a launch.

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
/// to. They are needed if the script was not replaced by the program.
const NATIVE: [&str; 4] = [
    "../node_modules/opencode-linux-x64/bin/opencode",
    "../../opencode-linux-x64/bin/opencode",
    "../node_modules/opencode-linux-arm64/bin/opencode",
    "../../opencode-linux-arm64/bin/opencode",
];

/// The environment variable with settings in addition to the user's own, which stay unchanged.
const SETTINGS_VARIABLE: &str = "OPENCODE_CONFIG_CONTENT";

/// The plugin that reports what the process does.
const PLUGIN: &str = include_str!("plugin.mjs");
const PLUGIN_FILE: &str = "segue-plugin.mjs";

const IMPORT_FILE: &str = "conversation.json";

/// Folder with the settings of the preparation, which runs before the launch.
const PREPARATION_FOLDER: &str = "preparation";

/// Limits for the installation of a package, which OpenCode tries before it loads any plugin. Our
/// plugin does not need the package, and without a network OpenCode would try for minutes. OpenCode
/// continues if the installation fails.
const INSTALL_LIMITS: [(&str, &str); 2] =
    [("npm_config_fetch_retries", "0"), ("npm_config_fetch_timeout", "30000")];

/// The environment variable that names the limits that Segue has set. The plugin removes these
/// limits, so that the agent's tools do not inherit them.
const LIMITS_VARIABLE: &str = "SEGUE_INSTALL_LIMITS";

/// Flags among a session's own arguments that choose its conversation.
const CHOOSES: [(&str, FlagValue); 5] = [
    ("--session", FlagValue::Always),
    ("-s", FlagValue::Always),
    ("--continue", FlagValue::Never),
    ("-c", FlagValue::Never),
    ("--fork", FlagValue::Never),
];

impl Launching for OpenCode {
    fn program(&self) -> ProgramSpec {
        ProgramSpec::Named { name: "opencode".to_owned(), native: &NATIVE }
    }

    fn config_dir(&self, environment: &Environment) -> Result<PathBuf> {
        paths::config_dir(environment)
    }

    fn prepare_environment(&self, place: &Place, environment: &mut Environment) {
        paths::prepare_environment(place, environment);
    }

    /// Adds the plugin and the session's instructions to the settings in the process's environment.
    fn add_settings(&self, session: &Session, folder: &Path, environment: &mut Environment) {
        let given =
            environment.get(SETTINGS_VARIABLE).and_then(|text| serde_json::from_str(text).ok());
        let mut settings: Value = given.filter(Value::is_object).unwrap_or_else(|| json!({}));
        add(&mut settings["plugin"], Some(&folder.join(PLUGIN_FILE)));
        let instructions =
            session.instructions.as_ref().map(|_| folder.join(launch_files::INSTRUCTIONS_FILE));
        add(&mut settings["instructions"], instructions.as_deref());
        environment.set(SETTINGS_VARIABLE, settings.to_string());
        limit_installation(environment);
    }

    /// Returns the id of a new conversation. `None` if the session's own arguments choose a
    /// conversation.
    fn preset_id(&self, session: &Session, unique: Uuid) -> Option<VendorSessionId> {
        let chooses = launching::has_flag(&session.args, &CHOOSES.map(|(flag, _)| flag));
        (!chooses).then(|| VendorSessionId::new(format!("ses_{}", unique.simple())))
    }

    fn command(&self, plan: &CommandPlan<'_>) -> Result<CommandLine> {
        let session = plan.session;
        let folder = session.cwd.display().to_string();
        let mut arguments = if session.headless {
            // In another folder than the conversation's own, OpenCode would run the turn and never
            // exit.
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
        arguments.extend(identity(plan)?);
        if let Some(model) = &session.model {
            arguments.push(format!("--model={model}"));
        }
        if session.permission == Permission::Auto {
            arguments.push("--auto".to_owned());
        }
        arguments.extend(launching::own_arguments(plan, &CHOOSES));
        ensure_message(plan)?;
        Ok(CommandLine { arguments, files: files(plan) })
    }

    /// Returns the arguments that import a conversation from a file: the one of the plan, or an
    /// empty one for a new session. `None` if nothing is imported. The conversation may exist
    /// already.
    fn preparation(&self, plan: &CommandPlan<'_>) -> Option<Vec<String>> {
        let own = is_begun(plan).then(|| plan.folder.join(IMPORT_FILE));
        let file = plan.import.map(Path::to_owned).or(own)?.display().to_string();
        // The plugins stay off, because they must not report anything about an import.
        Some(vec!["import".to_owned(), "--pure".to_owned(), file])
    }

    /// Returns the variables that stop the preparation from installing a package. The preparation
    /// exits before an installation is complete, and the next process would wait a minute for the
    /// lock that is left. The preparation needs no settings, so it gets folders in which the
    /// package seems to be installed.
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
    /// Returns the file with the message of a headless launch. The message is not an argument,
    /// because OpenCode puts quotes around arguments with spaces and misreads those that look like
    /// numbers.
    fn standard_input(&self, plan: &CommandPlan<'_>) -> Option<PathBuf> {
        launch_files::prompt_path(plan)
    }
}

/// Returns the arguments that name the conversation of the launch. A new conversation exists
/// already: it was imported, so that Segue could choose its id.
fn identity(plan: &CommandPlan<'_>) -> Result<Vec<String>> {
    match (plan.mode, plan.id) {
        (_, Some(id)) if paths::is_id(id.as_str()) => Ok(vec!["-s".to_owned(), id.to_string()]),
        (_, Some(id)) => Err(launching::invalid_id(id, "the ids of OpenCode begin with `ses_`")),
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

/// Returns the files that make the package seem to be installed.
fn preparation_files(plan: &CommandPlan<'_>) -> [NewFile; 2] {
    let settings = plan.folder.join(PREPARATION_FOLDER).join("opencode");
    let lock = json!({"packages": {"": {"dependencies": {"@opencode-ai/plugin": "*"}}}});
    [
        NewFile { path: settings.join("package-lock.json"), contents: lock.to_string() },
        NewFile { path: settings.join("node_modules/empty"), contents: String::new() },
    ]
}

/// Returns whether the launch begins a conversation with an id that Segue chose.
fn is_begun(plan: &CommandPlan<'_>) -> bool {
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
    if let Some(id) = plan.id.filter(|_| is_begun(plan)) {
        files.push(file(IMPORT_FILE, empty_conversation(plan, id)));
    }
    files
}

fn plugin(plan: &CommandPlan<'_>) -> String {
    let session = plan.session;
    let model = session.model.as_deref().and_then(|model| model.split_once('/'));
    let given = json!({
        "hook": plan.hook,
        "folder": plan.folder,
        "session": plan.id,
        "message": plan.message.filter(|_| !session.headless),
        "model": model.map(|(provider, model)| json!({"providerID": provider, "modelID": model})),
        "headless": session.headless,
        "permission": session.permission,
    });
    format!("const given = {given};\n{PLUGIN}")
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

/// Limits how long an installation is tried, unless the user has set limits.
fn limit_installation(environment: &mut Environment) {
    let earlier = environment.get(LIMITS_VARIABLE).unwrap_or_default().to_owned();
    environment.retain(|name| name != LIMITS_VARIABLE && earlier.split(' ').all(|it| it != name));
    let is_set =
        |limit: &str| environment.names().iter().any(|name| name.eq_ignore_ascii_case(limit));
    let ours: Vec<(&str, &str)> =
        INSTALL_LIMITS.into_iter().filter(|(name, _)| !is_set(name)).collect();
    for (name, value) in &ours {
        environment.set(*name, *value);
    }
    let names: Vec<&str> = ours.iter().map(|(name, _)| *name).collect();
    if !names.is_empty() {
        environment.set(LIMITS_VARIABLE, names.join(" "));
    }
}

/// Adds a file to a list, and removes the files of another launch from it.
fn add(list: &mut Value, file: Option<&Path>) {
    let known = list.as_array().cloned().unwrap_or_default();
    let is_ours = |entry: &Value| {
        let name = entry.as_str().and_then(|text| Path::new(text).file_name());
        name.is_some_and(|name| name == PLUGIN_FILE || name == launch_files::INSTRUCTIONS_FILE)
    };
    let mut all: Vec<Value> = known.into_iter().filter(|entry| !is_ours(entry)).collect();
    all.extend(file.map(|file| json!(file)));
    *list = Value::Array(all);
}

#[cfg(test)]
mod tests;
