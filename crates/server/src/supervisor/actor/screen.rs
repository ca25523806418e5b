//! Reads the agent's screen if no better source shows what the agent does, and ends silent headless
//! launches.

use segue_core::Result;
use segue_core::flows::{messages, neighbours};
use segue_core::model::{
    Activity, Failure, FailureClass, LaunchId, Screen, Showing, Signal, Source, WaitingFor,
};
use segue_core::ports::{Interaction, Readiness, Vendor};
use segue_core::rules::dialog;

use super::{Actor, SessionTimeout};

impl Actor {
    pub(super) async fn titled(&mut self, launch: LaunchId, title: &str) -> Result<()> {
        if self.state.open().is_none_or(|open| open.id != launch) {
            return Ok(());
        }
        self.asking.is_stale = true;
        let vendor = self.ports.vendors.of(&self.state.session)?;
        let signals = vendor.signals().map(|it| it.title_signals(title));
        self.signals(launch, signals.unwrap_or_default()).await?;
        self.look_for_evidence(launch).await
    }

    /// Reads the screen after the agent has drawn and then paused.
    pub(super) async fn settled(&mut self, launch: LaunchId) -> Result<()> {
        if self.state.open().is_none_or(|open| open.id != launch) {
            return Ok(());
        }
        self.undisturbed();
        self.asking.is_stale = true;
        self.look_for_evidence(launch).await?;
        if self.state.is_confirmed(launch) {
            neighbours::restore_and_unguard(&self.ports, &mut self.state, launch).await?;
        }
        self.look_at_screen(launch).await
    }

    /// Reads what was drawn before the holder could report it.
    pub(super) async fn subscribed(&mut self, launch: LaunchId) -> Result<()> {
        if self.state.open().is_none_or(|open| open.id != launch) {
            return Ok(());
        }
        self.asking.is_stale = true;
        self.look_at_screen(launch).await
    }

    /// Looks for evidence that causes no event when it appears. It is looked for whenever another
    /// event arrives.
    async fn look_for_evidence(&mut self, launch: LaunchId) -> Result<()> {
        if self.state.is_confirmed(launch) { Ok(()) } else { self.look_again().await }
    }

    pub(super) async fn look_at_screen(&mut self, launch: LaunchId) -> Result<()> {
        let vendor = self.ports.vendors.of(&self.state.session)?;
        let readiness = vendor.interaction().readiness();
        let better_has_spoken = self.state.source.is_some_and(|source| source != Source::Screen);
        let is_over = better_has_spoken && readiness != Readiness::Shown;
        if is_over || self.state.session.headless {
            return Ok(());
        }
        let Some(screen) = messages::screen(&self.ports, &self.state).await? else { return Ok(()) };
        let is_told_otherwise = self.is_told_otherwise(launch, vendor.as_ref());
        let showing = self.showing(vendor.interaction(), &screen);
        let activity = showing.and_then(|showing| match showing {
            Showing::Dialog(reason) => Some(Activity::Waiting(reason)),
            _ if is_told_otherwise => None,
            Showing::Ready | Showing::Draft => Some(Activity::Idle),
            Showing::Busy => Some(Activity::Working),
        });
        let source = match readiness {
            Readiness::Shown => Source::Input,
            Readiness::Reported | Readiness::ShownUntilReported => Source::Screen,
        };
        let signal = activity.map(|activity| Signal::Activity { activity, source });
        self.signals(launch, signal.into_iter().collect()).await
    }

    /// Returns what the screen shows. Until the conversation is proven, a screen that the vendor's
    /// code does not know can also be a question, for example about a login, a theme or an update.
    pub(super) fn showing(
        &self,
        interaction: &dyn Interaction,
        screen: &Screen,
    ) -> Option<Showing> {
        let is_unproven = self.state.open().is_some_and(|open| !self.state.is_confirmed(open.id));
        let asks = is_unproven && dialog::is_unknown_question(screen);
        let unknown = asks.then_some(Showing::Dialog(WaitingFor::Question));
        interaction.read_screen(screen).or(unknown)
    }

    /// Returns whether a better source than the look of the input shows what the agent does.
    fn is_told_otherwise(&self, launch: LaunchId, vendor: &dyn Vendor) -> bool {
        let speaks = vendor.signals().is_some();
        let was_told = self.state.open().is_some_and(|open| open.message.is_some());
        match vendor.interaction().readiness() {
            Readiness::Reported => true,
            Readiness::ShownUntilReported => speaks && was_told,
            // An input that is drawn before the conversation is loaded loses the text that is typed
            // into it.
            Readiness::Shown => speaks && !self.state.is_confirmed(launch),
        }
    }

    /// Starts the timeout for silence of a headless launch.
    pub(super) fn listen(&self, launch: LaunchId) {
        if self.state.session.headless {
            let (heard, silence) = (self.heard, self.supervisor.longest_silence());
            self.send_later(silence, SessionTimeout::Silent { launch, heard });
        }
    }

    /// Ends a headless launch that has shown nothing since the timeout was started.
    pub(super) async fn silent(&mut self, launch: LaunchId, heard: u64) -> Result<()> {
        if self.state.open().is_none_or(|open| open.id != launch) {
            return Ok(());
        }
        if self.heard != heard {
            self.listen(launch);
            return Ok(());
        }
        let class = FailureClass::Silence;
        let seconds = self.supervisor.longest_silence().as_secs();
        let message = format!("it showed nothing for {seconds} s and was ended");
        let failure = Some(Failure { class, message, resets_at: None });
        let word = Signal::TurnEnded { ok: false, text: String::new(), failure };
        self.signals(launch, vec![word]).await?;
        self.ports.holders.stop(launch, super::ending::GRACE).await.map(drop)
    }
}
