//! Interrupts the agent's turn, once for each request.

use segue_core::api::{InterruptReport, SessionRef};
use segue_core::flows::messages;
use segue_core::model::{EventPayload, RequestKey, RequestStep, Showing};
use segue_core::ports::Commit;
use segue_core::rules::interrupting::{self, InterruptFacts};
use segue_core::{Error, Result, failpoint};

use super::Actor;
use crate::requests::step;

impl Actor {
    /// Interrupts the agent's current turn. Fails if the agent does not work, or if it is unknown
    /// whether an earlier attempt of the same request has done it: the keys could end the next turn.
    pub(super) async fn interrupt_turn(
        &mut self,
        request: Option<RequestKey>,
    ) -> Result<InterruptReport> {
        self.refuse_begun_interrupt(request).await?;
        let runs = self.state.open().is_some();
        let facts = InterruptFacts { runs, shows_question: self.shows_question().await? };
        let method = interrupting::decide(&self.state.session, facts)?;
        let changes = step(&self.ports, request, RequestStep::Begun);
        if !changes.is_empty() {
            failpoint::hit("interrupt.begin.before");
            self.state.commit(&self.ports, Commit { changes, events: Vec::new() }).await?;
            failpoint::hit("interrupt.begin.after");
        }
        self.interrupt().await?;
        failpoint::hit("interrupt.keys.after");
        let report = InterruptReport { of: SessionRef::of(&self.state.session), method };
        let answer = serde_json::to_string(&report)
            .map_err(|error| Error::internal("an answer cannot be written").caused_by(error))?;
        let changes = step(&self.ports, request, RequestStep::Done { answer });
        let payload = EventPayload::TurnInterrupted { method };
        let events = vec![self.state.event(&self.ports, payload)];
        self.state.commit(&self.ports, Commit { changes, events }).await?;
        failpoint::hit("interrupt.commit.after");
        Ok(report)
    }

    async fn refuse_begun_interrupt(&self, request: Option<RequestKey>) -> Result<()> {
        let Some(request) = request else { return Ok(()) };
        if !self.ports.store.request(request).await?.contains(&RequestStep::Begun) {
            return Ok(());
        }
        let name = self.state.session.address();
        Err(Error::conflict(format!("the turn of `{name}` may have been interrupted already"))
            .caused_by("the daemon ended while it was interrupted")
            .hint(format!("run `segue ls` to see whether `{name}` still works")))
    }

    /// Returns whether the screen shows a question now. The status can be older than the screen.
    async fn shows_question(&self) -> Result<bool> {
        let Some(screen) = messages::screen(&self.ports, &self.state).await? else {
            return Ok(false);
        };
        let vendor = self.ports.vendors.of(&self.state.session)?;
        Ok(matches!(vendor.interaction().read_screen(&screen), Some(Showing::Dialog(_))))
    }
}
