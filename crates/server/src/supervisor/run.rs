//! Starting a new session.

use std::path::{Path, PathBuf};

use segue_core::api::{RunRequest, SessionView};
use segue_core::flows::create::{SessionBeginning, SessionDraft, create};
use segue_core::flows::look::Asked;
use segue_core::flows::{SessionState, naming};
use segue_core::model::{
    AgentName, Environment, Fleet, FleetName, How, Permission, Principal, RequestKey, RequestStep,
    Session, SessionId, SessionName, SessionSettings, Status, VendorDescription, VendorId,
    WaitingFor,
};
use segue_core::ports::{Change, Commit, Conflict, Ports, ProgramSpec, SessionQuery, Vendor};
use segue_core::rules::accounts::Wanted;
use segue_core::rules::{self, address, secrets, words};
use segue_core::{Error, Result};
use std::sync::Arc;

use super::bulk::bring_back;
use super::{SessionRequest, Start, Supervisor, Wish, ask, calling};
use crate::project::{Agent, Project, default_vendor};
use crate::routes::trust;

/// The fleet of sessions that belong to no project.
const NO_PROJECT: &str = "default";
/// How many suggested names are tried if other requests take them.
const NAMES_TRIED: usize = 5;

/// Starts a new session for a user or an agent.
pub(crate) async fn run(
    supervisor: &Arc<Supervisor>,
    principal: &Principal,
    (config_file, key): (&Path, Option<RequestKey>),
    mut request: RunRequest,
) -> Result<SessionView> {
    secrets::refuse_in_arguments(&request.args)?;
    principal.allow_arguments(&request.args)?;
    request.model.as_deref().map_or(Ok(()), words::check_model)?;
    let ports = &supervisor.ports;
    let sent = request.caller.environment;
    request.caller.environment = calling::environment(ports, principal, sent).await?;
    if let Some(session) = run_before(supervisor, key, &request.caller.environment).await? {
        return Ok(session);
    }
    let cwd =
        request.cwd.as_ref().map_or(request.caller.cwd.clone(), |cwd| request.caller.cwd.join(cwd));
    let cwd = ports.machine.folder(&cwd)?.real_path;
    principal.allow_folder(&cwd)?;
    let project = Project::around(&cwd, ports.vendors.as_ref())?;
    let agent = agent(ports, project.as_ref(), request.agent.as_deref()).await?;
    let wanted = request.permission.or_else(|| agent.map(|agent| agent.permission));
    principal.allow_project_arguments(agent.map(|it| it.args.as_slice()).unwrap_or_default())?;
    let vendor = vendor(ports, &request, agent, (config_file, project.as_ref()))?;
    let description = description(ports, project.as_ref(), &vendor).await?;
    let effect = vendor_of(ports, &vendor, description.as_ref())?.capabilities().permission;
    principal.allow_vendor((&vendor, description.as_ref()), effect)?;
    let draft = Draft {
        vendor,
        description,
        permission: principal.permission(wanted)?,
        parent: principal.parent(),
        cwd,
        // Comes last, because it is the first step that records something.
        fleet: match principal {
            // An agent creates no fleets, because it would take their names from others.
            Principal::Agent(own) => own.fleet.clone(),
            Principal::User | Principal::Token(_) => ensure_fleet(ports, project.as_ref()).await?,
        },
    };
    if let (Principal::Agent(_), Some(name), Some(project)) = (principal, &request.name, &project) {
        refuse_name_of_agent(project, name)?;
    }
    let message = request.prompt.clone().or_else(|| agent.and_then(|it| it.prompt.clone()));
    for _ in 0..NAMES_TRIED {
        let own_name = agent.map(|it| &it.name).filter(|_| principal.parent().is_none());
        let name = name(ports, &draft.fleet, &request, own_name).await?;
        let session = session(ports, &draft, name, &request, agent)?;
        let environment = request.caller.environment.clone();
        let wish = Wish::now(Wanted::One);
        let start = Start { message: message.clone(), environment, wish, request: key };
        let inbox = supervisor.adopt_new(SessionState::new(session));
        match ask(&inbox, |reply| SessionRequest::Start { start: Box::new(start), reply }).await {
            // Another request took the suggested name meanwhile.
            Err(error) if is_name_taken(&error) && request.name.is_none() => {}
            result => return result,
        }
    }
    Err(Error::conflict("no free name was found").hint("give the session a name with `--name`"))
}

pub(super) fn is_name_taken(error: &Error) -> bool {
    matches!(error.conflict.as_deref(), Some(Conflict::NameTaken { .. }))
}

/// Returns the session that an earlier attempt of the same request created. Starts it if its
/// process never ran because the daemon died.
async fn run_before(
    supervisor: &Arc<Supervisor>,
    key: Option<RequestKey>,
    environment: &Environment,
) -> Result<Option<SessionView>> {
    let Some(key) = key else { return Ok(None) };
    let ports = &supervisor.ports;
    let created = ports.store.request(key).await?.into_iter().find_map(|step| match step {
        RequestStep::Created { session } => Some(session),
        _ => None,
    });
    let Some(id) = created else { return Ok(None) };
    let gone = || Error::not_found(format!("session `{id}` was started, and is removed since"));
    let found = ports.store.session(id).await?.ok_or_else(gone)?;
    let is_cut_short = matches!(
        found.status,
        Status::Ended(How::NeverStarted) | Status::Waiting(WaitingFor::Environment) | Status::Lost
    );
    if is_cut_short {
        let start = (Asked::ByName, Wish::now(Wanted::One));
        bring_back(supervisor, id, start, (environment.clone(), None)).await?;
    }
    let sessions = ports.store.sessions(&SessionQuery::id(id)).await?;
    Ok(Some(supervisor.view(sessions.first().ok_or_else(gone)?)))
}

/// The properties of a session that are decided before its name.
struct Draft {
    fleet: FleetName,
    vendor: VendorId,
    description: Option<VendorDescription>,
    permission: Permission,
    parent: Option<SessionId>,
    cwd: PathBuf,
}

async fn agent<'a>(
    ports: &Ports,
    project: Option<&'a Project>,
    name: Option<&str>,
) -> Result<Option<&'a Agent>> {
    let Some(name) = name else { return Ok(None) };
    let project = project.ok_or_else(|| {
        Error::config(format!("there is no agent `{name}`: no `segue.toml` is around this folder"))
            .hint("run `segue init` to write one, or use `--vendor`")
    })?;
    let agent = project.agent(name)?;
    trust::require(ports, project).await?;
    Ok(Some(agent))
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

fn vendor_of(
    ports: &Ports,
    id: &VendorId,
    description: Option<&VendorDescription>,
) -> Result<Arc<dyn Vendor>> {
    match description {
        Some(description) => Ok(ports.vendors.described(id, description)),
        None => ports.vendors.get(id),
    }
}

/// Records the fleet, so that it exists before its first session.
pub(crate) async fn ensure_fleet(ports: &Ports, project: Option<&Project>) -> Result<FleetName> {
    let name = match project {
        Some(project) => project.fleet.clone(),
        None => FleetName::parse(NO_PROJECT)?,
    };
    let fleet = Fleet { name, folder: project.map(|project| project.folder.clone()) };
    let name = fleet.name.clone();
    if ports.store.fleet(&name).await?.as_ref() != Some(&fleet) {
        let changes = vec![Change::PutFleet(fleet)];
        ports.store.commit(Commit { changes, events: Vec::new() }).await?;
    }
    Ok(name)
}

fn vendor(
    ports: &Ports,
    request: &RunRequest,
    agent: Option<&Agent>,
    (config_file, project): (&Path, Option<&Project>),
) -> Result<VendorId> {
    if let Some(word) = &request.vendor {
        let described = project.map(|project| project.vendors.keys()).into_iter().flatten();
        let described: Vec<&str> = described.map(VendorId::as_str).collect();
        return vendor_named(ports, &described, word);
    }
    if let Some(agent) = agent {
        return Ok(agent.vendor.clone());
    }
    if let Some(vendor) = default_vendor(config_file, ports.vendors.as_ref())? {
        return Ok(vendor);
    }
    only_installed(ports, &request.caller.environment)
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

/// Returns the only installed vendor. If none is installed, returns the vendor that is part of
/// Segue.
fn only_installed(ports: &Ports, environment: &Environment) -> Result<VendorId> {
    let all = ports.vendors.all();
    let program = |it: &&Arc<dyn Vendor>| it.launching().program();
    let built_in = |it: &&Arc<dyn Vendor>| matches!(program(it), ProgramSpec::Itself { .. });
    let installed =
        |it: &&Arc<dyn Vendor>| ports.machine.find_program(&program(it), environment).is_some();
    let others: Vec<_> = all.iter().filter(|it| !built_in(it)).filter(installed).collect();
    match others.as_slice() {
        [] => all.iter().find(built_in).map(|it| it.id()).ok_or_else(|| {
            Error::vendor("no agent CLI is installed").hint("install one, then try again")
        }),
        [only] => Ok(only.id()),
        several => {
            let names: Vec<_> = several.iter().map(|it| it.id().to_string()).collect();
            Err(Error::usage("several agent CLIs are installed: which one?")
                .hint(format!("add `--vendor` with one of: {}", names.join(", "))))
        }
    }
}

/// Returns an error if the name belongs to an agent of the project file.
fn refuse_name_of_agent(project: &Project, name: &str) -> Result<()> {
    if project.agents.iter().all(|agent| agent.name.as_str() != name) {
        return Ok(());
    }
    Err(Error::usage(format!("`{name}` is the name of an agent in `segue.toml`"))
        .hint("use another `--name`: an agent's sessions do not take the names of the project's"))
}

async fn name(
    ports: &Ports,
    fleet: &FleetName,
    request: &RunRequest,
    agent: Option<&AgentName>,
) -> Result<SessionName> {
    if let Some(name) = &request.name {
        return SessionName::parse(name);
    }
    let own = agent.map(AgentName::to_string);
    let suggestions = rules::naming::suggestions(ports.clock.random_id());
    naming::first_free(ports, fleet, own.into_iter().chain(suggestions)).await
}

fn session(
    ports: &Ports,
    draft: &Draft,
    name: SessionName,
    request: &RunRequest,
    agent: Option<&Agent>,
) -> Result<Session> {
    let vendor = vendor_of(ports, &draft.vendor, draft.description.as_ref())?;
    if request.headless && vendor.launching().headless().is_none() {
        let error = Error::usage(format!("`{}` cannot run headless", draft.vendor));
        return Err(error.hint("leave `--headless` out"));
    }
    if request.headless && request.prompt.is_none() {
        return Err(Error::usage("a headless run needs a prompt").hint("add it, or `-` for stdin"));
    }
    let environment = with_own(&request.caller.environment, agent);
    let draft = SessionDraft {
        fleet: draft.fleet.clone(),
        name,
        vendor: draft.vendor.clone(),
        cwd: draft.cwd.clone(),
        config_dir: vendor.launching().config_dir(&environment)?,
        agent: agent.map(|agent| agent.name.clone()),
        settings: settings(draft, request, agent),
        headless: request.headless,
        parent: draft.parent,
        beginning: SessionBeginning::Launch,
    };
    Ok(create(ports, draft))
}

/// Returns the settings of the agent, with what the request says instead.
fn settings(draft: &Draft, request: &RunRequest, agent: Option<&Agent>) -> SessionSettings {
    let own = agent.map(|agent| agent.settings(None)).unwrap_or_default();
    let args = own.args.iter().chain(&request.args).cloned().collect();
    SessionSettings {
        description: draft.description.clone(),
        model: request.model.clone().or(own.model),
        permission: draft.permission,
        args,
        ..own
    }
}

/// Adds the environment variables that the project file sets for an agent. One of them may set the
/// vendor's config directory.
pub(super) fn with_own(caller: &Environment, agent: Option<&Agent>) -> Environment {
    let mut environment = caller.clone();
    for (name, value) in agent.iter().flat_map(|agent| &agent.env) {
        environment.set(name, value);
    }
    environment
}

/// Returns the session to create for an agent of the project.
pub(crate) fn agent_session(
    ports: &Ports,
    project: &Project,
    fleet: &FleetName,
    agent: &Agent,
    environment: &Environment,
) -> Result<Session> {
    let description = project.vendors.get(&agent.vendor).cloned();
    let vendor = vendor_of(ports, &agent.vendor, description.as_ref())?;
    let draft = SessionDraft {
        fleet: fleet.clone(),
        name: SessionName::parse(AgentName::as_str(&agent.name))?,
        vendor: agent.vendor.clone(),
        cwd: ports.machine.folder(&project.folder)?.real_path,
        config_dir: vendor.launching().config_dir(&with_own(environment, Some(agent)))?,
        agent: Some(agent.name.clone()),
        settings: agent.settings(description),
        headless: false,
        parent: None,
        beginning: SessionBeginning::Launch,
    };
    Ok(create(ports, draft))
}
