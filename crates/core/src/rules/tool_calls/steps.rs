//! The plan of an agent: calls that write it as a whole, and calls that change one of its steps.

use serde_json::{Map, Value};

use super::{PlanStep, StepState, text};

/// The names of the argument that is a list of steps.
const PLANS: [&str; 3] = ["todos", "plan", "items"];

/// The names of the text of a step.
const STEPS: [&str; 4] = ["content", "step", "description", "title"];

/// The state of a step that is not shown any more.
const CANCELLED: &str = "cancelled";

/// The state of a step that is removed.
const DELETED: &str = "deleted";

/// What a call does to an agent's plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlanEdit {
    /// Writes all steps.
    Replace(Vec<PlanStep>),
    /// Adds a step with this text. The result of the call has the step's number.
    Add(String),
    /// Changes the step with this number. `None` stays as it is.
    Change { number: String, text: Option<String>, state: Option<StepState> },
    /// Removes the step with this number.
    Remove(String),
}

/// The steps of an agent that writes them one by one.
#[derive(Debug, Default)]
pub struct AgentSteps {
    /// Each with its number, in their order.
    steps: Vec<(String, PlanStep)>,
}

impl AgentSteps {
    /// Applies a call that has succeeded with this result. Returns all steps. `None` if the call is
    /// about a step that is not known.
    pub fn apply(&mut self, edit: PlanEdit, result: &str) -> Option<Vec<PlanStep>> {
        match edit {
            PlanEdit::Replace(steps) => {
                let numbers = (1..).map(|number: usize| number.to_string());
                self.steps = numbers.zip(steps).collect();
            }
            PlanEdit::Add(text) => {
                let step = PlanStep { text, state: StepState::Pending };
                self.steps.push((number_in(result)?, step));
            }
            PlanEdit::Change { number, text, state } => {
                let (_, step) = self.steps.iter_mut().find(|(known, _)| *known == number)?;
                step.text = text.unwrap_or_else(|| std::mem::take(&mut step.text));
                step.state = state.unwrap_or(step.state);
            }
            PlanEdit::Remove(number) => {
                let place = self.steps.iter().position(|(known, _)| *known == number)?;
                self.steps.remove(place);
            }
        }
        Some(self.steps.iter().map(|(_, step)| step.clone()).collect())
    }
}

/// Returns the digits after the first `#`.
fn number_in(result: &str) -> Option<String> {
    let (_, after) = result.split_once('#')?;
    let number: String = after.chars().take_while(char::is_ascii_digit).collect();
    (!number.is_empty()).then_some(number)
}

/// Returns what a call does to the agent's plan. The tool must be about a plan or about tasks: a list
/// of items can be anything.
pub(super) fn edit(name: &str, fields: &Map<String, Value>) -> Option<PlanEdit> {
    let name = name.to_ascii_lowercase();
    let has = |word: &str| name.contains(word);
    if has("todo") || has("plan") {
        all_steps(fields).map(PlanEdit::Replace)
    } else if has("task") && has("create") {
        text(fields, &["subject"]).map(|text| PlanEdit::Add(text.to_owned()))
    } else if has("task") && has("update") {
        change(fields)
    } else {
        None
    }
}

fn all_steps(fields: &Map<String, Value>) -> Option<Vec<PlanStep>> {
    let list = PLANS.iter().find_map(|name| fields.get(*name)?.as_array())?;
    let shown = list.iter().filter(|it| it["status"] != CANCELLED);
    shown.map(|it| step(it.as_object()?)).collect()
}

fn step(fields: &Map<String, Value>) -> Option<PlanStep> {
    let text = text(fields, &STEPS)?.to_owned();
    Some(PlanStep { text, state: state(fields).unwrap_or(StepState::Pending) })
}

fn state(fields: &Map<String, Value>) -> Option<StepState> {
    fields.get("status")?.as_str().and_then(StepState::from_word)
}

fn change(fields: &Map<String, Value>) -> Option<PlanEdit> {
    let number = text(fields, &["taskId"])?.to_owned();
    if fields.get("status").is_some_and(|status| status == DELETED) {
        return Some(PlanEdit::Remove(number));
    }
    let text = text(fields, &["subject"]).map(str::to_owned);
    Some(PlanEdit::Change { number, text, state: state(fields) })
}
