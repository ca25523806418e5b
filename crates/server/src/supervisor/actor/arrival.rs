//! A session that goes on with a conversation from elsewhere.

use std::path::PathBuf;

use segue_core::api::{AgentOutcome, Outcome};
use segue_core::flows::launch;
use segue_core::model::{Environment, EventKind, LaunchMode, SessionName, VendorSessionId};
use segue_core::ports::{Change, Commit};
use segue_core::{Result, failpoint};

use super::{Actor, Came, Reply, answer};

/// How a session is started for what was carried to it.
#[derive(Clone, Debug)]
pub(crate) struct Arrival {
    pub(crate) mode: LaunchMode,
    /// The conversation to go on with; none begins one under an id of the vendor's.
    pub(crate) id: Option<VendorSessionId>,
    /// What the vendor's program has to take in first.
    pub(crate) import: Option<PathBuf>,
    /// What the agent is told.
    pub(crate) message: Option<String>,
    pub(crate) environment: Environment,
    /// The session itself is made now.
    pub(crate) first: bool,
    /// What is recorded together with the start.
    pub(crate) along: Commit,
}

impl Actor {
    pub(super) async fn arrive(&mut self, arrival: Arrival, reply: Reply<AgentOutcome>) {
        if let Err(error) = self.start_arrival(arrival).await {
            self.passes.clear();
            let error = self.unsettled(error);
            return answer(reply, Ok(self.refused(&error)));
        }
        self.follow().await;
        self.expect_evidence(Came::new(Outcome::HandedOver, None), reply);
    }

    async fn start_arrival(&mut self, arrival: Arrival) -> Result<()> {
        self.close_if_dead().await?;
        if self.state.open().is_some() {
            self.stop().await?;
        }
        self.end_leftovers().await?;
        let begins = arrival.mode == LaunchMode::Fresh;
        self.enter_gates(begins && arrival.id.is_none()).await?;
        let wish = launch::Wish {
            mode: arrival.mode,
            id: arrival.id,
            message: arrival.message,
            import: arrival.import,
            environment: arrival.environment,
            first: arrival.first,
            carries: None,
            along: arrival.along,
        };
        failpoint::hit("handoff.launch.before");
        launch::start(&self.ports, &mut self.state, wish).await?;
        failpoint::hit("handoff.launch.after");
        Ok(())
    }

    /// Gives the session another name; whoever knows its id still finds it.
    pub(super) async fn rename(&mut self, name: SessionName) -> Result<()> {
        let session = self.id();
        let text = format!("{} is called {name} now", self.state.session.address());
        let commit = Commit {
            changes: vec![Change::RenameSession { session, name }],
            events: vec![self.state.event(&self.ports, EventKind::Renamed, text)],
        };
        self.state.commit(&self.ports, commit).await?;
        failpoint::hit("rename.commit.after");
        if self.state.launches.is_empty() {
            return Ok(());
        }
        // What a store would be rebuilt from.
        self.state.write_record(&self.ports)
    }
}
