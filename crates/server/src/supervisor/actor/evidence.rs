//! Answers requests that wait until a launch has proven its conversation, and handles launches
//! without such evidence.
//!
//! A launch that shows no evidence reaches these times one after the other:
//!
//! | time since the start | timeout | what happens |
//! |---|---|---|
//! | 5 s ([`NO_EVIDENCE_AFTER`]) | `NoEvidence` | the status detail reports it |
//! | 10 s ([`MAX_BLOCKING`]) | `StopBlocking` | the permits are returned: other launches start |
//! | the vendor's limit | `EvidenceOverdue` | waiting requests are refused; the launch continues |
//!
//! The vendor's limit is `SignalSources::evidence_timeout`. A headless launch, and a launch whose
//! vendor has a shorter limit, returns its permits at the vendor's limit.

use std::time::Duration;

use segue_core::api::{AgentOutcome, Outcome, OutcomeNote};
use segue_core::model::{EventPayload, LaunchId, Status, WaitingFor};
use segue_core::ports::Commit;
use segue_core::{Error, Result};

use super::dialogs::UnansweredQuestion;
use super::{Actor, BroughtBack, LeftBehind, Reply, SessionTimeout, send_reply};

/// A launch without evidence is reported after this time.
const NO_EVIDENCE_AFTER: Duration = Duration::from_secs(5);

/// An interactive launch without evidence returns its permits after this time.
const MAX_BLOCKING: Duration = Duration::from_secs(10);

/// The status detail of a launch without evidence.
const NO_EVIDENCE: &str = "its program has not shown its conversation yet";

/// A request that waits until a launch has proven which conversation it is in.
#[derive(Debug)]
pub(super) struct PendingEvidence {
    launch: LaunchId,
    result: BroughtBack,
    reply: Reply<AgentOutcome>,
}

impl Actor {
    /// Sends the reply when the launch has proven its conversation, asks a person, has ended, or
    /// has shown nothing within the time limit of its vendor.
    pub(super) fn expect_evidence(&mut self, result: BroughtBack, reply: Reply<AgentOutcome>) {
        let Some(open) = self.state.open() else {
            let error = Error::vendor("it ended before it showed its conversation");
            return send_reply(reply, Ok(self.refused(&error)));
        };
        let (launch, began) = (open.id, open.created_at);
        // The launch has shown another conversation, before this request could wait for it.
        if self.state.session.status == Status::Waiting(WaitingFor::Choice) {
            return send_reply(reply, Ok(self.refused(&self.other_conversation_error())));
        }
        let vendor = self.ports.vendors.of(&self.state.session);
        let limit = vendor.as_ref().map(|vendor| vendor.signals().map(|it| it.evidence_timeout()));
        if let (Ok(None), Ok(vendor)) = (&limit, &vendor) {
            let unverified = vendor.transcripts().is_none().then(|| "unverified".to_owned());
            let note = OutcomeNote::from(unverified).and(result.note);
            return send_reply(reply, Ok(self.outcome(BroughtBack { note, ..result })));
        }
        self.pending.push(PendingEvidence { launch, result, reply });
        if let Ok(Some(limit)) = limit {
            // If the system clock was set back, no time counts as passed.
            let passed = Duration::try_from(began.duration_until(self.ports.clock.now()));
            let remaining = limit.saturating_sub(passed.unwrap_or_default());
            self.send_later(remaining, SessionTimeout::EvidenceOverdue { launch });
        }
    }

    /// Answers the waiting requests if the launch has proven its conversation or asks a person.
    pub(super) fn answer_pending(&mut self) {
        let Some(launch) = self.state.open().map(|launch| launch.id) else { return };
        if self.pending.is_empty() {
            return;
        }
        let asks = self.question().is_some();
        let question = self.drawn_question();
        let has_shown = self.state.is_confirmed(launch) && !asks;
        if question.is_none() && !has_shown {
            return;
        }
        let is_of_launch = |pending: &mut PendingEvidence| pending.launch == launch;
        for pending in self.pending.extract_if(.., is_of_launch).collect::<Vec<_>>() {
            let result = match &question {
                Some(question) => pending.result.until_answered(question),
                None => pending.result,
            };
            send_reply(pending.reply, Ok(self.outcome(result)));
        }
    }

    /// Reports a session that needed no new process.
    pub(super) fn report_running(&mut self, result: BroughtBack, reply: Reply<AgentOutcome>) {
        if let Some(question) = self.question() {
            return send_reply(reply, Ok(self.outcome(result.until_answered(&question))));
        }
        let is_unproven = self.state.open().is_some_and(|open| {
            let status = self.state.session.status;
            let is_starting = matches!(status, Status::Starting | Status::Waiting(_));
            is_starting && !self.state.session.headless && !self.state.is_confirmed(open.id)
        });
        if is_unproven {
            return self.expect_evidence(result, reply);
        }
        send_reply(reply, Ok(self.outcome(result)));
    }

    pub(super) fn other_conversation_error(&self) -> Error {
        let name = self.state.session.address();
        Error::vendor("it came up in another conversation than its own")
            .caused_by("that process was ended, and nothing was bound to it")
            .hint(format!("run `segue log {name}` to see which"))
            .hint(format!("run `segue resume {name}` to try again"))
    }

    pub(super) fn give_up_waiting(&mut self, launch: LaunchId) {
        self.end_scouting(launch);
        if self.pending.iter().any(|pending| pending.launch == launch) {
            self.permits.clear();
            self.refuse_pending(
                &Error::vendor("it runs, but has not shown which conversation it is in")
                    .hint(format!("run `segue attach {}` to look", self.state.session.address())),
            );
        }
    }

    pub(super) fn refuse_pending(&mut self, error: &Error) {
        for pending in std::mem::take(&mut self.pending) {
            send_reply(pending.reply, Ok(self.refused(error)));
        }
    }

    /// Starts the timeouts for the evidence of a launch, so that other launches do not wait forever
    /// for a launch that never proves its conversation.
    pub(super) fn limit_evidence_wait(&mut self, launch: LaunchId) {
        let vendor = self.ports.vendors.of(&self.state.session);
        let within =
            vendor.ok().and_then(|vendor| vendor.signals().map(|it| it.evidence_timeout()));
        let Some(within) = within else {
            // This vendor never shows evidence.
            self.permits.clear();
            return;
        };
        self.send_later(NO_EVIDENCE_AFTER, SessionTimeout::NoEvidence { launch });
        let is_headless = self.state.session.headless;
        let limit = if is_headless { within } else { within.min(MAX_BLOCKING) };
        self.send_later(limit, SessionTimeout::StopBlocking { launch });
    }

    /// Reports a launch that is still starting and has shown no evidence.
    pub(super) async fn report_missing_evidence(&mut self, launch: LaunchId) -> Result<()> {
        let is_starting = self.state.session.status == Status::Starting;
        if !self.is_open(launch) || !is_starting || self.state.is_confirmed(launch) {
            return Ok(());
        }
        self.supervisor.view_extras.set_missing(self.id(), Some(NO_EVIDENCE.to_owned()));
        let (status, note) = (Status::Starting, Some(NO_EVIDENCE.to_owned()));
        let payload = EventPayload::StatusChanged { status, source: None, note };
        let events = vec![self.state.event(&self.ports, payload)];
        self.state.commit(&self.ports, Commit { changes: Vec::new(), events }).await
    }

    /// Returns the permits of a launch that has shown no evidence, so that other launches start.
    pub(super) fn return_permits_if_open(&mut self, launch: LaunchId) {
        if self.is_open(launch) {
            self.permits.clear();
        }
    }

    /// Returns the permits while this launch waits for a person, so that other launches start.
    pub(super) fn return_permits_if_asking(&mut self) {
        if self.question().is_some() {
            self.permits.clear();
        }
    }

    /// Clears the status detail about missing evidence, because the launch has shown evidence or
    /// has ended.
    pub(super) fn clear_missing_evidence(&self) {
        self.supervisor.view_extras.set_missing(self.id(), None);
    }
}

impl BroughtBack {
    /// Returns the result to report while a person has yet to answer the question.
    fn until_answered(self, question: &UnansweredQuestion) -> Self {
        let note = question.note("").and(self.note);
        // Only a new conversation leaves an older one behind.
        let left_behind =
            if self.outcome == Outcome::Fresh { self.left_behind } else { LeftBehind::Nothing };
        Self { outcome: Outcome::Waiting, note, left_behind, dialog: question.dialog.clone() }
    }
}
