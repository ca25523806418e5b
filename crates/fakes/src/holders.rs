//! Holders in memory. Their agents do nothing by themselves; a test makes them act.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use segue_core::Result;
use segue_core::model::{
    Environment, Exit, LaunchEnd, LaunchId, MessageId, ProcessRef, Screen, SessionId,
};
use segue_core::ports::{
    Fault, Held, HolderEvent, HolderEvents, Holders, OpenLaunch, StartOrder, TypeOrder, Typed,
};

use crate::{Calls, FakeFolders, samples};

/// The process ids of the fake holders begin here. The agent's is one higher.
const FIRST_PID: u32 = 100;

/// Holders that a test checks and controls.
#[derive(Debug)]
pub struct FakeHolders {
    calls: Calls,
    folders: Arc<FakeFolders>,
    state: Mutex<FakeHoldersState>,
}

#[derive(Debug, Default)]
struct FakeHoldersState {
    started: Vec<StartOrder>,
    held: BTreeMap<LaunchId, Held>,
    faults: BTreeMap<LaunchId, Fault>,
    screens: BTreeMap<LaunchId, Screen>,
    typed: BTreeSet<MessageId>,
    orders: Vec<TypeOrder>,
    keys: Vec<Vec<u8>>,
    replies: Vec<(String, Option<String>)>,
    released: Vec<LaunchId>,
    starts_late: bool,
    is_disturbed: bool,
}

impl FakeHolders {
    pub(crate) fn new(calls: Calls, folders: Arc<FakeFolders>) -> Self {
        Self { calls, folders, state: Mutex::default() }
    }

    /// Returns the requests to start a holder, oldest first.
    pub fn started(&self) -> Vec<StartOrder> {
        self.state.lock().unwrap().started.clone()
    }

    /// Returns the texts that were typed, oldest first.
    pub fn typed(&self) -> Vec<TypeOrder> {
        self.state.lock().unwrap().orders.clone()
    }

    /// Returns the keys that were pressed or injected, oldest first.
    pub fn keys(&self) -> Vec<Vec<u8>> {
        self.state.lock().unwrap().keys.clone()
    }

    /// Returns the replies to questions, oldest first: the id of the question, and the text.
    pub fn replies(&self) -> Vec<(String, Option<String>)> {
        self.state.lock().unwrap().replies.clone()
    }

    /// Returns the launches whose holders were released.
    pub fn released(&self) -> Vec<LaunchId> {
        self.state.lock().unwrap().released.clone()
    }

    /// Makes the agent of a launch show this screen.
    pub fn show(&self, launch: LaunchId, rows: &[&str]) {
        let rows: Vec<String> = rows.iter().map(|row| (*row).to_owned()).collect();
        let mut state = self.state.lock().unwrap();
        let revision = state.screens.get(&launch).map_or(1, |screen| screen.revision + 1);
        let screen = Screen { firm_rows: rows.clone(), rows, revision, ..Screen::default() };
        state.screens.insert(launch, screen);
    }

    /// Simulates a user who types right before the next message, so that the screen differs from the
    /// screen that the flow has read.
    pub fn disturb_next_message(&self) {
        self.state.lock().unwrap().is_disturbed = true;
    }

    /// Kills a holder and its agent. No end is recorded.
    pub fn kill(&self, launch: LaunchId) {
        self.state.lock().unwrap().held.remove(&launch);
    }

    /// Ends the agent of a launch. The holder records the end and keeps the environment.
    pub fn end_agent(&self, launch: LaunchId, end: LaunchEnd) {
        self.folders.record_end(launch, end);
        if let Some(held) = self.state.lock().unwrap().held.get_mut(&launch) {
            held.end = Some(end);
        }
    }

    /// Makes a launch have a fault.
    pub fn set_fault(&self, launch: LaunchId, fault: Fault) {
        self.state.lock().unwrap().faults.insert(launch, fault);
    }

    /// Lets the next holder start too late: [`Holders::start`] fails, and the holder is found
    /// afterwards.
    pub fn start_late(&self) {
        self.calls.fail("holders.start", 1);
        self.state.lock().unwrap().starts_late = true;
    }

    fn hold(&self, launch: LaunchId) -> Held {
        let mut state = self.state.lock().unwrap();
        let pid = FIRST_PID + 2 * u32::try_from(state.started.len()).unwrap();
        let (holder, agent) = (samples::process(pid), Some(samples::process(pid + 1)));
        let held = Held { holder, agent, end: None };
        state.held.insert(launch, held.clone());
        held
    }
}

#[async_trait]
impl Holders for FakeHolders {
    async fn start(&self, order: &StartOrder) -> Result<Held> {
        let launch = order.record.launch.id;
        self.state.lock().unwrap().started.push(order.clone());
        self.calls.enter("holders.start")?;
        Ok(self.hold(launch))
    }

    async fn find(&self, launch: LaunchId) -> Result<Option<Held>> {
        self.calls.enter("holders.find")?;
        Ok(self.state.lock().unwrap().held.get(&launch).cloned())
    }

    async fn abandon(&self, _session: SessionId, launch: LaunchId) -> Result<Option<Held>> {
        self.calls.enter("holders.abandon")?;
        let is_late = std::mem::take(&mut self.state.lock().unwrap().starts_late);
        Ok(is_late.then(|| self.hold(launch)))
    }

    async fn stop(&self, launch: LaunchId, _grace: Duration) -> Result<Option<LaunchEnd>> {
        self.calls.enter("holders.stop")?;
        let held = self.state.lock().unwrap().held.remove(&launch);
        let Some(held) = held else { return Ok(None) };
        let stopped =
            LaunchEnd { exit: Exit::Signal(15), is_requested: true, at: samples::start() };
        let end = held.end.unwrap_or(stopped);
        self.folders.record_end(launch, end);
        Ok(Some(end))
    }

    fn fault(&self, launch: &OpenLaunch) -> Option<Fault> {
        self.state.lock().unwrap().faults.get(&launch.id).copied()
    }

    async fn cure(&self, launch: LaunchId, _fault: Fault) -> Result<()> {
        self.calls.enter("holders.cure")?;
        self.state.lock().unwrap().faults.remove(&launch);
        Ok(())
    }

    async fn environment(&self, launch: LaunchId) -> Result<Option<Environment>> {
        self.calls.enter("holders.environment")?;
        let state = self.state.lock().unwrap();
        let is_held = state.held.contains_key(&launch);
        let order = state.started.iter().find(|it| it.record.launch.id == launch);
        Ok(order.filter(|_| is_held).map(|order| order.environment.clone()))
    }

    async fn release(&self, launch: LaunchId) -> Result<()> {
        self.calls.enter("holders.release")?;
        let mut state = self.state.lock().unwrap();
        state.held.remove(&launch);
        state.released.push(launch);
        Ok(())
    }

    async fn inject(&self, _launch: LaunchId, bytes: &[u8]) -> Result<()> {
        self.calls.enter("holders.inject")?;
        self.state.lock().unwrap().keys.push(bytes.to_vec());
        Ok(())
    }

    async fn screen(&self, launch: LaunchId) -> Result<Option<Screen>> {
        self.calls.enter("holders.screen")?;
        Ok(self.state.lock().unwrap().screens.get(&launch).cloned())
    }

    async fn type_message(&self, launch: LaunchId, order: &TypeOrder) -> Result<Typed> {
        self.calls.enter("holders.type_message")?;
        let mut state = self.state.lock().unwrap();
        if state.typed.contains(&order.message) {
            return Ok(Typed::Before);
        }
        let is_disturbed = std::mem::take(&mut state.is_disturbed);
        if let Some(screen) = state.screens.get_mut(&launch).filter(|_| is_disturbed) {
            screen.revision += 1;
        }
        if state.screens.get(&launch).map(|screen| screen.revision) != Some(order.revision) {
            return Ok(Typed::Changed);
        }
        state.typed.insert(order.message);
        state.orders.push(order.clone());
        Ok(Typed::Now)
    }

    async fn press(&self, launch: LaunchId, keys: &[u8], revision: u64) -> Result<bool> {
        self.calls.enter("holders.press")?;
        let mut state = self.state.lock().unwrap();
        let is_current =
            state.screens.get(&launch).is_some_and(|screen| screen.revision == revision);
        if is_current {
            state.keys.push(keys.to_vec());
        }
        Ok(is_current)
    }

    async fn reply(&self, _launch: LaunchId, question: &str, text: Option<&str>) -> Result<bool> {
        self.calls.enter("holders.reply")?;
        let reply = (question.to_owned(), text.map(str::to_owned));
        self.state.lock().unwrap().replies.push(reply);
        Ok(true)
    }

    async fn subscribe(&self, _launch: LaunchId) -> Result<Box<dyn HolderEvents>> {
        self.calls.enter("holders.subscribe")?;
        Ok(Box::new(NoEvents))
    }
}

impl FakeHolders {
    /// Returns the processes of a launch, if its holder is alive.
    pub fn processes(&self, launch: LaunchId) -> Option<(ProcessRef, Option<ProcessRef>)> {
        let state = self.state.lock().unwrap();
        state.held.get(&launch).map(|held| (held.holder.clone(), held.agent.clone()))
    }
}

/// A subscription to a holder that is gone.
#[derive(Debug)]
struct NoEvents;

#[async_trait]
impl HolderEvents for NoEvents {
    async fn next(&mut self) -> Option<HolderEvent> {
        None
    }
}
