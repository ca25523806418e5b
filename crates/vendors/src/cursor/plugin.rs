//! The plugin of a launch: hooks that report what an interactive Cursor does, and the session's
//! instructions as a rule. It is in the launch folder, and changes no file of the user.

use std::path::{Path, PathBuf};

use segue_core::ports::{CommandPlan, NewFile};
use serde_json::{Value, json};

/// The events that the hooks subscribe to. One unknown name would make Cursor ignore all hooks.
const EVENTS: [&str; 2] = ["beforeSubmitPrompt", "stop"];

/// The event before the first message. A launch that begins with a message does not need it,
/// because other events follow.
const START_EVENT: &str = "sessionStart";

/// How long Cursor waits for a hook, in seconds.
const HOOK_TIMEOUT_SECONDS: u64 = 10;

/// Returns the files of the plugin. Empty if this launch needs no plugin.
pub(super) fn files(plan: &CommandPlan<'_>) -> Vec<NewFile> {
    let folder = folder(plan.folder);
    let file = |below: &str, contents| NewFile { path: folder.join(below), contents };
    let hooks = (!plan.session.headless).then(|| file("hooks/hooks.json", hooks(plan).to_string()));
    let rule = plan.session.instructions.as_deref().map(|text| file("rules/segue.mdc", rule(text)));
    let optional_files: Vec<NewFile> = hooks.into_iter().chain(rule).collect();
    if optional_files.is_empty() {
        return optional_files;
    }
    let manifest = json!({
        "name": "segue", "version": "1.0.0",
        "description": "Reports to Segue what this session does.",
    });
    optional_files
        .into_iter()
        .chain([file(".cursor-plugin/plugin.json", manifest.to_string())])
        .collect()
}

pub(super) fn folder(launch: &Path) -> PathBuf {
    launch.join("cursor-plugin")
}

fn hooks(plan: &CommandPlan<'_>) -> Value {
    let started = plan.message.is_none().then_some(START_EVENT);
    let hook = json!([{"command": plan.hook, "timeout": HOOK_TIMEOUT_SECONDS}]);
    let all = EVENTS.into_iter().chain(started).map(|event| (event.to_owned(), hook.clone()));
    json!({"version": 1, "hooks": all.collect::<serde_json::Map<_, _>>()})
}

fn rule(instructions: &str) -> String {
    format!(
        "---\ndescription: Instructions of this session\nalwaysApply: true\n---\n\n{instructions}\n"
    )
}
