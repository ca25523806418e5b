//! Carries out the requests and timeouts of the inbox.

use segue_core::Result;
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::archiving::COPY_TIMEOUT;
use super::start_queue::{FirstReply, StartRequest};
use super::{Actor, Reply, SessionRequest, SessionTimeout, send_reply};

impl Actor {
    /// Carries a request out. Returns only an error of recording. All other errors are sent to the
    /// client.
    pub(super) async fn carry_out(&mut self, request: SessionRequest) -> Result<()> {
        match request {
            SessionRequest::Start { start, reply } => {
                let reply = FirstReply::Started(reply);
                self.starts.push(StartRequest::First { start, reply });
            }
            SessionRequest::StartVerified { start, reply } => {
                let reply = FirstReply::Verified(reply);
                self.starts.push(StartRequest::First { start, reply });
            }
            SessionRequest::Resume { environment, selection, fresh, trigger, reply } => {
                let how = (selection, fresh, trigger);
                self.starts.push(StartRequest::resume(environment, how, reply));
            }
            SessionRequest::StartHandedOver { launch, trigger, reply } => {
                self.starts.push(StartRequest::Handoff { launch, trigger, reply });
            }
            SessionRequest::Stop { reply } => return self.stop_and_answer(reply).await,
            SessionRequest::Remove(removal) => self.begin_removal(removal).await,
            SessionRequest::CompleteRemoval(removal) => self.complete_removal(removal).await,
            SessionRequest::CheckNoStart { reply } => send_reply(reply, self.check_no_start()),
            SessionRequest::Reconcile { reply } => return self.reconcile_and_answer(reply).await,
            SessionRequest::Plan { selection, reply } => {
                send_reply(reply, self.plan(selection).await);
            }
            SessionRequest::WaitTurn { reply } => self.wait_turn(reply),
            SessionRequest::Rename { name, by, reply } => {
                send_reply(reply, self.rename(name, by).await);
            }
            SessionRequest::Interrupt { request, reply } => {
                send_reply(reply, self.interrupt_turn(request).await);
            }
            SessionRequest::Configure { settings, reply } => {
                send_reply(reply, self.configure(settings).await);
            }
            SessionRequest::SetTimers { timers, reply } => {
                send_reply(reply, self.set_timers(timers).await);
            }
            SessionRequest::Send { outgoing, reply } => {
                send_reply(reply, self.send(outgoing).await);
            }
            SessionRequest::Queue { message, same_commit, reply } => {
                send_reply(reply, self.queue(message, same_commit).await);
            }
            SessionRequest::Cancel { message, same_commit, reply } => {
                send_reply(reply, self.cancel(message, same_commit).await);
            }
            SessionRequest::Report { message, reply } => {
                send_reply(reply, self.report(message).await);
            }
            SessionRequest::Answer { answer, question, request, reply } => {
                self.answer_when_drawn((answer, question), request, reply).await;
            }
            SessionRequest::Wait(waiter) => self.waiters.push(waiter),
            SessionRequest::Archive => self.archive(),
            SessionRequest::CountUsage { reply } => self.count_usage_and_answer(reply),
            // Handled in `run`.
            SessionRequest::Retire => {}
        }
        Ok(())
    }

    async fn stop_and_answer(&mut self, reply: Reply<bool>) -> Result<()> {
        let cancelled = self.cancel_starts().await;
        let stopped = cancelled.and(self.stop().await);
        let failed = stopped.as_ref().map(drop).map_err(Clone::clone);
        // The archive and the usage are complete when the client has its answer. The actor does not
        // wait for them.
        let (copied, counted) = (self.copies_made(), self.usage_counted());
        tokio::spawn(async move {
            let _copied_later = timeout(COPY_TIMEOUT, copied).await;
            counted.await;
            send_reply(reply, stopped);
        });
        failed
    }

    async fn reconcile_and_answer(&mut self, reply: oneshot::Sender<()>) -> Result<()> {
        let result = self.reconcile().await;
        self.suppress_known_failure();
        // The daemon may have stopped waiting.
        let _gone = reply.send(());
        result
    }

    pub(super) async fn time_out(&mut self, timeout: SessionTimeout) -> Result<()> {
        match timeout {
            SessionTimeout::RetryRecording => return self.retry_recording().await,
            SessionTimeout::RestartDue { after } => return self.restart(after).await,
            SessionTimeout::Silent { launch, output_lines } => {
                return self.end_silent_launch(launch, output_lines).await;
            }
            SessionTimeout::NoEvidence { launch } => {
                return self.report_missing_evidence(launch).await;
            }
            SessionTimeout::TimerDue { launch, round } => {
                return self.timer_due(launch, round).await;
            }
            SessionTimeout::CheckMessage { message } => return self.check_message(message).await,
            SessionTimeout::Overdue { message } => return self.overdue(message).await,
            SessionTimeout::EvidenceOverdue { launch } => self.give_up_waiting(launch),
            SessionTimeout::StopBlocking { launch } => self.return_permits_if_open(launch),
            SessionTimeout::ScoutTimeout { launch } => self.end_scouting(launch),
            SessionTimeout::RetryTyping => self.allow_typing(),
            SessionTimeout::ReadDialog => self.asking.is_stale = true,
        }
        Ok(())
    }
}
