//! Stops a session's process, and removes a session.

use std::path::PathBuf;
use std::time::Duration;

use segue_core::api::WorktreeActionReport;
use segue_core::flows::{archive, worktrees};
use segue_core::model::{
    Binding, Environment, EventPayload, Exit, How, LaunchEnd, LaunchId, Session, Status, WaitingFor,
};
use segue_core::ports::{Change, Commit};
use segue_core::rules::lifecycle::EnvironmentKept;
use segue_core::{Error, Result, failpoint};

use super::Actor;

/// How long an agent has to exit by itself before it is killed.
pub(super) const STOP_GRACE: Duration = Duration::from_secs(5);

impl Actor {
    /// Ends the session's process. Returns whether there was one.
    pub(super) async fn stop(&mut self) -> Result<bool> {
        self.cancel_restart().await;
        let Some(launch) = self.state.open().map(|launch| launch.id) else {
            self.record_as_stopped().await?;
            self.archive_now().await;
            self.count_usage_now().await;
            return Ok(false);
        };
        failpoint::hit("stop.holder.before");
        self.expect_end(launch);
        let end = self.end_launch(launch).await?;
        failpoint::hit("stop.holder.after");
        self.read_stream().await?;
        let follow_ups = self.record_end(launch, end, EnvironmentKept::No).await?;
        failpoint::hit("stop.commit.after");
        self.follow_up(launch, follow_ups).await?;
        self.archive_now().await;
        self.count_usage_now().await;
        Ok(true)
    }

    /// Ends a launch, even if its holder has not started yet or is gone.
    async fn end_launch(&self, launch: LaunchId) -> Result<LaunchEnd> {
        let mut end = self.ports.holders.stop(launch, STOP_GRACE).await?;
        if end.is_none() && self.ports.folders.end(launch)?.is_none() {
            self.state.write_record(&self.ports)?;
            if self.ports.holders.abandon(self.id(), launch).await?.is_some() {
                end = self.ports.holders.stop(launch, STOP_GRACE).await?;
            }
        }
        let unknown =
            LaunchEnd { exit: Exit::Unknown, is_requested: true, at: self.ports.clock.now() };
        Ok(end.or(self.ports.folders.end(launch)?).unwrap_or(unknown))
    }

    /// Marks a session as stopped if it waits to be brought back, or did not end on purpose.
    async fn record_as_stopped(&mut self) -> Result<()> {
        let status = self.state.session.status;
        let waits = matches!(status, Status::Waiting(WaitingFor::Environment | WaitingFor::Choice));
        let failed = matches!(status, Status::Ended(How::Crashed(_) | How::NeverStarted));
        let is_interrupted = matches!(status, Status::Interrupted | Status::Lost);
        if !waits && !failed && !is_interrupted {
            return Ok(());
        }
        let (change, event) = self.state.status_change(&self.ports, Status::Ended(How::Stopped));
        let commit = Commit { changes: vec![change], events: vec![event] };
        self.state.commit(&self.ports, commit).await
    }

    /// Salvages and removes the session's worktree. A start that waits is a conflict.
    pub(super) async fn remove_worktree(
        &mut self,
        environment: &Environment,
    ) -> Result<WorktreeActionReport> {
        let name = self.state.session.address();
        // A restart may be running the setup commands.
        if !self.starts.is_empty() {
            return Err(Error::conflict(format!("`{name}` is about to start"))
                .hint(format!("run `segue stop {name}` first")));
        }
        let worktree = worktrees::of_session(&self.ports, &self.state.session).await?;
        let gone = || Error::not_found(format!("`{name}` has no worktree any more"));
        worktrees::remove(&self.ports, &worktree.ok_or_else(gone)?, (&[], environment)).await
    }

    pub(super) async fn remove(&mut self, purge: bool, same_commit: Vec<Change>) -> Result<()> {
        let name = self.state.session.address();
        if self.state.open().is_some() {
            return Err(Error::conflict(format!("`{name}` is running"))
                .hint(format!("run `segue stop {name}` first")));
        }
        if !self.starts.has_only_restarts() {
            return Err(Error::conflict(format!("`{name}` is about to start"))
                .hint(format!("run `segue stop {name}` first")));
        }
        drop(self.starts.take_all());
        self.cancel_restart().await;
        // The usage stays when the session is gone, so it must be complete.
        self.count_usage_now().await;
        // A copy that is still in progress would recreate files that are deleted below.
        self.finish_copies().await;
        // Delete the files before the session. If the daemon dies in between, the session still
        // exists, and the removal can be repeated.
        for launch in &self.state.launches {
            self.ports.folders.remove(launch.id)?;
        }
        let folders = &self.ports.folders;
        let mut files = vec![folders.import(self.id()), folders.reading(self.id())];
        files.extend(if purge { self.transcripts()? } else { Vec::new() });
        for file in files {
            self.ports.files.remove(&file).map_err(|error| {
                Error::internal(format!("cannot delete `{}`", file.display())).caused_by(error)
            })?;
        }
        if purge {
            let ids = self.state.bindings.iter().map(|binding| &binding.vendor_session);
            archive::remove(&self.ports, &self.state.session, ids)?;
        }
        let mut changes = vec![Change::RemoveSession(self.id())];
        changes.extend(same_commit);
        let commit = Commit {
            changes,
            events: vec![
                self.state.event(&self.ports, EventPayload::SessionRemoved { address: name }),
            ],
        };
        failpoint::hit("remove.commit.before");
        self.state.commit(&self.ports, commit).await?;
        failpoint::hit("remove.commit.after");
        self.supervisor.fleet_files.write(&self.state.session.fleet).await
    }

    /// Returns the transcripts of the session's conversations, and the files that belong to them.
    fn transcripts(&self) -> Result<Vec<PathBuf>> {
        let vendor = self.ports.vendors.of(&self.state.session)?;
        let Some(transcripts) = vendor.transcript_files() else { return Ok(Vec::new()) };
        let place = self.state.place();
        let files = self.ports.files.as_ref();
        let paths = |it: &Binding| {
            let companion_folder = transcripts.companion_folder(&place, &it.vendor_session);
            [Some(transcripts.transcript(files, &place, &it.vendor_session)), companion_folder]
        };
        // The description of a vendor may name any path. Never delete the working folder or the
        // config dir, or a folder above them.
        let Session { cwd, config_dir, .. } = &self.state.session;
        let is_deletable = |path: &PathBuf| !cwd.starts_with(path) && !config_dir.starts_with(path);
        Ok(self.state.bindings.iter().flat_map(paths).flatten().filter(is_deletable).collect())
    }
}
