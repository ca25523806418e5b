//! Sessions that are only stored.

use jiff::SignedDuration;
use segue_core::api::{Caller, TrustRequest};
use segue_core::flows::trust;
use segue_core::model::{
    Binding, Evidence, Exit, Handoff, HandoffForm, Launch, LaunchEnd, LaunchId, LaunchMode,
    MachineId, Session, Status, VendorSessionId,
};
use segue_core::ports::{Change, Commit, Ports, SessionQuery, SessionSummary};
use segue_fakes::{FakeVendor, FakeWorld, samples, transcript_line};
use uuid::Uuid;

/// A world in which sessions are only stored.
pub(crate) struct Stored {
    pub(crate) world: FakeWorld,
    pub(crate) ports: Ports,
}

impl Stored {
    pub(crate) fn new() -> Self {
        Self::with(FakeVendor::default())
    }

    pub(crate) fn with(vendor: FakeVendor) -> Self {
        let world = FakeWorld::with_vendor(vendor);
        let ports = world.ports();
        Self { world, ports }
    }

    pub(crate) async fn commit(&self, changes: Vec<Change>) {
        let commit = Commit { changes, events: Vec::new() };
        self.ports.store.commit(commit).await.unwrap();
    }

    /// Stores a session with this status. It has an open launch if its status expects a process.
    pub(crate) async fn add(&self, number: u128, name: &str, status: Status) -> Session {
        self.add_session(Session { status, ..samples::session(number, name) }).await
    }

    pub(crate) async fn add_session(&self, session: Session) -> Session {
        self.add_on(samples::machine(), session).await
    }

    /// Stores a session whose launch is on this machine.
    pub(crate) async fn add_on(&self, machine: MachineId, session: Session) -> Session {
        let is_open = session.status.expects_process();
        let end = LaunchEnd { exit: Exit::Signal(9), is_requested: false, at: samples::start() };
        let launch = Launch {
            id: LaunchId::new(Uuid::from_u128(session.id.uuid().as_u128() + 100)),
            session: session.id,
            machine: Some(machine),
            number: 1,
            mode: LaunchMode::Fresh,
            planned: None,
            message: None,
            program: "/usr/bin/tool".into(),
            argv: Vec::new(),
            cwd: samples::CWD.into(),
            vendor_version: None,
            git_commit: None,
            environment: Vec::new(),
            created_at: samples::start(),
            holder: None,
            agent: None,
            end: (!is_open).then_some(end),
        };
        let created = Change::CreateSession(Box::new(session.clone()));
        self.commit(vec![created, Change::CreateLaunch(Box::new(launch))]).await;
        session
    }

    /// Binds a session to a conversation.
    pub(crate) async fn bind(&self, session: &Session, id: &str) {
        let binding = Binding {
            session: session.id,
            launch: None,
            vendor_session: VendorSessionId::new(id),
            evidence: Evidence::Adopted,
            at: samples::start(),
        };
        self.commit(vec![Change::AddBinding(binding)]).await;
    }

    /// Records that a conversation went on in another session, this many seconds after the start.
    pub(crate) async fn hand_over(&self, from: &Session, to: &Session, seconds: i64) -> Handoff {
        let handoff = Handoff {
            from: from.id,
            to: to.id,
            from_conversation: None,
            to_conversation: None,
            form: HandoffForm::Native,
            turns_carried: 1,
            turns_left_out: None,
            at: samples::start() + SignedDuration::from_secs(seconds),
        };
        self.commit(vec![Change::AddHandoff(Box::new(handoff.clone()))]).await;
        handoff
    }

    /// Writes a conversation of the vendor `tool`.
    pub(crate) fn write(&self, id: &str, lines: &[(&str, &str)]) {
        let lines: String = lines.iter().map(|(who, text)| transcript_line(who, text)).collect();
        self.world.disk.write(samples::transcript(&VendorSessionId::new(id)), lines);
    }

    pub(crate) async fn summary(&self, session: &Session) -> SessionSummary {
        let query = SessionQuery::id(session.id);
        self.ports.store.sessions(&query).await.unwrap().remove(0)
    }

    /// Writes a project file with these agents, and trusts it.
    pub(crate) async fn trust_project(&self, agents: &[&str]) {
        self.world.projects.write(samples::project(agents));
        let ask = |digest| TrustRequest { folder: samples::CWD.into(), digest };
        let digest = trust::trust(&self.ports, &ask(None)).await.unwrap().digest;
        trust::trust(&self.ports, &ask(Some(digest))).await.unwrap();
    }
}

pub(crate) fn caller() -> Caller {
    Caller { cwd: samples::CWD.into(), environment: samples::environment() }
}
