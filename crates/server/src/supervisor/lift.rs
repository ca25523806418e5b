//! One agent of a project on its way up: brought back, taken in, or started.

use std::sync::Arc;

use segue_core::api::{AdoptCandidate, AgentOutcome, LeftAlone, Outcome, SessionRef};
use segue_core::flows::bringing_back::Sorter;
use segue_core::flows::look::Asked;
use segue_core::flows::{SessionState, adopt};
use segue_core::model::{Environment, How, Session, SessionId, SessionName, Status, Timer};
use segue_core::ports::SessionSummary;
use segue_core::rules::bringing_back::AskedFor;
use segue_core::rules::handoff::{Candidate, Source, source};
use segue_core::rules::naming;
use segue_core::{Error, Kind, Result};

use super::bulk::{bring_back, refused};
use super::handoff::{self, Carried};
use super::{Account, Message, Renewal, Start, Supervisor, Wish, ask};

/// One agent of the project on its way up.
pub(super) struct Lift {
    pub(super) supervisor: Arc<Supervisor>,
    /// What its session will be, if it has none yet.
    pub(super) draft: Session,
    pub(super) prompt: Option<String>,
    pub(super) asked: Asked,
    /// Begins a new conversation.
    pub(super) fresh: Option<Renewal>,
    pub(super) environment: Environment,
    pub(super) wish: Wish,
    /// No other agent of the project is of its vendor.
    pub(super) works_alone: bool,
    /// It is started also if it was stopped on purpose.
    pub(super) with_stopped: bool,
    pub(super) timers: Vec<Timer>,
}

/// What came of an agent on its way up.
pub(super) enum Lifted {
    Came(AgentOutcome),
    LeftAlone(LeftAlone),
}

/// The sessions of one agent.
struct OwnSessions {
    /// The one of its vendor that has its name.
    at_home: Option<SessionSummary>,
    /// One of its vendor under another name.
    elsewhere: Option<SessionId>,
    /// One of another vendor that has its name.
    in_the_way: Option<Session>,
    /// Those of other vendors, the newest first.
    of_others: Vec<SessionId>,
}

impl Lift {
    /// Brings the agent up, in its conversation if it has one.
    pub(super) async fn up(self) -> Result<Lifted> {
        let lifted = self.come_up().await?;
        let id = match &lifted {
            Lifted::Came(outcome) => outcome.of.session,
            Lifted::LeftAlone(session) => Some(session.session),
        };
        if let Some(id) = id {
            let archive = self.draft.archive;
            self.supervisor.ask(id, |reply| Message::SetArchive { archive, reply }).await?;
            let timers = self.timers.clone();
            self.supervisor.ask(id, |reply| Message::SetTimers { timers, reply }).await?;
        }
        Ok(lifted)
    }

    async fn come_up(&self) -> Result<Lifted> {
        loop {
            let own = self.own_sessions().await?;
            if let Some(at_home) = &own.at_home {
                return self.come_back(at_home).await;
            }
            if let Some(outcome) = self.try_to_come_up(own).await? {
                return Ok(Lifted::Came(outcome));
            }
        }
    }

    /// Brings back the agent's own session, unless it was ended on purpose.
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

    /// Brings an agent up that has no session of its name; `None` if another request made its session meanwhile.
    async fn try_to_come_up(&self, own: OwnSessions) -> Result<Option<AgentOutcome>> {
        self.free_name(&own).await?;
        if let Some(id) = own.elsewhere {
            if let Some(other) = &own.in_the_way {
                // One agent, one vendor: the other one's rests.
                handoff::quiet(&self.supervisor, other.id, false).await?;
            }
            let name = self.draft.name.clone();
            self.supervisor.ask(id, |reply| Message::Rename { name, reply }).await?;
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
            // Somebody else started this agent at the same moment: it is theirs and ours.
            Err(error) if error.kind == Kind::Conflict => match self.existing().await? {
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

    /// Lists the conversations that somebody began in this folder, if only this agent of its vendor
    /// works here: another one's would be as good a guess.
    async fn conversations(&self) -> Result<Vec<AdoptCandidate>> {
        if self.fresh.is_some() || !self.works_alone || self.draft.description.is_some() {
            return Ok(Vec::new());
        }
        let ports = &self.supervisor.ports;
        let sessions = ports.store.sessions().await?;
        let own = |it: &Session| it.vendor == self.draft.vendor && it.cwd == self.draft.cwd;
        if sessions.iter().any(|it| own(&it.session)) {
            return Ok(Vec::new());
        }
        let (vendor, cwd) = (Some(self.draft.vendor.clone()), Some(self.draft.cwd.clone()));
        let wanted = adopt::Wanted { vendor, cwd, ..adopt::Wanted::default() };
        adopt::candidates(ports, &self.environment, &wanted).await
    }

    /// Takes in the only conversation there is, and goes on with it; not one that is open.
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
            // Somebody else was quicker, with the agent or with the conversation.
            Err(error) if error.kind == Kind::Conflict => return Ok(None),
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

    /// Says that nothing was begun, not even a session.
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

    /// Returns the agent's sessions: it has others where its vendor was another one before.
    async fn own_sessions(&self) -> Result<OwnSessions> {
        let mut sessions = self.supervisor.ports.store.sessions().await?;
        let has_name = |it: &Session| it.name == self.draft.name;
        sessions.retain(|it| {
            let it = &it.session;
            let is_agents = it.agent.is_some() && it.agent == self.draft.agent;
            let is_own = has_name(it) || is_agents && self.was_ours(it);
            // What another agent started stays that agent's, whatever it is called.
            it.parent.is_none() && it.fleet == self.draft.fleet && is_own
        });
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

    /// Tells whether a session has the name that the agent's session with a vendor gets when the
    /// agent goes on with another one. Excludes sessions that were started with `segue run`.
    fn was_ours(&self, session: &Session) -> bool {
        let (own, vendor) = (self.draft.name.as_str(), session.vendor.as_str());
        naming::is_with_vendor(session.name.as_str(), own, vendor)
    }

    /// Takes the agent's name from its session with the vendor that it had before.
    async fn free_name(&self, own: &OwnSessions) -> Result<()> {
        let Some(other) = &own.in_the_way else { return Ok(()) };
        let sessions = self.supervisor.ports.store.sessions().await?;
        let taken = |name: &str| {
            sessions
                .iter()
                .any(|it| it.session.fleet == other.fleet && it.session.name.as_str() == name)
        };
        let (own, vendor) = (other.name.as_str(), other.vendor.as_str());
        let name = SessionName::parse(&naming::with_vendor(own, vendor, taken))?;
        self.supervisor.ask(other.id, |reply| Message::Rename { name, reply }).await
    }

    /// Goes on with the conversation that the agent had with another vendor.
    async fn carry_over(&self, others: &[SessionId]) -> Result<Carried> {
        handoff::carry_to(&self.supervisor, &self.draft, others, &self.environment).await
    }

    async fn existing(&self) -> Result<Option<SessionId>> {
        let sessions = self.supervisor.ports.store.sessions().await?;
        let own = |it: &&SessionSummary| {
            let it = &it.session;
            it.parent.is_none() && it.fleet == self.draft.fleet && it.name == self.draft.name
        };
        Ok(sessions.iter().find(own).map(|it| it.session.id))
    }

    async fn bring_back(&self, id: SessionId) -> Result<AgentOutcome> {
        let how = (self.environment.clone(), self.fresh);
        bring_back(&self.supervisor, id, (self.asked, self.wish), how).await
    }

    async fn start(&self) -> Result<AgentOutcome> {
        let inbox = self.supervisor.adopt_new(SessionState::new(self.draft.clone()));
        let (message, environment) = (self.prompt.clone(), self.environment.clone());
        let start = Box::new(Start { message, environment, wish: self.wish, request: None });
        ask(&inbox, |reply| Message::StartVerified { start, reply }).await
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
