//! The event loop of the holder. It handles one event at a time, and no handler blocks.

use std::future::pending;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};

use segue_core::rules::origin::{CallerEvidence, LiveLaunch, Origin, origin};
use segue_core::{Error, failpoint};
use tokio::net::UnixStream;
use tokio::time::Instant;

use super::agent::AgentStream;
use super::clients::ClientAccess;
use super::connection::ClientMessage;
use super::start::HolderSignals;
use super::{Holder, log};
use crate::hold::descriptors::{read_batch, write_some};
use crate::hold::order::socket_path;
use crate::hold::waiting::at;
use crate::hold::wire::{Hello, WireAnswer, WireEvent, encode_message, kind};
use crate::machine;
use crate::peer::Peer;

/// At most this many bytes of input are queued for an agent that does not read them.
pub(super) const MAX_INPUT_BYTES: usize = 4 << 20;

/// An event that wakes the holder.
enum HolderWake {
    /// The agent wrote this many bytes, or has closed its output.
    Output(io::Result<usize>),
    /// The agent read some of its input.
    Input(io::Result<()>),
    Child,
    Terminate,
    /// SIGHUP: a client did not find the socket in the launch folder.
    HangUp,
    /// SIGCONT: this process was suspended and continues.
    Continued,
    Connection(io::Result<UnixStream>),
    Message(Option<ClientMessage>),
    StopStep,
    /// A time for the next action has come: typing, a notification, or resuming a suspended agent.
    TimeDue,
}

impl Holder {
    /// Handles events until the agent has ended and the holder may exit.
    pub(super) async fn serve(&mut self) {
        // The agent may have ended before this loop began.
        self.reap();
        while !self.agent_state.may_holder_exit() {
            let wake = self.wake().await;
            // A panic must not end the agent. The client of the request gets no answer.
            if catch_unwind(AssertUnwindSafe(|| self.handle(wake))).is_err() {
                log("an event could not be handled");
            }
        }
        self.clients.finish().await;
        failpoint::hit("hold.leave.before");
    }

    fn handle(&mut self, wake: HolderWake) {
        match wake {
            HolderWake::Output(Ok(count @ 1..)) => self.process_output(count),
            // An agent that has closed its output may still run.
            HolderWake::Output(_) => self.stream = None,
            HolderWake::Input(Ok(())) => self.input_was_read(),
            HolderWake::Input(Err(_)) => {
                self.input.clear();
                self.message_typing.give_up();
            }
            HolderWake::Child => self.reap(),
            HolderWake::Terminate => self.terminate(),
            HolderWake::HangUp => self.listen_again(),
            // Clients that got no answer meanwhile retry after this event.
            HolderWake::Continued => self.clients.announce(&WireEvent::Settled),
            HolderWake::Connection(Ok(stream)) => self.admit(stream),
            HolderWake::Connection(Err(error)) => {
                log(&format!("cannot accept a connection: {error}"));
            }
            HolderWake::Message(Some(message)) => self.handle_message(message),
            HolderWake::Message(None) => {}
            HolderWake::StopStep => self.escalate(),
            HolderWake::TimeDue => {
                let now = Instant::now();
                self.continue_typing(now);
                self.announce_settled(now);
                self.resume_suspended(now);
            }
        }
    }

    async fn wake(&mut self) -> HolderWake {
        let times = [self.message_typing.due(), self.changes.due(), self.suspended.due()];
        let due = times.into_iter().flatten().min();
        let Self { stream, batch, input, signals, listener, messages, agent_state, .. } = self;
        let HolderSignals { child, terminate, hangup, continued } = signals;
        let stop = agent_state.stop().map(|stop| stop.at);
        let stream = stream.as_ref();
        tokio::select! {
            // When the machine shuts down, the holder and the agent get SIGTERM. The holder must
            // handle it before it collects the agent's exit status.
            ended = async { tokio::select! {
                biased;
                _ = terminate.recv() => HolderWake::Terminate,
                _ = child.recv() => HolderWake::Child,
            } } => ended,
            _ = hangup.recv() => HolderWake::HangUp,
            _ = continued.recv() => HolderWake::Continued,
            () = at(stop) => HolderWake::StopStep,
            () = at(due) => HolderWake::TimeDue,
            message = messages.recv() => HolderWake::Message(message),
            connection = listener.accept() => HolderWake::Connection(connection.map(|(stream, _)| stream)),
            read = async { match stream {
                Some(stream) => read_batch(stream.output(), batch).await,
                None => pending().await,
            } } => HolderWake::Output(read),
            written = async { match stream {
                Some(AgentStream::Terminal { master, .. }) if !input.is_empty() => {
                    write_some(master, input).await
                }
                _ => pending().await,
            } } => HolderWake::Input(written),
        }
    }

    /// Queues input for the agent. Returns whether there was room for it.
    pub(super) fn type_in(&mut self, bytes: &[u8]) -> bool {
        let has_room = self.stream.is_some() && self.input.len() + bytes.len() <= MAX_INPUT_BYTES;
        if has_room {
            self.input.extend(bytes);
        }
        has_room
    }

    /// Listens at the launch's socket again, if its file is gone.
    fn listen_again(&mut self) {
        if self.agent_state.will_holder_exit() || socket_path(&self.folder).exists() {
            return;
        }
        match super::start::listen(&self.folder) {
            Ok(listener) => {
                log("the socket was deleted; it was created again");
                self.listener = listener;
            }
            Err(error) => log(&format!("the socket was deleted, and cannot be created: {error}")),
        }
    }

    /// Accepts or refuses a new client.
    fn admit(&mut self, stream: UnixStream) {
        match Peer::of(&stream) {
            Ok(peer) if peer.uid != rustix::process::geteuid().as_raw() => {}
            Ok(peer) => match self.access(&peer.evidence) {
                Some(access) => self.clients.open(stream, access),
                None => refuse(&stream),
            },
            Err(error) => log(&format!("cannot identify the process that connected: {error}")),
        }
    }

    /// Returns what a peer may do. A process of an agent may not use a terminal: it has only the
    /// permissions of its session, which only the daemon checks. If it belongs to the headless agent
    /// of this holder, it may ask a person. `None` if the peer may do nothing.
    fn access(&self, evidence: &CallerEvidence) -> Option<ClientAccess> {
        let own = LiveLaunch {
            launch: self.launch,
            holder: Some(self.live.holder.clone()),
            has_cgroup: machine::has_cgroup(&self.live.agent, self.launch),
        };
        match origin(evidence, &[own]) {
            Origin::Person => Some(ClientAccess::Everything),
            Origin::Launch(_) if self.terminal.is_none() => Some(ClientAccess::OnlyAsk),
            Origin::Launch(_) | Origin::Refused(_) => None,
        }
    }
}

/// Returns the error for a request that a process of an agent may not send.
pub(super) fn agent_may_not() -> Error {
    Error::conflict("a process of an agent may not use a holder")
        .hint("run the command outside of the agent")
}

fn refuse(stream: &UnixStream) {
    let error = agent_may_not();
    let frames = [
        encode_message(kind::HELLO, &Hello::own()),
        encode_message(kind::ANSWER, &WireAnswer::Failed(error)),
    ];
    // A new socket has room for two short frames. If not, the connection ends without an answer.
    let _sent = stream.try_write(&frames.concat());
}
