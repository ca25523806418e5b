//! Whether a file is a valid plan.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::prompt::{check_prompt, named_tasks};
use crate::model::{
    BranchName, PlanFailureWord, PlanFile, PlanFileTask, PlanName, PlanTaskName, TaskPriority,
};

/// The most tasks of a plan.
pub const MAX_PLAN_TASKS: usize = 5_000;

/// The most often that a task is started again after a failure.
const MAX_RETRIES: u32 = 10;

/// The longest cycle that an error lists.
const MAX_LISTED: usize = 8;

/// Why a file is not a valid plan, and where in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanProblem {
    /// The task. `None` if the problem concerns the whole plan.
    pub task: Option<String>,
    /// The key of the task or of the plan.
    pub key: Option<&'static str>,
    /// The position in the list that is the value of the key.
    pub index: Option<usize>,
    /// The line within the value, if the value has several lines. The first line is 1.
    pub line: Option<usize>,
    pub message: String,
}

impl PlanProblem {
    fn of_plan(key: &'static str, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { task: None, key: Some(key), index: None, line: None, message }
    }

    /// Describes a problem with a key of a task.
    pub fn of_task(task: &str, key: Option<&'static str>, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { task: Some(task.to_owned()), key, index: None, line: None, message }
    }
}

/// Returns the first problem of a file.
pub fn check_plan(file: &PlanFile) -> Result<(), PlanProblem> {
    PlanName::parse(&file.name).map_err(|error| PlanProblem::of_plan("name", error.to_string()))?;
    TaskPriority::new(file.priority)
        .map_err(|_| PlanProblem::of_plan("priority", out_of_range("priority", file.priority)))?;
    let count = file.tasks.len();
    if count == 0 || count > MAX_PLAN_TASKS {
        let message = format!("a plan has 1 to {MAX_PLAN_TASKS} tasks, got {count}");
        return Err(PlanProblem::of_plan("tasks", message));
    }
    for (name, task) in &file.tasks {
        PlanTaskName::parse(name)
            .map_err(|error| PlanProblem::of_task(name, None, error.to_string()))?;
        check_work(name, task)?;
        check_failure(name, task)?;
        check_needs(file, name, task)?;
        check_worktree(file, name, task)?;
    }
    check_cycles(file)?;
    file.tasks.iter().try_for_each(|(name, task)| check_template(file, name, task))
}

fn out_of_range(key: &str, level: i8) -> String {
    format!("`{key}` must be between -9 and 9, got {level}")
}

fn check_work(name: &str, task: &PlanFileTask) -> Result<(), PlanProblem> {
    let problem = |key, message: &str| Err(PlanProblem::of_task(name, Some(key), message));
    if let Some(level) = task.priority
        && TaskPriority::new(level).is_err()
    {
        return problem("priority", &out_of_range("priority", level));
    }
    if task.is_pure_gate() {
        let key = [
            ("worktree", task.worktree.is_some()),
            ("worktree_of", task.worktree_of.is_some()),
            ("branch", task.branch.is_some()),
            ("verify", task.verify.is_some()),
        ];
        let given = key.into_iter().find_map(|(key, is_given)| is_given.then_some(key));
        return match given {
            _ if task.gate.is_none() => problem(
                "prompt",
                "a task needs `prompt` and `agent` or `vendor`; a task without work needs \
                 `gate = \"person\"`",
            ),
            Some(key) => problem(key, &format!("`{key}` needs `prompt`: a gate does no work")),
            None => Ok(()),
        };
    }
    match (&task.agent, &task.vendor, &task.prompt) {
        (Some(_), Some(_), _) => problem("vendor", "a task has `agent` or `vendor`, not both"),
        (None, None, _) => problem("prompt", "the task has a `prompt`, but no `agent` or `vendor`"),
        (_, _, None) => problem("prompt", "the task has no `prompt`"),
        (_, _, Some(prompt)) if prompt.trim().is_empty() => problem("prompt", "`prompt` is empty"),
        (_, _, Some(prompt)) if prompt.contains('\0') => {
            problem("prompt", "`prompt` has a zero byte")
        }
        _ => Ok(()),
    }
}

fn check_failure(name: &str, task: &PlanFileTask) -> Result<(), PlanProblem> {
    let problem = |message: String| Err(PlanProblem::of_task(name, Some("retries"), message));
    match (task.on_failure, task.retries) {
        (PlanFailureWord::Retry, Some(times)) if !(1..=MAX_RETRIES).contains(&times) => {
            problem(format!("`retries` must be between 1 and {MAX_RETRIES}, got {times}"))
        }
        (PlanFailureWord::Stop | PlanFailureWord::Continue, Some(_)) => {
            problem("`retries` needs `on_failure = \"retry\"`".to_owned())
        }
        _ => Ok(()),
    }
}

fn check_needs(file: &PlanFile, name: &str, task: &PlanFileTask) -> Result<(), PlanProblem> {
    let mut seen = BTreeSet::new();
    for (index, need) in task.needs.iter().enumerate() {
        let message = match need {
            need if need == name => format!("`{name}` needs itself"),
            need if !file.tasks.contains_key(need) => unknown(need),
            need if !seen.insert(need) => format!("`{need}` is listed twice"),
            _ => continue,
        };
        let problem = PlanProblem::of_task(name, Some("needs"), message);
        return Err(PlanProblem { index: Some(index), ..problem });
    }
    Ok(())
}

fn unknown(name: &str) -> String {
    let shown: String = name.chars().take(64).collect();
    format!("the plan has no task `{}`", shown.escape_debug())
}

fn check_worktree(file: &PlanFile, name: &str, task: &PlanFileTask) -> Result<(), PlanProblem> {
    let problem = |key, message: String| Err(PlanProblem::of_task(name, Some(key), message));
    if let Some(branch) = &task.branch {
        if task.worktree.is_none() {
            return problem("branch", "`branch` needs `worktree = \"own\"`".to_owned());
        }
        if let Err(error) = BranchName::parse(branch) {
            return problem("branch", error.to_string());
        }
    }
    let Some(owner) = &task.worktree_of else { return Ok(()) };
    if task.worktree.is_some() {
        let message = "a task has `worktree` or `worktree_of`, not both";
        return problem("worktree_of", message.to_owned());
    }
    match file.tasks.get(owner) {
        None => problem("worktree_of", unknown(owner)),
        Some(other) if other.worktree.is_none() => {
            problem("worktree_of", format!("`{owner}` has no worktree of its own"))
        }
        Some(_) => Ok(()),
    }
}

/// Fails if tasks need each other, so that none of them could start.
fn check_cycles(file: &PlanFile) -> Result<(), PlanProblem> {
    let mut unmet: HashMap<&str, usize> =
        file.tasks.iter().map(|(name, task)| (name.as_str(), task.needs.len())).collect();
    let mut dependants: HashMap<&str, Vec<&str>> = HashMap::new();
    for (name, task) in &file.tasks {
        task.needs.iter().for_each(|need| dependants.entry(need).or_default().push(name));
    }
    let mut free: Vec<&str> =
        unmet.iter().filter(|(_, count)| **count == 0).map(|(name, _)| *name).collect();
    while let Some(name) = free.pop() {
        unmet.remove(name);
        for dependant in dependants.remove(name).unwrap_or_default() {
            if let Some(count) = unmet.get_mut(dependant) {
                *count -= 1;
                if *count == 0 {
                    free.push(dependant);
                }
            }
        }
    }
    let Some(first) = unmet.keys().min() else { return Ok(()) };
    Err(cycle_from(file, first, &unmet))
}

/// Returns the problem of a cycle that can be reached from a task that can never start.
fn cycle_from(file: &PlanFile, first: &str, stuck: &HashMap<&str, usize>) -> PlanProblem {
    let (mut path, mut seen) = (vec![first.to_owned()], HashSet::from([first.to_owned()]));
    let cycle = loop {
        let last = path.last().map(String::as_str).unwrap_or_default();
        let needs = file.tasks.get(last).map(|task| task.needs.as_slice()).unwrap_or_default();
        let Some(next) = needs.iter().find(|need| stuck.contains_key(need.as_str())) else {
            break path;
        };
        if !seen.insert(next.clone()) {
            let begin = path.iter().position(|name| name == next).unwrap_or_default();
            break path.split_off(begin);
        }
        path.push(next.clone());
    };
    let task = cycle.first().cloned().unwrap_or_default();
    let mut listed: Vec<String> =
        cycle.iter().take(MAX_LISTED).map(|name| format!("`{name}`")).collect();
    listed.push(if cycle.len() > MAX_LISTED { "…".to_owned() } else { format!("`{task}`") });
    let others = stuck.len() - cycle.len();
    let behind = match others {
        0 => String::new(),
        1 => ", and 1 more task can never start".to_owned(),
        _ => format!(", and {others} more tasks can never start"),
    };
    let message = format!("these tasks need each other: {}{behind}", listed.join(" → "));
    PlanProblem::of_task(&task, Some("needs"), message)
}

/// Fails if a prompt cannot be rendered, or names a task that has not ended before it starts.
fn check_template(file: &PlanFile, name: &str, task: &PlanFileTask) -> Result<(), PlanProblem> {
    let Some(prompt) = &task.prompt else { return Ok(()) };
    let problem =
        |line, message| PlanProblem { line, ..PlanProblem::of_task(name, Some("prompt"), message) };
    let named = named_tasks(prompt).map_err(|(line, message)| problem(line, message))?;
    let needed = transitive_needs(file, name);
    for other in named.tasks.difference(&needed) {
        let message = match file.tasks.contains_key(other) {
            true => format!("the prompt names `{other}`, which the task does not need"),
            false => format!("the prompt names `{other}`: {}", unknown(other)),
        };
        return Err(problem(line_of(prompt, other), message));
    }
    check_prompt(prompt, &needed).map_err(|(line, message)| problem(line, message))
}

fn line_of(prompt: &str, name: &str) -> Option<usize> {
    let names_it = |line: &str| line.contains("tasks") && line.contains(name);
    prompt.lines().position(names_it).map(|index| index + 1)
}

/// Returns all tasks that have ended when a task starts.
fn transitive_needs(file: &PlanFile, name: &str) -> BTreeSet<String> {
    let (mut found, mut open) = (BTreeSet::new(), vec![name]);
    while let Some(name) = open.pop() {
        for need in file.tasks.get(name).map(|task| task.needs.as_slice()).unwrap_or_default() {
            if found.insert(need.clone()) {
                open.push(need);
            }
        }
    }
    found
}
