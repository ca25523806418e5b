//! Questions of a headless agent: the request to a command, and its reply.

use segue_core::model::{DialogText, WaitingFor};
use segue_core::ports::{Answer, HeadlessQuestion, HeadlessQuestions};
use serde::{Deserialize, Serialize};

use super::Demo;
use super::agent::DemoDialog;
use crate::shared::choices::find_choice;

/// A question as the agent passes it to the command.
#[derive(Serialize, Deserialize)]
struct DemoRequest {
    question: String,
    choices: Vec<String>,
}

/// The reply that the agent reads from the command.
#[derive(Serialize, Deserialize)]
struct DemoReply {
    /// The position of a choice, beginning with 0.
    choice: usize,
}

/// Returns the request for a question.
pub(super) fn request(DemoDialog { question, choices }: DemoDialog) -> String {
    let choices = choices.iter().map(|&choice| choice.to_owned()).collect();
    let request = DemoRequest { question: question.to_owned(), choices };
    // A record of texts can always be written.
    serde_json::to_string(&request).unwrap_or_default()
}

/// Returns the choice in the output of the command. `None` if there is no choice in it.
pub(super) fn chosen(reply: &[u8]) -> Option<usize> {
    serde_json::from_slice::<DemoReply>(reply).ok().map(|reply| reply.choice)
}

impl HeadlessQuestions for Demo {
    fn question(&self, request: &str) -> Option<HeadlessQuestion> {
        let DemoRequest { question, choices } = serde_json::from_str(request).ok()?;
        let asks_permission = choices.iter().any(|choice| choice == "yes");
        let kind = if asks_permission { WaitingFor::Permission } else { WaitingFor::Question };
        let text = DialogText { question, is_whole: true, choices };
        Some(HeadlessQuestion { kind, text })
    }

    fn reply(&self, request: &str, answer: &Answer) -> Option<String> {
        let DemoRequest { choices, .. } = serde_json::from_str(request).ok()?;
        let choice = find_choice(&choices, answer, &["yes"], &["no"])?;
        serde_json::to_string(&DemoReply { choice }).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answer_of_a_person_becomes_the_choice_of_the_agent() {
        let colours = DemoDialog { question: "Which colour?", choices: &["red", "green"] };
        let permission = DemoDialog { question: "Allow?", choices: &["yes", "no"] };
        let choice = |text: &str| Answer::Choice(text.to_owned());
        let table = [
            (permission, Answer::Yes, Some(0)),
            (permission, Answer::No, Some(1)),
            (permission, choice("2"), Some(1)),
            (colours, choice("gr"), Some(1)),
            (colours, choice("3"), None),
            (colours, Answer::Yes, None),
        ];
        for (dialog, answer, expected) in table {
            let reply = Demo.reply(&request(dialog), &answer);
            assert_eq!(reply.and_then(|reply| chosen(reply.as_bytes())), expected, "{answer:?}");
        }
        assert_eq!(chosen(b""), None);
    }

    #[test]
    fn kind_of_a_question_depends_on_its_choices() {
        let kind = |choices| {
            let dialog = DemoDialog { question: "Well?", choices };
            Demo.question(&request(dialog)).map(|question| question.kind)
        };
        assert_eq!(kind(&["yes", "no"]), Some(WaitingFor::Permission));
        assert_eq!(kind(&["red"]), Some(WaitingFor::Question));
        assert_eq!(Demo.question("no json"), None);
    }
}
