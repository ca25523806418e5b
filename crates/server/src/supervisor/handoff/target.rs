//! Where a conversation is carried to.

use std::sync::Arc;

use segue_core::api::HandoffRequest;
use segue_core::model::{
    Environment, How, Session, SessionId, SessionName, Status, VendorDescription, VendorId,
};
use segue_core::ports::Vendor;
use segue_core::rules::address;
use segue_core::rules::naming;
use segue_core::{Error, Result};

use super::super::Supervisor;
use super::super::run::with_own;
use crate::project::{Agent, Project};
use crate::routes::trust;

/// The vendor that goes on, and the agent of the project that it is for.
#[derive(Clone, Debug)]
pub(super) struct Target {
    pub(super) vendor: Arc<dyn Vendor>,
    description: Option<VendorDescription>,
    agent: Option<Agent>,
    /// The session to be, where it is decided already.
    draft: Option<Session>,
    environment: Environment,
}

impl Target {
    /// Finds the vendor or the agent that somebody named; its program has to be there.
    pub(super) async fn named(
        supervisor: &Arc<Supervisor>,
        request: &HandoffRequest,
    ) -> Result<Self> {
        let ports = &supervisor.ports;
        let cwd = ports.machine.folder(&request.caller.cwd)?.real_path;
        let project = Project::around(&cwd, ports.vendors.as_ref())?;
        let wanted = VendorId::new(whole_name(supervisor, project.as_ref(), &request.to)?);
        let described = project.as_ref().and_then(|project| project.vendors.get(&wanted));
        let agent = project.as_ref().and_then(|project| project.whole_agent(wanted.as_str()).ok());
        let is_vendor = ports.vendors.get(&wanted).is_ok() || described.is_some();
        let (id, agent) = match agent {
            _ if is_vendor => (wanted, None),
            Some(agent) => (agent.vendor.clone(), Some(agent.clone())),
            // Looked up as a person's word, so that the error names what looks like it.
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
        agent: Option<Agent>,
        environment: Environment,
    ) -> Result<Self> {
        let vendors = &supervisor.ports.vendors;
        let vendor = match &description {
            Some(description) => vendors.described(&id, description),
            None => vendors.get(&id)?,
        };
        let machine = &supervisor.ports.machine;
        if machine.find_program(&vendor.program(), &environment).is_none() {
            return Err(Error::vendor(format!("the program of `{id}` is not installed"))
                .caused_by(vendor.program().absence())
                .hint(format!("run `segue vendors` to see how `{id}` is installed")));
        }
        Ok(Self { vendor, description, agent, draft: None, environment })
    }

    /// Returns the target that is this very session.
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

    /// Makes the session in which the conversation goes on: the same folder, the same rights, and
    /// nothing that only the other vendor understands.
    pub(super) fn session(
        &self,
        supervisor: &Arc<Supervisor>,
        from: &Session,
        name: SessionName,
    ) -> Result<Session> {
        if let Some(draft) = &self.draft {
            return Ok(Session { status: Status::Ended(How::NeverStarted), ..draft.clone() });
        }
        if from.headless && !self.vendor.capabilities().headless {
            let error = Error::usage(format!("`{}` cannot run headless", self.vendor.id()));
            return Err(error.hint("choose another vendor with `--to`"));
        }
        let agent = self.agent.as_ref();
        let is_same = from.vendor == self.vendor.id();
        let environment = with_own(&self.environment, agent);
        let now = supervisor.ports.clock.now();
        let own_model = from.model.clone().filter(|_| is_same);
        let own_args = if is_same { from.args.clone() } else { Vec::new() };
        Ok(Session {
            id: SessionId::new(supervisor.ports.clock.new_id()),
            name,
            agent: agent.map(|agent| agent.name.clone()).or_else(|| from.agent.clone()),
            vendor: self.vendor.id(),
            description: self.description.clone(),
            config_dir: self.vendor.config_dir(&environment)?,
            model: agent.map_or(own_model, |agent| agent.model.clone()),
            permission: agent.map_or(from.permission, |agent| agent.permission),
            instructions: agent.map_or(from.instructions.clone(), |it| it.instructions.clone()),
            restart: agent.map_or(from.restart, |agent| agent.restart),
            archive: agent.map_or(from.archive, |agent| agent.archive),
            args: agent.map_or(own_args, |agent| agent.args.clone()),
            env: agent.map_or_else(|| from.env.clone(), |agent| agent.env.clone()),
            parent: None,
            // Not a session that somebody is done with: a resume of all brings it up.
            status: Status::Ended(How::NeverStarted),
            spoke: false,
            created_at: now,
            updated_at: now,
            ..from.clone()
        })
    }

    /// Chooses a name that no session of the fleet has.
    pub(super) async fn name(
        &self,
        supervisor: &Arc<Supervisor>,
        from: &Session,
        wanted: Option<&str>,
    ) -> Result<SessionName> {
        if let Some(draft) = &self.draft {
            return Ok(draft.name.clone());
        }
        let sessions = supervisor.ports.store.sessions().await?;
        let taken = |name: &str| {
            sessions
                .iter()
                .any(|it| it.session.fleet == from.fleet && it.session.name.as_str() == name)
        };
        if let Some(wanted) = wanted {
            let name = SessionName::parse(wanted)?;
            return if taken(wanted) { Err(name_taken(&name, from)) } else { Ok(name) };
        }
        let own = self.agent.as_ref().map(|agent| agent.name.to_string());
        let vendor = self.vendor.id();
        let free = own
            .filter(|name| !taken(name))
            .unwrap_or_else(|| naming::with_vendor(from.name.as_str(), vendor.as_str(), taken));
        SessionName::parse(&free)
    }
}

fn name_taken(name: &SessionName, from: &Session) -> Error {
    let fleet = &from.fleet;
    Error::conflict(format!("the name `{name}` is taken in fleet `{fleet}`"))
        .hint("choose another name with `--name NAME`")
        .hint(format!("run `segue resume {fleet}/{name}` to go on with the session that has it"))
}

/// Returns the whole name of the vendor or the agent that a person means, if the word means one.
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
