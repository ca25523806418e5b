//! The extension that tells what Pi does: a file of the launch, which Pi is told to load.

use segue_core::ports::{CommandPlan, NewFile};
use serde_json::json;

const BODY: &str = include_str!("extension.mjs");

/// Returns the extension for a launch. A headless one says in its output what it does.
pub(super) fn file(plan: &CommandPlan<'_>) -> NewFile {
    let hook = (!plan.session.headless).then_some(plan.hook);
    let given = json!({"hook": hook, "prompted": plan.message.is_some()});
    let contents = format!("const given = {given};\n{BODY}");
    NewFile { path: plan.folder.join("segue.mjs"), contents }
}
