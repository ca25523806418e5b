//! A prompt of the editor: a message to the agent, and the turn that it begins.

use std::sync::Arc;
use std::time::Duration;

use segue_core::api::{
    MessageWaitRequest, Outcome, OutcomeNote, ResumeRequest, Selection, SendReport, SendRequest,
    SessionView, Until,
};
use segue_core::model::{MessageId, MessageStateKind, StatusKind, WaitingFor};
use segue_core::rules::commands;
use segue_core::{Error, Result};
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

use crate::editor::EditorLink;
use crate::following::OpenSession;
use crate::permissions::{Permissions, QuestionEnd};
use crate::port::EditorPort;
use crate::protocol::PromptStopReason;
use crate::servers::SessionServers;

/// How long an agent may take to end a turn that is cancelled. The editor gets its answer then; the
/// agent may still work.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(20);

/// A prompt that the agent works on.
#[derive(Debug)]
pub(crate) struct EditorPrompt {
    pub(crate) port: Arc<dyn EditorPort>,
    pub(crate) editor: EditorLink,
    pub(crate) open: OpenSession,
    pub(crate) signal: watch::Receiver<PromptSignal>,
    pub(crate) servers: SessionServers,
}

/// What the editor has done since it sent the prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PromptSignal {
    Waits,
    Cancelled,
    /// The editor is gone. The agent goes on with the prompt.
    Gone,
}

/// Waits until the editor does not wait for the end of the prompt any more. Fails if it is gone.
pub(crate) async fn cancelled(mut signal: watch::Receiver<PromptSignal>) -> Result<()> {
    let signal = signal.wait_for(|it| *it != PromptSignal::Waits).await.map(|it| *it);
    match signal {
        Ok(PromptSignal::Cancelled) => Ok(()),
        _ => Err(Error::unavailable("the editor is gone")),
    }
}

impl EditorPrompt {
    /// Sends the text to the agent, and waits until its turn is over.
    pub(crate) async fn carry_out(
        mut self,
        view: &SessionView,
        text: String,
    ) -> Result<PromptStopReason> {
        bring_back(self.port.as_ref(), view, &self.servers).await?;
        let command = self.is_command(&text).await?;
        if !command {
            self.open.expect(&text).await;
        }
        let request = SendRequest {
            caller: self.servers.given_to(self.port.caller()),
            session: self.open.session.to_string(),
            text: text.clone(),
            command,
            interrupt: false,
            until: Until::Recorded,
            timeout_ms: 0,
        };
        let ended = match self.port.send(&request).await {
            Ok(sent) => {
                if command {
                    self.open.expect_command(sent.message.id).await;
                }
                self.wait(sent.message.id).await
            }
            Err(error) => Err(error),
        };
        self.open.catch_up().await;
        // A message that has not arrived by now is not in the conversation.
        self.open.forget(&text).await;
        ended
    }

    /// Returns whether the text is a command that the agent's program can run for a message. Other
    /// texts that begin with a slash reach the agent as they are.
    async fn is_command(&self, text: &str) -> Result<bool> {
        let Some(name) = commands::name_of(text) else { return Ok(false) };
        let options = self.port.options(self.open.session).await?;
        Ok(options.commands.iter().any(|command| command.name == name))
    }

    async fn wait(&mut self, message: MessageId) -> Result<PromptStopReason> {
        let mut known_question = None;
        loop {
            let request = MessageWaitRequest { message, known_question };
            let report = tokio::select! {
                report = self.port.wait(&request) => report?,
                cancelled = cancelled(self.signal.clone()) => {
                    cancelled?;
                    return self.cancel(message).await;
                }
            };
            if let Some(end) = self.end(&report).await {
                return end;
            }
            known_question = Some(match self.question(&report).await? {
                Some(question) => question,
                None => return self.cancel(message).await,
            });
        }
    }

    /// Returns how the prompt ended. `None` if the agent asks a question.
    async fn end(&self, report: &SendReport) -> Option<Result<PromptStopReason>> {
        if report.turn_ended {
            let failure = report.failure.as_ref().or(report.session.last_failure.as_ref());
            return Some(match failure {
                Some(failure) => Err(Error::vendor(format!("the turn failed: {}", failure.class))
                    .caused_by(&failure.message)
                    .hint(failure.class.advice())),
                None => Ok(PromptStopReason::EndTurn),
            });
        }
        let note = report.note.clone().unwrap_or_default();
        match report.message.state.known() {
            Some(MessageStateKind::Cancelled) => Some(Ok(PromptStopReason::Cancelled)),
            Some(MessageStateKind::Uncertain) => {
                self.open
                    .note(&format!("It is not known whether the agent got this: {note}"))
                    .await;
                Some(Ok(PromptStopReason::EndTurn))
            }
            _ if asks(&report.session) => None,
            _ => Some(Err(not_running(&report.session, &note))),
        }
    }

    /// Lets the editor answer the question. Returns the id of the question; `None` if the editor has
    /// cancelled it.
    async fn question(&self, report: &SendReport) -> Result<Option<String>> {
        let Some(dialog) = &report.session.dialog else {
            let address = &report.session.address;
            let how = format!("The agent asks a question: run `segue attach {address}`");
            self.open.note(&how).await;
            return Ok(Some(String::new()));
        };
        let end = self.permissions().ask(dialog).await?;
        Ok((end == QuestionEnd::Over).then(|| dialog.id.clone()))
    }

    fn permissions(&self) -> Permissions<'_> {
        let Self { port, editor, open, signal, .. } = self;
        Permissions { port, editor, open, signal: signal.clone() }
    }

    /// Takes the message back, or interrupts the turn that it has begun.
    async fn cancel(&self, message: MessageId) -> Result<PromptStopReason> {
        if self.port.cancel(message).await.is_err() {
            let limit = Instant::now() + CANCEL_TIMEOUT;
            // The editor gets its answer even if the agent goes on.
            let _late = timeout_at(limit, self.interrupt(message)).await;
        }
        Ok(PromptStopReason::Cancelled)
    }

    /// Interrupts the turn, and waits until it is over. An agent that has got the message and does
    /// not work yet is interrupted as soon as it does.
    async fn interrupt(&self, message: MessageId) -> Result<()> {
        let mut events = self.open.events.clone();
        let mut is_interrupted = false;
        loop {
            events.mark_unchanged();
            is_interrupted = is_interrupted || self.port.interrupt(self.open.session).await.is_ok();
            let request = MessageWaitRequest { message, known_question: None };
            let report = tokio::select! {
                report = self.port.wait(&request) => report?,
                changed = events.changed(), if !is_interrupted => match changed {
                    Ok(()) => continue,
                    Err(_) => return Ok(()),
                },
            };
            match &report.session.dialog {
                Some(dialog) if !report.turn_ended => self.permissions().refuse(dialog).await?,
                _ => return Ok(()),
            }
        }
    }
}

/// Returns whether the agent asks a person.
fn asks(view: &SessionView) -> bool {
    let waits_for = view.waiting_for.as_ref().and_then(|it| it.known());
    view.dialog.is_some() || waits_for.is_some_and(WaitingFor::needs_answer)
}

fn not_running(view: &SessionView, note: &str) -> Error {
    let address = &view.address;
    let error = Error::unavailable(format!("`{address}` does not get the prompt: {note}"));
    error.hint(format!("the prompt stays queued; run `segue resume {address}` to see why"))
}

/// Starts the agent of a session that does not run, in its conversation and with these servers.
pub(crate) async fn bring_back(
    port: &dyn EditorPort,
    view: &SessionView,
    servers: &SessionServers,
) -> Result<()> {
    let needs_start = match view.status.known() {
        Some(StatusKind::Interrupted | StatusKind::Ended | StatusKind::Lost) => !view.headless,
        Some(StatusKind::Waiting) => !asks(view),
        _ => false,
    };
    if !needs_start {
        return Ok(());
    }
    let request = ResumeRequest {
        caller: servers.given_to(port.caller()),
        selection: Selection::Named(vec![view.session.to_string()]),
        fresh: Vec::new(),
        plan: false,
        stopped: true,
    };
    let report = port.resume(&request).await?;
    if let Some(failed) = report.failed.into_iter().next() {
        return Err(failed.error);
    }
    let refused = report.agents.into_iter().find(|agent| agent.outcome == Outcome::Refused);
    match refused {
        Some(agent) => Err(refusal(view, &agent.note)),
        None => Ok(()),
    }
}

fn refusal(view: &SessionView, note: &OutcomeNote) -> Error {
    let error = Error::conflict(format!("`{}` was not brought back", view.address));
    let error = error.caused_by(note.reason());
    note.hints.iter().fold(error, |error, hint| error.hint(hint))
}
