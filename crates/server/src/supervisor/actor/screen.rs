//! What the agent's terminal shows, where nothing better tells what it does; and silence.

use segue_core::Result;
use segue_core::flows::{messages, neighbours};
use segue_core::model::{Failure, FailureClass, LaunchId, Source, WaitingFor};
use segue_core::ports::{Activity, Readiness, Screen, Showing, Signal, Vendor};
use segue_core::rules::dialog;

use super::{Actor, Message};

impl Actor {
    pub(super) async fn titled(&mut self, launch: LaunchId, title: &str) -> Result<()> {
        if self.state.open().is_none_or(|open| open.id != launch) {
            return Ok(());
        }
        self.asking.is_stale = true;
        let vendor = self.ports.vendors.of(&self.state.session)?;
        self.signals(launch, vendor.title_signals(title)).await?;
        self.look_for_evidence(launch).await
    }

    /// The agent has drawn something and is quiet: what is on the screen counts.
    pub(super) async fn settled(&mut self, launch: LaunchId) -> Result<()> {
        if self.state.open().is_none_or(|open| open.id != launch) {
            return Ok(());
        }
        self.undisturbed();
        self.asking.is_stale = true;
        self.look_for_evidence(launch).await?;
        if self.state.is_confirmed(launch) {
            neighbours::leave(&self.ports, &mut self.state, launch).await?;
        }
        self.look_at_screen(launch).await
    }

    /// Looks at what was drawn before the holder could report it.
    pub(super) async fn subscribed(&mut self, launch: LaunchId) -> Result<()> {
        if self.state.open().is_none_or(|open| open.id != launch) {
            return Ok(());
        }
        self.asking.is_stale = true;
        self.look_at_screen(launch).await
    }

    /// Some evidence makes no noise when it appears: it is looked for whenever something else does.
    async fn look_for_evidence(&mut self, launch: LaunchId) -> Result<()> {
        if self.state.is_confirmed(launch) { Ok(()) } else { self.look_again().await }
    }

    pub(super) async fn look_at_screen(&mut self, launch: LaunchId) -> Result<()> {
        let vendor = self.ports.vendors.of(&self.state.session)?;
        let readiness = vendor.readiness();
        let better_has_spoken = self.state.source.is_some_and(|source| source != Source::Screen);
        let is_over = better_has_spoken && readiness != Readiness::Shown;
        if is_over || self.state.session.headless {
            return Ok(());
        }
        let Some(screen) = messages::screen(&self.ports, &self.state).await? else { return Ok(()) };
        let is_told_otherwise = self.is_told_otherwise(launch, vendor.as_ref());
        let showing = self.showing(vendor.as_ref(), &screen);
        let activity = showing.and_then(|showing| match showing {
            Showing::Dialog(reason) => Some(Activity::Waiting(reason)),
            _ if is_told_otherwise => None,
            Showing::Ready | Showing::Draft => Some(Activity::Idle),
            Showing::Busy => Some(Activity::Working),
        });
        let source = match readiness {
            Readiness::Shown => Source::Input,
            Readiness::Said | Readiness::ShownUntilSaid => Source::Screen,
        };
        let signal = activity.map(|activity| Signal::Activity { activity, source });
        self.signals(launch, signal.into_iter().collect()).await
    }

    /// Tells what the screen shows. Before the conversation is proven a screen that the vendor's
    /// folder does not know can be a question too: about a login, a theme, an update.
    pub(super) fn showing(&self, vendor: &dyn Vendor, screen: &Screen) -> Option<Showing> {
        let is_unproven = self.state.open().is_some_and(|open| !self.state.is_confirmed(open.id));
        let asks = is_unproven && dialog::is_unknown_question(screen);
        let unknown = asks.then_some(Showing::Dialog(WaitingFor::Question));
        vendor.read_screen(screen).or(unknown)
    }

    /// Tells whether the agent is heard of in a better way than by what its input looks like.
    fn is_told_otherwise(&self, launch: LaunchId, vendor: &dyn Vendor) -> bool {
        let speaks = vendor.capabilities().evidence_within.is_some();
        let was_told = self.state.open().is_some_and(|open| open.message.is_some());
        match vendor.readiness() {
            Readiness::Said => true,
            Readiness::ShownUntilSaid => speaks && was_told,
            // An input that is drawn before the conversation is taken up loses what it is told.
            Readiness::Shown => speaks && !self.state.is_confirmed(launch),
        }
    }

    /// Begins to watch a headless launch for silence.
    pub(super) fn listen(&self, launch: LaunchId) {
        if self.state.session.headless {
            let (heard, silence) = (self.heard, self.supervisor.longest_silence());
            self.tell_later(silence, Message::Silent { launch, heard });
        }
    }

    /// Ends a headless launch that has shown nothing since it was last looked at.
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
