//! What is looked at before `rules::bringing_back` decides.

use std::collections::BTreeSet;

use crate::api::LeftAlone;
use crate::error::{Error, Result};
use crate::model::{Session, SessionId};
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
        let successor = match summary.open {
            Some(_) => None,
            None => self.successor(session.id).await?,
        };
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

    async fn successor(&self, session: SessionId) -> Result<Option<Session>> {
        let store = &self.ports.store;
        let steps = store.handoffs(session).await?;
        if steps.is_empty() {
            return Ok(None);
        }
        let launches = store.launches(session).await?;
        let launched_at = launches.last().map(|launch| launch.created_at);
        match bringing_back::successor(&steps, session, launched_at) {
            Some(id) => store.session(id).await,
            None => Ok(None),
        }
    }
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
