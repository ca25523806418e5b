//! What the agent's terminal shows, where nothing better tells what it does; and silence.

use segue_core::Result;
use segue_core::flows::messages;
use segue_core::model::{Failure, FailureClass, LaunchId, Source};
use segue_core::ports::{Activity, Showing, Signal};

use super::{Actor, Message};

impl Actor {
    pub(super) async fn titled(&mut self, launch: LaunchId, title: &str) -> Result<()> {
        if self.state.open().is_none_or(|open| open.id != launch) {
            return Ok(());
        }
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
        self.look_for_evidence(launch).await?;
        self.look_at_screen(launch).await
    }

    /// Some evidence makes no noise when it appears: it is looked for whenever something else does.
    async fn look_for_evidence(&mut self, launch: LaunchId) -> Result<()> {
        if self.state.is_confirmed(launch) { Ok(()) } else { self.look_again().await }
    }

    pub(super) async fn look_at_screen(&mut self, launch: LaunchId) -> Result<()> {
        let better_has_spoken = self.state.source.is_some_and(|source| source != Source::Screen);
        if better_has_spoken || self.state.session.headless {
            return Ok(());
        }
        let Some(screen) = messages::screen(&self.ports, &self.state).await? else { return Ok(()) };
        let vendor = self.ports.vendors.of(&self.state.session)?;
        // An input may be drawn before it takes anything: whoever can say so itself is waited for.
        let says_itself = vendor.capabilities().evidence_within.is_some();
        let activity = vendor.read_screen(&screen).and_then(|showing| match showing {
            Showing::Dialog(reason) => Some(Activity::Waiting(reason)),
            _ if says_itself => None,
            Showing::Ready | Showing::Draft => Some(Activity::Idle),
            Showing::Busy => Some(Activity::Working),
        });
        let signal = activity.map(|activity| Signal::Activity { activity, source: Source::Screen });
        self.signals(launch, signal.into_iter().collect()).await
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
