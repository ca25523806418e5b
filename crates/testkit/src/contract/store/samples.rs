//! Sample values for tests of a store. Sessions and launches have new ids, and each timestamp is
//! later than the one before.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, Ordering};

use jiff::Timestamp;
use segue_core::model::{
    Binding, EventKind, EventPayload, Evidence, Exit, FleetName, Launch, LaunchEnd, LaunchId,
    LaunchMode, NewEvent, Permission, ProcessRef, Restart, Session, SessionId, SessionName, Status,
    VendorId, VendorSessionId,
};
use segue_core::ports::{Change, Commit, EventQuery, Store};
use uuid::Uuid;

/// Creates samples. Its clock advances by one second with each timestamp.
#[derive(Debug, Default)]
pub struct Samples {
    ticks: AtomicI64,
}

impl Samples {
    /// Returns a timestamp that is later than all earlier ones. It has a nanosecond part, so that
    /// tests notice if a store rounds timestamps.
    pub fn time(&self) -> Timestamp {
        let tick = self.ticks.fetch_add(1, Ordering::Relaxed);
        Timestamp::from_nanosecond(i128::from(1_700_000_000 + tick) * 1_000_000_000 + 123_456_789)
            .unwrap()
    }

    pub fn session(&self, fleet: &str, name: &str) -> Session {
        let now = self.time();
        Session {
            id: SessionId::new(Uuid::now_v7()),
            name: SessionName::parse(name).unwrap(),
            up_name: None,
            fleet: FleetName::parse(fleet).unwrap(),
            agent: None,
            vendor: VendorId::new("sample"),
            description: None,
            cwd: "/code/shop".into(),
            config_dir: "/home/me/.sample".into(),
            model: None,
            permission: Permission::AcceptEdits,
            instructions: None,
            headless: false,
            restart: Restart::OnCrash,
            archive: true,
            mcp: false,
            args: Vec::new(),
            env: BTreeMap::new(),
            parent: None,
            status: Status::Starting,
            has_content: false,
            repetition: None,
            settings_changed_at: None,
            created_at: now,
            updated_at: now,
        }
    }

    pub fn launch(&self, session: SessionId, number: u32) -> Launch {
        Launch {
            id: LaunchId::new(Uuid::now_v7()),
            session,
            number,
            mode: LaunchMode::Fresh,
            planned: None,
            message: None,
            program: "/usr/bin/sample".into(),
            argv: vec!["sample".to_owned()],
            cwd: "/code/shop".into(),
            vendor_version: None,
            git_commit: None,
            environment: Vec::new(),
            created_at: self.time(),
            machine: None,
            holder: None,
            agent: None,
            end: None,
        }
    }

    pub fn binding(&self, session: SessionId, id: &str, evidence: Evidence) -> Binding {
        let vendor_session = VendorSessionId::new(id);
        Binding { session, launch: None, vendor_session, evidence, at: self.time() }
    }

    pub fn end(&self, exit: Exit) -> LaunchEnd {
        LaunchEnd { exit, is_requested: false, at: self.time() }
    }

    pub fn event(&self, session: Option<SessionId>, text: &str) -> NewEvent {
        let (kind, text) = (EventKind::StatusChanged, text.to_owned());
        let payload = EventPayload::Recorded { kind, text };
        NewEvent { at: self.time(), session, launch: None, payload }
    }

    pub fn process(&self, pid: u32) -> ProcessRef {
        let started = u64::MAX - u64::from(pid);
        ProcessRef { pid, started, boot: "a-boot".to_owned() }
    }

    /// Stores a session and returns it.
    pub async fn stored_session(&self, store: &dyn Store, fleet: &str, name: &str) -> Session {
        let session = self.session(fleet, name);
        let change = Change::CreateSession(Box::new(session.clone()));
        store.commit(commit([change])).await.unwrap();
        session
    }

    /// Stores an open launch and returns it.
    pub async fn stored_launch(
        &self,
        store: &dyn Store,
        session: SessionId,
        number: u32,
    ) -> Launch {
        let launch = self.launch(session, number);
        let change = Change::CreateLaunch(Box::new(launch.clone()));
        store.commit(commit([change])).await.unwrap();
        launch
    }
}

/// Returns a commit with these changes and no events.
pub fn commit(changes: impl IntoIterator<Item = Change>) -> Commit {
    Commit { changes: changes.into_iter().collect(), events: Vec::new() }
}

/// Returns the texts of all events in a store.
pub async fn events(store: &dyn Store) -> Vec<String> {
    let query = EventQuery { limit: u32::MAX, ..EventQuery::default() };
    let events = store.events(&query).await.unwrap();
    events.into_iter().map(|event| event.fact.payload.to_string()).collect()
}
