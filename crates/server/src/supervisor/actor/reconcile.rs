//! Handles events that happened while no daemon ran: holders that started, ended or were killed,
//! and restarts that fell due.

use std::time::Duration;

use segue_core::flows::restore::Done;
use segue_core::model::{Environment, EventPayload, Exit, LaunchEnd, LaunchId, Status, WaitingFor};
use segue_core::ports::{Change, Commit, Held};
use segue_core::rules::lifecycle::{self, EnvironmentKept};
use segue_core::{Error, Result};

use super::ending::STOP_GRACE;
use super::start_queue::StartRequest;
use super::{Actor, SessionTimeout};

impl Actor {
    /// Finds out what happened to the open launch while no daemon ran.
    pub(super) async fn reconcile(&mut self) -> Result<()> {
        self.restart_after = self.find_kept_holder().await?;
        let Some(launch) = self.state.open().map(|launch| launch.id) else {
            return self.continue_restart().await;
        };
        match self.ports.holders.find(launch).await? {
            Some(held) => self.found(launch, held).await,
            None => self.holder_gone(launch).await,
        }
    }

    /// Returns the closed launch whose holder still keeps the environment. A daemon may have died
    /// after a crash, before the scheduled restart was done.
    async fn find_kept_holder(&self) -> Result<Option<LaunchId>> {
        let closed = self.state.launches.iter().rev().find(|launch| !launch.is_open());
        let Some(launch) = closed.map(|launch| launch.id) else { return Ok(None) };
        let Some(held) = self.ports.holders.find(launch).await? else { return Ok(None) };
        if held.end.is_none() {
            // The launch is recorded as ended, so no client can reach its agent.
            self.ports.holders.stop(launch, STOP_GRACE).await?;
        }
        Ok(Some(launch))
    }

    /// Schedules a restart that was not carried out yet, or cancels it if it is not due any more.
    pub(super) async fn continue_restart(&mut self) -> Result<()> {
        match self.restart_after {
            Some(after) if lifecycle::must_restart(&self.state.lifecycle_facts()) => {
                self.send_later(Duration::ZERO, SessionTimeout::RestartDue { after });
                Ok(())
            }
            _ => {
                self.cancel_restart().await;
                self.continue_login_shell_restart();
                Ok(())
            }
        }
    }

    /// Continues with an open launch whose holder was found.
    pub(super) async fn found(&mut self, launch: LaunchId, held: Held) -> Result<()> {
        match held.end {
            Some(end) => {
                // The holder of this launch keeps the environment, too. The older holder is not
                // needed.
                self.cancel_restart().await;
                self.launch_ended(launch, end, EnvironmentKept::Yes).await
            }
            None => {
                self.record_processes(launch, held).await?;
                self.follow_launch().await
            }
        }
    }

    /// Cancels the scheduled restart, and releases the holder that was kept for it.
    pub(super) async fn cancel_restart(&mut self) {
        let Some(launch) = self.restart_after.take() else { return };
        if let Err(error) = self.ports.holders.release(launch).await {
            // The holder only uses memory. The next daemon tries to release it again.
            tracing::warn!(%launch, %error, "cannot end a holder that is not needed any more");
        }
    }

    /// Records the processes of a launch if the store does not have them: a daemon may have died
    /// after it started the holder.
    pub(super) async fn record_processes(&mut self, launch: LaunchId, held: Held) -> Result<()> {
        if self.state.open().is_some_and(|it| it.agent.is_some() && it.agent == held.agent) {
            return Ok(());
        }
        let (holder, agent) = (Some(held.holder), held.agent);
        let pid = agent.as_ref().map(|agent| agent.pid);
        let payload = EventPayload::LaunchStarted { pid, found_alive: true };
        let change = Change::SetProcesses { launch, holder, agent };
        let events = vec![self.state.event(&self.ports, payload)];
        self.state.commit(&self.ports, Commit { changes: vec![change], events }).await
    }

    /// Closes the open launch if its holder is gone or its agent has ended, before an event reports
    /// that.
    pub(super) async fn close_if_dead(&mut self) -> Result<()> {
        let Some(launch) = self.state.open().map(|launch| launch.id) else { return Ok(()) };
        match self.ports.holders.find(launch).await? {
            Some(held) => match held.end {
                Some(end) => self.launch_ended(launch, end, EnvironmentKept::Yes).await,
                None => Ok(()),
            },
            None => self.holder_gone(launch).await,
        }
    }

    pub(super) async fn holder_gone(&mut self, launch: LaunchId) -> Result<()> {
        if !self.is_open(launch) {
            return Ok(());
        }
        if self.ports.folders.end(launch)?.is_none() {
            // A daemon may have died before the launch folder was complete.
            self.state.write_record(&self.ports)?;
            if let Some(held) = self.ports.holders.abandon(self.id(), launch).await? {
                return self.found(launch, held).await;
            }
        }
        let unknown =
            LaunchEnd { exit: Exit::Unknown, is_requested: false, at: self.ports.clock.now() };
        let end = self.ports.folders.end(launch)?.unwrap_or(unknown);
        let environment = self.kept_without_holder();
        self.launch_ended(launch, end, environment).await
    }

    /// Restarts a crashed agent with the environment that its holder kept. If no holder has it, uses
    /// the environment of the login shell.
    pub(super) async fn restart(&mut self, after: LaunchId) -> Result<()> {
        if self.restart_after != Some(after) || self.state.open().is_some() {
            return Ok(());
        }
        match self.ports.holders.environment(after).await? {
            Some(environment) => self.restart_with(after, environment),
            None => self.restart_from_login_shell(after).await?,
        }
        Ok(())
    }

    /// Queues the restart after this launch.
    pub(super) fn restart_with(&mut self, after: LaunchId, environment: Environment) {
        self.starts.push(StartRequest::Restart { after, environment });
    }

    /// Records why a restart was not done.
    pub(super) async fn report_restart(&mut self, done: Result<Done>) -> Result<()> {
        match done {
            Ok(Done::Refused { error }) => {
                let is_lost = self.state.session.status == Status::Lost;
                let choice = Status::Waiting(WaitingFor::Choice);
                self.record_not_restarted(if is_lost { Status::Lost } else { choice }, Some(error))
                    .await
            }
            Err(error) if self.supervisor.accounts.is_refused(&self.account()) => {
                let event = self.state.event(&self.ports, gave_up(&error));
                let commit = Commit { changes: Vec::new(), events: vec![event] };
                self.state.commit(&self.ports, commit).await
            }
            // The error does not prove that the session cannot come back. The next command that
            // needs it tries again.
            Err(error) => self.record_not_restarted(Status::Interrupted, Some(error)).await,
            Ok(_) => Ok(()),
        }
    }

    /// Records the status of a session that is not restarted, and why.
    pub(super) async fn record_not_restarted(
        &mut self,
        status: Status,
        why: Option<Error>,
    ) -> Result<()> {
        let (change, event) = self.state.status_change(&self.ports, status);
        let mut events = vec![event];
        events.extend(why.map(|error| self.state.event(&self.ports, gave_up(&error))));
        self.state.commit(&self.ports, Commit { changes: vec![change], events }).await
    }
}

fn gave_up(error: &Error) -> EventPayload {
    EventPayload::GaveUp { reason: error.to_string(), resumable: None }
}
