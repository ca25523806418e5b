//! A client's connection to a holder.

use std::io;
use std::path::Path;
use std::pin::pin;
use std::time::Duration;

use segue_core::ports::Fault;
use segue_core::{Error, Result};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;

use super::holder_process;
use super::order::socket_path;
use super::wire::{
    Frame, FrameDecoder, Hello, Painted, Received, WireAnswer, WireEvent, WireRequest, encode,
    encode_message, kind,
};
use crate::failure::cannot;
use crate::peer::{self, SocketOwner};
use crate::{process, socket};

/// The timeout of requests that a holder can answer at once. A stopped holder never answers.
pub(super) const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);

/// After this time without a hello, the client checks whether the holder is stopped. It does not
/// wait for a stopped holder.
const STOPPED_CHECK_AFTER: Duration = Duration::from_millis(500);

/// A connection to a holder, after both sides have sent their hello.
#[derive(Debug)]
pub(super) struct HolderConnection {
    stream: UnixStream,
    decoder: FrameDecoder,
    buffer: Vec<u8>,
    /// The features that the holder supports.
    capabilities: Vec<String>,
}

/// A message of a holder.
#[derive(Debug)]
pub(super) enum HolderMessage {
    Answer(WireAnswer),
    Event(WireEvent),
    Output(Vec<u8>),
    History(Vec<u8>),
    /// A piece of the scrollback lines.
    Scrollback(Vec<u8>),
    /// The output after this is a repaint.
    Painted(Painted),
}

impl HolderConnection {
    /// Connects and exchanges hellos. `None` if the launch's holder does not listen. Ignores another
    /// process that listens in its place.
    pub(super) async fn open(path: &Path) -> Result<Option<Self>> {
        let stream = match socket::connect(path).await {
            Ok(stream) => stream,
            Err(error) if is_absence(&error) => return Ok(None),
            Err(error) => return Err(cannot("reach the holder at", path, &error)),
        };
        let folder = path.parent().unwrap_or(path);
        match SocketOwner::of(&stream, folder) {
            SocketOwner::Holder => {}
            SocketOwner::Other => return Ok(None),
            SocketOwner::Outside => return Err(outside(path)),
        }
        let mut connection = Self {
            stream,
            decoder: FrameDecoder::default(),
            buffer: vec![0; 16 << 10],
            capabilities: Vec::new(),
        };
        let has_answered = connection.greet_in_time(folder).await?;
        Ok(has_answered.then_some(connection))
    }

    async fn greet_in_time(&mut self, folder: &Path) -> Result<bool> {
        let mut greeting = pin!(self.greet());
        if let Ok(greeted) = tokio::time::timeout(STOPPED_CHECK_AFTER, &mut greeting).await {
            return greeted;
        }
        let holder = holder_process::holder(folder);
        if let Some(pid) = holder.as_ref().filter(|it| process::is_stopped(it)).map(|it| it.pid) {
            return Err(Error::from(Fault::HolderStopped { pid }));
        }
        let silent = || match &holder {
            Some(holder) => Error::from(Fault::HolderSilent { pid: holder.pid }),
            None => silent(),
        };
        tokio::time::timeout(ANSWER_TIMEOUT, greeting).await.map_err(|_| silent())?
    }

    /// Exchanges hellos. Returns whether the holder has answered.
    async fn greet(&mut self) -> Result<bool> {
        // A holder that refuses may have closed the connection already. Its messages can still be
        // read.
        let _sent = self.send(&encode_message(kind::HELLO, &Hello::own())).await;
        let Ok(Some(frame)) = self.frame().await else { return Ok(false) };
        let hello: Hello = serde_json::from_slice(&frame.payload)
            .map_err(|error| Error::internal("the holder sent no hello").caused_by(error))?;
        hello.agree()?;
        self.capabilities = hello.capabilities;
        Ok(true)
    }

    /// Returns whether the holder has this capability.
    pub(super) fn can(&self, capability: &str) -> bool {
        self.capabilities.iter().any(|known| known == capability)
    }

    /// Fails if the holder has an older version without this capability.
    pub(super) fn require(&self, capability: &str) -> Result<()> {
        if self.can(capability) {
            return Ok(());
        }
        Err(Error::unavailable(format!(
            "the agent's holder has an older version, which does not support `{capability}`"
        ))
        .hint("run `segue stop`, then `segue resume`, to get a newer holder"))
    }

    /// Sends a request and waits for the answer. `None` if the holder exits meanwhile.
    pub(super) async fn ask(&mut self, request: &WireRequest) -> Result<Option<WireAnswer>> {
        self.exchange(&encode_message(kind::REQUEST, request)).await
    }

    /// Sends bytes for the agent's terminal and waits for the answer.
    pub(super) async fn inject(&mut self, bytes: &[u8]) -> Result<Option<WireAnswer>> {
        let mut frame = Vec::new();
        encode(kind::INJECT, bytes, &mut frame);
        self.exchange(&frame).await
    }

    async fn exchange(&mut self, frame: &[u8]) -> Result<Option<WireAnswer>> {
        let _sent = self.send(frame).await;
        loop {
            match self.next().await {
                Some(HolderMessage::Answer(WireAnswer::Failed(error))) => return Err(error),
                Some(HolderMessage::Answer(answer)) => return Ok(Some(answer)),
                Some(_) => {}
                None => return Ok(None),
            }
        }
    }

    /// Sends a frame without waiting for an answer. If the holder has closed the connection, its
    /// earlier messages can still be read.
    pub(super) async fn send(&mut self, frame: &[u8]) -> io::Result<()> {
        self.stream.write_all(frame).await
    }

    /// Returns the next message of the holder. `None` if the holder is gone. Dropping the future
    /// loses no message.
    pub(super) async fn next(&mut self) -> Option<HolderMessage> {
        loop {
            let frame = self.frame().await.ok()??;
            if let Some(message) = parse(frame) {
                return Some(message);
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

/// Parses a frame. `None` if this version does not support it.
fn parse(frame: Frame) -> Option<HolderMessage> {
    match frame.kind {
        kind::ANSWER => serde_json::from_slice(&frame.payload).ok().map(HolderMessage::Answer),
        kind::EVENT => serde_json::from_slice(&frame.payload).ok().map(HolderMessage::Event),
        kind::OUTPUT => Some(HolderMessage::Output(frame.payload)),
        kind::HISTORY => Some(HolderMessage::History(frame.payload)),
        kind::SCROLLBACK => Some(HolderMessage::Scrollback(frame.payload)),
        kind::PAINTED => serde_json::from_slice(&frame.payload).ok().map(HolderMessage::Painted),
        _ => None,
    }
}

/// Returns whether an error of connecting means that there is no holder.
fn is_absence(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused)
}

/// Fails if the holder of a launch listens in another PID namespace.
pub(super) async fn refuse_outside(folder: &Path) -> Result<()> {
    let path = socket_path(folder);
    // Most launches are over, so no process listens at their sockets.
    let Ok(stream) = socket::connect(&path).await else { return Ok(()) };
    if peer::is_outside(&stream) { Err(outside(&path)) } else { Ok(()) }
}

/// Returns the error for a holder in another PID namespace.
fn outside(path: &Path) -> Error {
    Error::unavailable(format!("the holder at `{}` cannot be identified", path.display()))
        .caused_by("it runs in another PID namespace")
        .hint("run `segue` where its agents were started")
}

/// Returns the error for a holder that exists and does not answer.
pub(super) fn silent() -> Error {
    Error::unavailable("the process that holds the agent does not answer")
        .hint("run `segue doctor` to see what is wrong")
}
