//! Stops a session's process, and removes a session.

use std::path::PathBuf;
use std::time::Duration;

use segue_core::flows::archive;
use segue_core::model::{
    Binding, EventPayload, Exit, How, LaunchEnd, LaunchId, Session, Status, WaitingFor,
};
use segue_core::ports::{Change, Commit};
use segue_core::rules::lifecycle::EnvironmentKept;
use segue_core::{Error, Result, failpoint};

use super::{Actor, Reply, SessionRequest, send_if_alive, send_reply};

/// How long an agent has to exit by itself before it is killed.
pub(super) const STOP_GRACE: Duration = Duration::from_secs(5);

/// A request to remove a session.
#[derive(Debug)]
pub(crate) struct SessionRemoval {
    /// Whether the archive and the transcripts are deleted, too.
    pub(super) purge: bool,
    /// Recorded in the same commit.
    pub(super) same_commit: Vec<Change>,
    pub(super) reply: Reply<()>,
}

impl Actor {
    /// Ends the session's process. Returns whether there was one. The archive and the usage are
    /// completed in the background.
    pub(super) async fn stop(&mut self) -> Result<bool> {
        self.cancel_restart().await;
        let Some(launch) = self.state.open().map(|launch| launch.id) else {
            self.record_as_stopped().await?;
            self.archive();
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
        self.archive();
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

    /// Fails if a start of the session waits.
    pub(super) fn check_no_start(&self) -> Result<()> {
        if self.starts.is_empty() {
            return Ok(());
        }
        Err(self.is_active("is about to start"))
    }

    fn is_active(&self, how: &str) -> Error {
        let name = self.state.session.address();
        Error::conflict(format!("`{name}` {how}")).hint(format!("run `segue stop {name}` first"))
    }

    /// Begins to remove the session: its usage is counted, and its copies are completed, while the
    /// actor handles other messages.
    pub(super) async fn begin_removal(&mut self, removal: Box<SessionRemoval>) {
        if let Err(error) = self.refuse_if_active().await {
            return send_reply(removal.reply, Err(error));
        }
        // The usage stays when the session is gone, so it must be complete.
        self.count_usage();
        let (copied, counted, inbox) =
            (self.copies_made(), self.usage_counted(), self.inbox.clone());
        self.begun_removals += 1;
        tokio::spawn(async move {
            counted.await;
            // The sender is dropped if the actor has ended.
            let _ended = copied.await;
            send_if_alive(&inbox, SessionRequest::CompleteRemoval(removal));
        });
    }

    /// Removes the session, unless it was started meanwhile.
    pub(super) async fn complete_removal(&mut self, removal: Box<SessionRemoval>) {
        self.begun_removals -= 1;
        // A copy that is still in progress would recreate deleted files.
        if !self.archiving.is_idle() {
            return self.begin_removal(removal).await;
        }
        let SessionRemoval { purge, same_commit, reply } = *removal;
        let result = match self.refuse_if_active().await {
            Ok(()) => self.remove(purge, same_commit).await,
            Err(error) => Err(error),
        };
        self.removed = result.is_ok();
        send_reply(reply, result);
    }

    /// Fails if the session runs, or if a user has requested its start. Cancels its restarts.
    async fn refuse_if_active(&mut self) -> Result<()> {
        if self.state.open().is_some() {
            return Err(self.is_active("is running"));
        }
        if !self.starts.has_only_restarts() {
            return Err(self.is_active("is about to start"));
        }
        drop(self.starts.take_all());
        self.cancel_restart().await;
        Ok(())
    }

    async fn remove(&mut self, purge: bool, same_commit: Vec<Change>) -> Result<()> {
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
        let address = self.state.session.address();
        let mut changes = vec![Change::RemoveSession(self.id())];
        changes.extend(same_commit);
        let commit = Commit {
            changes,
            events: vec![self.state.event(&self.ports, EventPayload::SessionRemoved { address })],
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
