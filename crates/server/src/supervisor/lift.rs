//! Brings up one agent of a project: resumes its session, adopts a conversation, or starts a new
//! one.

use std::sync::Arc;

use segue_core::api::{AdoptCandidate, AgentOutcome, LeftAlone, Outcome, SessionRef};
use segue_core::flows::bringing_back::Sorter;
use segue_core::flows::look::Asked;
use segue_core::flows::{SessionState, adopt, naming};
use segue_core::model::{Environment, How, Session, SessionId, Status, Timer};
use segue_core::ports::{SessionQuery, SessionSummary};
use segue_core::rules;
use segue_core::rules::bringing_back::AskedFor;
use segue_core::rules::handoff::{Candidate, Source, source};
use segue_core::{Error, Kind, Result};

use super::bulk::{bring_back, refused};
use super::handoff::{self, Carried};
use super::run::is_name_taken;
use super::{Account, Renewal, SessionRequest, Start, Supervisor, Wish, ask};

/// One agent of a project that is to be brought up.
pub(super) struct Lift {
    pub(super) supervisor: Arc<Supervisor>,
    /// The session to create if the agent has none yet.
    pub(super) draft: Session,
    pub(super) prompt: Option<String>,
    pub(super) asked: Asked,
    /// `Some` starts a new conversation.
    pub(super) fresh: Option<Renewal>,
    pub(super) environment: Environment,
    pub(super) wish: Wish,
    /// Whether no other agent of the project has the same vendor.
    pub(super) works_alone: bool,
    /// Whether the agent is also started if it was stopped on purpose.
    pub(super) with_stopped: bool,
    pub(super) timers: Vec<Timer>,
}

/// The result of bringing up an agent.
pub(super) enum Lifted {
    Came(AgentOutcome),
    LeftAlone(LeftAlone),
}

/// The sessions of one agent.
struct OwnSessions {
    /// The session that has the agent's vendor and the agent's name.
    at_home: Option<SessionSummary>,
    /// A session that has the agent's vendor and another name.
    elsewhere: Option<SessionId>,
    /// A session that has another vendor and the agent's name.
    in_the_way: Option<Session>,
    /// Sessions with other vendors, newest first.
    of_others: Vec<SessionId>,
}

impl Lift {
    /// Brings the agent up. It continues its conversation if it has one.
    pub(super) async fn up(self) -> Result<Lifted> {
        let lifted = self.come_up().await?;
        let id = match &lifted {
            Lifted::Came(outcome) => outcome.of.session,
            Lifted::LeftAlone(session) => Some(session.session),
        };
        if let Some(id) = id {
            let settings = Box::new(self.draft.settings());
            self.supervisor.ask(id, |reply| SessionRequest::Configure { settings, reply }).await?;
            let timers = self.timers.clone();
            self.supervisor.ask(id, |reply| SessionRequest::SetTimers { timers, reply }).await?;
        }
        Ok(lifted)
    }

    async fn come_up(&self) -> Result<Lifted> {
        loop {
            let own = self.own_sessions().await?;
            if let Some(at_home) = &own.at_home {
                let rests = at_home.open.is_none();
                if rests && self.supervisor.on_the_way.wait_for(&[at_home.session.id]).await {
                    continue;
                }
                return self.come_back(at_home).await;
            }
            if let Some(outcome) = self.try_to_come_up(own).await? {
                return Ok(Lifted::Came(outcome));
            }
        }
    }

    /// Brings the agent's own session back, unless it was ended on purpose.
    async fn come_back(&self, own: &SessionSummary) -> Result<Lifted> {
        let by_name = self.asked == Asked::ByName || self.fresh.is_some();
        let asked = AskedFor { by_name, with_stopped: self.with_stopped || self.fresh.is_some() };
        let sorter = Sorter::new(&self.supervisor.ports).await?;
        let resting = sorter.resting(own, asked).await?;
        match resting.filter(|it| it.rest.is_deliberate()) {
            Some(kept) if by_name => Ok(Lifted::Came(refused(own, &kept))),
            Some(kept) => Ok(Lifted::LeftAlone(kept.report(&own.session))),
            None => self.bring_back(own.session.id).await.map(Lifted::Came),
        }
    }

    /// Brings up an agent that has no session with its name and vendor. Returns `None` if another
    /// request created that session meanwhile.
    async fn try_to_come_up(&self, own: OwnSessions) -> Result<Option<AgentOutcome>> {
        self.free_name(&own).await?;
        if let Some(id) = own.elsewhere {
            if let Some(other) = &own.in_the_way {
                // An agent runs with one vendor at a time, so its session with the other vendor is
                // stopped.
                handoff::quiet(&self.supervisor, other.id, false).await?;
            }
            let name = self.draft.name.clone();
            self.supervisor.ask(id, |reply| SessionRequest::Rename { name, reply }).await?;
            return self.bring_back(id).await.map(Some);
        }
        if self.fresh.is_none() {
            match self.carry_over(&own.of_others).await? {
                Carried::Done(outcome) => return Ok(Some(*outcome)),
                Carried::SessionExists => return Ok(None),
                Carried::NothingToCarry => {}
            }
        }
        let found = self.conversations().await?;
        if let [only] = found.as_slice()
            && let Some(adopted) = self.adopt(only).await?
        {
            return Ok(Some(adopted));
        }
        let mut outcome = self.start_or_join().await?;
        let begins = matches!(outcome.outcome, Outcome::Started | Outcome::Waiting);
        if begins && !found.is_empty() {
            let asked = outcome.note.take().map(|note| format!("{note}; ")).unwrap_or_default();
            outcome.note = Some(format!("{asked}{}", left_alone(&self.draft, &found)));
        }
        Ok(Some(outcome))
    }

    async fn start_or_join(&self) -> Result<AgentOutcome> {
        match self.start().await {
            // Another request started this agent at the same time: this request joins it.
            Err(error) if is_name_taken(&error) => match self.existing().await? {
                Some(id) => self.bring_back(id).await,
                None => Err(error.hint(format!(
                    "run `segue rm {}` if another agent started the session of that name",
                    self.draft.address()
                ))),
            },
            Err(error) if error.kind == Kind::Vendor && self.is_held() => Ok(self.held(&error)),
            result => result,
        }
    }

    /// Lists the conversations that were started without Segue in this folder. Returns an empty
    /// list if several agents of the project have this vendor, because a conversation could belong
    /// to any of them.
    async fn conversations(&self) -> Result<Vec<AdoptCandidate>> {
        if self.fresh.is_some() || !self.works_alone || self.draft.description.is_some() {
            return Ok(Vec::new());
        }
        let ports = &self.supervisor.ports;
        let (vendor, cwd) = (Some(self.draft.vendor.clone()), Some(self.draft.cwd.clone()));
        let query = SessionQuery { vendor: vendor.clone(), cwd: cwd.clone(), ..Default::default() };
        if ports.store.count_sessions(&query).await? > 0 {
            return Ok(Vec::new());
        }
        let wanted = adopt::Wanted { vendor, cwd, ..adopt::Wanted::default() };
        adopt::candidates(ports, &self.environment, &wanted).await
    }

    /// Adopts the only conversation in the folder, and resumes it. Returns `None` if the
    /// conversation is open in another process, belongs to another config directory, or was adopted
    /// by another request.
    async fn adopt(&self, only: &AdoptCandidate) -> Result<Option<AgentOutcome>> {
        if only.open_in.is_some() || self.draft.config_dir != only.config_dir {
            return Ok(None);
        }
        let ports = &self.supervisor.ports;
        let status = Status::Ended(How::Quit);
        let session = Session { status, spoke: true, ..self.draft.clone() };
        let id = session.id;
        match adopt::take_in(ports, session, &only.vendor_session_id, Vec::new()).await {
            Ok(_) => {}
            // Another request took the agent's name or the conversation meanwhile.
            Err(error) if error.conflict.is_some() => return Ok(None),
            Err(error) => return Err(error),
        }
        let mut outcome = self.bring_back(id).await?;
        if outcome.outcome == Outcome::Resumed {
            outcome.outcome = Outcome::Adopted;
            outcome.note = Some(adopted(only));
        } else if outcome.outcome == Outcome::Waiting {
            let asked = outcome.note.unwrap_or_default();
            outcome.note = Some(format!("{asked}; {}", adopted(only)));
        }
        Ok(Some(outcome))
    }

    fn is_held(&self) -> bool {
        let Session { vendor, config_dir, .. } = self.draft.clone();
        self.supervisor.accounts.is_held(&Account { vendor, config_dir })
    }

    /// Reports that nothing was started, because the account is refused. No session was created.
    fn held(&self, error: &Error) -> AgentOutcome {
        AgentOutcome {
            of: SessionRef::of_draft(&self.draft),
            vendor: self.draft.vendor.clone(),
            outcome: Outcome::Refused,
            vendor_session_id: None,
            note: Some(error.in_one_line()),
            dialog: None,
            lost: true,
        }
    }

    /// Returns the agent's sessions. It has more than one if its vendor was changed in the project
    /// file.
    async fn own_sessions(&self) -> Result<OwnSessions> {
        let store = &self.supervisor.ports.store;
        let Session { fleet, name, agent, .. } = &self.draft;
        let agents = SessionQuery { is_agents: true, ..SessionQuery::fleet(fleet) };
        let mut sessions = store.sessions(&agents).await?;
        let has_name = |it: &Session| it.name == *name;
        sessions.retain(|it| {
            let is_agents = it.session.agent == *agent && self.was_ours(&it.session);
            is_agents && !has_name(&it.session)
        });
        sessions.extend(store.sessions(&SessionQuery::address(fleet, name)).await?);
        // A session that was started by another agent belongs to that agent, whatever its name is.
        sessions.retain(|it| it.session.parent.is_none());
        sessions.sort_by_key(|it| (it.session.created_at, it.session.id));
        let is_own = |it: &Session| it.vendor == self.draft.vendor;
        let candidates: Vec<Candidate> = sessions
            .iter()
            .map(|it| Candidate {
                session: it.session.id,
                id: it.binding.as_ref().map(|binding| binding.vendor_session.clone()),
                is_own: is_own(&it.session),
                at: it.session.updated_at,
            })
            .collect();
        let (elsewhere, of_others) = match source(&candidates) {
            Source::Own(own) => (Some(own.session), Vec::new()),
            Source::FirstOf(others) => (None, others.iter().map(|it| it.session).collect()),
        };
        let mut named = sessions.into_iter().filter(|it| has_name(&it.session));
        let (at_home, in_the_way) = match named.next() {
            Some(own) if is_own(&own.session) => (Some(own), None),
            other => (None, other.map(|it| it.session)),
        };
        Ok(OwnSessions { at_home, elsewhere, in_the_way, of_others })
    }

    /// Returns whether a session has the name that Segue gives to an agent's session when the agent
    /// continues with another vendor. Excludes sessions that were started with `segue run`.
    fn was_ours(&self, session: &Session) -> bool {
        let (own, vendor) = (self.draft.name.as_str(), session.vendor.as_str());
        rules::naming::is_with_vendor(session.name.as_str(), own, vendor)
    }

    /// Renames the agent's session with its previous vendor, so that the new session can have its
    /// name.
    async fn free_name(&self, own: &OwnSessions) -> Result<()> {
        let Some(other) = &own.in_the_way else { return Ok(()) };
        let ports = &self.supervisor.ports;
        // Another request may have renamed it already.
        let known = ports.store.session(other.id).await?;
        if known.is_none_or(|known| known.name != other.name) {
            return Ok(());
        }
        let (own, vendor) = (other.name.as_str(), other.vendor.as_str());
        let names = rules::naming::names_with_vendor(own, vendor);
        let name = naming::first_free(ports, &other.fleet, names).await?;
        self.supervisor.ask(other.id, |reply| SessionRequest::Rename { name, reply }).await
    }

    /// Continues the conversation that the agent had with another vendor.
    async fn carry_over(&self, others: &[SessionId]) -> Result<Carried> {
        handoff::carry_to(&self.supervisor, &self.draft, others, &self.environment).await
    }

    async fn existing(&self) -> Result<Option<SessionId>> {
        let query = SessionQuery::address(&self.draft.fleet, &self.draft.name);
        let sessions = self.supervisor.ports.store.sessions(&query).await?;
        Ok(sessions.iter().find(|it| it.session.parent.is_none()).map(|it| it.session.id))
    }

    /// Brings a session back with the settings that the project file has now.
    async fn bring_back(&self, id: SessionId) -> Result<AgentOutcome> {
        let was_open = self.is_open(id).await?;
        let settings = Box::new(self.draft.settings());
        let configure = |reply| SessionRequest::Configure { settings, reply };
        let changed = self.supervisor.ask(id, configure).await?;
        let how = (self.environment.clone(), self.fresh);
        let outcome = bring_back(&self.supervisor, id, (self.asked, self.wish), how).await?;
        if changed.is_empty() || outcome.outcome == Outcome::Refused {
            return Ok(outcome);
        }
        let (keys, address) = (changed.join(", "), &outcome.of.address);
        let news = match was_open && self.fresh.is_none() {
            true => format!(
                "the project file has other values: {keys}; `segue stop {address}` and `segue up \
                 --stopped` start it with them"
            ),
            false => format!("now as in the project file: {keys}"),
        };
        let note = outcome.note.map_or(news.clone(), |note| format!("{note}; {news}"));
        Ok(AgentOutcome { note: Some(note), ..outcome })
    }

    async fn is_open(&self, id: SessionId) -> Result<bool> {
        let sessions = self.supervisor.ports.store.sessions(&SessionQuery::id(id)).await?;
        Ok(sessions.iter().any(|it| it.open.is_some()))
    }

    async fn start(&self) -> Result<AgentOutcome> {
        let inbox = self.supervisor.adopt_new(SessionState::new(self.draft.clone()));
        let (message, environment) = (self.prompt.clone(), self.environment.clone());
        let start = Box::new(Start { message, environment, wish: self.wish, request: None });
        ask(&inbox, |reply| SessionRequest::StartVerified { start, reply }).await
    }
}

fn adopted(candidate: &AdoptCandidate) -> String {
    let began = candidate.began_at;
    let begins = candidate.begins.as_deref().unwrap_or_default();
    format!("the only conversation in this folder, begun by hand at {began:.0}: {begins}")
}

fn left_alone(draft: &Session, found: &[AdoptCandidate]) -> String {
    let (vendor, name) = (&draft.vendor, &draft.name);
    match found {
        [only] => {
            let id = &only.vendor_session_id;
            let why = match only.open_in {
                Some(pid) => format!("is open in process {pid}"),
                None => format!("is in `{}`", only.config_dir.display()),
            };
            format!("began a new conversation; {vendor}:{id} of this folder {why}")
        }
        several => format!(
            "began a new conversation; {} others are in this folder: `segue adopt {vendor}` lists \
             them, and `segue rm {name}` first makes room for one",
            several.len()
        ),
    }
}
