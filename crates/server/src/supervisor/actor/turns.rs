//! Reports the turns of a headless session to the requests that wait for them.

use segue_core::api::TurnReport;
use segue_core::flows::last_output;
use segue_core::model::Status;
use segue_core::rules::dialog;
use segue_core::rules::last_output::cause;

use super::{Actor, Reply, send_reply};

impl Actor {
    pub(super) fn wait_turn(&mut self, reply: Reply<TurnReport>) {
        self.waiting_for_turn.push(reply);
    }

    /// Answers the requests that wait for a turn if no turn runs and none is about to start, or if
    /// the turn continues only after a person has answered.
    pub(super) fn answer_turn_waiters(&mut self) {
        let is_over = self.state.open().is_none() && self.starts.is_empty();
        if is_over || self.drawn_question().is_some() {
            self.report_turn();
        }
    }

    /// Sends the result of the last turn to all requests that wait for it.
    pub(super) fn report_turn(&mut self) {
        for reply in std::mem::take(&mut self.waiting_for_turn) {
            let report = self.turn_report();
            send_reply(reply, Ok(report));
        }
    }

    fn turn_report(&mut self) -> TurnReport {
        let ok = self.state.session.status == Status::Idle;
        let said = self.state.turn.as_ref().map(|turn| turn.text.clone());
        // A turn that failed without an answer may have printed the reason.
        let output = || last_output::of_session(&self.ports, &self.state);
        let said = match said.filter(|said| ok || !said.is_empty()) {
            None if !ok => output().map(|output| cause(&output)),
            said => said,
        };
        // If no daemon saw the end of the turn, the answer is in the transcript.
        let text = said.or_else(|| self.conversation().ok()??.last_answer).unwrap_or_default();
        let failure = self.state.turn.as_ref().and_then(|turn| turn.failure.clone());
        let question = self.drawn_question();
        let question = question.map(|it| dialog::describe(it.kind, it.dialog.as_ref()));
        TurnReport { session: self.view(), ok, text, failure, question }
    }
}
