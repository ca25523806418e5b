//! Reads the agent's status from its screen if there is no better source, and ends silent headless
//! launches.

use segue_core::Result;
use segue_core::flows::{endangered, messages};
use segue_core::model::{
    Activity, Failure, FailureClass, LaunchId, Screen, Showing, Signal, Source, WaitingFor,
};
use segue_core::ports::{Interaction, Readiness, Vendor};
use segue_core::rules::dialog;

use super::{Actor, SessionTimeout};

impl Actor {
    pub(super) async fn title_changed(&mut self, launch: LaunchId, title: &str) -> Result<()> {
        if !self.is_open(launch) {
            return Ok(());
        }
        self.asking.is_stale = true;
        let vendor = self.ports.vendors.of(&self.state.session)?;
        let signals = vendor.signals().map(|it| it.title_signals(title));
        self.signals(launch, signals.unwrap_or_default()).await?;
        self.look_for_evidence(launch).await
    }

    /// Reads the screen after the agent has drawn and then paused.
    pub(super) async fn screen_settled(&mut self, launch: LaunchId) -> Result<()> {
        if !self.is_open(launch) {
            return Ok(());
        }
        self.allow_typing();
        self.asking.is_stale = true;
        self.look_for_evidence(launch).await?;
        if self.state.is_confirmed(launch) {
            endangered::restore_and_unguard(&self.ports, &mut self.state, launch).await?;
        }
        self.look_at_screen(launch).await
    }

    /// Reads the screen. The agent may have drawn before the daemon subscribed to its holder's
    /// events.
    pub(super) async fn subscribed(&mut self, launch: LaunchId) -> Result<()> {
        if !self.is_open(launch) {
            return Ok(());
        }
        self.asking.is_stale = true;
        self.look_at_screen(launch).await
    }

    /// Looks for evidence that causes no event of its own when it appears.
    async fn look_for_evidence(&mut self, launch: LaunchId) -> Result<()> {
        if self.state.is_confirmed(launch) { Ok(()) } else { self.read_all_signals().await }
    }

    pub(super) async fn look_at_screen(&mut self, launch: LaunchId) -> Result<()> {
        let vendor = self.ports.vendors.of(&self.state.session)?;
        let readiness = vendor.interaction().readiness();
        let is_known = self.state.source.is_some_and(|source| source != Source::Screen);
        let is_unneeded = is_known && readiness != Readiness::Shown;
        if is_unneeded || self.state.session.headless {
            return Ok(());
        }
        let Some(screen) = messages::screen(&self.ports, &self.state).await? else { return Ok(()) };
        let has_better_source = self.has_better_source(launch, vendor.as_ref());
        let showing = self.showing(vendor.interaction(), &screen);
        let activity = showing.and_then(|showing| match showing {
            Showing::Dialog(reason) => Some(Activity::Waiting(reason)),
            _ if has_better_source => None,
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
    /// code does not recognise can also be a question, for example about a login, a theme or an
    /// update.
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

    /// Returns whether the agent's status is known from a better source than its input on the
    /// screen.
    fn has_better_source(&self, launch: LaunchId, vendor: &dyn Vendor) -> bool {
        let has_signals = vendor.signals().is_some();
        let has_first_message = self.state.open().is_some_and(|open| open.message.is_some());
        match vendor.interaction().readiness() {
            Readiness::Reported => true,
            Readiness::ShownUntilReported => has_signals && has_first_message,
            // An agent may draw its input before it has loaded the conversation. Text that is typed
            // by then is lost.
            Readiness::Shown => has_signals && !self.state.is_confirmed(launch),
        }
    }

    /// Starts the timeout for silence of a headless launch.
    pub(super) fn limit_silence(&self, launch: LaunchId) {
        if self.state.session.headless {
            let (output_lines, silence) = (self.output_lines, self.supervisor.silence_limit());
            self.send_later(silence, SessionTimeout::Silent { launch, output_lines });
        }
    }

    /// Ends a headless launch that has printed nothing since the timeout was started.
    pub(super) async fn end_silent_launch(
        &mut self,
        launch: LaunchId,
        output_lines: u64,
    ) -> Result<()> {
        if !self.is_open(launch) {
            return Ok(());
        }
        // A person may take any time to answer.
        if self.output_lines != output_lines || self.waits_for().is_some() {
            self.limit_silence(launch);
            return Ok(());
        }
        let class = FailureClass::Silence;
        let seconds = self.supervisor.silence_limit().as_secs();
        let message = format!("it printed nothing for {seconds} s and was ended");
        let failure = Some(Failure { class, message, resets_at: None });
        let signal = Signal::TurnEnded { ok: false, text: String::new(), failure };
        self.signals(launch, vec![signal]).await?;
        self.ports.holders.stop(launch, super::ending::STOP_GRACE).await.map(drop)
    }
}
