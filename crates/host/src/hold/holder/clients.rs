//! The clients that are connected to a holder.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::net::UnixStream;
use tokio::sync::mpsc::Sender;

use super::client_view::ClientView;
use super::connection::{ClientConnection, ClientId, ClientMessage};
use super::send_queue::{Enqueued, SendQueue};
use crate::hold::terminal::Size;
use crate::hold::wire::{ClientCounts, WireAnswer, WireEvent, encode_message, kind};

/// How long clients have to read the last messages of a holder that exits.
const FINISH_TIMEOUT: Duration = Duration::from_secs(2);

/// One connected client.
#[derive(Debug)]
pub(super) struct ConnectedClient {
    connection: ClientConnection,
    /// Whether the client has sent its hello.
    pub(super) is_greeted: bool,
    pub(super) is_subscribed: bool,
    pub(super) view: Option<ClientView>,
    pub(super) access: ClientAccess,
}

/// The access of a client, until it disconnects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ClientAccess {
    Everything,
    /// The client has asked to watch the terminal.
    OnlyWatch,
    /// The client is a process of the agent. It may only ask a person.
    OnlyAsk,
}

impl ConnectedClient {
    pub(super) fn only_watches(&self) -> bool {
        self.access == ClientAccess::OnlyWatch
    }

    pub(super) fn queue(&self) -> &SendQueue {
        &self.connection.queue
    }

    /// Returns the client's view and queue, if it is attached.
    pub(super) fn attached(&mut self) -> Option<(&mut ClientView, &SendQueue)> {
        let queue = &*self.connection.queue;
        self.view.as_mut().map(|view| (view, queue))
    }
}

/// All connected clients.
#[derive(Debug)]
pub(super) struct Clients {
    all: BTreeMap<ClientId, ConnectedClient>,
    next: ClientId,
    messages: Sender<ClientMessage>,
    /// The clients that wait for the end of a stop.
    stopping: Vec<ClientId>,
}

impl Clients {
    pub(super) fn new(messages: Sender<ClientMessage>) -> Self {
        Self { all: BTreeMap::new(), next: 0, messages, stopping: Vec::new() }
    }

    pub(super) fn open(&mut self, stream: UnixStream, access: ClientAccess) {
        let id = self.next;
        self.next += 1;
        let connection = ClientConnection::open(id, stream, &self.messages);
        let client = ConnectedClient {
            connection,
            is_greeted: false,
            is_subscribed: false,
            view: None,
            access,
        };
        self.all.insert(id, client);
    }

    pub(super) fn get(&mut self, id: ClientId) -> Option<&mut ConnectedClient> {
        self.all.get_mut(&id)
    }

    /// Closes a connection after its queue was sent. Returns whether the client was attached.
    pub(super) fn hang_up(&mut self, id: ClientId) -> bool {
        let Some(client) = self.all.remove(&id) else { return false };
        client.connection.hang_up();
        client.view.is_some()
    }

    pub(super) fn answer(&mut self, id: ClientId, answer: &WireAnswer) {
        self.send(id, &encode_message(kind::ANSWER, answer));
    }

    pub(super) fn send(&mut self, id: ClientId, frame: &[u8]) {
        if let Some(client) = self.all.get(&id)
            && client.queue().message(frame) == Enqueued::Overflowed
        {
            self.hang_up(id);
        }
    }

    /// Sends an event to all subscribers. Attached clients get only the end of the agent.
    pub(super) fn announce(&mut self, event: &WireEvent) {
        let frame = encode_message(kind::EVENT, event);
        let is_end = matches!(event, WireEvent::Ended(_));
        self.send_to(&frame, |it| it.is_subscribed || is_end && it.view.is_some());
    }

    /// Sends an event to all attached clients.
    pub(super) fn send_to_attached(&mut self, event: &WireEvent) {
        self.send_to(&encode_message(kind::EVENT, event), |client| client.view.is_some());
    }

    /// Sends a frame to all clients that match.
    fn send_to(&mut self, frame: &[u8], is_receiver: impl Fn(&ConnectedClient) -> bool) {
        let receivers = self.all.iter().filter(|(_, client)| is_receiver(client));
        let ids: Vec<ClientId> = receivers.map(|(id, _)| *id).collect();
        ids.into_iter().for_each(|id| self.send(id, frame));
    }

    /// Records that a client waits for the end of a stop.
    pub(super) fn awaits_stop(&mut self, id: ClientId) {
        self.stopping.push(id);
    }

    pub(super) fn answer_stops(&mut self, answer: &WireAnswer) {
        for id in std::mem::take(&mut self.stopping) {
            self.answer(id, answer);
        }
    }

    /// Returns the views and queues of all attached clients.
    pub(super) fn views(&mut self) -> impl Iterator<Item = (&mut ClientView, &SendQueue)> {
        self.all.values_mut().filter_map(ConnectedClient::attached)
    }

    /// Counts the attached clients.
    pub(super) fn counts(&self) -> ClientCounts {
        let attached = || self.all.values().filter(|client| client.view.is_some());
        let viewers = attached().filter(|client| client.only_watches()).count();
        ClientCounts { controllers: attached().count() - viewers, viewers }
    }

    /// Returns whether a client is subscribed.
    pub(super) fn have_subscriber(&self) -> bool {
        self.all.values().any(|client| client.is_subscribed)
    }

    /// Returns the largest size that all attached terminals can show. Ignores clients that only
    /// watch. `None` if no other client is attached.
    pub(super) fn common_size(&self) -> Option<Size> {
        let sizes = self.all.values().filter_map(|client| client.view.as_ref()?.size);
        sizes.reduce(Size::common)
    }

    /// Gives all clients time to receive their queues.
    pub(super) async fn finish(&mut self) {
        let deadline = tokio::time::Instant::now() + FINISH_TIMEOUT;
        for (_, client) in std::mem::take(&mut self.all) {
            let remaining = deadline.saturating_duration_since(tokio::time::Instant::now());
            client.connection.finish(remaining).await;
        }
    }
}
