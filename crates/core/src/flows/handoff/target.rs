//! The vendor that continues the conversation, and the session in which it does.

use std::sync::Arc;

use crate::error::{Error, Result};
use crate::flows::create::{SessionBeginning, SessionDraft, create};
use crate::flows::{naming, projects};
use crate::model::{
    AgentName, Environment, RequestKey, Session, SessionName, SessionSettings, VendorDescription,
    VendorId, VendorSessionId,
};
use crate::ports::{Conflict, Ports, Vendor};
use crate::rules;
use crate::rules::handoff::settings_without_agent;

/// The vendor that continues the conversation, and the agent of the project if one was named.
#[derive(Clone, Debug)]
pub struct HandoffTarget {
    pub vendor: Arc<dyn Vendor>,
    description: Option<VendorDescription>,
    agent: Option<TargetAgent>,
    /// The new session, if it is decided already.
    draft: Option<Session>,
    pub environment: Environment,
}

/// The agent of a project that continues the conversation.
#[derive(Clone, Debug)]
pub struct TargetAgent {
    pub name: AgentName,
    pub settings: SessionSettings,
    /// The environment of the request, with the variables that the project file sets for the agent.
    pub environment: Environment,
}

/// The session that continues the conversation.
#[derive(Clone, Debug)]
pub struct TargetSession {
    pub session: Session,
    /// The vendor's session id of the conversation.
    pub conversation: VendorSessionId,
    pub is_new: bool,
    /// Whether the session is in the store.
    pub is_recorded: bool,
    /// The request that asked for the handoff. The first commit that records the handoff takes it,
    /// because a request has each step at most once.
    pub(super) request: Option<RequestKey>,
}

impl HandoffTarget {
    /// Returns the target for a vendor. Returns an error if its program is not installed.
    pub fn new(
        ports: &Ports,
        (id, description): (VendorId, Option<VendorDescription>),
        agent: Option<TargetAgent>,
        environment: Environment,
    ) -> Result<Self> {
        let vendor = projects::vendor(ports, &id, description.as_ref())?;
        let program = vendor.launching().program();
        if ports.machine.find_program(&program, &environment).is_none() {
            return Err(Error::vendor(format!("the program of `{id}` is not installed"))
                .caused_by(program.not_found_message())
                .hint(format!("run `segue vendors` to see how `{id}` is installed")));
        }
        Ok(Self { vendor, description, agent, draft: None, environment })
    }

    /// Returns the target for a session that is decided already.
    pub fn of_draft(ports: &Ports, draft: Session, environment: Environment) -> Result<Self> {
        let vendor = (draft.vendor.clone(), draft.description.clone());
        Ok(Self { draft: Some(draft), ..Self::new(ports, vendor, None, environment)? })
    }

    /// Returns the new session for a conversation of the session `from`. Returns an error if the
    /// wanted name is taken.
    pub(super) async fn new_session(
        &self,
        ports: &Ports,
        from: &Session,
        wanted_name: Option<&str>,
    ) -> Result<TargetSession> {
        let name = self.name(ports, from, wanted_name).await?;
        let session = self.session(ports, from, name)?;
        let unique = ports.clock.new_id();
        let preset = self.vendor.launching().preset_id(&session, unique);
        let conversation = preset.unwrap_or_else(|| VendorSessionId::new(unique.to_string()));
        let (is_new, is_recorded) = (true, false);
        Ok(TargetSession { session, conversation, is_new, is_recorded, request: None })
    }

    /// Chooses a name that no session of the fleet has.
    async fn name(
        &self,
        ports: &Ports,
        from: &Session,
        wanted: Option<&str>,
    ) -> Result<SessionName> {
        if let Some(draft) = &self.draft {
            return Ok(draft.name.clone());
        }
        if let Some(wanted) = wanted {
            let name = SessionName::parse(wanted)?;
            let is_taken = naming::is_taken(ports, &from.fleet, &name).await?;
            let fleet = from.fleet.clone();
            return if is_taken {
                Err(Conflict::NameTaken { fleet, name }.into())
            } else {
                Ok(name)
            };
        }
        let own = self.agent.as_ref().map(|agent| agent.name.to_string());
        let (name, vendor) = (from.name.as_str(), self.vendor.id());
        let others = rules::naming::names_with_vendor(name, vendor.as_str());
        naming::first_free(ports, &from.fleet, own.into_iter().chain(others)).await
    }

    /// Returns the session in the same folder and with the same permission, but without the
    /// settings that only the other vendor understands.
    fn session(&self, ports: &Ports, from: &Session, name: SessionName) -> Result<Session> {
        if let Some(draft) = &self.draft {
            let draft = Session { cwd: from.cwd.clone(), ..draft.clone() };
            return Ok(SessionBeginning::Handoff.begin(draft));
        }
        if from.headless && self.vendor.launching().headless().is_none() {
            let error = Error::usage(format!("`{}` cannot run headless", self.vendor.id()));
            return Err(error.hint("choose another vendor with `--to`"));
        }
        let agent = self.agent.as_ref();
        let environment = agent.map_or(&self.environment, |agent| &agent.environment);
        let mut settings = match agent {
            Some(agent) => agent.settings.clone(),
            None => settings_without_agent(from, &self.vendor.id(), self.description.clone()),
        };
        settings.mcp &= self.vendor.mcp().is_some();
        let draft = SessionDraft {
            fleet: from.fleet.clone(),
            name,
            vendor: self.vendor.id(),
            cwd: from.cwd.clone(),
            config_dir: self.vendor.launching().config_dir(environment)?,
            agent: agent.map(|agent| agent.name.clone()).or_else(|| from.agent.clone()),
            settings,
            headless: from.headless,
            parent: None,
            beginning: SessionBeginning::Handoff,
        };
        let up_name = from.up_name.as_ref().filter(|_| agent.is_none());
        let up_name = up_name.map(|it| self.former_name(it)).transpose()?;
        Ok(Session { up_name, ..create(ports, draft) })
    }

    /// Returns the name by which `segue up` finds the next session of an agent whose session a person
    /// has renamed.
    fn former_name(&self, up_name: &SessionName) -> Result<SessionName> {
        let vendor = self.vendor.id();
        let mut names = rules::naming::names_with_vendor(up_name.as_str(), vendor.as_str());
        SessionName::parse(&names.next().unwrap_or_default())
    }
}
