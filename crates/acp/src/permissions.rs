//! Questions of an agent that the editor answers.

use std::sync::Arc;

use segue_core::Result;
use segue_core::api::AnswerRequest;
use segue_core::model::Dialog;
use segue_core::rules::dialog::{self, ChoiceEffect};
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::editor::{EditorLink, EditorQuestion};
use crate::following::OpenSession;
use crate::port::EditorPort;
use crate::prompting::{PromptSignal, cancelled};
use crate::protocol::{
    CallStatus, PermissionAnswer, PermissionOption, PermissionOutcome, SessionUpdate, ToolCallState,
};

const NO: &str = "no";

/// How the question of an agent ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum QuestionEnd {
    /// It is answered, or the editor has no way to answer it.
    Over,
    /// The prompt is cancelled.
    Cancelled,
}

/// Asks the editor, and gives its answer to the agent.
#[derive(Debug)]
pub(crate) struct Permissions<'a> {
    pub(crate) port: &'a Arc<dyn EditorPort>,
    pub(crate) editor: &'a EditorLink,
    pub(crate) open: &'a OpenSession,
    pub(crate) signal: watch::Receiver<PromptSignal>,
}

impl Permissions<'_> {
    /// Asks the editor until it answers, the question is answered elsewhere, or the prompt is
    /// cancelled. A question that the editor cannot answer is shown as a message.
    pub(crate) async fn ask(&mut self, dialog: &Dialog) -> Result<QuestionEnd> {
        let options = options(dialog);
        if options.is_empty() {
            let how = dialog::hint(dialog);
            let question = format!("The agent asks: {} ({how})", dialog.question);
            self.open.note(&question).await;
            return Ok(QuestionEnd::Over);
        }
        self.open.catch_up().await;
        let call = call(dialog);
        self.editor.update(&self.open.uri, &SessionUpdate::ToolCall(call.clone())).await;
        let params = json!({
            "sessionId": self.open.uri, "toolCall": call, "options": options,
        });
        let asked = self.editor.ask("session/request_permission", &params).await;
        self.outcome(dialog, asked).await
    }

    async fn outcome(&mut self, dialog: &Dialog, asked: EditorQuestion) -> Result<QuestionEnd> {
        let EditorQuestion { id, mut answer } = asked;
        let mut events = self.open.events.clone();
        let answer = loop {
            tokio::select! {
                answer = &mut answer => break answer.ok().flatten(),
                // The editor also has to answer the question then, with `cancelled`.
                cancelled = cancelled(self.signal.clone()) => {
                    cancelled?;
                    self.editor.take_back(id).await;
                    self.refuse(dialog).await?;
                    return Ok(QuestionEnd::Cancelled);
                }
                changed = events.changed() => {
                    if changed.is_err() || !self.still_asks(dialog).await? {
                        self.editor.take_back(id).await;
                        self.end(dialog, CallStatus::Completed).await;
                        return Ok(QuestionEnd::Over);
                    }
                }
            }
        };
        self.give(dialog, answer).await
    }

    /// Gives the answer of the editor to the agent.
    async fn give(&self, dialog: &Dialog, answer: Option<Value>) -> Result<QuestionEnd> {
        let answer = answer.and_then(|it| serde_json::from_value::<PermissionAnswer>(it).ok());
        match answer.map(|answer| answer.outcome) {
            Some(PermissionOutcome::Selected { option_id }) => {
                let given = self.answer(dialog, &option_id).await;
                let status = if given.is_ok() { CallStatus::Completed } else { CallStatus::Failed };
                self.end(dialog, status).await;
                if let Err(error) = given {
                    self.open.note(&format!("The answer was not given: {error}")).await;
                }
                Ok(QuestionEnd::Over)
            }
            // An editor that cancels a prompt answers its questions like this.
            Some(PermissionOutcome::Cancelled) | None => {
                self.refuse(dialog).await?;
                Ok(QuestionEnd::Cancelled)
            }
        }
    }

    /// Answers no, if the question takes that answer and is still asked.
    pub(crate) async fn refuse(&self, dialog: &Dialog) -> Result<()> {
        self.end(dialog, CallStatus::Failed).await;
        if !self.still_asks(dialog).await? {
            return Ok(());
        }
        let Err(error) = self.answer(dialog, NO).await else { return Ok(()) };
        let rejects = |choice: &String| ChoiceEffect::of(choice).is_rejection();
        match dialog.choices.iter().position(rejects) {
            Some(place) => self.answer(dialog, &(place + 1).to_string()).await,
            None => Err(error),
        }
    }

    async fn answer(&self, dialog: &Dialog, answer: &str) -> Result<()> {
        let request = AnswerRequest {
            cwd: "/".into(),
            session: self.open.session.to_string(),
            answer: answer.to_owned(),
            question: Some(dialog.id.clone()),
        };
        self.port.answer(&request).await
    }

    async fn still_asks(&self, dialog: &Dialog) -> Result<bool> {
        let view = self.port.session(&self.open.session.to_string()).await?;
        Ok(view.dialog.is_some_and(|now| now.id == dialog.id))
    }

    async fn end(&self, dialog: &Dialog, status: CallStatus) {
        let call = ToolCallState {
            tool_call_id: format!("question-{}", dialog.id),
            status: Some(status),
            ..ToolCallState::default()
        };
        self.editor.update(&self.open.uri, &SessionUpdate::ToolCallUpdate(call)).await;
    }
}

/// Returns the question as a tool call, because the protocol asks only about tool calls.
fn call(dialog: &Dialog) -> ToolCallState {
    ToolCallState {
        tool_call_id: format!("question-{}", dialog.id),
        title: Some(dialog::summary(&dialog.question, &[])),
        kind: Some("other"),
        status: Some(CallStatus::Pending),
        ..ToolCallState::default()
    }
}

/// Returns the answers that the editor can give. Empty if a person has to see the screen first.
fn options(dialog: &Dialog) -> Vec<PermissionOption> {
    let takes = dialog::takes(dialog);
    let option = |id: String, name: &str, effect: ChoiceEffect| PermissionOption {
        option_id: id,
        name: name.to_owned(),
        kind: effect.word(),
    };
    if takes.choice {
        let numbered = dialog.choices.iter().zip(1..);
        let choice = |(text, number): (&String, i32)| {
            option(number.to_string(), text, ChoiceEffect::of(text))
        };
        return numbered.map(choice).collect();
    }
    if takes.yes {
        return vec![
            option("yes".to_owned(), "Yes", ChoiceEffect::AllowOnce),
            option(NO.to_owned(), "No", ChoiceEffect::RejectOnce),
        ];
    }
    Vec::new()
}
