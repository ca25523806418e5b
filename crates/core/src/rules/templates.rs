//! Renders the prompts of tasks from templates.

use minijinja::value::Serde;
use minijinja::{Environment, UndefinedBehavior};
use serde::Serialize;

use crate::error::{Error, Result};
use crate::model::{FolderState, PromptTemplate};

/// The template of a first prompt if the project has none.
const DEFAULT_TASK: &str = "{{ prompt }}";

/// The template of a prompt that continues a conversation if the project has none. A resumed agent
/// trusts its memory, so the prompt has the current facts of the folder.
const DEFAULT_DELTA: &str = include_str!("templates/delta.md");

/// The largest number of steps of a template, so that an endless loop ends.
const MAX_STEPS: u64 = 1_000_000;

/// The variables of a template.
#[derive(Clone, Debug, Default, Serialize)]
pub struct TemplateVariables {
    /// The prompt that the task was added with.
    pub prompt: String,
    /// The id of the task.
    pub task: String,
    pub key: Option<String>,
    pub agent: String,
    pub fleet: String,
    pub folder: String,
    pub issue: Option<String>,
    /// How often the task was started before.
    pub attempts: u32,
    pub git: GitFacts,
}

/// The state of the folder's git repository. Everything is empty if there is none.
#[derive(Clone, Debug, Default, Serialize)]
pub struct GitFacts {
    pub branch: Option<String>,
    /// The newest commits, newest first, one line each.
    pub commits: Vec<String>,
    /// The files with uncommitted changes.
    pub changed: Vec<String>,
}

impl From<FolderState> for GitFacts {
    fn from(FolderState { branch, commits, dirty, more_dirty, .. }: FolderState) -> Self {
        let more = (more_dirty > 0).then(|| format!("and {more_dirty} more"));
        Self { branch, commits, changed: dirty.into_iter().chain(more).collect() }
    }
}

/// Renders the prompt that begins a conversation.
pub fn first_prompt(
    template: Option<&PromptTemplate>,
    variables: &TemplateVariables,
) -> Result<String> {
    render(template, DEFAULT_TASK, variables)
}

/// Renders the prompt that continues a conversation.
pub fn delta_prompt(
    template: Option<&PromptTemplate>,
    variables: &TemplateVariables,
) -> Result<String> {
    render(template, DEFAULT_DELTA, variables)
}

fn render(
    template: Option<&PromptTemplate>,
    default: &str,
    variables: &TemplateVariables,
) -> Result<String> {
    let name = template.map(|template| template.path.display().to_string());
    let name = name.as_deref().unwrap_or("built-in template");
    let text = template.map_or(default, |template| template.text.as_str());
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_fuel(Some(MAX_STEPS));
    let rendered = environment.render_named_str(name, text, Serde(variables));
    let prompt = rendered.map_err(|error| broken(name, &error))?;
    if prompt.trim().is_empty() {
        return Err(Error::config(format!("`{name}` renders an empty prompt"))
            .hint("add `{{ prompt }}` to it"));
    }
    Ok(prompt)
}

/// Returns the error for a template that cannot be rendered. It names the file and the line.
fn broken(name: &str, error: &minijinja::Error) -> Error {
    let line = error.line().map(|line| format!(" line {line}")).unwrap_or_default();
    let kind = error.kind().to_string();
    let cause = error.detail().map_or_else(|| kind.clone(), |detail| format!("{kind}: {detail}"));
    Error::config(format!("`{name}`{line}: {cause}")).hint(
        "its variables are `prompt`, `task`, `key`, `agent`, `fleet`, `folder`, `issue`, \
               `attempts`, `git.branch`, `git.commits` and `git.changed`",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables() -> TemplateVariables {
        let git = GitFacts {
            branch: Some("main".to_owned()),
            commits: vec!["abc1234 add a test".to_owned()],
            changed: vec!["src/lib.rs".to_owned()],
        };
        let (prompt, agent) = ("fix {{ it }} <b>".to_owned(), "coder".to_owned());
        TemplateVariables { prompt, agent, git, ..TemplateVariables::default() }
    }

    fn template(text: &str) -> PromptTemplate {
        PromptTemplate { path: "/src/shop/prompts/task.md".into(), text: text.to_owned() }
    }

    #[test]
    fn default_template_is_the_prompt_itself_and_delta_has_the_facts_of_the_folder() {
        assert_eq!(first_prompt(None, &variables()).unwrap(), "fix {{ it }} <b>");
        let delta = delta_prompt(None, &variables()).unwrap();
        for fact in ["fix {{ it }} <b>", "main", "abc1234 add a test", "src/lib.rs"] {
            assert!(delta.contains(fact), "{fact}: {delta}");
        }
        let git = GitFacts::default();
        let without = delta_prompt(None, &TemplateVariables { git, ..variables() }).unwrap();
        assert!(!without.contains("branch"), "{without}");
    }

    #[test]
    fn template_of_the_project_replaces_the_default() {
        let own = template("{{ agent }}: {{ prompt }}{% if issue %} #{{ issue }}{% endif %}");
        assert_eq!(first_prompt(Some(&own), &variables()).unwrap(), "coder: fix {{ it }} <b>");
    }

    #[test]
    fn error_of_a_template_names_the_file_and_the_line() {
        let table = [
            ("a\n{{ promt }}", "line 2"),
            ("a\n\n{% if %}", "line 3"),
            ("{{ prompt", "line 1"),
            (" \n", "empty prompt"),
            (
                "{% for a in range(9999) %}{% for b in range(9999) %}x{% endfor %}{% endfor %}",
                "fuel",
            ),
        ];
        for (text, expected) in table {
            let error = first_prompt(Some(&template(text)), &variables()).unwrap_err().to_string();
            assert!(error.contains("/src/shop/prompts/task.md"), "{error}");
            assert!(error.contains(expected), "{text:?}: {error}");
        }
    }
}
