//! One session in a world of fakes.

use std::path::PathBuf;

use segue_core::flows::launch::{self, LaunchRequest};
use segue_core::flows::look::{SelectionMode, look};
use segue_core::flows::{SessionState, observe};
use segue_core::model::{
    Evidence, Exit, LaunchEnd, LaunchId, Session, Signal, Status, VendorSessionId,
};
use segue_core::ports::Ports;
use segue_core::rules::lifecycle::EnvironmentKept;
use segue_core::rules::recovery::{Decision, decide};
use segue_fakes::{FakeVendor, FakeWorld, samples, transcript_line};

/// A session, and the world that it is in.
pub(crate) struct FlowScene {
    pub(crate) world: FakeWorld,
    pub(crate) ports: Ports,
    pub(crate) state: SessionState,
}

impl FlowScene {
    /// Creates a session that is not stored yet.
    pub(crate) fn new() -> Self {
        Self::with(FakeVendor::default(), samples::session(1, "fox"))
    }

    pub(crate) fn with(vendor: FakeVendor, session: Session) -> Self {
        let world = FakeWorld::with_vendor(vendor);
        let ports = world.ports();
        Self { world, ports, state: SessionState::new(session) }
    }

    pub(crate) fn headless() -> Self {
        let session = Session { headless: true, ..samples::session(1, "fox") };
        Self::with(FakeVendor::default(), session)
    }

    /// Starts the first launch, with a message.
    pub(crate) async fn start(&mut self, message: &str) -> LaunchId {
        let id = self.preset_id();
        let request = LaunchRequest {
            message: Some(message.to_owned()),
            creates_session: true,
            ..LaunchRequest::fresh(id, samples::environment())
        };
        launch::start(&self.ports, &mut self.state, request).await.unwrap();
        self.launch()
    }

    pub(crate) fn preset_id(&self) -> Option<VendorSessionId> {
        let vendor = self.ports.vendors.of(&self.state.session).unwrap();
        vendor.launching().preset_id(&self.state.session, self.ports.clock.new_id())
    }

    /// Starts a session, lets its agent say where it is and answer, and records that.
    pub(crate) async fn talk(&mut self) -> LaunchId {
        let launch = self.start("remember amber").await;
        self.say("user", "remember amber");
        self.say("agent", "noted");
        self.show_conversation(self.id()).await;
        segue_core::flows::guard::guard_current(&self.ports, &mut self.state).await.unwrap();
        launch
    }

    /// Makes the open launch show which conversation it is in.
    pub(crate) async fn show_conversation(&mut self, id: VendorSessionId) {
        let signal = Signal::Conversation { id, evidence: Evidence::Registry };
        self.signal(signal).await;
    }

    pub(crate) async fn signal(&mut self, signal: Signal) -> Vec<observe::FollowUp> {
        let launch = self.launch();
        observe::signal(&self.ports, &mut self.state, launch, signal).await.unwrap()
    }

    /// Ends the open launch.
    pub(crate) async fn end(&mut self, exit: Exit) -> Vec<observe::FollowUp> {
        let launch = self.launch();
        let end = LaunchEnd { exit, is_requested: false, at: self.ports.clock.now() };
        self.world.holders.kill(launch);
        let no_environment = EnvironmentKept::No;
        observe::ended(&self.ports, &mut self.state, launch, end, no_environment).await.unwrap()
    }

    /// Writes a line into the transcript of the current conversation.
    pub(crate) fn say(&self, who: &str, text: &str) {
        self.world.disk.append(self.transcript(), transcript_line(who, text));
    }

    pub(crate) fn transcript(&self) -> PathBuf {
        samples::transcript(&self.id())
    }

    pub(crate) fn id(&self) -> VendorSessionId {
        self.state.vendor_session().unwrap().clone()
    }

    pub(crate) fn launch(&self) -> LaunchId {
        self.state.launches.last().unwrap().id
    }

    pub(crate) fn status(&self) -> Status {
        self.state.session.status
    }

    /// Decides how the session comes back if its user names it.
    pub(crate) async fn decide(&self) -> Decision {
        self.decide_when(SelectionMode::ByName).await
    }

    pub(crate) async fn decide_when(&self, selection: SelectionMode) -> Decision {
        decide(&look(&self.ports, &self.state, selection).await.unwrap().facts)
    }

    /// Returns what the agent of the newest launch was started with, without the program.
    pub(crate) fn arguments(&self) -> Vec<String> {
        self.world.holders.started().pop().unwrap().argv.split_off(1)
    }

    /// Asserts that the copy in memory is what the store has.
    pub(crate) async fn assert_stored(&self) {
        let stored = SessionState::load(&self.ports, self.state.session.id).await.unwrap();
        assert_eq!(stored.session, self.state.session);
        assert_eq!(stored.launches, self.state.launches);
        assert_eq!(stored.bindings, self.state.bindings);
        assert_eq!(stored.outbox, self.state.outbox);
    }

    /// Returns the texts of the session's events.
    pub(crate) fn log(&self) -> Vec<String> {
        self.world.store.event_texts(self.state.session.id)
    }
}
