//! What is looked at before `rules::bringing_back` decides.

use std::collections::{BTreeSet, HashMap};

use crate::api::LeftAlone;
use crate::error::{Error, Result};
use crate::model::{Handoff, Session, SessionId};
use crate::ports::{MessageQuery, Ports, SessionSummary};
use crate::rules::bringing_back::{self, AskedFor, BringingBack, LastSeen, Rest};

/// Decides about one session after the other.
#[derive(Debug)]
pub struct Sorter<'a> {
    ports: &'a Ports,
    /// The sessions that messages wait for.
    with_messages: BTreeSet<SessionId>,
}

/// A session that is left alone, and the one in which its conversation goes on.
#[derive(Clone, Debug)]
pub struct Resting {
    pub rest: Rest,
    pub successor: Option<Session>,
}

impl<'a> Sorter<'a> {
    pub async fn new(ports: &'a Ports) -> Result<Self> {
        let query = MessageQuery { session: None, open: true };
        let open = ports.store.messages(&query).await?;
        Ok(Self { ports, with_messages: open.iter().map(|message| message.session).collect() })
    }

    /// Returns what is to be done with a session, and where its conversation goes on if that is not
    /// here.
    async fn decide(&self, summary: &SessionSummary) -> Result<(BringingBack, Option<Session>)> {
        let session = &summary.session;
        let successor = successor(self.ports, summary).await?;
        let seen = LastSeen {
            status: session.status,
            is_open: summary.open.is_some(),
            was_launched: summary.launches > 0,
            is_headless: session.headless,
            has_messages: self.with_messages.contains(&session.id),
            went_on: successor.is_some(),
        };
        Ok((bringing_back::bringing_back(&seen), successor))
    }

    /// Tells why a session is left alone; `None` if it runs or is brought back.
    pub async fn resting(
        &self,
        summary: &SessionSummary,
        asked: AskedFor,
    ) -> Result<Option<Resting>> {
        match self.decide(summary).await? {
            (BringingBack::Left(rest), successor) if rest.keeps(asked) => {
                Ok(Some(Resting { rest, successor }))
            }
            _ => Ok(None),
        }
    }
}

/// Returns the session in which the conversation of one that does not run goes on.
pub async fn successor(ports: &Ports, summary: &SessionSummary) -> Result<Option<Session>> {
    if summary.open.is_some() {
        return Ok(None);
    }
    let steps = ports.store.handoffs(summary.session.id).await?;
    successor_after(ports, &steps, summary.session.id).await
}

/// Returns the same for many sessions, with one look at all handoffs.
pub async fn successors(
    ports: &Ports,
    sessions: &[SessionSummary],
) -> Result<HashMap<SessionId, Session>> {
    let mut steps: HashMap<SessionId, Vec<Handoff>> = HashMap::new();
    for step in ports.store.all_handoffs().await? {
        steps.entry(step.to).or_default().push(step.clone());
        steps.entry(step.from).or_default().push(step);
    }
    let mut successors = HashMap::new();
    for id in sessions.iter().filter(|it| it.open.is_none()).map(|it| it.session.id) {
        if let Some(steps) = steps.get(&id)
            && let Some(next) = successor_after(ports, steps, id).await?
        {
            successors.insert(id, next);
        }
    }
    Ok(successors)
}

async fn successor_after(
    ports: &Ports,
    steps: &[Handoff],
    session: SessionId,
) -> Result<Option<Session>> {
    if steps.is_empty() {
        return Ok(None);
    }
    let launches = ports.store.launches(session).await?;
    let launched_at = launches.last().map(|launch| launch.created_at);
    match bringing_back::successor(steps, session, launched_at) {
        Some(id) => ports.store.session(id).await,
        None => Ok(None),
    }
}

/// Refuses a command about a session whose conversation goes on in another one.
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

impl Resting {
    /// Returns the line of a report.
    pub fn report(&self, session: &Session) -> LeftAlone {
        LeftAlone {
            session: session.id,
            name: session.name.clone(),
            fleet: session.fleet.clone(),
            address: session.address(),
            vendor: session.vendor.clone(),
            why: self.rest.word().to_owned(),
            goes_on_as: self.successor.as_ref().map(Session::address),
        }
    }

    /// Words the refusal to start a session whose conversation goes on in another one.
    pub fn refusal(&self, session: &Session) -> Error {
        let address = session.address();
        let error = Error::conflict(format!("cannot resume `{address}`: {}", self.reason()));
        let Some(successor) = &self.successor else { return error };
        let next = successor.address();
        error
            .hint(format!("run `segue resume {next}` to go on with it"))
            .hint(format!("run `segue handoff {next} --to {}` to take it back", session.vendor))
            .hint(format!(
                "run `segue resume {address} --stopped` to go on here, without what was said since"
            ))
    }

    /// Says in one line why the session is left alone.
    pub fn reason(&self) -> String {
        match &self.successor {
            Some(successor) => format!("its conversation goes on as `{}`", successor.address()),
            None => self.rest.word().replace('_', " "),
        }
    }
}
