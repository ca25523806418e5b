//! Starts holders on this machine and sends them requests.

use std::path::{Path, PathBuf};
use std::time::Duration;

use async_trait::async_trait;
use segue_core::model::{Environment, LaunchEnd, LaunchId, Screen, SessionId};
use segue_core::ports::{
    Fault, Held, HolderEvent, HolderEvents, Holders, OpenLaunch, StartOrder, TypeOrder, Typed,
};
use segue_core::{Error, Kind, Result, failpoint};

use super::abandon::abandon;
use super::asking;
use super::connect::connect;
use super::holder_connection::{self, ANSWER_TIMEOUT, HolderConnection, HolderMessage, silent};
use super::order::HoldOrder;
use super::spawn::{self, Spawn};
use super::terminal::Snapshot;
use super::typing;
use super::wire::{WireAnswer, WireEvent, WireRequest};
use super::{force, holder_process, session_lock};
use crate::Paths;
use crate::process;
use crate::process_context::ProcessContext;
use crate::programs::this_program;

/// How long a holder may take until the processes that it has killed are gone.
const KILL_TIMEOUT: Duration = Duration::from_secs(5);

/// The holders of this machine.
#[derive(Clone, Debug)]
pub struct LocalHolders {
    paths: Paths,
    program: PathBuf,
    environment: Environment,
}

impl LocalHolders {
    /// Uses this program as the holder. Holders get the variables that they need from the
    /// environment of this process.
    pub fn new(paths: Paths) -> Self {
        let context = ProcessContext::read();
        let environment = context.map(|read| read.environment).unwrap_or_default();
        Self { paths, program: this_program(), environment }
    }

    /// Uses another program as the holder. It must have the subcommands `hold` and `exec-agent`.
    #[must_use]
    pub fn with_program(mut self, program: PathBuf) -> Self {
        self.program = program;
        self
    }

    /// Returns the screen of the agent's terminal. `None` without a holder.
    pub async fn snapshot(&self, launch: LaunchId) -> Result<Option<Snapshot>> {
        match self.ask(launch, &WireRequest::Snapshot, ANSWER_TIMEOUT).await? {
            Some(WireAnswer::Snapshot(snapshot)) => Ok(Some(*snapshot)),
            Some(other) => Err(unexpected(&other)),
            None => Ok(None),
        }
    }

    /// Returns the last bytes that the agent wrote. `None` without a holder.
    pub async fn history(&self, launch: LaunchId) -> Result<Option<Vec<u8>>> {
        let Some(mut connection) = self.connection(launch).await? else { return Ok(None) };
        let request =
            super::wire::encode_message(super::wire::kind::REQUEST, &WireRequest::History);
        if connection.send(&request).await.is_err() {
            return Ok(None);
        }
        let history = tokio::time::timeout(ANSWER_TIMEOUT, async {
            loop {
                match connection.next().await? {
                    HolderMessage::History(bytes) => return Some(bytes),
                    _ => continue,
                }
            }
        });
        history.await.map_err(|_| silent())
    }

    /// Fails if the holder of any launch is in another PID namespace. Checks the sockets and also
    /// the locks, because an agent can move the sockets away.
    pub async fn refuse_outside(&self) -> Result<()> {
        session_lock::refuse_outside(&self.paths.locks())?;
        let folders = std::fs::read_dir(self.paths.launches()).into_iter().flatten().flatten();
        for folder in folders.map(|entry| entry.path()) {
            holder_connection::refuse_outside(&folder).await?;
        }
        Ok(())
    }

    /// Interrupts the agent by typing these bytes, or with SIGINT if there are none.
    pub async fn interrupt(&self, launch: LaunchId, bytes: Option<Vec<u8>>) -> Result<()> {
        let request = WireRequest::Interrupt { bytes };
        self.ask(launch, &request, ANSWER_TIMEOUT).await?.ok_or_else(|| gone(launch)).map(drop)
    }

    fn folder(&self, launch: LaunchId) -> PathBuf {
        self.paths.launch(launch)
    }

    async fn connection(&self, launch: LaunchId) -> Result<Option<HolderConnection>> {
        connect(&self.folder(launch)).await
    }

    /// Sends a request to a launch's holder and returns the answer. `None` if there is no holder.
    async fn ask(
        &self,
        launch: LaunchId,
        request: &WireRequest,
        patience: Duration,
    ) -> Result<Option<WireAnswer>> {
        let Some(mut connection) = self.connection(launch).await? else { return Ok(None) };
        tokio::time::timeout(patience, connection.ask(request)).await.map_err(|_| silent())?
    }
}

#[async_trait]
impl Holders for LocalHolders {
    async fn start(&self, order: &StartOrder) -> Result<Held> {
        let launch = &order.record.launch;
        let order = HoldOrder {
            launch: launch.id,
            session: launch.session,
            is_first_launch: launch.number == 1,
            argv: order.argv.clone(),
            before: order.before.clone(),
            input: order.input.clone(),
            environment: order.environment.clone(),
            cwd: launch.cwd.clone(),
            headless: order.record.session.headless,
            size: Some(order.size),
            lock: self.paths.session_lock(launch.session),
        };
        let folder = self.folder(order.launch);
        failpoint::hit("holders.start.before");
        let spawn = Spawn { program: &self.program, environment: &self.environment };
        let live = spawn::start(&spawn, &folder, &order).await?;
        failpoint::hit("holders.start.after");
        Ok(Held { holder: live.holder, agent: Some(live.agent), end: None })
    }

    async fn find(&self, launch: LaunchId) -> Result<Option<Held>> {
        match self.ask(launch, &WireRequest::Status, ANSWER_TIMEOUT).await? {
            Some(WireAnswer::Status(status)) => {
                Ok(Some(Held { holder: status.holder, agent: status.agent, end: status.end }))
            }
            Some(other) => Err(unexpected(&other)),
            None => Ok(None),
        }
    }

    async fn abandon(&self, session: SessionId, launch: LaunchId) -> Result<Option<Held>> {
        let (folder, lock) = (self.folder(launch), self.paths.session_lock(session));
        abandon(self, launch, (&folder, &lock)).await
    }

    async fn stop(&self, launch: LaunchId, grace: Duration) -> Result<Option<LaunchEnd>> {
        let grace_ms = u64::try_from(grace.as_millis()).unwrap_or(u64::MAX);
        failpoint::hit("holders.stop.before");
        let folder = self.folder(launch);
        let holder = holder_process::holder(&folder);
        if let Some(stopped) = holder.as_ref().filter(|holder| process::is_stopped(holder)) {
            force::resume(stopped)?;
        }
        let answer = self.ask(launch, &WireRequest::Stop { grace_ms }, grace + KILL_TIMEOUT).await;
        failpoint::hit("holders.stop.after");
        match (answer, holder) {
            (Ok(Some(WireAnswer::Ended(end))), _) => Ok(Some(end)),
            (Ok(Some(other)), _) => Err(unexpected(&other)),
            (Ok(None), _) => Ok(None),
            (Err(error), Some(holder)) if error.kind == Kind::Unavailable => {
                tracing::warn!(%launch, %error, "ending a holder that does not answer");
                force::end(&folder, launch, &holder, grace).await.map(Some)
            }
            (Err(error), _) => Err(error),
        }
    }

    fn fault(&self, launch: &OpenLaunch) -> Option<Fault> {
        holder_process::fault(
            &self.folder(launch.id),
            launch.holder.as_ref()?,
            launch.agent.as_ref(),
        )
    }

    async fn cure(&self, launch: LaunchId, fault: Fault) -> Result<()> {
        let folder = self.folder(launch);
        let Some(holder) = holder_process::holder(&folder) else { return Ok(()) };
        match fault {
            Fault::AgentStopped { pid } => force::resume_below(&holder, pid)?,
            Fault::HolderStopped { .. } => drop(force::resume(&holder)?),
            Fault::SocketMissing { .. } | Fault::HolderSilent { .. } => {}
        }
        let found = self.find(launch).await;
        match found {
            Err(error) if error.kind == Kind::Unavailable => {
                tracing::warn!(%launch, %error, "ending a holder that does not answer");
                force::end(&folder, launch, &holder, Duration::ZERO).await.map(drop)
            }
            found => found.map(drop),
        }
    }

    async fn environment(&self, launch: LaunchId) -> Result<Option<Environment>> {
        match self.ask(launch, &WireRequest::Environment, ANSWER_TIMEOUT).await? {
            Some(WireAnswer::Environment(environment)) => Ok(Some(environment)),
            Some(other) => Err(unexpected(&other)),
            None => Ok(None),
        }
    }

    async fn release(&self, launch: LaunchId) -> Result<()> {
        failpoint::hit("holders.release.before");
        // Without a holder there is nothing to release.
        self.ask(launch, &WireRequest::Release, ANSWER_TIMEOUT).await?;
        failpoint::hit("holders.release.after");
        Ok(())
    }

    async fn inject(&self, launch: LaunchId, bytes: &[u8]) -> Result<()> {
        let mut connection = self.connection(launch).await?.ok_or_else(|| gone(launch))?;
        let answer = tokio::time::timeout(ANSWER_TIMEOUT, connection.inject(bytes)).await;
        answer.map_err(|_| silent())??.ok_or_else(|| gone(launch)).map(drop)
    }

    async fn screen(&self, launch: LaunchId) -> Result<Option<Screen>> {
        typing::screen(self.connection(launch).await?).await
    }

    async fn type_message(&self, launch: LaunchId, order: &TypeOrder) -> Result<Typed> {
        let connection = self.connection(launch).await?.ok_or_else(|| gone(launch))?;
        failpoint::hit("holders.type.before");
        let typed = typing::type_message(connection, order).await?.ok_or_else(|| gone(launch));
        failpoint::hit("holders.type.after");
        typed
    }

    async fn press(&self, launch: LaunchId, keys: &[u8], revision: u64) -> Result<bool> {
        let connection = self.connection(launch).await?.ok_or_else(|| gone(launch))?;
        typing::press(connection, keys, revision).await?.ok_or_else(|| gone(launch))
    }

    async fn reply(&self, launch: LaunchId, question: &str, text: Option<&str>) -> Result<bool> {
        let connection = self.connection(launch).await?.ok_or_else(|| gone(launch))?;
        failpoint::hit("holders.reply.before");
        let replied = asking::reply(connection, question, text).await?;
        failpoint::hit("holders.reply.after");
        // A holder that exits has lost its questions.
        Ok(replied.unwrap_or(false))
    }

    async fn subscribe(&self, launch: LaunchId) -> Result<Box<dyn HolderEvents>> {
        let mut connection = self.connection(launch).await?.ok_or_else(|| gone(launch))?;
        let answer =
            tokio::time::timeout(ANSWER_TIMEOUT, connection.ask(&WireRequest::Subscribe)).await;
        answer.map_err(|_| silent())??.ok_or_else(|| gone(launch))?;
        Ok(Box::new(Subscription { connection }))
    }
}

/// A connection on which a holder sends its events.
#[derive(Debug)]
struct Subscription {
    connection: HolderConnection,
}

#[async_trait]
impl HolderEvents for Subscription {
    async fn next(&mut self) -> Option<HolderEvent> {
        loop {
            match self.connection.next().await? {
                HolderMessage::Event(WireEvent::Title(title)) => {
                    return Some(HolderEvent::Title(title));
                }
                HolderMessage::Event(WireEvent::Bell) => return Some(HolderEvent::Bell),
                HolderMessage::Event(WireEvent::Settled) => return Some(HolderEvent::Settled),
                HolderMessage::Event(WireEvent::Questions(open)) => {
                    let open = open.into_iter().map(Into::into).collect();
                    return Some(HolderEvent::Questions(open));
                }
                HolderMessage::Event(WireEvent::Ended(end)) => {
                    return Some(HolderEvent::Ended(end));
                }
                _ => {}
            }
        }
    }
}

fn gone(launch: LaunchId) -> Error {
    Error::not_found(format!("launch `{launch}` has no holder")).hint("run `segue resume`")
}

pub(super) fn unexpected(answer: &WireAnswer) -> Error {
    // Answers can contain an environment, so only their kind is named.
    let kind = match answer {
        WireAnswer::Done => "done",
        WireAnswer::Failed(_) => "failed",
        WireAnswer::Status(_) => "status",
        WireAnswer::Environment(_) => "environment",
        WireAnswer::Snapshot(_) => "snapshot",
        WireAnswer::Ended(_) => "ended",
        WireAnswer::Screen(_) => "screen",
        WireAnswer::Typed(_) => "typed",
        WireAnswer::Pressed(_) => "pressed",
        WireAnswer::Scrollback(_) => "scrollback",
        WireAnswer::Asked(_) => "asked",
        WireAnswer::Replied(_) => "replied",
    };
    Error::internal(format!("the holder answered `{kind}`, which is no answer to the request"))
}

/// Returns the last lines of the log of a holder that died without an answer. They may explain why.
pub(super) fn end_of_log(log: &Path) -> Option<String> {
    use segue_core::ports::Files as _;
    let tail = crate::LocalFiles.tail(log, 2000).ok()?;
    let text = String::from_utf8_lossy(&tail).trim().to_owned();
    (!text.is_empty()).then_some(text)
}
