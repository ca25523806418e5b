//! Starts a process for a session. The launch is recorded before the process is started.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::error::{Error, Result};
use crate::failpoint;
use crate::flows::{SessionState, messages, neighbours};
use crate::model::{
    Binding, Environment, EventPayload, Evidence, Exit, How, Launch, LaunchEnd, LaunchId,
    LaunchMode, LaunchRecord, MessageId, Session, Status, VendorSessionId,
};
use crate::ports::{
    Change, CommandLine, CommandPlan, Commit, Folder, Held, NewFile, Place, Ports, Program,
    ProgramSpec, StartOrder, Vendor,
};
use crate::rules::{environment, terminal, words};

/// The program that runs another program with additional environment variables.
const ENV: &str = "/usr/bin/env";

/// Maximum length of a message on a command line. The kernel's limit for one argument is a little
/// higher. A longer message is written to a file.
const MAX_ARGUMENT_BYTES: usize = 100_000;

/// How long an agent that runs although its start failed may take to exit.
const GRACE: Duration = Duration::from_secs(2);

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
    pub along: Commit,
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
            along: Commit::default(),
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
    let (order, files) = prepare(ports, &state.session, &request, next_number(state))?;
    let launch = order.record.launch.id;
    record(ports, state, &request, &order.record.launch).await?;
    let written = write_files(ports, state, &request, &files)
        .and_then(|()| neighbours::guard(ports, state, launch));
    let error = match written {
        Ok(()) => match start_holder(ports, state, order).await {
            Ok(held) => return Ok(held),
            Err(error) => error,
        },
        Err(error) => {
            let exit = Exit::NeverStarted;
            let end = LaunchEnd { exit, asked: false, at: ports.clock.now() };
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
    session: &Session,
    request: &LaunchRequest,
    number: u32,
) -> Result<(StartOrder, Vec<NewFile>)> {
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
        number,
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
    let mut environment =
        agent_environment(vendor.as_ref(), session, &launch, &request.environment);
    vendor.launching().add_settings(session, &ports.folders.folder(launch.id), &mut environment);
    launch.environment = environment.names();
    let record = LaunchRecord::new(session.clone(), launch, Vec::new());
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

/// The command line of a launch and of its preparation.
struct Planned {
    line: CommandLine,
    /// The arguments for a preparation that runs before the launch.
    preparation: Option<Vec<String>>,
    /// Additional environment variables for the preparation, as `NAME=value`.
    variables: Vec<String>,
    input: Option<PathBuf>,
}

fn plan_command(
    ports: &Ports,
    vendor: &dyn Vendor,
    session: &Session,
    request: &LaunchRequest,
    (launch, version): (LaunchId, Option<&str>),
) -> Result<Planned> {
    // The model and the id become arguments. They are checked here because they may come from an
    // older Segue version, a handoff or a vendor's file.
    session.model.as_deref().map_or(Ok(()), words::check_model)?;
    request.id.as_ref().map_or(Ok(()), words::check_id)?;
    let message =
        request.message.as_deref().map(|message| command_line_text(ports, launch, message));
    let import =
        request.import.clone().or_else(|| import_for_resume(ports, vendor, session, request));
    let plan = CommandPlan {
        session,
        version,
        mode: request.mode,
        id: request.id.as_ref(),
        message: message.as_deref(),
        import: import.as_deref(),
        files: ports.files.as_ref(),
        folder: &ports.folders.folder(launch),
        hook: &hook(ports),
        now: ports.clock.now(),
    };
    let launching = vendor.launching();
    Ok(Planned {
        line: launching.command(&plan)?,
        preparation: launching.preparation(&plan),
        variables: launching.preparation_variables(&plan),
        input: launching.headless().and_then(|it| it.standard_input(&plan)),
    })
}

/// Replaces the message in the recorded arguments.
const MESSAGE_WORD: &str = "<message>";

/// Replaces the instructions in the recorded arguments.
const INSTRUCTIONS_WORD: &str = "<instructions>";

/// Returns the arguments to record, with placeholders for the message and the instructions. `None`
/// if the launch has neither, so that its real arguments can be recorded.
fn recorded_arguments(
    ports: &Ports,
    vendor: &dyn Vendor,
    session: &Session,
    request: &LaunchRequest,
    launched: (LaunchId, Option<&str>),
) -> Result<Option<Vec<String>>> {
    if request.message.is_none() && session.instructions.is_none() {
        return Ok(None);
    }
    let mut session = session.clone();
    session.instructions = session.instructions.map(|_| INSTRUCTIONS_WORD.to_owned());
    let message = request.message.as_ref().map(|_| MESSAGE_WORD.to_owned());
    let request = LaunchRequest { message, ..request.clone() };
    Ok(Some(plan_command(ports, vendor, &session, &request, launched)?.line.arguments))
}

/// Returns a command line that runs the command with these environment variables.
fn with_variables(command: Vec<String>, variables: Vec<String>) -> Vec<String> {
    if command.is_empty() || variables.is_empty() {
        return command;
    }
    std::iter::once(ENV.to_owned()).chain(variables).chain(command).collect()
}

/// Finds a pending import for a resume whose request names none. `None` if the vendor has the
/// conversation already.
fn import_for_resume(
    ports: &Ports,
    vendor: &dyn Vendor,
    session: &Session,
    request: &LaunchRequest,
) -> Option<PathBuf> {
    let id = request.id.as_ref().filter(|_| request.mode == LaunchMode::Resume)?;
    let document = pending_import(ports, vendor, session)?;
    let place = Place::of(session);
    let known = vendor.transcript_database()?.conversation(ports.files.as_ref(), &place, id);
    matches!(known, Ok(None)).then_some(document)
}

/// Returns the document with a conversation that was handed over to the session, for import by the
/// vendor's program. `None` if there is no document, or if the vendor has files of its own.
pub(crate) fn pending_import(
    ports: &Ports,
    vendor: &dyn Vendor,
    session: &Session,
) -> Option<PathBuf> {
    let document = ports.folders.import(session.id);
    let is_there = |path: &PathBuf| matches!(ports.files.facts(path), Ok(Some(_)));
    Some(document).filter(|path| vendor.transcript_database().is_some() && is_there(path))
}

fn argv(program: &Program, arguments: Vec<String>) -> Vec<String> {
    let mut argv = vec![program.path.display().to_string()];
    argv.extend(program.arguments.iter().cloned());
    argv.extend(arguments);
    argv
}

/// Returns the shell command that vendors run as their hook.
fn hook(ports: &Ports) -> String {
    let spec = ProgramSpec::Segue { subcommand: "hook" };
    let program = ports.machine.find_program(&spec, &Environment::default());
    // If the program file was replaced, its only path is in `/proc` and becomes invalid when this
    // process ends.
    let program = program.filter(|program| !program.path.starts_with("/proc"));
    program.map_or_else(
        || "true".to_owned(),
        |program| {
            let path = program.path.display().to_string().replace('\'', r"'\''");
            format!("'{path}' {}", program.arguments.join(" "))
        },
    )
}

/// Returns the text to type for a running agent: the message, or an instruction to read the message
/// from a file. A file is used if the message is too long or cannot be typed. The file is on disk
/// when this returns.
pub(crate) fn typed_text(
    ports: &Ports,
    launch: LaunchId,
    id: MessageId,
    message: &str,
) -> Result<String> {
    let typed = message.replace("\r\n", "\n");
    if !is_long(&typed) && can_be_typed(&typed) {
        return Ok(typed);
    }
    let path = ports.folders.folder(launch).join(format!("message-{id}.md"));
    ports.files.create(&path, message.as_bytes()).map_err(|error| {
        Error::internal(format!("cannot write `{}`", path.display())).caused_by(error)
    })?;
    Ok(read_file_instruction(&path))
}

/// Returns the two possible instructions to read a long message from a file: the instruction that is
/// typed, and the instruction on a command line. They name different files.
pub(crate) fn file_instructions(ports: &Ports, launch: LaunchId, id: MessageId) -> [String; 2] {
    let path = ports.folders.folder(launch).join(format!("message-{id}.md"));
    [read_file_instruction(&path), read_file_instruction(&ports.folders.message(launch))]
}

fn read_file_instruction(path: &Path) -> String {
    format!("Read the file {} and do what it says.", path.display())
}

/// Returns the text for the command line: the message, or, if it is too long, an instruction to
/// read it from the launch's message file.
pub(crate) fn command_line_text(ports: &Ports, launch: LaunchId, message: &str) -> String {
    if !is_long(message) {
        return message.to_owned();
    }
    read_file_instruction(&ports.folders.message(launch))
}

/// Returns whether a message can be pasted. Control characters other than newline and tab act as
/// keys or end the paste.
fn can_be_typed(message: &str) -> bool {
    !message.chars().any(|it| it.is_control() && !matches!(it, '\n' | '\t'))
}

fn is_long(message: &str) -> bool {
    message.len() > MAX_ARGUMENT_BYTES
}

fn agent_environment(
    vendor: &dyn Vendor,
    session: &Session,
    launch: &Launch,
    caller: &Environment,
) -> Environment {
    let mut environment = environment::for_agent(caller, session, launch);
    let place = Place::of(session);
    vendor.launching().prepare_environment(&place, &mut environment);
    environment
}

/// Returns the names of the variables that an agent would have with this environment of a caller.
pub(crate) fn variable_names(
    ports: &Ports,
    session: &Session,
    launch: &Launch,
    caller: &Environment,
) -> Result<Vec<String>> {
    let vendor = ports.vendors.of(session)?;
    let mut environment = agent_environment(vendor.as_ref(), session, launch, caller);
    let folder = ports.folders.folder(launch.id);
    vendor.launching().add_settings(session, &folder, &mut environment);
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
    commit.changes.extend(request.along.changes.iter().cloned());
    commit.changes.push(Change::CreateLaunch(Box::new(launch.clone())));
    if let Some(binding) = preset(state, request, launch) {
        let (vendor_session, evidence) = (binding.vendor_session.clone(), binding.evidence);
        commit.events.push(state.event(ports, EventPayload::Bound { vendor_session, evidence }));
        commit.changes.push(Change::AddBinding(binding));
    }
    if let Some(message) = request.queued_message {
        let vendor = ports.vendors.of(&state.session)?;
        let found_in = (launch.id, request.id.as_ref());
        let trace = messages::trace(ports, state, vendor.as_ref(), found_in);
        let (change, event) = messages::typing_change(ports, state, message, trace);
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
    commit.events.extend(request.along.events.iter().cloned());
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
            Some(_) => ports.holders.stop(launch, GRACE).await?,
            None => None,
        };
    }
    ports.machine.end_marked(&[launch]).await?;
    let unknown = LaunchEnd { exit: Exit::Unknown, asked: false, at: ports.clock.now() };
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
    let ended = EventPayload::LaunchEnded { exit, asked: false, cause: None, start_error };
    let ended = state.event(ports, ended);
    let commit = Commit {
        changes: vec![Change::EndLaunch { launch, end }, status],
        events: vec![ended, event],
    };
    state.commit(ports, commit).await
}
