//! Follows a launch that has started, plans the next one, and reports turns.

use segue_core::api::{PlannedDecision, PlannedOutcome, SessionRef, TurnReport};
use segue_core::flows::last_words;
use segue_core::flows::look::Asked;
use segue_core::flows::restore;
use segue_core::model::{EventPayload, LaunchId, Status};
use segue_core::ports::Commit;
use segue_core::rules::last_words::cause;
use segue_core::rules::recovery::Decision;
use segue_core::{Result, failpoint};

use super::super::stream::StreamReader;
use super::{Actor, Reply, answer};

impl Actor {
    /// Follows a launch that was just started or found alive.
    pub(super) async fn after_start(&mut self) -> Result<()> {
        let Some(launch) = self.state.open() else { return Ok(()) };
        self.supervisor.live.insert(self.ports.machine.as_ref(), launch);
        let launch = launch.id;
        self.release_keeper().await;
        self.forget_answer();
        self.stream = self
            .state
            .session
            .headless
            .then(|| StreamReader::new(self.ports.folders.stream(launch)));
        let hooks = self.ports.folders.hooks(launch);
        self.hooks = Some(StreamReader::near_end(self.ports.files.as_ref(), hooks));
        self.expect_scout(launch);
        self.expect_sign(launch);
        self.listen(launch);
        self.subscribe(launch);
        self.follow_files().await?;
        self.supervisor.scribe.write(&self.state.session.fleet).await?;
        failpoint::hit("start.fleet.after");
        self.look_again().await?;
        self.take_up_messages().await?;
        self.wind_up().await?;
        self.look_at_screen(launch).await
    }

    /// Ends the processes that closed launches of this session left running.
    pub(super) async fn end_leftovers(&mut self) -> Result<()> {
        let dead: Vec<LaunchId> =
            self.state.launches.iter().filter(|it| !it.is_open()).map(|it| it.id).collect();
        let ended = self.ports.machine.end_marked(&dead).await?;
        if ended.is_empty() {
            return Ok(());
        }
        let processes = ended.into_iter().map(Into::into).collect();
        let payload = EventPayload::LeftoversEnded { of: None, processes };
        let events = vec![self.state.event(&self.ports, payload)];
        self.state.commit(&self.ports, Commit { changes: Vec::new(), events }).await
    }

    pub(super) async fn plan(&mut self, asked: Asked) -> Result<PlannedOutcome> {
        let (_, decision) = self.decide(asked).await?;
        restore::note_look(&self.ports, &mut self.state, &decision).await?;
        let question = self.question().filter(|_| decision == Decision::Attach);
        let (decision, note) = match question {
            Some(question) => (PlannedDecision::Waiting, format!("runs: {}", question.note())),
            None => (
                restore::planned(&decision),
                restore::describe(&decision, &self.state.session.address()),
            ),
        };
        Ok(PlannedOutcome {
            of: SessionRef::of(&self.state.session),
            vendor: self.state.session.vendor.clone(),
            decision,
            vendor_session_id: self.state.vendor_session().cloned(),
            note,
        })
    }

    pub(super) fn wait_turn(&mut self, reply: Reply<TurnReport>) {
        self.waiting_for_turn.push(reply);
    }

    /// Answers the requests that wait for a turn if no turn runs and none is about to start.
    pub(super) fn answer_turn_waiters(&mut self) {
        if self.state.open().is_some() || !self.starts.is_empty() {
            return;
        }
        for reply in std::mem::take(&mut self.waiting_for_turn) {
            let report = self.turn_report();
            answer(reply, Ok(report));
        }
    }

    pub(super) fn turn_report(&mut self) -> TurnReport {
        let ok = self.state.session.status == Status::Idle;
        let said = self.state.turn.as_ref().map(|turn| turn.text.clone());
        // A turn that failed without an answer may have printed the reason.
        let output = || last_words::of_session(&self.ports, &self.state);
        let said = match said.filter(|said| ok || !said.is_empty()) {
            None if !ok => output().map(|output| cause(&output)),
            said => said,
        };
        // If no daemon saw the end of the turn, the answer is in the transcript.
        let text = said.or_else(|| self.conversation().ok()??.last_answer).unwrap_or_default();
        let failure = self.state.turn.as_ref().and_then(|turn| turn.failure.clone());
        TurnReport { session: self.view(), ok, text, failure }
    }
}
