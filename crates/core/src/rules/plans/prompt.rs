//! Prompts of tasks of plans: templates with the results of earlier tasks.

use std::collections::{BTreeMap, BTreeSet};

use minijinja::value::Serde;
use minijinja::{Environment, UndefinedBehavior};
use serde::Serialize;

use crate::error::{Error, Result};
use crate::rules::tasks::fenced;

/// At most this many bytes of one answer are in a prompt.
const MAX_ANSWER_BYTES: usize = 16 * 1024;

/// At most this many bytes of answers are in a prompt, so that a task that needs many others gets a
/// part of each.
const MAX_ANSWERS_BYTES: usize = 256 * 1024;

/// The largest number of steps of a template, so that an endless loop ends.
const MAX_STEPS: u64 = 1_000_000;

/// The tasks that a prompt names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamedTasks {
    pub tasks: BTreeSet<String>,
    /// Whether the prompt uses `tasks` in a way that may reach all of them, such as a loop.
    pub may_name_all: bool,
}

/// The result of a task that another task needs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct NeededResult {
    /// The last answer of the agent. It is quoted when it is rendered.
    pub answer: String,
    /// `done`, `failed` or `cancelled`.
    pub state: String,
    /// The branch of the task's worktree. Empty if it has none.
    pub branch: String,
}

#[derive(Serialize)]
struct PlanVariables {
    tasks: BTreeMap<String, NeededResult>,
}

/// The line of a template in which an error is, and its text.
type TemplateError = (Option<usize>, String);

/// Returns the tasks that a prompt names. Fails if the prompt is not a valid template.
pub fn named_tasks(prompt: &str) -> Result<NamedTasks, TemplateError> {
    if !prompt.contains("{{") && !prompt.contains("{%") && !prompt.contains("{#") {
        return Ok(NamedTasks::default());
    }
    let environment = environment();
    let template = environment.template_from_named_str("prompt", prompt).map_err(explained)?;
    let mut named = NamedTasks::default();
    for variable in template.undeclared_variables(true) {
        let mut parts = variable.split('.');
        match (parts.next(), parts.next()) {
            (Some("tasks"), Some(task)) => {
                named.tasks.insert(task.to_owned());
            }
            (Some("tasks"), None) => named.may_name_all = true,
            _ => {}
        }
    }
    Ok(named)
}

/// Returns an error if a prompt cannot be rendered with the results of the needed tasks.
pub fn check_prompt(prompt: &str, needed: &BTreeSet<String>) -> Result<(), TemplateError> {
    let result = || NeededResult {
        answer: "an answer".to_owned(),
        state: "done".to_owned(),
        branch: "a-branch".to_owned(),
    };
    let tasks = needed.iter().map(|name| (name.clone(), result())).collect();
    let rendered = render(prompt, PlanVariables { tasks }).map_err(explained)?;
    if rendered.trim().is_empty() {
        return Err((None, "the prompt renders as an empty text".to_owned()));
    }
    Ok(())
}

/// Renders the prompt of a task that starts. The answers of agents are quoted, and their sizes are
/// limited, so that an answer cannot be taken for a part of the prompt.
pub fn render_prompt(prompt: &str, needed: BTreeMap<String, NeededResult>) -> Result<String> {
    let most = (MAX_ANSWERS_BYTES / needed.len().max(1)).min(MAX_ANSWER_BYTES);
    let quoted = |result: NeededResult| NeededResult {
        answer: fenced(&shortened(&result.answer, most)),
        ..result
    };
    let tasks = needed.into_iter().map(|(name, result)| (name, quoted(result))).collect();
    render(prompt, PlanVariables { tasks }).map_err(|error| {
        let (line, message) = explained(error);
        let line = line.map(|line| format!(" line {line}")).unwrap_or_default();
        Error::config(format!("the prompt cannot be rendered:{line} {message}"))
    })
}

fn render(prompt: &str, variables: PlanVariables) -> Result<String, minijinja::Error> {
    environment().render_named_str("prompt", prompt, Serde(variables))
}

fn environment() -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_fuel(Some(MAX_STEPS));
    environment
}

fn explained(error: minijinja::Error) -> TemplateError {
    let kind = error.kind().to_string();
    let message = error.detail().map_or_else(|| kind.clone(), |it| format!("{kind}: {it}"));
    (error.line(), message)
}

fn shortened(text: &str, most: usize) -> String {
    let text = text.trim_end();
    if text.len() <= most {
        return text.to_owned();
    }
    let (total, cut) = (text.len(), &text[..text.floor_char_boundary(most)]);
    format!("{cut}…\n[cut: the whole text has {total} bytes]")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(answer: &str) -> NeededResult {
        let (answer, state) = (answer.to_owned(), "done".to_owned());
        NeededResult { answer, state, branch: String::new() }
    }

    #[test]
    fn prompt_names_the_tasks_whose_results_it_uses() {
        let table = [
            ("no template, { one } brace", vec![], false),
            ("{{ tasks.design.answer }} {{ tasks.a.state }}", vec!["a", "design"], false),
            ("{% for name in tasks %}{{ name }}{% endfor %}", vec![], true),
        ];
        for (prompt, names, may_name_all) in table {
            let named = named_tasks(prompt).unwrap();
            assert_eq!(named.tasks.iter().map(String::as_str).collect::<Vec<_>>(), names);
            assert_eq!(named.may_name_all, may_name_all, "{prompt}");
        }
        let (line, _) = named_tasks("a\n{{ tasks.design").unwrap_err();
        assert_eq!(line, Some(2));
    }

    #[test]
    fn answer_is_quoted_and_cannot_be_taken_for_a_template() {
        let needed = BTreeMap::from([("design".to_owned(), result("```\n{{ tasks }}\n"))]);
        let prompt = "Build it:\n{{ tasks.design.answer }}\n";
        let expected = "Build it:\n````\n```\n{{ tasks }}\n````";
        assert_eq!(render_prompt(prompt, needed).unwrap(), expected);
    }

    #[test]
    fn sizes_of_one_answer_and_of_all_answers_are_limited() {
        let long = "ä".repeat(MAX_ANSWER_BYTES);
        let one = BTreeMap::from([("a".to_owned(), result(&long))]);
        let text = render_prompt("{{ tasks.a.answer }}", one).unwrap();
        assert!(text.len() < MAX_ANSWER_BYTES + 100, "{}", text.len());
        assert!(text.contains("[cut: the whole text has 32768 bytes]"));
        let many = (0..100).map(|it| (format!("t{it}"), result(&long))).collect();
        let prompt = "{% for name in tasks %}{{ tasks[name].answer }}{% endfor %}";
        let text = render_prompt(prompt, many).unwrap();
        assert!(text.len() < MAX_ANSWERS_BYTES + 10_000, "{}", text.len());
    }

    #[test]
    fn prompt_that_uses_an_unknown_result_or_renders_nothing_is_refused() {
        let needed = BTreeSet::from(["a".to_owned()]);
        assert!(check_prompt("{{ tasks.a.answer }}", &needed).is_ok());
        let (line, _) = check_prompt("x\n{{ tasks.a.anwser }}", &needed).unwrap_err();
        assert_eq!(line, Some(2));
        for bad in ["{{ tasks.b.answer }}", "{{ prompt }}", "{% if false %}x{% endif %}"] {
            assert!(check_prompt(bad, &needed).is_err(), "{bad}");
        }
    }
}
