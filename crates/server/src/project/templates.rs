//! The templates of a project for the prompts of tasks.

use std::path::Path;

use segue_core::Result;
use segue_core::model::{PromptTemplate, TaskTemplates, TrustClaim};

use super::source::ProjectSource;

/// The template of a prompt that begins a conversation.
const TASK: &str = "prompts/task.md";

/// The template of a prompt that continues a conversation.
const DELTA: &str = "prompts/delta.md";

/// Reads the templates that the project has.
pub(super) fn read(source: &ProjectSource) -> Result<TaskTemplates> {
    let template = |file: &str| -> Result<Option<PromptTemplate>> {
        let found = source.optional_text_file(Path::new(file))?;
        Ok(found.map(|(path, text)| PromptTemplate { path, text }))
    };
    Ok(TaskTemplates { task: template(TASK)?, delta: template(DELTA)? })
}

/// Returns what the user has to trust: the templates reach agents.
pub(super) fn claims(templates: &TaskTemplates) -> Vec<TrustClaim> {
    let claim = |(file, template): (&str, &Option<PromptTemplate>)| {
        let text = template.as_ref()?.text.clone();
        Some(TrustClaim::text(format!("tasks: template `{file}`"), text))
    };
    [(TASK, &templates.task), (DELTA, &templates.delta)].into_iter().filter_map(claim).collect()
}
