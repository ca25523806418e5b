//! The prompts and messages that a task sends to its session.

use crate::error::{Error, Result};
use crate::flows::trust;
use crate::model::{
    FolderState, PROJECT_FILE, Task, TaskOrder, TaskState, TaskTemplates, VerifyReport,
};
use crate::ports::Ports;
use crate::rules::tasks::fenced;
use crate::rules::templates::{self, TemplateVariables};

/// The beginning of the prompt for an agent whose conversation was lost.
const AFTER_LOSS: &str = "An earlier conversation about this work was lost, so you do not remember \
                          it. Look at what is already done, then go on.";

/// Returns the prompt that begins a conversation. `folder` is that of the session. The caller reads
/// its state, because that blocks the thread.
pub async fn first_prompt(ports: &Ports, task: &Task, folder: FolderState) -> Result<String> {
    let own = task_templates(ports, &task.order).await?;
    let prompt = templates::first_prompt(own.task.as_ref(), &variables(task, folder))?;
    Ok(match task.progress.lost_conversation {
        Some(_) => format!("{AFTER_LOSS}\n\n{prompt}"),
        None => prompt,
    })
}

/// Returns the message that continues a conversation with a task. It has the current facts of the
/// session's folder, because a resumed agent trusts its memory.
pub async fn next_prompt(ports: &Ports, task: &Task, folder: FolderState) -> Result<String> {
    let own = task_templates(ports, &task.order).await?;
    templates::delta_prompt(own.delta.as_ref(), &variables(task, folder))
}

/// Returns an error if a template of the project cannot be rendered for a task.
pub(crate) async fn check(ports: &Ports, task: &Task) -> Result<()> {
    let own = task_templates(ports, &task.order).await?;
    let path = task.order.folder.display().to_string();
    let variables = variables(task, FolderState { path, ..FolderState::default() });
    templates::first_prompt(own.task.as_ref(), &variables)?;
    templates::delta_prompt(own.delta.as_ref(), &variables).map(drop)
}

/// Returns the templates of the project. The project must be trusted.
async fn task_templates(ports: &Ports, order: &TaskOrder) -> Result<TaskTemplates> {
    let project = ports.projects.around(&order.folder)?.ok_or_else(|| {
        let folder = order.folder.display();
        Error::config(format!("no `{PROJECT_FILE}` is in `{folder}` or above it"))
    })?;
    trust::require(ports, &project).await?;
    Ok(project.templates)
}

fn variables(task: &Task, folder: FolderState) -> TemplateVariables {
    let order = &task.order;
    TemplateVariables {
        prompt: order.prompt.clone(),
        task: task.id.to_string(),
        key: task.key.as_ref().map(ToString::to_string),
        agent: order.agent.to_string(),
        fleet: order.fleet.to_string(),
        folder: folder.path.clone(),
        issue: order.issue.as_ref().map(|issue| issue.as_str().to_owned()),
        attempts: task.attempts,
        git: folder.into(),
    }
}

/// Returns the message for an agent whose task goes on after a wait.
pub fn after_wait(task: &Task) -> String {
    let why = match &task.state {
        TaskState::Waiting(wait) => format!("The task had to wait ({wait}) and goes on now."),
        _ => "The task goes on now.".to_owned(),
    };
    let prompt = &task.order.prompt;
    format!("{why} Look at what is already done, then go on.\n\nThe task:\n\n{prompt}")
}

/// Returns the message about a verify command that failed.
pub fn verify_prompt(VerifyReport { command, output, .. }: &VerifyReport, ending: &str) -> String {
    format!(
        "The command `{command}` must succeed, but it failed ({ending}). Its output ends with:\n\n\
         {}\n\nFix the cause.",
        fenced(output)
    )
}
