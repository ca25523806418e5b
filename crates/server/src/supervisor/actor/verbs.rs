//! Handles the requests to start, resume and plan a session, and to wait for its turn.

use segue_core::api::{
    AgentOutcome, Outcome, PlannedDecision, PlannedOutcome, SessionRef, TurnReport,
};
use segue_core::flows::look::{self, Asked, Sight};
use segue_core::flows::restore::{self, Done};
use segue_core::flows::{last_words, launch};
use segue_core::model::{Environment, EventKind, LaunchId, RequestStep, Status};
use segue_core::ports::{Change, Commit, Pace};
use segue_core::rules::last_words::cause;
use segue_core::rules::recovery::{self, Decision};
use segue_core::{Error, Result, failpoint};

use super::super::gate::Key;
use super::super::stream::StreamReader;
use super::{Actor, Came, Left, Renewal, Reply, Start, answer, first_launch};
use crate::requests::step;

impl Actor {
    pub(super) async fn begin(&mut self, start: Start) -> Result<()> {
        self.standing.wish = start.wish;
        let request = first_launch(self, start)?;
        self.enter_gates(request.id.is_none()).await?;
        if let Err(error) = launch::start(&self.ports, &mut self.state, request).await {
            self.passes.clear();
            return Err(self.unsettled(error));
        }
        self.follow().await;
        Ok(())
    }

    /// Schedules a retry if a start failed and its end could not be recorded, so that the launch
    /// does not stay open.
    pub(super) fn unsettled(&mut self, error: Error) -> Error {
        if self.state.open().is_some() {
            self.fall_behind(&error);
        }
        error
    }

    pub(super) async fn begin_verified(&mut self, start: Start, reply: Reply<AgentOutcome>) {
        match self.begin(start).await {
            Ok(()) => {
                self.expect_evidence(Came::new(Outcome::Started, None), reply);
            }
            Err(error) => answer(reply, Err(error)),
        }
    }

    /// Waits for the permits to start. Returns an error if a request to stop the session arrives
    /// meanwhile.
    pub(super) async fn enter_gates(&mut self, finds_own_id: bool) -> Result<()> {
        failpoint::hit("start.gate.before");
        let mut stops = self.stops.clone();
        let name = self.state.session.address();
        let entered = tokio::select! {
            biased;
            Ok(()) = stops.changed() => {
                let error = Error::conflict(format!("`{name}` was stopped before it started"));
                Err(error.hint(format!("run `segue resume {name}` to start it")))
            }
            entered = self.pass_gates(finds_own_id) => entered,
        };
        entered.inspect_err(|_| self.passes.clear())
    }

    /// Passes the gates. Starts are limited per account. If the vendor chooses the id of a
    /// conversation, only one session at a time may start in the same place.
    async fn pass_gates(&mut self, finds_own_id: bool) -> Result<()> {
        let vendor = self.ports.vendors.of(&self.state.session)?;
        let name = vendor.id().to_string();
        let config_dir = self.state.session.config_dir.clone();
        let account = Key::Account { vendor: name.clone(), config_dir };
        self.enter_account(vendor.capabilities().first_turn).await?;
        let gates = &self.supervisor.gates;
        self.passes.extend(gates.enter(account, vendor.capabilities().pace).await);
        // If the vendor never shows an id, there is nothing to wait for.
        if finds_own_id && vendor.signals().is_some() {
            let finding = Key::Finding { vendor: name, place: self.state.place() };
            let pace = Pace { at_once: 1, first_alone: false };
            self.passes.extend(gates.enter(finding, pace).await);
        }
        // A session ahead in the queue may have found out that the account is refused.
        self.check_account()
    }

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

    pub(super) async fn resume(
        &mut self,
        environment: Environment,
        asked: Asked,
        fresh: Option<Renewal>,
        reply: Reply<AgentOutcome>,
    ) {
        let left = if self.state.session.spoke { Left::Conversation } else { Left::Nothing };
        self.want_turn(environment.clone());
        let done = match fresh {
            Some(renewal) => self.start_fresh_once(environment, renewal).await,
            None => self.bring_back(environment, asked).await,
        };
        self.give_passes_back_unless_launched(&done);
        match done {
            Ok(Done::Settled { outcome, note }) => {
                let came = Came { left, ..Came::new(outcome, note) };
                self.report_running(came, reply);
            }
            Ok(Done::Launched { outcome, note }) => {
                self.expect_evidence(Came { left, ..Came::new(outcome, note) }, reply);
            }
            Ok(Done::Refused { error }) | Err(error) => answer(reply, Ok(self.refused(&error))),
        }
    }

    pub(super) async fn bring_back(
        &mut self,
        environment: Environment,
        asked: Asked,
    ) -> Result<Done> {
        let (sight, decision) = self.prepare_to_start(asked).await?;
        let done =
            restore::carry_out(&self.ports, &mut self.state, &sight, decision, environment).await;
        // Whatever the result, no automatic restart happens any more.
        self.release_keeper().await;
        match done {
            Ok(Done::Launched { .. }) => {
                self.follow().await;
                done
            }
            done => done.map_err(|error| self.unsettled(error)),
        }
    }

    /// Decides how the session comes back. If that starts a process, also acquires the permits to
    /// start.
    pub(super) async fn prepare_to_start(&mut self, asked: Asked) -> Result<(Sight, Decision)> {
        self.close_if_dead().await?;
        let (sight, decision) = self.decide(asked).await?;
        if !starts_process(&decision) && self.state.outbox.is_empty() {
            return Ok((sight, decision));
        }
        self.end_leftovers().await?;
        // The new process may delete files of the conversation, so archive it first.
        self.archive_now().await;
        let begins = matches!(decision, Decision::StartAgain | Decision::Fresh);
        self.enter_gates(begins && self.finds_own_id()?).await?;
        // Other sessions were starting meanwhile, so the first decision may be outdated.
        self.decide(asked).await
    }

    /// Returns the permits to start if nothing was started.
    pub(super) fn give_passes_back_unless_launched(&mut self, done: &Result<Done>) {
        if !matches!(done, Ok(Done::Launched { .. })) {
            self.passes.clear();
        }
    }

    async fn decide(&self, asked: Asked) -> Result<(Sight, Decision)> {
        let sight = look::look(&self.ports, &self.state, asked).await?;
        let decision = recovery::decide(&sight.seen);
        Ok((sight, decision))
    }

    /// Returns whether the vendor chooses the id of a new conversation, so that it cannot be
    /// preset.
    fn finds_own_id(&self) -> Result<bool> {
        let vendor = self.ports.vendors.of(&self.state.session)?;
        let random = self.ports.clock.new_id();
        Ok(vendor.launching().preset_id(&self.state.session, random).is_none())
    }

    /// Starts a new conversation, unless the same request started one before. In that case the
    /// session is brought back.
    async fn start_fresh_once(
        &mut self,
        environment: Environment,
        Renewal(request): Renewal,
    ) -> Result<Done> {
        let renewed = RequestStep::Renewed { session: self.id() };
        if let Some(request) = request
            && self.ports.store.request(request).await?.contains(&renewed)
        {
            return self.bring_back(environment, Asked::ByName).await;
        }
        let along = step(&self.ports, request, renewed);
        self.start_fresh(environment, along).await
    }

    async fn start_fresh(&mut self, environment: Environment, along: Vec<Change>) -> Result<Done> {
        if self.state.open().is_some() {
            self.stop().await?;
        }
        self.end_leftovers().await?;
        self.enter_gates(self.finds_own_id()?).await?;
        let begun = restore::fresh(&self.ports, &mut self.state, environment, along).await;
        begun.map_err(|error| self.unsettled(error))?;
        self.follow().await;
        let note = "a new conversation, as asked; the old one stays in the log".to_owned();
        Ok(Done::Launched { outcome: Outcome::Fresh, note: Some(note) })
    }

    /// Ends the processes that closed launches of this session left running.
    pub(super) async fn end_leftovers(&mut self) -> Result<()> {
        let dead: Vec<LaunchId> =
            self.state.launches.iter().filter(|it| !it.is_open()).map(|it| it.id).collect();
        let ended = self.ports.machine.end_marked(&dead).await?;
        if ended.is_empty() {
            return Ok(());
        }
        let text = format!("{} processes of dead launches", ended.len());
        let events = vec![self.state.event(&self.ports, EventKind::LeftoversEnded, text)];
        self.state.commit(&self.ports, Commit { changes: Vec::new(), events }).await
    }

    pub(super) async fn plan(&mut self, asked: Asked) -> Result<PlannedOutcome> {
        let (_, decision) = self.decide(asked).await?;
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
        if self.state.open().is_some() {
            self.waiting_for_turn.push(reply);
        } else {
            answer(reply, Ok(self.turn_report()));
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

fn starts_process(decision: &Decision) -> bool {
    !matches!(decision, Decision::Attach | Decision::Rest { .. } | Decision::Refuse(_))
}
