//! Restarts a session with the environment of the user's login shell, if no holder has it.

use std::time::Duration;

use segue_core::flows::environment;
use segue_core::model::{
    Environment, EnvironmentSource, EventPayload, LaunchId, Status, WaitingFor,
};
use segue_core::ports::{Commit, EnvironmentSettings};
use segue_core::rules::environment::EnvironmentChoice;
use segue_core::rules::lifecycle::{self, EnvironmentKept};
use segue_core::{Error, Result};

use super::{Actor, SessionObservation, SessionTimeout, send_if_alive};
use crate::project;

impl Actor {
    fn environment_settings(&self) -> EnvironmentSettings {
        project::environment(self.supervisor.config_file())
    }

    /// Returns where a restart finds the environment of a launch whose holder is gone.
    pub(super) fn kept_without_holder(&self) -> EnvironmentKept {
        match (self.restart_after, self.environment_settings().has_source()) {
            (Some(_), _) => EnvironmentKept::Yes,
            (None, true) => EnvironmentKept::InLoginShell,
            (None, false) => EnvironmentKept::No,
        }
    }

    /// Continues the restart with the login shell's environment that an earlier daemon did not carry
    /// out: schedules the restart, or finds out which variables a waiting session lacks.
    pub(super) fn continue_login_shell_restart(&mut self) {
        let session = &self.state.session;
        let unchanged_for = self.ports.clock.now().duration_since(session.updated_at);
        let unchanged_for = Duration::try_from(unchanged_for).unwrap_or_default();
        let is_due = lifecycle::must_read_login_shell(&self.state.lifecycle_facts(), unchanged_for);
        let Some(last) = self.state.launches.last().map(|launch| launch.id) else { return };
        if !is_due || !self.environment_settings().has_source() {
            return;
        }
        if session.status == Status::Interrupted {
            self.restart_after = Some(last);
            let timeout = SessionTimeout::RestartDue { after: last };
            self.send_later(lifecycle::USER_FIRST, timeout);
        } else {
            self.read_login_shell(last);
        }
    }

    /// Reads the login shell, and then restarts the session after this launch. If the settings name
    /// no source, the session stays interrupted.
    pub(super) async fn restart_from_login_shell(&mut self, after: LaunchId) -> Result<()> {
        if self.environment_settings().has_source() {
            self.read_login_shell(after);
            return Ok(());
        }
        self.restart_after = None;
        match self.state.session.status {
            Status::Interrupted => Ok(()),
            _ => self.record_not_restarted(Status::Interrupted, None).await,
        }
    }

    /// Reads the login shell in the background. The actor gets the result as an observation.
    fn read_login_shell(&self, after: LaunchId) {
        let settings = self.environment_settings();
        let (inbox, environments) = (self.inbox.clone(), self.ports.environments.clone());
        tokio::spawn(async move {
            let read = environments.login_shell(&settings).await;
            send_if_alive(&inbox, SessionObservation::EnvironmentRead { after, read });
        });
    }

    /// Continues after the login shell was read: restarts the session if a restart is still due, or
    /// stores which variables are missing, for clients.
    pub(super) async fn environment_read(
        &mut self,
        after: LaunchId,
        read: Result<Environment>,
    ) -> Result<()> {
        let is_due = self.restart_after == Some(after) && self.state.open().is_none();
        let waits = self.state.session.status == Status::Waiting(WaitingFor::Environment);
        if !is_due && !waits {
            return Ok(());
        }
        let source = EnvironmentSource::LoginShell;
        let check = |it| environment::check(&self.ports, &self.state, source, it);
        let (missing, error) = match read.and_then(check) {
            Ok(EnvironmentChoice::Use { environment, .. }) if is_due => {
                return self.restart_with_login_shell(after, environment).await;
            }
            Ok(EnvironmentChoice::Use { .. }) => (Vec::new(), None),
            Ok(EnvironmentChoice::Missing(names)) => {
                let error =
                    environment::missing_variables_error(&self.state.session.address(), &names);
                (names, Some(error))
            }
            Err(error) => (Vec::new(), Some(error)),
        };
        self.supervisor.view_extras.set_missing_variables(self.id(), missing);
        self.drop_due_restart(is_due, error).await
    }

    /// Records why a restart that was due does not happen.
    async fn drop_due_restart(&mut self, is_due: bool, error: Option<Error>) -> Result<()> {
        if !is_due {
            return Ok(());
        }
        self.restart_after = None;
        self.record_not_restarted(Status::Waiting(WaitingFor::Environment), error).await
    }

    async fn restart_with_login_shell(
        &mut self,
        after: LaunchId,
        environment: Environment,
    ) -> Result<()> {
        let source = EnvironmentSource::LoginShell;
        let event = self.state.event(&self.ports, EventPayload::EnvironmentFound { source });
        let commit = Commit { changes: Vec::new(), events: vec![event] };
        self.state.commit(&self.ports, commit).await?;
        self.restart_with(after, environment);
        Ok(())
    }
}
