//! A client's line to a holder.

use std::io;
use std::path::Path;
use std::pin::pin;
use std::time::Duration;

use segue_core::ports::Fault;
use segue_core::{Error, Result};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;

use super::order::socket_path;
use super::recorded;
use super::wire::{
    Answer, Decoder, Event, Frame, Hello, Received, Request, encode, encode_message, kind,
};
use crate::failure::cannot;
use crate::peer::{self, Listener};
use crate::{process, socket};

/// How long a holder may take for what it can do at once. One that is stopped never answers.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

/// A holder that says no hello for so long may be stopped: then it is not waited for.
const LOOK: Duration = Duration::from_millis(500);

/// A connection to a holder that has said hello.
#[derive(Debug)]
pub(super) struct Line {
    stream: UnixStream,
    decoder: Decoder,
    buffer: Vec<u8>,
    /// What the holder says that it can do.
    capabilities: Vec<String>,
}

/// What a holder says.
#[derive(Debug)]
pub(super) enum Said {
    Answer(Answer),
    Event(Event),
    Output(Vec<u8>),
    History(Vec<u8>),
    /// A piece of the lines that can be scrolled through.
    Scrollback(Vec<u8>),
}

impl Line {
    /// Connects and exchanges hellos; `None` if the launch's holder does not listen, whoever else
    /// does.
    pub(super) async fn open(path: &Path) -> Result<Option<Self>> {
        let stream = match socket::connect(path).await {
            Ok(stream) => stream,
            Err(error) if is_nobody(&error) => return Ok(None),
            Err(error) => return Err(cannot("reach the holder at", path, &error)),
        };
        let folder = path.parent().unwrap_or(path);
        match Listener::of(&stream, folder) {
            Listener::Holder => {}
            Listener::Other => return Ok(None),
            Listener::Outside => return Err(outside(path)),
        }
        let mut line = Self {
            stream,
            decoder: Decoder::default(),
            buffer: vec![0; 16 << 10],
            capabilities: Vec::new(),
        };
        let met = line.greet_in_time(folder).await?;
        Ok(met.then_some(line))
    }

    async fn greet_in_time(&mut self, folder: &Path) -> Result<bool> {
        let mut greeting = pin!(self.greet());
        if let Ok(met) = tokio::time::timeout(LOOK, &mut greeting).await {
            return met;
        }
        let holder = recorded::holder(folder);
        if let Some(pid) = holder.as_ref().filter(|it| process::is_stopped(it)).map(|it| it.pid) {
            return Err(Error::from(Fault::HolderStopped { pid }));
        }
        let silent = || match &holder {
            Some(holder) => Error::from(Fault::HolderSilent { pid: holder.pid }),
            None => silent(),
        };
        tokio::time::timeout(PATIENCE, greeting).await.map_err(|_| silent())?
    }

    /// Says hello; tells whether the holder was still there to answer.
    async fn greet(&mut self) -> Result<bool> {
        // One that refuses may have closed the line already; what it said can still be read.
        let _sent = self.send(&encode_message(kind::HELLO, &Hello::ours())).await;
        let Ok(Some(frame)) = self.frame().await else { return Ok(false) };
        let hello: Hello = serde_json::from_slice(&frame.payload)
            .map_err(|error| Error::internal("the holder says no hello").caused_by(error))?;
        hello.agree()?;
        self.capabilities = hello.capabilities;
        Ok(true)
    }

    /// Tells whether the holder can do this.
    pub(super) fn can(&self, capability: &str) -> bool {
        self.capabilities.iter().any(|known| known == capability)
    }

    /// Fails if the holder is of a version that could not do this yet.
    pub(super) fn needs(&self, capability: &str) -> Result<()> {
        if self.can(capability) {
            return Ok(());
        }
        Err(Error::unavailable(format!(
            "the agent is held by an older version of segue that does not know `{capability}`"
        ))
        .hint("run `segue stop`, then `segue resume`, to have a newer one"))
    }

    /// Asks and waits for the answer; none when the holder went meanwhile.
    pub(super) async fn ask(&mut self, request: &Request) -> Result<Option<Answer>> {
        self.exchange(&encode_message(kind::REQUEST, request)).await
    }

    /// Hands over bytes for the agent's terminal.
    pub(super) async fn inject(&mut self, bytes: &[u8]) -> Result<Option<Answer>> {
        let mut frame = Vec::new();
        encode(kind::INJECT, bytes, &mut frame);
        self.exchange(&frame).await
    }

    async fn exchange(&mut self, frame: &[u8]) -> Result<Option<Answer>> {
        let _sent = self.send(frame).await;
        loop {
            match self.next().await {
                Some(Said::Answer(Answer::Failed(error))) => return Err(error),
                Some(Said::Answer(answer)) => return Ok(Some(answer)),
                Some(_) => {}
                None => return Ok(None),
            }
        }
    }

    /// Sends without waiting for the answer. On a line that the holder has closed, what it said
    /// before can still be read.
    pub(super) async fn send(&mut self, frame: &[u8]) -> io::Result<()> {
        self.stream.write_all(frame).await
    }

    /// Returns what the holder says next; none when it is gone. Nothing is lost when it is given
    /// up while it waits.
    pub(super) async fn next(&mut self) -> Option<Said> {
        loop {
            let frame = self.frame().await.ok()??;
            if let Some(said) = understand(frame) {
                return Some(said);
            }
        }
    }

    async fn frame(&mut self) -> io::Result<Option<Frame>> {
        loop {
            match self.decoder.next() {
                Some(Received::Frame(frame)) => return Ok(Some(frame)),
                Some(Received::TooLarge(_)) => continue,
                None => {}
            }
            let count = self.stream.read(&mut self.buffer).await?;
            if count == 0 {
                return Ok(None);
            }
            self.decoder.push(self.buffer.get(..count).unwrap_or_default());
        }
    }
}

/// Reads a frame; none if it is of a newer kind.
fn understand(frame: Frame) -> Option<Said> {
    match frame.kind {
        kind::ANSWER => serde_json::from_slice(&frame.payload).ok().map(Said::Answer),
        kind::EVENT => serde_json::from_slice(&frame.payload).ok().map(Said::Event),
        kind::OUTPUT => Some(Said::Output(frame.payload)),
        kind::HISTORY => Some(Said::History(frame.payload)),
        kind::SCROLLBACK => Some(Said::Scrollback(frame.payload)),
        _ => None,
    }
}

/// Tells whether the error means that there is no holder, as opposed to one that cannot be reached.
fn is_nobody(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused)
}

/// Fails if the holder of a launch listens in another PID namespace.
pub(super) async fn refuse_outside(folder: &Path) -> Result<()> {
    let path = socket_path(folder);
    // Nobody listens at the sockets of most launches: they are over.
    let Ok(stream) = socket::connect(&path).await else { return Ok(()) };
    if peer::is_outside(&stream) { Err(outside(&path)) } else { Ok(()) }
}

/// The holder listens in another PID namespace.
fn outside(path: &Path) -> Error {
    Error::unavailable(format!("the holder at `{}` cannot be identified", path.display()))
        .caused_by("it runs in another PID namespace")
        .hint("run `segue` where its agents were started")
}

/// The holder is there but does not answer.
pub(super) fn silent() -> Error {
    Error::unavailable("the process that holds the agent does not answer")
        .hint("run `segue doctor` to see what is wrong")
}
