//! The project of a request, its fleet, and the sessions of its agents.

use std::path::Path;
use std::sync::Arc;

use crate::api::{AgentKindList, AgentKindView, AgentKindsRequest};
use crate::error::{Error, Result};
use crate::flows::create::{SessionBeginning, SessionDraft, create};
use crate::model::{
    AgentName, Environment, Fleet, FleetName, FleetScale, PROJECT_FILE, Principal, Project,
    ProjectAgent, Session, SessionName, VendorDescription, VendorId,
};
use crate::ports::{
    Change, Commit, McpClient, Ports, ProjectFile, SessionQuery, Vendor, WorktreeQuery,
};
use crate::rules::scale;
use crate::rules::scope::RestrictedAction;

/// Returns an error if the vendor's program cannot use MCP servers.
pub fn check_mcp(vendor: &dyn Vendor) -> Result<()> {
    mcp_client(vendor).map(drop)
}

/// Returns how the vendor's program uses MCP servers.
pub(crate) fn mcp_client(vendor: &dyn Vendor) -> Result<&dyn McpClient> {
    vendor.mcp().ok_or_else(|| {
        let id = vendor.id();
        Error::config(format!("agents of the vendor `{id}` cannot use MCP servers"))
            .hint("leave out `mcp`: such an agent can still run `segue` as a command")
    })
}

/// The fleet of sessions that belong to no project.
const NO_PROJECT: &str = "default";

/// A project, and the file that it was read from.
#[derive(Clone, Debug)]
pub struct OpenProject {
    pub project: Project,
    file: Arc<dyn ProjectFile>,
}

impl OpenProject {
    /// Reads the project around a folder. `fleet` overrides the project's own fleet name.
    pub fn around(ports: &Ports, cwd: &Path, fleet: Option<&str>) -> Result<Self> {
        let cwd = ports.machine.folder(cwd)?.real_path;
        let root = ports.projects.root(&cwd).ok_or_else(|| {
            Error::config(format!("no `{PROJECT_FILE}` is in this folder or above it"))
                .hint("run `segue init` to write one")
        })?;
        let file = ports.projects.read(&root)?;
        let mut project = file.project(&FleetScale::default())?;
        if let Some(name) = fleet {
            project.fleet = FleetName::parse(name)?;
        }
        Ok(Self { project, file })
    }

    /// Returns the project with the number of agents of each kind that `segue scale` has set, and with
    /// the branches that the worktrees of its agents have now.
    /// `wanted` overrides the number of one kind.
    pub async fn scaled(&self, ports: &Ports, wanted: Option<(AgentName, u32)>) -> Result<Project> {
        let Project { fleet, kinds, claims, .. } = &self.project;
        let mut counts = ports.store.counts(fleet).await?;
        counts.extend(wanted);
        // Ignore the stored numbers of kinds that are no longer in the file.
        counts.retain(|kind, _| kinds.contains(kind));
        let sessions = ports.store.sessions(&SessionQuery::fleet(fleet)).await?;
        let names = sessions.into_iter().map(|it| it.session.name_for_up().to_string());
        let sessions = names.filter(|name| !scale::is_separate_kind(kinds, name)).collect();
        let worktrees = ports.store.worktrees(&WorktreeQuery::default()).await?;
        let used = worktrees.into_iter().filter(|it| it.session.is_some());
        let branches = used.map(|it| (it.path, it.branch)).collect();
        let scaled = self.file.project(&FleetScale { counts, sessions, branches })?;
        // The project counts as trusted with these claims.
        Ok(Project { fleet: fleet.clone(), claims: claims.clone(), ..scaled })
    }
}

/// Returns the agents of the project file around a folder. Empty if the folder is in no project.
pub fn agent_kinds(
    ports: &Ports,
    principal: &Principal,
    request: &AgentKindsRequest,
) -> Result<AgentKindList> {
    principal.allow(RestrictedAction::Tasks)?;
    let folder = ports.machine.folder(&request.folder)?.real_path;
    let Some(project) = ports.projects.around(&folder)? else {
        return Ok(AgentKindList::default());
    };
    let view = |kind: &AgentName| {
        // A kind with a count of 0 has no agent.
        let agent =
            project.agents.iter().find(|it| scale::is_called(it.name.as_str(), kind.as_str()))?;
        Some(AgentKindView { name: kind.clone(), vendor: agent.vendor.clone() })
    };
    let agents = project.kinds.iter().filter_map(view).collect();
    Ok(AgentKindList { project: Some(project.folder), agents })
}

/// Returns the fleet of a project, or of sessions without a project.
pub fn fleet(project: Option<&Project>) -> Result<Fleet> {
    let name = match project {
        Some(project) => project.fleet.clone(),
        None => FleetName::parse(NO_PROJECT)?,
    };
    Ok(Fleet { name, folder: project.map(|project| project.folder.clone()) })
}

/// Records the fleet of a project, so that it exists before its first session. Returns its name.
pub async fn ensure_fleet(ports: &Ports, project: Option<&Project>) -> Result<FleetName> {
    let fleet = fleet(project)?;
    let name = fleet.name.clone();
    if ports.store.fleet(&name).await?.as_ref() != Some(&fleet) {
        let changes = vec![Change::PutFleet(fleet)];
        ports.store.commit(Commit { changes, events: Vec::new() }).await?;
    }
    Ok(name)
}

/// Returns a vendor: one that a project file describes, or a built-in one.
pub fn vendor(
    ports: &Ports,
    id: &VendorId,
    description: Option<&VendorDescription>,
) -> Result<Arc<dyn Vendor>> {
    match description {
        Some(description) => Ok(ports.vendors.described(id, description)),
        None => ports.vendors.get(id),
    }
}

/// Returns the session to create for an agent of a project.
pub fn agent_session(
    ports: &Ports,
    project: &Project,
    agent: &ProjectAgent,
    environment: &Environment,
) -> Result<Session> {
    let description = project.vendors.get(&agent.vendor).cloned();
    let vendor = vendor(ports, &agent.vendor, description.as_ref())?;
    let draft = SessionDraft {
        fleet: project.fleet.clone(),
        name: SessionName::parse(agent.name.as_str())?,
        vendor: agent.vendor.clone(),
        cwd: ports.machine.folder(&project.folder)?.real_path,
        config_dir: vendor.launching().config_dir(&agent.environment(environment))?,
        agent: Some(agent.name.clone()),
        settings: agent.settings(description),
        headless: false,
        parent: None,
        beginning: SessionBeginning::Launch,
    };
    Ok(create(ports, draft))
}
