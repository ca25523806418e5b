//! Attaches clients to the agent's terminal, and fits its size to the clients' terminals.

use segue_core::{Error, Result, failpoint};

use super::Holder;
use super::agent::AgentStream;
use super::client_view::ClientView;
use super::clients::ClientAccess;
use super::connection::ClientId;
use super::requests::headless;
use crate::hold::terminal::Size;
use crate::hold::wire::{WireAnswer, WireEvent, encode_message, kind};

impl Holder {
    /// Removes a client whose connection was closed.
    pub(super) fn hang_up(&mut self, id: ClientId) {
        if self.clients.hang_up(id) {
            self.reconcile_size();
        }
        self.withdraw_questions(id);
    }

    /// Attaches a client whose terminal has this size. `None` if the client only watches.
    pub(super) fn attach(&mut self, id: ClientId, size: Option<Size>) {
        if self.terminal.is_none() {
            return self.clients.answer(id, &WireAnswer::Failed(headless()));
        }
        failpoint::hit("hold.attach.before");
        if let Some(client) = self.clients.get(id) {
            client.view = Some(ClientView::new(size));
            if size.is_none() {
                client.access = ClientAccess::OnlyWatch;
            }
        }
        if size.is_some() {
            self.announce_size(id);
        } else {
            self.size_changed(id);
        }
        self.clients.answer(id, &WireAnswer::Done);
        if let Some(terminal) = &self.terminal {
            let uses = WireEvent::Uses(terminal.uses());
            self.clients.send(id, &encode_message(kind::EVENT, &uses));
        }
        self.announce_clients();
        if let Some(end) = self.agent_state.end() {
            self.clients.send(id, &encode_message(kind::EVENT, &WireEvent::Ended(end)));
        }
        failpoint::hit("hold.attach.after");
    }

    pub(super) fn resize(&mut self, id: ClientId, size: Size) -> Result<()> {
        self.view(id).ok_or_else(not_attached)?.size = Some(size.clamped());
        self.size_changed(id);
        Ok(())
    }

    pub(super) fn repaint(&mut self, id: ClientId) -> Result<()> {
        let terminal = self.terminal.as_ref().ok_or_else(headless)?;
        let client = self.clients.get(id).ok_or_else(not_attached)?;
        let (view, queue) = client.attached().ok_or_else(not_attached)?;
        view.repaint(queue, terminal);
        Ok(())
    }

    pub(super) fn detach(&mut self, id: ClientId) {
        let view = self.clients.get(id).and_then(|client| client.view.take());
        if view.is_some() {
            self.reconcile_size();
        }
    }

    /// Fits the agent's terminal to all attached terminals, after a client has left.
    fn reconcile_size(&mut self) {
        self.fit();
        self.announce_clients();
    }

    /// Sends the number of attached clients to subscribers and to attached clients.
    fn announce_clients(&mut self) {
        let counts = self.clients.counts();
        self.clients.announce(&WireEvent::Attached(counts.controllers));
        self.clients.send_to_attached(&WireEvent::Clients(counts));
    }

    /// Fits the agent's terminal to all attached terminals, after a client has attached. The agent
    /// is notified of its size once, even if the size stays the same. An agent that draws on every
    /// notification then draws for the new client. For other agents, the client gets a repaint.
    fn announce_size(&mut self, id: ClientId) {
        if !self.fit() {
            // The screens of the other clients have not changed.
            let _not_attached = self.repaint(id);
            self.stream.iter().for_each(AgentStream::announce_size);
        }
    }

    /// Fits the agent's terminal to all attached terminals, after one of them was resized.
    fn size_changed(&mut self, id: ClientId) {
        if !self.fit() {
            // The screens of the other clients have not changed.
            let _not_attached = self.repaint(id);
        }
    }

    /// Gives the agent's terminal the size that all attached terminals can show, and repaints all
    /// of them. Returns whether the size has changed.
    fn fit(&mut self) -> bool {
        let Some(terminal) = &mut self.terminal else { return false };
        let Some(size) = self.clients.common_size() else { return false };
        if size == terminal.size() {
            return false;
        }
        terminal.resize(size);
        if let Some(stream) = &self.stream {
            stream.resize(size);
        }
        for (view, queue) in self.clients.views() {
            view.repaint(queue, terminal);
        }
        true
    }

    pub(super) fn report_wheel(&mut self, id: ClientId, wheel: bool) -> Result<()> {
        let terminal = self.terminal.as_ref().ok_or_else(headless)?;
        let client = self.clients.get(id).ok_or_else(not_attached)?;
        let (view, queue) = client.attached().ok_or_else(not_attached)?;
        view.report_wheel(queue, terminal, wheel);
        Ok(())
    }

    pub(super) fn view(&mut self, id: ClientId) -> Option<&mut ClientView> {
        self.clients.get(id)?.view.as_mut()
    }
}

fn not_attached() -> Error {
    Error::conflict("this client is not attached")
}
