//! Texts that a vendor's program reads from files in the launch folder and not from its arguments:
//! every user of the machine can read the arguments of a process.

use std::path::PathBuf;

use segue_core::ports::{CommandPlan, NewFile};

pub(crate) const INSTRUCTIONS_FILE: &str = "instructions.md";
const PROMPT_FILE: &str = "prompt.txt";

/// Returns the file with the session's instructions. `None` if the session has no instructions.
pub(crate) fn instructions(plan: &CommandPlan<'_>) -> Option<NewFile> {
    let contents = plan.session.instructions.clone()?;
    Some(NewFile { path: plan.folder.join(INSTRUCTIONS_FILE), contents })
}

/// Returns the file with the message of a headless launch, which becomes its standard input. `None`
/// if the launch has no message or is not headless.
pub(crate) fn prompt(plan: &CommandPlan<'_>) -> Option<NewFile> {
    let contents = plan.message?.to_owned();
    Some(NewFile { path: prompt_path(plan)?, contents })
}

/// Returns the path of the file that becomes the standard input of a headless launch. `None` if the
/// session is not headless.
pub(crate) fn prompt_path(plan: &CommandPlan<'_>) -> Option<PathBuf> {
    plan.session.headless.then(|| plan.folder.join(PROMPT_FILE))
}
