//! What could be read from a store that cannot be used any more.

use crate::model::{
    AgentName, Binding, Fleet, FleetName, Handoff, Launch, Message, NewEvent, RequestRecord,
    Session, SessionId, Timer, Trust,
};

/// Rows of a damaged store and of its backup; where both have a row, it is the damaged store's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Salvaged {
    pub fleets: Vec<Fleet>,
    pub sessions: Vec<SalvagedSession>,
    pub counts: Vec<(FleetName, AgentName, u32)>,
    pub trusts: Vec<Trust>,
    pub timers: Vec<(SessionId, Vec<Timer>)>,
    pub handoffs: Vec<Handoff>,
    /// In the order in which they were queued.
    pub messages: Vec<Message>,
    pub requests: Vec<RequestRecord>,
    /// The oldest first.
    pub events: Vec<NewEvent>,
    /// The tables of which some rows could be read in neither file.
    pub unreadable: Vec<&'static str>,
    /// The tables that the backup had more rows of.
    pub from_backup: Vec<&'static str>,
}

/// A session with its launches and its ledger, each the oldest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SalvagedSession {
    pub session: Session,
    pub launches: Vec<Launch>,
    pub bindings: Vec<Binding>,
}
