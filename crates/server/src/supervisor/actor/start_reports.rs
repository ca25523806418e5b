//! Answers the requests for starts.

use segue_core::Result;
use segue_core::api::{AgentOutcome, Outcome};
use segue_core::flows::restore::Done;

use super::start_queue::{FirstReply, StartRequest};
use super::{Actor, BroughtBack, LeftBehind, Reply, send_reply};

impl Actor {
    /// Answers a request after its start was carried out, refused, or has failed.
    pub(super) async fn report_start(
        &mut self,
        request: StartRequest,
        done: Result<Done>,
    ) -> Result<()> {
        if !matches!(done, Ok(Done::Launched { .. })) {
            self.permits.clear();
        }
        match request {
            StartRequest::First { reply, .. } => {
                self.report_first(done, reply);
                // If the first commit of a new session failed, the session does not exist.
                self.removed = self.state.launches.is_empty();
            }
            StartRequest::Resume { left_behind, reply, .. } => {
                self.report_resume(done, left_behind, reply);
            }
            StartRequest::Handoff { reply, .. } => {
                self.report_resume(done, LeftBehind::Nothing, reply);
                self.removed = self.state.launches.is_empty() && self.state.bindings.is_empty();
            }
            StartRequest::Restart { .. } => return self.report_restart(done).await,
            StartRequest::NextTurn { .. } | StartRequest::Reconfigured { .. } => {
                self.report_next_turn(done);
            }
        }
        Ok(())
    }

    fn report_first(&mut self, done: Result<Done>, reply: FirstReply) {
        match (done, reply) {
            (Ok(_), FirstReply::Started(reply)) => send_reply(reply, Ok(self.view())),
            (Ok(_), FirstReply::Verified(reply)) => {
                self.expect_evidence(BroughtBack::new(Outcome::Started, None), reply);
            }
            (Err(error), FirstReply::Started(reply)) => send_reply(reply, Err(error)),
            (Err(error), FirstReply::Verified(reply)) => send_reply(reply, Err(error)),
        }
    }

    fn report_resume(
        &mut self,
        done: Result<Done>,
        left_behind: LeftBehind,
        reply: Reply<AgentOutcome>,
    ) {
        match done {
            Ok(Done::NothingStarted { outcome, note }) => {
                self.report_running(
                    BroughtBack { left_behind, ..BroughtBack::new(outcome, note) },
                    reply,
                );
            }
            Ok(Done::Launched { outcome, note }) => {
                self.expect_evidence(
                    BroughtBack { left_behind, ..BroughtBack::new(outcome, note) },
                    reply,
                );
            }
            Ok(Done::Refused { error }) | Err(error) => send_reply(reply, Ok(self.refused(&error))),
        }
    }
}
