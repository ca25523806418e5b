//! Decides the agent, folder, vendor, name and permission of a new session.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::api::RunRequest;
use crate::error::{Error, Result};
use crate::flows::create::{SessionBeginning, SessionDraft, create};
use crate::flows::worktrees::{self, WorktreePlan};
use crate::flows::{naming, projects, trust, unattended};
use crate::model::{
    AccountKey, AgentName, Environment, FleetName, How, PROJECT_FILE, Permission, Principal,
    Project, ProjectAgent, RequestKey, RequestStep, Session, SessionId, SessionName,
    SessionSettings, Status, VendorDescription, VendorId, WaitingFor, WorktreeSettings,
};
use crate::ports::{Conflict, Ports, ProgramSpec, Vendor};
use crate::rules::scope::RestrictedAction;
use crate::rules::{self, address, secrets, words};

/// A new session without a name. Everything else is decided.
#[derive(Clone, Debug)]
pub struct RunPlan {
    fleet: FleetName,
    vendor: VendorId,
    cwd: PathBuf,
    config_dir: PathBuf,
    agent: Option<AgentName>,
    settings: SessionSettings,
    headless: bool,
    parent: Option<SessionId>,
    /// The name that the request wants.
    name: Option<SessionName>,
    /// The first message to the agent.
    pub prompt: Option<String>,
    /// The worktree to make before the session starts. Its path is the session's folder.
    pub worktree: Option<WorktreePlan>,
    /// What the caller should know before the agent works.
    pub notices: Vec<String>,
}

/// A session that an earlier attempt of the same request created.
#[derive(Clone, Debug)]
pub struct EarlierRun {
    pub session: SessionId,
    /// Whether its process never ran, or ended with the daemon, before the request was answered.
    pub is_cut_short: bool,
}

/// Returns an error for arguments that the caller may not give, and for an invalid model.
pub fn check(principal: &Principal, request: &RunRequest) -> Result<()> {
    secrets::refuse_in_arguments(&request.args)?;
    principal.allow_arguments(&request.args)?;
    request.model.as_deref().map_or(Ok(()), words::check_model)
}

/// Returns the session that an earlier attempt of the same request created.
pub async fn earlier(ports: &Ports, key: Option<RequestKey>) -> Result<Option<EarlierRun>> {
    let Some(key) = key else { return Ok(None) };
    let created = ports.store.request(key).await?.into_iter().find_map(|step| match step {
        RequestStep::Created { session } => Some(session),
        _ => None,
    });
    let Some(session) = created else { return Ok(None) };
    let found = ports.store.session(session).await?.ok_or_else(|| removed(session))?;
    Ok(Some(EarlierRun { session, is_cut_short: is_cut_short(found.status) }))
}

/// Returns the error for a repeated request whose session was removed meanwhile.
pub fn removed(session: SessionId) -> Error {
    Error::not_found(format!("session `{session}` was started, and has been removed since"))
}

fn is_cut_short(status: Status) -> bool {
    matches!(
        status,
        Status::Ended(How::NeverStarted)
            | Status::Waiting(WaitingFor::Environment)
            | Status::Interrupted
            | Status::Lost
    )
}

/// Decides what a request starts. `request` has the environment of the launch. Records the fleet of
/// the session, and nothing else.
pub async fn plan(ports: &Ports, principal: &Principal, request: &RunRequest) -> Result<RunPlan> {
    plan_for(ports, principal, request, Attendance::Person).await
}

/// Decides what a request starts that no person waits for. Fails if the agent would have to ask a
/// person and cannot.
pub async fn plan_unattended(
    ports: &Ports,
    principal: &Principal,
    request: &RunRequest,
) -> Result<RunPlan> {
    plan_for(ports, principal, request, Attendance::Nobody).await
}

/// Whether a person waits for the session that a request starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Attendance {
    Person,
    Nobody,
}

async fn plan_for(
    ports: &Ports,
    principal: &Principal,
    request: &RunRequest,
    attendance: Attendance,
) -> Result<RunPlan> {
    let cwd = folder(ports, principal, request)?;
    let project = ports.projects.around(&cwd)?;
    let agent = agent(ports, project.as_ref(), request.agent.as_deref()).await?;
    principal.allow_project_arguments(agent.map(|it| it.args.as_slice()).unwrap_or_default())?;
    let id = vendor(ports, request, agent, project.as_ref())?;
    let description = description(ports, project.as_ref(), &id).await?;
    let vendor = projects::vendor(ports, &id, description.as_ref())?;
    principal.allow_vendor((&id, description.as_ref()), vendor.capabilities().permission)?;
    let wanted = request.permission.or_else(|| agent.map(|agent| agent.permission));
    let permission = principal.permission(wanted)?;
    check_headless(request, vendor.as_ref())?;
    if request.mcp || agent.is_some_and(|agent| agent.mcp) {
        projects::check_mcp(vendor.as_ref())?;
    }
    let environment = &request.caller.environment;
    let environment =
        agent.map_or_else(|| environment.clone(), |agent| agent.environment(environment));
    let notice = match (request.headless, attendance) {
        (false, _) => None,
        (true, Attendance::Person) => {
            unattended::notice(ports, vendor.as_ref(), permission, &environment)
        }
        (true, Attendance::Nobody) => {
            unattended::check(ports, vendor.as_ref(), permission, &environment)?;
            None
        }
    };
    let worktree =
        worktree(ports, principal, request, (&cwd, project.as_ref(), agent, &id)).await?;
    Ok(RunPlan {
        name: wanted_name(principal, request, project.as_ref())?,
        vendor: id,
        config_dir: vendor.launching().config_dir(&environment)?,
        agent: agent.map(|agent| agent.name.clone()),
        settings: settings(request, agent, (description, permission)),
        headless: request.headless,
        parent: principal.parent(),
        prompt: request.prompt.clone().or_else(|| agent.and_then(|it| it.prompt.clone())),
        cwd: worktree.as_ref().map_or(cwd, |plan| plan.worktree.path.clone()),
        worktree,
        notices: notice.into_iter().collect(),
        // Comes last, because it is the first step that records something.
        fleet: fleet(ports, principal, project.as_ref()).await?,
    })
}

impl RunPlan {
    pub fn fleet(&self) -> &FleetName {
        &self.fleet
    }

    /// Returns the account that the session uses.
    pub fn account(&self) -> AccountKey {
        AccountKey { vendor: self.vendor.clone(), config_dir: self.config_dir.clone() }
    }

    /// Returns the agent of the project file. Fails if the request named none.
    pub fn agent_name(&self) -> Result<&AgentName> {
        self.agent.as_ref().ok_or_else(|| Error::usage("no agent of the project file is named"))
    }

    /// Returns the session with a name that is free now. Another request can still take the name
    /// first.
    pub async fn session(&self, ports: &Ports) -> Result<Session> {
        let draft = SessionDraft {
            fleet: self.fleet.clone(),
            name: self.free_name(ports).await?,
            vendor: self.vendor.clone(),
            cwd: self.cwd.clone(),
            config_dir: self.config_dir.clone(),
            agent: self.agent.clone(),
            settings: self.settings.clone(),
            headless: self.headless,
            parent: self.parent,
            beginning: SessionBeginning::Launch,
        };
        Ok(create(ports, draft))
    }

    /// Returns whether the start failed because another request took the name, and another name may
    /// be tried.
    pub fn may_try_another_name(&self, error: &Error) -> bool {
        self.name.is_none() && is_name_taken(error)
    }

    async fn free_name(&self, ports: &Ports) -> Result<SessionName> {
        if let Some(name) = &self.name {
            return Ok(name.clone());
        }
        // The agents of the project keep their names for the user.
        let own = self.agent.as_ref().filter(|_| self.parent.is_none()).map(AgentName::to_string);
        let suggestions = rules::naming::suggestions(ports.clock.random_id());
        naming::first_free(ports, &self.fleet, own.into_iter().chain(suggestions)).await
    }
}

/// Returns whether a session could not be created because its name is taken.
pub fn is_name_taken(error: &Error) -> bool {
    matches!(error.conflict.as_deref(), Some(Conflict::NameTaken { .. }))
}

fn folder(ports: &Ports, principal: &Principal, request: &RunRequest) -> Result<PathBuf> {
    let own = &request.caller.cwd;
    let cwd = request.cwd.as_ref().map_or_else(|| own.clone(), |cwd| own.join(cwd));
    let cwd = ports.machine.folder(&cwd)?.real_path;
    principal.allow_folder(&cwd)?;
    Ok(cwd)
}

/// Plans the worktree that the request or the project file wants. Without an agent of the project,
/// the vendor is the agent for which it is made.
async fn worktree(
    ports: &Ports,
    principal: &Principal,
    request: &RunRequest,
    (cwd, project, agent, vendor): (&Path, Option<&Project>, Option<&ProjectAgent>, &VendorId),
) -> Result<Option<WorktreePlan>> {
    let order = match &request.worktree {
        Some(wanted) => Some(wanted.order()?),
        None => agent.and_then(|agent| agent.worktree.clone()),
    };
    let Some(order) = order else { return Ok(None) };
    principal.allow(RestrictedAction::MakeWorktree)?;
    let named = request.worktree.as_ref().and_then(|wanted| wanted.agent.clone());
    let name = match named.or_else(|| agent.map(|agent| agent.name.clone())) {
        Some(name) => name,
        None => AgentName::parse(vendor.as_str())?,
    };
    let settings = match project {
        Some(project) if project.worktrees != WorktreeSettings::default() => {
            trust::require(ports, project).await?;
            project.worktrees.clone()
        }
        _ => WorktreeSettings::default(),
    };
    worktrees::plan(ports, &order, &name, (cwd, &settings)).await.map(Some)
}

async fn agent<'a>(
    ports: &Ports,
    project: Option<&'a Project>,
    name: Option<&str>,
) -> Result<Option<&'a ProjectAgent>> {
    let Some(name) = name else { return Ok(None) };
    let project = project.ok_or_else(|| {
        Error::config(format!(
            "there is no agent `{name}`: no `{PROJECT_FILE}` is around this folder"
        ))
        .hint("run `segue init` to write one, or use `--vendor`")
    })?;
    let agent = project.agent(name)?;
    trust::require(ports, project).await?;
    Ok(Some(agent))
}

fn vendor(
    ports: &Ports,
    request: &RunRequest,
    agent: Option<&ProjectAgent>,
    project: Option<&Project>,
) -> Result<VendorId> {
    if let Some(word) = &request.vendor {
        let described = project.map(|project| project.vendors.keys()).into_iter().flatten();
        let described: Vec<&str> = described.map(VendorId::as_str).collect();
        return vendor_named(ports, &described, word);
    }
    if let Some(agent) = agent {
        return Ok(agent.vendor.clone());
    }
    match ports.projects.default_vendor()? {
        Some(vendor) => Ok(vendor),
        None => only_installed_vendor(ports, &request.caller.environment),
    }
}

/// Returns the vendor that a word means: one that the project file defines, or a built-in one.
fn vendor_named(ports: &Ports, described: &[&str], word: &str) -> Result<VendorId> {
    let built_in: Vec<VendorId> = ports.vendors.all().iter().map(|it| it.id()).collect();
    let built_in = built_in.iter().map(VendorId::as_str);
    let names: Vec<&str> = described.iter().copied().chain(built_in).collect();
    let name = address::whole_name(&names, word)?;
    if described.contains(&name.as_str()) {
        return Ok(VendorId::new(name));
    }
    Ok(ports.vendors.named(&name)?.id())
}

fn only_installed_vendor(ports: &Ports, environment: &Environment) -> Result<VendorId> {
    let is_segue =
        |it: &Arc<dyn Vendor>| matches!(it.launching().program(), ProgramSpec::Segue { .. });
    let (built_in, others): (Vec<_>, Vec<_>) = ports.vendors.all().into_iter().partition(is_segue);
    let is_installed = |it: &Arc<dyn Vendor>| {
        ports.machine.find_program(&it.launching().program(), environment).is_some()
    };
    let installed: Vec<VendorId> =
        others.iter().filter(|it| is_installed(it)).map(|it| it.id()).collect();
    one_vendor(&installed, built_in.first().map(|it| it.id()))
}

/// Chooses the only installed vendor. If none is installed, chooses the vendor that is part of
/// Segue.
fn one_vendor(installed: &[VendorId], built_in: Option<VendorId>) -> Result<VendorId> {
    match installed {
        [] => built_in.ok_or_else(|| {
            Error::vendor("no agent CLI is installed").hint("install one, then try again")
        }),
        [only] => Ok(only.clone()),
        several => {
            let names: Vec<_> = several.iter().map(VendorId::as_str).collect();
            Err(Error::usage("several agent CLIs are installed: which one?")
                .hint(format!("add `--vendor` with one of: {}", names.join(", "))))
        }
    }
}

/// Returns the description of a vendor that the project file defines. `None` if the vendor is built
/// in. The project file must be trusted.
async fn description(
    ports: &Ports,
    project: Option<&Project>,
    vendor: &VendorId,
) -> Result<Option<VendorDescription>> {
    let Some(project) = project else { return Ok(None) };
    let Some(description) = project.vendors.get(vendor) else { return Ok(None) };
    trust::require(ports, project).await?;
    Ok(Some(description.clone()))
}

fn check_headless(request: &RunRequest, vendor: &dyn Vendor) -> Result<()> {
    if request.headless && vendor.launching().headless().is_none() {
        let error = Error::usage(format!("`{}` cannot run headless", vendor.id()));
        return Err(error.hint("leave `--headless` out"));
    }
    if request.headless && request.prompt.is_none() {
        return Err(Error::usage("a headless run needs a prompt").hint("add it, or `-` for stdin"));
    }
    Ok(())
}

/// Returns the name that the request wants. An agent may not use the names of the project's agents.
fn wanted_name(
    principal: &Principal,
    request: &RunRequest,
    project: Option<&Project>,
) -> Result<Option<SessionName>> {
    let Some(name) = &request.name else { return Ok(None) };
    if let (Principal::Agent(_), Some(project)) = (principal, project) {
        project.refuse_name_of_agent(name)?;
    }
    SessionName::parse(name).map(Some)
}

/// Returns the settings of the agent, overridden by those of the request.
fn settings(
    request: &RunRequest,
    agent: Option<&ProjectAgent>,
    (description, permission): (Option<VendorDescription>, Permission),
) -> SessionSettings {
    let own = agent.map(|agent| agent.settings(None)).unwrap_or_default();
    let args = own.args.iter().chain(&request.args).cloned().collect();
    let model = request.model.clone().or(own.model);
    let mcp = own.mcp || request.mcp;
    SessionSettings { description, model, permission, args, mcp, ..own }
}

async fn fleet(
    ports: &Ports,
    principal: &Principal,
    project: Option<&Project>,
) -> Result<FleetName> {
    match principal {
        // An agent creates no fleets, because it would take their names from others.
        Principal::Agent(own) => Ok(own.fleet.clone()),
        Principal::User | Principal::Token(_) => projects::ensure_fleet(ports, project).await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::Caller;
    use crate::error::Kind;
    use crate::flows::samples::project;

    fn request() -> RunRequest {
        let environment = Environment::new([("A".to_owned(), "1".to_owned())]);
        RunRequest {
            caller: Caller { cwd: Path::new("/work").to_owned(), environment },
            ..RunRequest::default()
        }
    }

    #[test]
    fn only_installed_vendor_is_chosen_and_several_are_a_usage_error() {
        let id = VendorId::new;
        let table = [
            (vec![], Some("own"), Ok("own")),
            (vec!["one"], Some("own"), Ok("one")),
            (vec!["one"], None, Ok("one")),
            (vec![], None, Err(Kind::Vendor)),
            (vec!["one", "two"], Some("own"), Err(Kind::Usage)),
        ];
        for (installed, built_in, expected) in table {
            let found: Vec<VendorId> = installed.iter().map(|it| VendorId::new(*it)).collect();
            let chosen = one_vendor(&found, built_in.map(id));
            let chosen = chosen.map_err(|error| error.kind);
            assert_eq!(chosen, expected.map(id), "{installed:?} {built_in:?}");
        }
    }

    #[test]
    fn request_overrides_the_model_of_the_agent_and_adds_arguments() {
        let mut project = project(&["coder"], &[("coder", "one")]);
        project.agents[0].model = Some("small".to_owned());
        project.agents[0].args = vec!["-a".to_owned()];
        let wanted = RunRequest {
            model: Some("large".to_owned()),
            args: vec!["-b".to_owned()],
            ..request()
        };
        let agent = Some(&project.agents[0]);
        let plain = settings(&request(), agent, (None, Permission::Ask));
        assert_eq!((plain.model.as_deref(), plain.args), (Some("small"), vec!["-a".to_owned()]));
        let own = settings(&wanted, agent, (None, Permission::Auto));
        assert_eq!(own.model.as_deref(), Some("large"));
        assert_eq!((own.args.join(" ").as_str(), own.permission), ("-a -b", Permission::Auto));
        let without = settings(&wanted, None, (None, Permission::Ask));
        assert_eq!((without.args.len(), without.model.as_deref()), (1, Some("large")));
    }

    #[test]
    fn run_is_cut_short_only_if_no_process_can_be_running() {
        let table = [
            (Status::Ended(How::NeverStarted), true),
            (Status::Interrupted, true),
            (Status::Lost, true),
            (Status::Starting, false),
            (Status::Idle, false),
            (Status::Ended(How::Stopped), false),
            (Status::Ended(How::Quit), false),
        ];
        for (status, expected) in table {
            assert_eq!(is_cut_short(status), expected, "{status:?}");
        }
    }
}
