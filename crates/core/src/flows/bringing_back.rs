//! Decides whether sessions are brought back (see `rules::bringing_back`), explains why a session is
//! not, and finds the session in which a conversation continues.

use std::collections::{BTreeSet, HashMap};

use crate::api::LeftAlone;
use crate::error::{Error, Result};
use crate::flows::machines;
use crate::model::{Handoff, Session, SessionId};
use crate::ports::{MessageQuery, Ports, SessionSummary};
use crate::rules::bringing_back::{self, BringingBack, LastSeen, LeftAloneReason, UserSelection};

/// Decides for several sessions whether they are brought back. Reads the unsettled messages once
/// for all of them.
#[derive(Debug)]
pub struct BringBackDecider<'a> {
    ports: &'a Ports,
    /// Sessions that have unsettled messages.
    with_messages: BTreeSet<SessionId>,
}

/// Why a session is not brought back, and the session in which its conversation continues.
#[derive(Clone, Debug)]
pub struct Exclusion {
    pub why: LeftAloneReason,
    pub successor: Option<Session>,
}

impl<'a> BringBackDecider<'a> {
    pub async fn new(ports: &'a Ports) -> Result<Self> {
        let query = MessageQuery { session: None, open: true };
        let open = ports.store.messages(&query).await?;
        Ok(Self { ports, with_messages: open.iter().map(|message| message.session).collect() })
    }

    /// Returns what to do with a session, and the session in which its conversation continues, if
    /// any.
    async fn decide(&self, summary: &SessionSummary) -> Result<(BringingBack, Option<Session>)> {
        let session = &summary.session;
        let successor = successor(self.ports, summary).await?;
        let seen = LastSeen {
            status: session.status,
            is_open: summary.open.is_some(),
            is_on_other_machine: machines::other_machine(self.ports, summary.open.as_ref())
                .is_some(),
            was_launched: summary.launches > 0,
            is_headless: session.headless,
            has_messages: self.with_messages.contains(&session.id),
            has_successor: successor.is_some(),
        };
        Ok((bringing_back::bringing_back(&seen), successor))
    }

    /// Returns why a session is not brought back. `None` if it runs or is brought back.
    pub async fn exclusion(
        &self,
        summary: &SessionSummary,
        selection: UserSelection,
    ) -> Result<Option<Exclusion>> {
        match self.decide(summary).await? {
            (BringingBack::Left(why), successor) if why.prevents(selection) => {
                Ok(Some(Exclusion { why, successor }))
            }
            _ => Ok(None),
        }
    }
}

/// Returns the session in which the conversation of this session continues. `None` if this session
/// runs, or if its conversation was not handed over.
pub async fn successor(ports: &Ports, summary: &SessionSummary) -> Result<Option<Session>> {
    if summary.open.is_some() {
        return Ok(None);
    }
    let handoffs = ports.store.handoffs(summary.session.id).await?;
    successor_after(ports, &handoffs, summary.session.id).await
}

/// Returns the successors of many sessions, with one query for their handoffs.
pub async fn successors(
    ports: &Ports,
    sessions: &[SessionSummary],
) -> Result<HashMap<SessionId, Session>> {
    let mut handoffs: HashMap<SessionId, Vec<Handoff>> = HashMap::new();
    let not_running = sessions.iter().filter(|it| it.open.is_none()).map(|it| it.session.id);
    let not_running: Vec<SessionId> = not_running.collect();
    for handoff in ports.store.handoffs_of(&not_running).await? {
        handoffs.entry(handoff.to).or_default().push(handoff.clone());
        handoffs.entry(handoff.from).or_default().push(handoff);
    }
    let mut successors = HashMap::new();
    for id in not_running {
        if let Some(handoffs) = handoffs.get(&id)
            && let Some(next) = successor_after(ports, handoffs, id).await?
        {
            successors.insert(id, next);
        }
    }
    Ok(successors)
}

async fn successor_after(
    ports: &Ports,
    handoffs: &[Handoff],
    session: SessionId,
) -> Result<Option<Session>> {
    if handoffs.is_empty() {
        return Ok(None);
    }
    let launches = ports.store.launches(session).await?;
    let launched_at = launches.last().map(|launch| launch.created_at);
    match bringing_back::successor(handoffs, session, launched_at) {
        Some(id) => ports.store.session(id).await,
        None => Ok(None),
    }
}

/// Returns an error if the session's conversation continues in another session. The error suggests
/// `segue COMMAND` with that session.
pub async fn refuse_handed_over(
    ports: &Ports,
    summary: &SessionSummary,
    command: &str,
) -> Result<()> {
    let Some(next) = successor(ports, summary).await? else { return Ok(()) };
    let (address, next) = (summary.session.address(), next.address());
    let error = Error::conflict(format!("`{address}` was handed over"));
    Err(error
        .caused_by(format!("its conversation goes on as `{next}`"))
        .hint(format!("run `segue {command} {next}`")))
}

impl Exclusion {
    /// Returns the entry for a report.
    pub fn report(&self, session: &Session) -> LeftAlone {
        LeftAlone {
            session: session.id,
            name: session.name.clone(),
            fleet: session.fleet.clone(),
            address: session.address(),
            vendor: session.vendor.clone(),
            why: self.why.into(),
            goes_on_as: self.successor.as_ref().map(Session::address),
        }
    }

    /// Returns the error for a resume of this session. If its conversation continues in another
    /// session, the error lists the alternatives.
    pub fn error(&self, session: &Session) -> Error {
        let address = session.address();
        let error = Error::conflict(format!("cannot resume `{address}`: {}", self.reason()));
        let Some(successor) = &self.successor else { return error };
        let next = successor.address();
        error
            .hint(format!("run `segue resume {next}` to continue there"))
            .hint(format!("run `segue handoff {next} --to {}` to take it back", session.vendor))
            .hint(format!(
                "run `segue resume {address} --stopped` to continue here, without the newer turns"
            ))
    }

    /// Returns the reason why the session is not brought back, as one line for the user.
    pub fn reason(&self) -> String {
        match &self.successor {
            Some(successor) => format!("its conversation goes on as `{}`", successor.address()),
            None if self.why == LeftAloneReason::OtherMachine => {
                "it runs on another machine".to_owned()
            }
            None => self.why.word().replace('_', " "),
        }
    }
}
