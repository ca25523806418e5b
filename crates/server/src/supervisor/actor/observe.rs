//! Handles events: signals of the vendor, changed files, and events of the holder.

use std::path::{Path, PathBuf};
use std::time::Duration;

use segue_core::flows::observe::{self, FollowUp};
use segue_core::flows::{endangered, guard, last_output};
use segue_core::model::{LaunchEnd, LaunchId, Signal};
use segue_core::ports::{HolderEvent, Readiness};
use segue_core::rules::last_output::cause;
use segue_core::rules::lifecycle::EnvironmentKept;
use segue_core::{Error, Result, failpoint};

use super::super::stream::StreamReader;
use super::{Actor, SessionObservation, SessionTimeout, send_if_alive};

/// The screen is read again this long after the agent has proven its conversation. By then the
/// agent has drawn its input.
const DRAW_PAUSE: Duration = Duration::from_secs(3);

impl Actor {
    pub(super) async fn observe(&mut self, observation: SessionObservation) -> Result<()> {
        match observation {
            SessionObservation::Holder { launch, event } => {
                self.observe_holder(launch, event).await
            }
            SessionObservation::HolderGone { launch } => self.holder_gone(launch).await,
            SessionObservation::Subscribed { launch } => self.subscribed(launch).await,
            SessionObservation::FileChanged { path } => self.file_changed(&path).await,
            SessionObservation::ChangesLost => {
                self.restore_socket().await?;
                self.read_all_signals().await
            }
            SessionObservation::Archived { round } => {
                self.archived(round).await;
                Ok(())
            }
            SessionObservation::UsageRead { scan } => {
                self.usage_read(scan).await;
                Ok(())
            }
            SessionObservation::CallsRead { found } => self.calls_read(found).await,
            SessionObservation::EnvironmentRead { after, read } => {
                self.environment_read(after, read).await
            }
        }
    }

    /// Follows the open launch. If an event cannot be recorded now, schedules a retry.
    pub(super) async fn follow_launch_or_retry(&mut self) {
        if let Err(error) = self.follow_launch().await {
            self.retry_recording_later(&error);
        }
    }

    /// Follows a launch that was just started or found alive.
    pub(super) async fn follow_launch(&mut self) -> Result<()> {
        let Some(launch) = self.state.open() else { return Ok(()) };
        self.supervisor.live.insert(self.ports.machine.as_ref(), launch);
        let launch = launch.id;
        self.cancel_restart().await;
        self.forget_answer();
        self.stream = self
            .state
            .session
            .headless
            .then(|| StreamReader::new(self.ports.folders.stream(launch)));
        let hooks = self.ports.folders.hooks(launch);
        self.hooks = Some(StreamReader::near_end(self.ports.files.as_ref(), hooks));
        self.limit_scout_start(launch);
        self.limit_evidence_wait(launch);
        self.limit_silence(launch);
        self.subscribe(launch);
        self.follow_files().await?;
        self.supervisor.fleet_files.write(&self.state.session.fleet).await?;
        failpoint::hit("start.fleet.after");
        self.read_all_signals().await?;
        self.look_for_repetition();
        self.track_typed_message().await?;
        self.schedule_timers().await?;
        self.look_at_screen(launch).await
    }

    async fn observe_holder(&mut self, launch: LaunchId, event: HolderEvent) -> Result<()> {
        match event {
            HolderEvent::Ended(end) => self.launch_ended(launch, end, EnvironmentKept::Yes).await,
            HolderEvent::Title(title) => self.title_changed(launch, &title).await,
            HolderEvent::Settled => self.screen_settled(launch).await,
            HolderEvent::Questions(open) => self.questions_changed(launch, open).await,
            // A bell does not change the status.
            HolderEvent::Bell => Ok(()),
        }
    }

    pub(super) fn subscribe(&self, launch: LaunchId) {
        let (inbox, holders) = (self.inbox.clone(), self.ports.holders.clone());
        tokio::spawn(async move {
            if let Ok(mut events) = holders.subscribe(launch).await {
                send_if_alive(&inbox, SessionObservation::Subscribed { launch });
                while let Some(event) = events.next().await {
                    if !send_if_alive(&inbox, SessionObservation::Holder { launch, event }) {
                        return;
                    }
                }
            }
            send_if_alive(&inbox, SessionObservation::HolderGone { launch });
        });
    }

    pub(super) async fn follow_files(&self) -> Result<()> {
        let mut folders = self.watched()?;
        folders.extend(self.state.open().map(|launch| self.ports.folders.folder(launch.id)));
        self.supervisor.watch.follow(self.id(), folders).await
    }

    fn watched(&self) -> Result<Vec<PathBuf>> {
        let (vendor, place) = (self.ports.vendors.of(&self.state.session)?, self.state.place());
        let (id, now) = (self.state.vendor_session(), self.ports.clock.now());
        let Some(sources) = vendor.signals() else { return Ok(Vec::new()) };
        let mut folders = sources.watched(&place);
        folders.extend(sources.watched_for(self.ports.files.as_ref(), &place, id, now));
        Ok(folders)
    }

    /// Reads all files that contain signals, because events about changes may have been lost.
    pub(super) async fn read_all_signals(&mut self) -> Result<()> {
        for folder in self.watched()? {
            for path in self.ports.files.list(&folder).unwrap_or_default() {
                self.read_signals(&path).await?;
            }
        }
        self.read_stream().await?;
        self.read_hooks().await?;
        guard::guard_current(&self.ports, &mut self.state).await
    }

    async fn file_changed(&mut self, path: &Path) -> Result<()> {
        if self.is_socket(path) {
            return self.restore_socket().await;
        }
        if self.stream.as_ref().is_some_and(|stream| stream.path() == path) {
            return self.read_stream().await;
        }
        if self.hooks.as_ref().is_some_and(|hooks| hooks.path() == path) {
            return self.read_hooks().await;
        }
        self.read_signals(path).await?;
        if self.is_transcript(path)? {
            let facts = self.ports.files.facts(path).ok().flatten();
            self.archiving.length = facts.map_or(0, |facts| facts.length);
            guard::guard_current(&self.ports, &mut self.state).await?;
            self.look_for_repetition();
        }
        Ok(())
    }

    fn is_socket(&self, path: &Path) -> bool {
        let open = self.state.open();
        open.is_some_and(|open| path == self.ports.folders.socket(open.id))
    }

    /// Makes the holder of the open launch listen again if its socket was deleted. A holder that
    /// exits also deletes its socket, but records before that how its agent ended.
    async fn restore_socket(&mut self) -> Result<()> {
        let Some(launch) = self.state.open().map(|launch| launch.id) else { return Ok(()) };
        let socket = self.ports.folders.socket(launch);
        if socket.exists() || self.ports.folders.end(launch)?.is_some() {
            return Ok(());
        }
        // Looking for the holder makes it listen again.
        self.close_if_dead().await
    }

    fn is_transcript(&self, path: &Path) -> Result<bool> {
        let Some(id) = self.state.vendor_session() else { return Ok(false) };
        let vendor = self.ports.vendors.of(&self.state.session)?;
        let (files, place) = (self.ports.files.as_ref(), self.state.place());
        Ok(vendor.transcripts().is_some_and(|it| it.transcript(files, &place, id) == path))
    }

    async fn read_signals(&mut self, path: &Path) -> Result<()> {
        let Some(launch) = self.state.open() else { return Ok(()) };
        let (Some(agent), id) = (launch.agent.clone(), launch.id) else { return Ok(()) };
        let vendor = self.ports.vendors.of(&self.state.session)?;
        let Some(sources) = vendor.signals() else { return Ok(()) };
        let signals = sources.file_signals(self.ports.files.as_ref(), path, &agent);
        self.signals(id, signals).await
    }

    pub(super) async fn read_stream(&mut self) -> Result<()> {
        let Some(launch) = self.state.open().map(|launch| launch.id) else { return Ok(()) };
        let Some(stream) = self.stream.as_mut() else { return Ok(()) };
        let lines = stream.new_lines(self.ports.files.as_ref());
        let vendor = self.ports.vendors.of(&self.state.session)?;
        let signals = match vendor.signals() {
            Some(sources) => lines.iter().flat_map(|it| sources.stream_signals(it)).collect(),
            None => Vec::new(),
        };
        self.output_lines += lines.len() as u64;
        self.signals(launch, signals).await
    }

    /// Reads the new reports of the vendor to Segue's hook. Only reports of the launch's own
    /// process count.
    async fn read_hooks(&mut self) -> Result<()> {
        let Some(launch) = self.state.open() else { return Ok(()) };
        let (Some(agent), id) = (launch.agent.clone(), launch.id) else { return Ok(()) };
        let Some(hooks) = self.hooks.as_mut() else { return Ok(()) };
        let lines = hooks.new_lines(self.ports.files.as_ref());
        let vendor = self.ports.vendors.of(&self.state.session)?;
        let folders = &self.ports.folders;
        let reports = lines.iter().filter_map(|line| folders.hook_report(line, agent.pid));
        let signals = match vendor.signals() {
            Some(sources) => reports.flat_map(|it| sources.hook_signals(&it)).collect(),
            None => Vec::new(),
        };
        self.signals(id, signals).await?;
        // A database is not watched. Look for new messages after each report of the agent.
        if vendor.transcript_database().is_some() {
            guard::guard_current(&self.ports, &mut self.state).await?;
            self.look_for_repetition();
        }
        Ok(())
    }

    pub(super) async fn signals(&mut self, launch: LaunchId, signals: Vec<Signal>) -> Result<()> {
        for signal in signals {
            if let Signal::TurnEnded { failure: Some(failure), .. } = &signal {
                self.show_failure(Some(failure.clone()));
            }
            let follow_ups = observe::signal(&self.ports, &mut self.state, launch, signal).await?;
            self.follow_up(launch, follow_ups).await?;
        }
        Ok(())
    }

    pub(super) async fn launch_ended(
        &mut self,
        launch: LaunchId,
        end: LaunchEnd,
        environment: EnvironmentKept,
    ) -> Result<()> {
        if self.stream.is_none() && self.state.session.headless {
            let path = self.ports.folders.stream(launch);
            self.stream = Some(StreamReader::new(path));
        }
        if let Err(error) = self.read_all_signals().await {
            // Close the launch even if its last signals cannot be read.
            tracing::warn!(%launch, %error, "the last signals of a launch are lost");
        }
        let follow_ups = self.record_end(launch, end, environment).await?;
        let will_restart = follow_ups.iter().any(|it| matches!(it, FollowUp::RestartAfter(_)));
        if !will_restart {
            self.cancel_restart().await;
        }
        self.follow_up(launch, follow_ups).await
    }

    pub(super) async fn follow_up(
        &mut self,
        launch: LaunchId,
        follow_ups: Vec<FollowUp>,
    ) -> Result<()> {
        for follow_up in follow_ups {
            match follow_up {
                FollowUp::Bound => self.bound(launch).await?,
                FollowUp::Refused { .. } => self.refuse_pending(&self.other_conversation_error()),
                FollowUp::Ended => {
                    endangered::restore_and_unguard(&self.ports, &mut self.state, launch).await?;
                    self.launch_closed(launch);
                }
                FollowUp::RestartAfter(after) => {
                    let after_launch = *self.restart_after.get_or_insert(launch);
                    self.send_later(after, SessionTimeout::RestartDue { after: after_launch });
                }
            }
        }
        Ok(())
    }

    async fn bound(&mut self, launch: LaunchId) -> Result<()> {
        // The conversation may have changed, and its files may be in another folder.
        self.follow_files().await?;
        guard::guard_current(&self.ports, &mut self.state).await?;
        endangered::restore_deleted(&self.ports, &mut self.state, launch).await?;
        self.supervisor.fleet_files.write(&self.state.session.fleet).await?;
        self.permits.drain(..).for_each(|permit| permit.report_started());
        self.limit_scout_turn(launch);
        self.clear_missing_evidence();
        let vendor = self.ports.vendors.of(&self.state.session)?;
        if vendor.interaction().readiness() == Readiness::Shown {
            // The agent may have drawn its input already, and then causes no further event.
            let event = HolderEvent::Settled;
            self.send_later(DRAW_PAUSE, SessionObservation::Holder { launch, event });
        }
        Ok(())
    }

    /// Cleans up after a closed launch, and answers the requests that wait for it.
    fn launch_closed(&mut self, launch: LaunchId) {
        // The next start must know the result of this launch before it gets the permits.
        self.report_to_account();
        self.permits.clear();
        self.supervisor.live.remove(launch);
        self.supervisor.watch.leave(self.id());
        self.stream = None;
        self.hooks = None;
        self.questions.clear();
        self.clear_missing_evidence();
        let how = self.state.session.status.detail().unwrap_or_default();
        let name = self.state.session.address();
        let error = Error::vendor("it ended before it showed its conversation").caused_by(how);
        let why = self.state.turn.as_ref().and_then(|turn| turn.failure.as_ref());
        let error = match why {
            Some(failure) => error.caused_by(&failure.message).hint(failure.class.advice()),
            None => match last_output::of_session(&self.ports, &self.state) {
                Some(output) => error.caused_by(cause(&output)),
                None => error,
            },
        };
        self.refuse_pending(&error.hint(format!("run `segue log {name}` to see what happened")));
        self.report_turn();
    }
}
