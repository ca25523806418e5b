//! The extension that reports what Pi does: a file of the launch that Pi loads.

use segue_core::ports::{CommandPlan, NewFile};
use serde_json::json;

const BODY: &str = include_str!("extension.mjs");

/// Returns the extension for a launch. In a headless launch it reports nothing, because Pi's output
/// shows what Pi does.
pub(super) fn file(plan: &CommandPlan<'_>) -> NewFile {
    let hook = (!plan.session.headless).then_some(plan.hook);
    let given = json!({"hook": hook, "prompted": plan.message.is_some()});
    let contents = format!("const given = {given};\n{BODY}");
    NewFile { path: plan.folder.join("segue.mjs"), contents }
}
