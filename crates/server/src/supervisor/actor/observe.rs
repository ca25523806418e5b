//! What happens to a session.

use std::path::{Path, PathBuf};
use std::time::Duration;

use segue_core::flows::observe::{self, FollowUp};
use segue_core::flows::{guard, last_words, neighbours};
use segue_core::model::{LaunchEnd, LaunchId};
use segue_core::ports::{HolderEvent, Readiness, Signal};
use segue_core::rules::last_words::cause;
use segue_core::rules::lifecycle::Kept;
use segue_core::{Error, Result};
use segue_host::hold::socket_path;
use segue_host::hook;

use super::{Actor, Message, answer};

/// An agent that has taken up its conversation draws its input within this time, or had drawn it.
const STILL: Duration = Duration::from_secs(3);

impl Actor {
    pub(super) async fn observe(&mut self, message: Message) -> Result<()> {
        match message {
            Message::Holder { launch, event: HolderEvent::Ended(end) } => {
                self.launch_ended(launch, end, Kept::Yes).await
            }
            Message::HolderGone { launch } => self.holder_gone(launch).await,
            Message::Holder { launch, event: HolderEvent::Title(title) } => {
                self.titled(launch, &title).await
            }
            Message::Holder { launch, event: HolderEvent::Settled } => self.settled(launch).await,
            Message::Subscribed { launch } => self.subscribed(launch).await,
            Message::FileChanged { path } => self.file_changed(&path).await,
            Message::LookAgain => {
                self.call_lost_holder().await?;
                self.look_again().await
            }
            // Bells are for screens; no status depends on them.
            _ => Ok(()),
        }
    }

    pub(super) fn subscribe(&self, launch: LaunchId) {
        let (own, holders) = (self.own.clone(), self.ports.holders.clone());
        tokio::spawn(async move {
            if let Ok(mut events) = holders.subscribe(launch).await {
                let Some(inbox) = own.upgrade() else { return };
                let _gone = inbox.send(Message::Subscribed { launch });
                // An actor that nobody else can reach ends.
                drop(inbox);
                while let Some(event) = events.next().await {
                    let Some(inbox) = own.upgrade() else { return };
                    let _gone = inbox.send(Message::Holder { launch, event });
                }
            }
            if let Some(inbox) = own.upgrade() {
                let _gone = inbox.send(Message::HolderGone { launch });
            }
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
        let mut folders = vendor.watched(&place);
        folders.extend(vendor.watched_for(self.ports.files.as_ref(), &place, id, now));
        Ok(folders)
    }

    /// Looks at everything that carries signals, because changes may have been missed.
    pub(super) async fn look_again(&mut self) -> Result<()> {
        for folder in self.watched()? {
            for path in self.ports.files.list(&folder).unwrap_or_default() {
                self.read_signals(&path).await?;
            }
        }
        self.read_stream().await?;
        self.read_hooks().await?;
        guard::keep(&self.ports, &mut self.state).await
    }

    async fn file_changed(&mut self, path: &Path) -> Result<()> {
        if self.is_socket(path) {
            return self.call_lost_holder().await;
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
            guard::keep(&self.ports, &mut self.state).await?;
        }
        Ok(())
    }

    fn is_socket(&self, path: &Path) -> bool {
        let open = self.state.open();
        open.is_some_and(|open| path == socket_path(&self.ports.folders.folder(open.id)))
    }

    /// Has the open launch's holder listen again if somebody deleted its socket. A holder that goes
    /// deletes it too, after it has written down how its agent ended.
    async fn call_lost_holder(&mut self) -> Result<()> {
        let Some(launch) = self.state.open().map(|launch| launch.id) else { return Ok(()) };
        let socket = socket_path(&self.ports.folders.folder(launch));
        if socket.exists() || self.ports.folders.end(launch)?.is_some() {
            return Ok(());
        }
        // Asking for the holder makes it listen again.
        self.close_if_dead().await
    }

    fn is_transcript(&self, path: &Path) -> Result<bool> {
        let Some(id) = self.state.vendor_session() else { return Ok(false) };
        let vendor = self.ports.vendors.of(&self.state.session)?;
        Ok(vendor.transcript(self.ports.files.as_ref(), &self.state.place(), id) == path)
    }

    async fn read_signals(&mut self, path: &Path) -> Result<()> {
        let Some(launch) = self.state.open() else { return Ok(()) };
        let (Some(agent), id) = (launch.agent.clone(), launch.id) else { return Ok(()) };
        let vendor = self.ports.vendors.of(&self.state.session)?;
        let signals = vendor.file_signals(self.ports.files.as_ref(), path, &agent);
        self.signals(id, signals).await
    }

    pub(super) async fn read_stream(&mut self) -> Result<()> {
        let Some(launch) = self.state.open().map(|launch| launch.id) else { return Ok(()) };
        let Some(stream) = self.stream.as_mut() else { return Ok(()) };
        let lines = stream.new_lines(self.ports.files.as_ref());
        let vendor = self.ports.vendors.of(&self.state.session)?;
        let signals = lines.iter().flat_map(|line| vendor.stream_signals(line)).collect();
        self.heard += lines.len() as u64;
        self.signals(launch, signals).await
    }

    /// Reads what the vendor told our hook; only the launch's own process counts.
    async fn read_hooks(&mut self) -> Result<()> {
        let Some(launch) = self.state.open() else { return Ok(()) };
        let (Some(agent), id) = (launch.agent.clone(), launch.id) else { return Ok(()) };
        let Some(hooks) = self.hooks.as_mut() else { return Ok(()) };
        let lines = hooks.new_lines(self.ports.files.as_ref());
        let vendor = self.ports.vendors.of(&self.state.session)?;
        let payloads = lines.iter().filter_map(|line| hook::payload_of(line, agent.pid));
        let signals = payloads.flat_map(|payload| vendor.hook_signals(&payload)).collect();
        self.signals(id, signals).await?;
        // Nobody watches a database: what was said in it is noted when the agent tells something.
        if vendor.has_own_files() {
            Ok(())
        } else {
            guard::keep(&self.ports, &mut self.state).await
        }
    }

    pub(super) async fn signals(&mut self, launch: LaunchId, signals: Vec<Signal>) -> Result<()> {
        for signal in signals {
            let follow_ups = observe::signal(&self.ports, &mut self.state, launch, signal).await?;
            self.follow_up(launch, follow_ups).await?;
        }
        Ok(())
    }

    pub(super) async fn launch_ended(
        &mut self,
        launch: LaunchId,
        end: LaunchEnd,
        environment: Kept,
    ) -> Result<()> {
        if self.stream.is_none() && self.state.session.headless {
            let path = self.ports.folders.stream(launch);
            self.stream = Some(super::super::stream::StreamReader::new(path));
        }
        if let Err(error) = self.look_again().await {
            // What cannot be read any more does not keep the launch open.
            tracing::warn!(%launch, %error, "the last signals of a launch are lost");
        }
        let follow_ups = self.record_end(launch, end, environment).await?;
        let restarts = follow_ups.iter().any(|it| matches!(it, FollowUp::RestartAfter(_)));
        if !restarts {
            self.release_keeper().await;
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
                FollowUp::Refused { .. } => self.refuse_pending(&self.came_up_elsewhere()),
                FollowUp::Ended => {
                    neighbours::leave(&self.ports, &mut self.state, launch).await?;
                    self.over(launch);
                }
                FollowUp::RestartAfter(after) => {
                    let keeper = *self.keeper.get_or_insert(launch);
                    self.tell_later(after, Message::RestartDue { after: keeper });
                }
            }
        }
        Ok(())
    }

    async fn bound(&mut self, launch: LaunchId) -> Result<()> {
        // Another conversation may have its files elsewhere.
        self.follow_files().await?;
        guard::keep(&self.ports, &mut self.state).await?;
        neighbours::put_back(&self.ports, &mut self.state, launch).await?;
        self.supervisor.scribe.write(&self.state.session.fleet).await?;
        self.passes.drain(..).for_each(|pass| pass.arrived());
        self.listen_to_scout(launch);
        self.has_shown();
        let vendor = self.ports.vendors.of(&self.state.session)?;
        if vendor.readiness() == Readiness::Shown {
            // What was drawn before counts if nothing is drawn any more.
            let event = HolderEvent::Settled;
            self.tell_later(STILL, Message::Holder { launch, event });
        }
        Ok(())
    }

    /// The launch is closed: nobody waits for it any more.
    fn over(&mut self, launch: LaunchId) {
        // Whoever is let in next has to know what this one found out.
        self.note_account();
        self.passes.clear();
        self.supervisor.live.remove(launch);
        self.supervisor.watch.leave(self.id());
        self.stream = None;
        self.hooks = None;
        self.has_shown();
        let how = self.state.session.status.detail().unwrap_or_default();
        let name = self.state.session.address();
        let error = Error::vendor("it ended before it showed its conversation").caused_by(how);
        let why = self.state.turn.as_ref().and_then(|turn| turn.failure.as_ref());
        let error = match why {
            Some(failure) => error.caused_by(&failure.message).hint(failure.class.advice()),
            None => match last_words::of_session(&self.ports, &self.state) {
                Some(output) => error.caused_by(cause(&output)),
                None => error,
            },
        };
        self.refuse_pending(&error.hint(format!("run `segue log {name}` to see what happened")));
        for reply in std::mem::take(&mut self.waiting_for_turn) {
            let report = self.turn_report();
            answer(reply, Ok(report));
        }
    }
}
