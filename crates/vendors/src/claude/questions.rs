//! Questions of a headless Claude Code: its hook `PermissionRequest` runs before a tool that needs a
//! permission. Without a decision of the hook, Claude Code refuses the tool.

use segue_core::model::{DialogText, WaitingFor};
use segue_core::ports::{Answer, HeadlessQuestion, HeadlessQuestions};
use segue_core::rules::dialog;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::Claude;
use crate::shared::choices::find_choice;

/// The hook that Claude Code runs before it asks for a permission.
pub(super) const EVENT: &str = "PermissionRequest";

const YES: &str = "Yes";
const NO: &str = "No";

/// The text that the model gets instead of a result if a person answers no.
const DENIED: &str = "A person has refused this call. Do not repeat it.";

/// The fields of the hook's payload that a question needs.
#[derive(Deserialize)]
struct PermissionPayload {
    hook_event_name: String,
    tool_name: String,
    #[serde(default)]
    tool_input: Map<String, Value>,
}

impl HeadlessQuestions for Claude {
    fn question(&self, request: &str) -> Option<HeadlessQuestion> {
        let payload: PermissionPayload = serde_json::from_str(request).ok()?;
        if payload.hook_event_name != EVENT {
            return None;
        }
        let asked = format!("Allow {}? {}", payload.tool_name, inputs(&payload.tool_input));
        // There is no terminal with the rest of a long question. `segue show` prints the whole call.
        let text = DialogText { is_whole: true, ..dialog::text(&[asked], choices()) };
        Some(HeadlessQuestion { kind: WaitingFor::Permission, text })
    }

    fn reply(&self, _request: &str, answer: &Answer) -> Option<String> {
        let decision = match find_choice(&choices(), answer, &["yes"], &["no"])? {
            0 => json!({"behavior": "allow"}),
            _ => json!({"behavior": "deny", "message": DENIED}),
        };
        let output = json!({"hookEventName": EVENT, "decision": decision});
        Some(json!({"hookSpecificOutput": output}).to_string())
    }
}

fn choices() -> Vec<String> {
    [YES, NO].map(str::to_owned).to_vec()
}

/// Returns all inputs of a tool in one line.
fn inputs(inputs: &Map<String, Value>) -> String {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let inputs = inputs.iter().map(|(name, value)| format!("{name}: {}", text(value)));
    inputs.collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As Claude Code 2.1.326 sent it.
    const REQUEST: &str = r#"{"session_id":"d33fc0cd-2fc9-4961-9755-e487acc6e7b2","cwd":"/w",
        "permission_mode":"default","hook_event_name":"PermissionRequest","tool_name":"Bash",
        "tool_input":{"command":"touch ran.txt | \n  cat","description":"d"},
        "permission_suggestions":[{"type":"setMode","mode":"acceptEdits","destination":"session"}]}"#;

    #[test]
    fn question_has_the_tool_and_all_of_its_inputs() {
        let HeadlessQuestion { kind, text } = Claude.question(REQUEST).unwrap();
        assert_eq!(kind, WaitingFor::Permission);
        assert_eq!(text.question, "Allow Bash? command: touch ran.txt | cat; description: d");
        assert_eq!(text.choices, ["Yes", "No"]);
        let long = REQUEST.replace("ran.txt", &"x".repeat(20_000));
        let text = Claude.question(&long).unwrap().text;
        assert!(text.is_whole && text.question.contains(" […] "), "{}", text.question);
        for other in ["", "{}", &REQUEST.replace("PermissionRequest", "PreToolUse")] {
            assert_eq!(Claude.question(other), None, "{other}");
        }
    }

    #[test]
    fn reply_allows_or_denies_the_tool() {
        let decision = |answer: &Answer| {
            let reply: Value = serde_json::from_str(&Claude.reply(REQUEST, answer)?).ok()?;
            let output = &reply["hookSpecificOutput"];
            assert_eq!(output["hookEventName"], "PermissionRequest");
            output["decision"]["behavior"].as_str().map(str::to_owned)
        };
        let choice = |text: &str| Answer::Choice(text.to_owned());
        for answer in [Answer::Yes, choice("1"), choice("yes")] {
            assert_eq!(decision(&answer).as_deref(), Some("allow"), "{answer:?}");
        }
        for answer in [Answer::No, choice("2"), choice("No")] {
            assert_eq!(decision(&answer).as_deref(), Some("deny"), "{answer:?}");
        }
        assert_eq!(decision(&choice("3")), None);
        assert_eq!(decision(&choice("perhaps")), None);
    }
}
