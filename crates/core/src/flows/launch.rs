//! Starts a process for a session. The launch is recorded before the process is started.

mod command;
mod mcp;
mod message_text;

use std::path::PathBuf;
use std::time::Duration;

use crate::error::{Error, Result};
use crate::failpoint;
use crate::flows::{SessionState, credentials, endangered, messages, tasks, worktrees};
use crate::model::{
    Binding, Environment, EventPayload, Evidence, Exit, How, Launch, LaunchEnd, LaunchId,
    LaunchMode, LaunchRecord, MessageId, Session, Status, TaskId, VendorSessionId,
};
use crate::ports::{Change, Commit, Folder, Held, NewFile, Ports, Program, StartOrder, Vendor};
use crate::rules::environment::{self, AgentMarks};
use crate::rules::terminal;

use command::{Planned, argv, plan_command, recorded_arguments, with_variables};
use message_text::is_long;

pub(crate) use command::pending_import;
pub(crate) use message_text::{command_line_text, file_instructions, typed_text};

/// If a start fails although its agent runs, the agent may take this long to exit.
const FAILED_START_GRACE: Duration = Duration::from_secs(2);

/// A request to start a launch.
#[derive(Clone, Debug)]
pub struct LaunchRequest {
    pub mode: LaunchMode,
    /// The conversation to begin or to continue. `None` begins one whose id the vendor chooses.
    pub id: Option<VendorSessionId>,
    pub message: Option<String>,
    /// A conversation that the vendor's program imports first.
    pub import: Option<PathBuf>,
    /// The environment of the command that requests the launch.
    pub environment: Environment,
    /// Whether the session itself is created in the same commit.
    pub creates_session: bool,
    /// The queued message that the command line contains.
    pub queued_message: Option<MessageId>,
    /// Changes and events that are committed together with the launch.
    pub same_commit: Commit,
}

impl LaunchRequest {
    /// Begins a conversation.
    pub fn fresh(id: Option<VendorSessionId>, environment: Environment) -> Self {
        Self::new(LaunchMode::Fresh, id, environment)
    }

    /// Continues a conversation.
    pub fn resume(id: VendorSessionId, environment: Environment) -> Self {
        Self::new(LaunchMode::Resume, Some(id), environment)
    }

    pub fn new(mode: LaunchMode, id: Option<VendorSessionId>, environment: Environment) -> Self {
        Self {
            mode,
            id,
            message: None,
            import: None,
            environment,
            creates_session: false,
            queued_message: None,
            same_commit: Commit::default(),
        }
    }
}

/// Records a launch, then starts its holder. If the start fails after the launch was recorded, the
/// launch is recorded as ended and its processes are ended.
pub async fn start(
    ports: &Ports,
    state: &mut SessionState,
    request: LaunchRequest,
) -> Result<Held> {
    state.worktree = worktrees::of_session(ports, &state.session).await?;
    if let Some(worktree) = &state.worktree {
        worktrees::bring_back(ports, &state.session, worktree, &request.environment).await?;
        // The worktree may have come back on a new branch.
        state.worktree = worktrees::of_session(ports, &state.session).await?;
    }
    let task = tasks::of_launch(ports, state.session.id, &request.same_commit).await?;
    let (order, files) = prepare(ports, state, &request, task)?;
    let launch = order.record.launch.id;
    record(ports, state, &request, &order.record.launch).await?;
    let written = write_files(ports, state, &request, &files)
        .and_then(|()| endangered::guard(ports, state, launch));
    let error = match written {
        Ok(()) => match start_holder(ports, state, order).await {
            Ok(held) => return Ok(held),
            Err(error) => error,
        },
        Err(error) => {
            let exit = Exit::NeverStarted;
            let end = LaunchEnd { exit, is_requested: false, at: ports.clock.now() };
            record_failed_start(ports, state, end, &error).await?;
            return Err(error);
        }
    };
    let end = end_of_failed_start(ports, state, launch).await?;
    record_failed_start(ports, state, end, &error).await?;
    Err(error)
}

fn next_number(state: &SessionState) -> u32 {
    state.launches.last().map_or(1, |launch| launch.number + 1)
}

fn prepare(
    ports: &Ports,
    state: &SessionState,
    request: &LaunchRequest,
    task: Option<TaskId>,
) -> Result<(StartOrder, Vec<NewFile>)> {
    let session = &state.session;
    let vendor = ports.vendors.of(session)?;
    let program = find_program(ports, vendor.as_ref(), &request.environment)?;
    let folder = folder(ports, session)?;
    let id = LaunchId::new(ports.clock.new_id());
    let Planned { line, preparation, variables, input } =
        plan_command(ports, vendor.as_ref(), session, request, (id, program.version.as_deref()))?;
    let before = preparation.map_or_else(Vec::new, |arguments| argv(&program, arguments));
    let before = with_variables(before, variables);
    let shown = recorded_arguments(
        ports,
        vendor.as_ref(),
        session,
        request,
        (id, program.version.as_deref()),
    )?;
    let shown = argv(&program, shown.unwrap_or_else(|| line.arguments.clone()));
    let argv = argv(&program, line.arguments);
    let mut launch = Launch {
        id,
        session: session.id,
        number: next_number(state),
        mode: request.mode,
        planned: request.id.clone(),
        message: request.message.clone(),
        program: program.path,
        argv: shown,
        cwd: session.cwd.clone(),
        vendor_version: program.version,
        git_commit: folder.git_commit,
        environment: Vec::new(),
        created_at: ports.clock.now(),
        machine: Some(ports.machine.ids().own),
        holder: None,
        agent: None,
        end: None,
    };
    let caller = credentials::without_tokens(ports, &request.environment);
    let mut environment = agent_environment(vendor.as_ref(), state, (&launch, task), &caller);
    vendor.launching().add_settings(session, &ports.folders.folder(launch.id), &mut environment);
    mcp::add_settings(ports, vendor.as_ref(), (session, launch.id), &mut environment);
    // A later launch needs these variables. Those for credentials depend on the settings then, and
    // the servers of an editor on the command that requests it.
    launch.environment = environment.names();
    mcp::add_editor_servers(
        ports,
        vendor.as_ref(),
        (session, launch.id),
        &request.environment,
        &mut environment,
    );
    credentials::add_to_agent(ports, state.worktree.as_ref(), &mut environment)?;
    let record = LaunchRecord {
        worktree: state.worktree.clone(),
        ..LaunchRecord::new(session.clone(), launch, Vec::new())
    };
    let size = terminal::size(&request.environment);
    Ok((StartOrder { record, argv, before, input, environment, size }, line.files))
}

/// Checks the folder of a session. Returns an error if an agent started the session and the path
/// leads to another folder now: that agent chose the path and could have put a symlink there.
fn folder(ports: &Ports, session: &Session) -> Result<Folder> {
    let folder = ports.machine.folder(&session.cwd)?;
    if session.parent.is_none() || folder.real_path == session.cwd {
        return Ok(folder);
    }
    let (cwd, real) = (session.cwd.display(), folder.real_path.display());
    Err(Error::conflict(format!("`{cwd}` leads to another folder now"))
        .caused_by(format!("it is a symlink to `{real}`, or below one"))
        .hint("move the folder back to this path"))
}

fn find_program(ports: &Ports, vendor: &dyn Vendor, caller: &Environment) -> Result<Program> {
    let program = vendor.launching().program();
    ports.machine.find_program(&program, caller).ok_or_else(|| {
        Error::vendor(format!("the program of `{}` is not installed", vendor.id()))
            .caused_by(program.not_found_message())
            .hint("install it, or choose another agent with `--vendor`")
    })
}

fn agent_environment(
    vendor: &dyn Vendor,
    state: &SessionState,
    (launch, task): (&Launch, Option<TaskId>),
    caller: &Environment,
) -> Environment {
    let port = state.worktree.as_ref().map(|worktree| worktree.port);
    let marks = AgentMarks { session: &state.session, launch, port, task };
    let mut environment = environment::for_agent(caller, marks);
    vendor.launching().prepare_environment(&state.place(), &mut environment);
    environment
}

/// Returns the names of the variables that an agent would have with this environment of a caller.
pub(crate) fn variable_names(
    ports: &Ports,
    state: &SessionState,
    launch: &Launch,
    caller: &Environment,
) -> Result<Vec<String>> {
    let vendor = ports.vendors.of(&state.session)?;
    let caller = credentials::without_tokens(ports, caller);
    let mut environment = agent_environment(vendor.as_ref(), state, (launch, None), &caller);
    let folder = ports.folders.folder(launch.id);
    vendor.launching().add_settings(&state.session, &folder, &mut environment);
    mcp::add_settings(ports, vendor.as_ref(), (&state.session, launch.id), &mut environment);
    Ok(environment.names())
}

/// Commits the launch to the store.
async fn record(
    ports: &Ports,
    state: &mut SessionState,
    request: &LaunchRequest,
    launch: &Launch,
) -> Result<()> {
    let mut commit = Commit::default();
    if request.creates_session {
        commit.changes.push(Change::CreateSession(Box::new(state.session.clone())));
        let address = state.session.address();
        commit.events.push(state.event(ports, EventPayload::SessionCreated { address }));
    }
    commit.changes.extend(request.same_commit.changes.iter().cloned());
    if let Some(worktree) = &state.worktree {
        let (worktree, session) = (worktree.id, state.session.id);
        commit.changes.push(Change::LeaseWorktree { worktree, session });
    }
    commit.changes.push(Change::CreateLaunch(Box::new(launch.clone())));
    if let Some(binding) = preset(state, request, launch) {
        let (vendor_session, evidence) = (binding.vendor_session.clone(), binding.evidence);
        commit.events.push(state.event(ports, EventPayload::Bound { vendor_session, evidence }));
        commit.changes.push(Change::AddBinding(binding));
    }
    if let Some(message) = request.queued_message {
        let vendor = ports.vendors.of(&state.session)?;
        let found_in = (launch.id, request.id.as_ref());
        let record = messages::typing_record(ports, state, vendor.as_ref(), found_in);
        let (change, event) = messages::typing_change(ports, state, message, record);
        commit.changes.push(change);
        commit.events.push(event);
    }
    let (status, event) = state.status_change(ports, Status::Starting);
    commit.changes.push(status);
    commit.events.push(event);
    let planned = EventPayload::LaunchPlanned { number: launch.number, mode: launch.mode };
    commit.events.push(state.event(ports, planned));
    for event in &mut commit.events {
        event.launch = Some(launch.id);
    }
    commit.events.extend(request.same_commit.events.iter().cloned());
    failpoint::hit("launch.commit.before");
    state.commit(ports, commit).await?;
    failpoint::hit("launch.commit.after");
    state.turn = None;
    state.source = None;
    Ok(())
}

/// Writes the launch's folder, which its holder needs, and the files that the vendor's program
/// needs.
fn write_files(
    ports: &Ports,
    state: &SessionState,
    request: &LaunchRequest,
    files: &[NewFile],
) -> Result<()> {
    state.write_record(ports)?;
    failpoint::hit("launch.record.after");
    for file in files {
        ports.files.create(&file.path, file.contents.as_bytes()).map_err(|error| {
            Error::vendor(format!("cannot write `{}`", file.path.display())).caused_by(error)
        })?;
    }
    failpoint::hit("launch.files.after");
    let launch = state.open().map(|launch| launch.id);
    match (launch, request.message.as_deref().filter(|message| is_long(message))) {
        (Some(launch), Some(message)) => ports.folders.write_message(launch, message),
        _ => Ok(()),
    }
}

/// Returns the binding for an id that Segue chose for a new conversation. `None` if Segue chose no
/// id, or if the session is bound to it already.
fn preset(state: &SessionState, request: &LaunchRequest, launch: &Launch) -> Option<Binding> {
    let id = request.id.as_ref().filter(|_| request.mode == LaunchMode::Fresh)?;
    (state.vendor_session() != Some(id)).then(|| Binding {
        session: state.session.id,
        launch: Some(launch.id),
        vendor_session: id.clone(),
        evidence: Evidence::Preset,
        at: launch.created_at,
    })
}

async fn start_holder(ports: &Ports, state: &mut SessionState, order: StartOrder) -> Result<Held> {
    let launch = order.record.launch.id;
    failpoint::hit("launch.hold.before");
    let held = ports.holders.start(&order).await?;
    failpoint::hit("launch.hold.after");
    let (holder, agent) = (Some(held.holder.clone()), held.agent.clone());
    let pid = agent.as_ref().map(|agent| agent.pid);
    let started = EventPayload::LaunchStarted { pid, found_alive: false };
    let commit = Commit {
        changes: vec![Change::SetProcesses { launch, holder, agent }],
        events: vec![state.event(ports, started)],
    };
    state.commit(ports, commit).await?;
    failpoint::hit("launch.started.after");
    Ok(held)
}

/// Ends all processes of a failed start and prevents a late holder from starting the agent. Returns
/// how the launch ended.
async fn end_of_failed_start(
    ports: &Ports,
    state: &SessionState,
    launch: LaunchId,
) -> Result<LaunchEnd> {
    let mut end = ports.folders.end(launch)?;
    if end.is_none() {
        end = match ports.holders.abandon(state.session.id, launch).await? {
            Some(_) => ports.holders.stop(launch, FAILED_START_GRACE).await?,
            None => None,
        };
    }
    ports.machine.end_marked(&[launch]).await?;
    let unknown = LaunchEnd { exit: Exit::Unknown, is_requested: false, at: ports.clock.now() };
    Ok(end.or(ports.folders.end(launch)?).unwrap_or(unknown))
}

/// Records the end of a launch whose start failed. The agent may have run for a short time.
async fn record_failed_start(
    ports: &Ports,
    state: &mut SessionState,
    end: LaunchEnd,
    why: &Error,
) -> Result<()> {
    let Some(launch) = state.open().map(|launch| launch.id) else { return Ok(()) };
    let status = match end.exit {
        Exit::NeverStarted => Status::Ended(How::NeverStarted),
        _ => Status::Interrupted,
    };
    let (status, event) = state.status_change(ports, status);
    let (exit, start_error) = (end.exit, Some(why.to_string()));
    let ended = EventPayload::LaunchEnded { exit, is_requested: false, cause: None, start_error };
    let ended = state.event(ports, ended);
    let commit = Commit {
        changes: vec![Change::EndLaunch { launch, end }, status],
        events: vec![ended, event],
    };
    state.commit(ports, commit).await
}
