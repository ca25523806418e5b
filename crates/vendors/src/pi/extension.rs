//! The extension that reports the conversation and the activity of a Pi process.

use segue_core::ports::{CommandPlan, NewFile};
use serde_json::json;

const SCRIPT: &str = include_str!("extension.mjs");

/// Returns the extension for a launch. In a headless launch it reports nothing, because Segue reads
/// Pi's output.
pub(super) fn file(plan: &CommandPlan<'_>) -> NewFile {
    let hook = (!plan.session.headless).then_some(plan.hook);
    let launch = json!({"hook": hook, "prompted": plan.message.is_some()});
    let contents = format!("const launch = {launch};\n{SCRIPT}");
    NewFile { path: plan.folder.join("segue.mjs"), contents }
}
