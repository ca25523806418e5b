//! The vendor and the agent that a conversation is carried to.

use std::sync::Arc;

use segue_core::api::HandoffRequest;
use segue_core::flows::create::{SessionBeginning, SessionDraft, create};
use segue_core::flows::{naming, trust};
use segue_core::model::{
    Environment, How, Project, ProjectAgent, Session, SessionName, SessionSettings, Status,
    VendorDescription, VendorId,
};
use segue_core::ports::Vendor;
use segue_core::rules::{self, address};
use segue_core::{Error, Result};

use super::super::Supervisor;

/// The vendor that continues the conversation, and the agent of the project if one was named.
#[derive(Clone, Debug)]
pub(super) struct Target {
    pub(super) vendor: Arc<dyn Vendor>,
    description: Option<VendorDescription>,
    agent: Option<ProjectAgent>,
    /// The new session, if it is decided already.
    draft: Option<Session>,
    environment: Environment,
}

impl Target {
    /// Finds the vendor or the agent that the request names. Returns an error if its program is not
    /// installed.
    pub(super) async fn named(
        supervisor: &Arc<Supervisor>,
        request: &HandoffRequest,
    ) -> Result<Self> {
        let ports = &supervisor.ports;
        let cwd = ports.machine.folder(&request.caller.cwd)?.real_path;
        let project = ports.projects.around(&cwd)?;
        let wanted = VendorId::new(whole_name(supervisor, project.as_ref(), &request.to)?);
        let described = project.as_ref().and_then(|project| project.vendors.get(&wanted));
        let agent = project.as_ref().and_then(|project| project.whole_agent(wanted.as_str()).ok());
        let is_vendor = ports.vendors.get(&wanted).is_ok() || described.is_some();
        let (id, agent) = match agent {
            _ if is_vendor => (wanted, None),
            Some(agent) => (agent.vendor.clone(), Some(agent.clone())),
            // This lookup fails with an error that suggests similar names.
            None => match ports.vendors.named(wanted.as_str()) {
                Ok(vendor) => (vendor.id(), None),
                Err(error) => {
                    return Err(error.hint("or use the name of an agent of `segue.toml`"));
                }
            },
        };
        if let (Some(project), true) = (&project, agent.is_some() || described.is_some()) {
            trust::require(ports, project).await?;
        }
        let description = project.and_then(|project| project.vendors.get(&id).cloned());
        Self::new(supervisor, (id, description), agent, request.caller.environment.clone())
    }

    pub(super) fn new(
        supervisor: &Arc<Supervisor>,
        (id, description): (VendorId, Option<VendorDescription>),
        agent: Option<ProjectAgent>,
        environment: Environment,
    ) -> Result<Self> {
        let vendors = &supervisor.ports.vendors;
        let vendor = match &description {
            Some(description) => vendors.described(&id, description),
            None => vendors.get(&id)?,
        };
        let (machine, program) = (&supervisor.ports.machine, vendor.launching().program());
        if machine.find_program(&program, &environment).is_none() {
            return Err(Error::vendor(format!("the program of `{id}` is not installed"))
                .caused_by(program.absence())
                .hint(format!("run `segue vendors` to see how `{id}` is installed")));
        }
        Ok(Self { vendor, description, agent, draft: None, environment })
    }

    /// Returns the target for a session that is decided already.
    pub(super) fn drafted(
        supervisor: &Arc<Supervisor>,
        draft: Session,
        environment: Environment,
    ) -> Result<Self> {
        let vendor = (draft.vendor.clone(), draft.description.clone());
        Ok(Self { draft: Some(draft), ..Self::new(supervisor, vendor, None, environment)? })
    }

    pub(super) fn environment(&self) -> &Environment {
        &self.environment
    }

    /// Returns the session that continues the conversation. It has the same folder and permission,
    /// but no setting that only the other vendor understands.
    pub(super) fn session(
        &self,
        supervisor: &Arc<Supervisor>,
        from: &Session,
        name: SessionName,
    ) -> Result<Session> {
        if let Some(draft) = &self.draft {
            return Ok(Session { status: Status::Ended(How::NeverStarted), ..draft.clone() });
        }
        if from.headless && self.vendor.launching().headless().is_none() {
            let error = Error::usage(format!("`{}` cannot run headless", self.vendor.id()));
            return Err(error.hint("choose_method another vendor with `--to`"));
        }
        let agent = self.agent.as_ref();
        let is_same = from.vendor == self.vendor.id();
        let own = || self.environment.clone();
        let environment = agent.map_or_else(own, |agent| agent.environment(&self.environment));
        let settings = match agent {
            Some(agent) => agent.settings(self.description.clone()),
            None => SessionSettings {
                description: self.description.clone(),
                model: from.model.clone().filter(|_| is_same),
                args: if is_same { from.args.clone() } else { Vec::new() },
                ..from.settings()
            },
        };
        let draft = SessionDraft {
            fleet: from.fleet.clone(),
            name,
            vendor: self.vendor.id(),
            cwd: from.cwd.clone(),
            config_dir: self.vendor.launching().config_dir(&environment)?,
            agent: agent.map(|agent| agent.name.clone()).or_else(|| from.agent.clone()),
            settings,
            headless: from.headless,
            parent: None,
            beginning: SessionBeginning::Handoff,
        };
        Ok(create(&supervisor.ports, draft))
    }

    /// Chooses a name that no session of the fleet has. Returns an error if the wanted name is
    /// taken.
    pub(super) async fn name(
        &self,
        supervisor: &Arc<Supervisor>,
        from: &Session,
        wanted: Option<&str>,
    ) -> Result<SessionName> {
        if let Some(draft) = &self.draft {
            return Ok(draft.name.clone());
        }
        let ports = &supervisor.ports;
        if let Some(wanted) = wanted {
            let name = SessionName::parse(wanted)?;
            let is_taken = naming::is_taken(ports, &from.fleet, &name).await?;
            return if is_taken { Err(name_taken(&name, from)) } else { Ok(name) };
        }
        let own = self.agent.as_ref().map(|agent| agent.name.to_string());
        let (name, vendor) = (from.name.as_str(), self.vendor.id());
        let others = rules::naming::names_with_vendor(name, vendor.as_str());
        naming::first_free(ports, &from.fleet, own.into_iter().chain(others)).await
    }
}

fn name_taken(name: &SessionName, from: &Session) -> Error {
    let fleet = &from.fleet;
    Error::conflict(format!("the name `{name}` is taken in fleet `{fleet}`"))
        .hint("choose_method another name with `--name NAME`")
        .hint(format!("run `segue resume {fleet}/{name}` to go on with the session that has it"))
}

/// Returns the full name of the vendor or the agent that a word means.
fn whole_name(
    supervisor: &Arc<Supervisor>,
    project: Option<&Project>,
    word: &str,
) -> Result<String> {
    let built_in: Vec<VendorId> =
        supervisor.ports.vendors.all().iter().map(|vendor| vendor.id()).collect();
    let described = project.map(|project| project.vendors.keys()).into_iter().flatten();
    let vendors = built_in.iter().chain(described).map(VendorId::as_str);
    let agents = project.map(Project::agent_names).unwrap_or_default();
    let names: Vec<&str> = vendors.chain(agents).collect();
    address::whole_name(&names, word)
}
