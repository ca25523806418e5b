//! Starting a process for a session: the record first, the process after it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::error::{Error, Result};
use crate::failpoint;
use crate::flows::{SessionState, messages, neighbours};
use crate::model::{
    Binding, Environment, EventKind, Evidence, Exit, How, Launch, LaunchEnd, LaunchId, LaunchMode,
    LaunchRecord, MessageId, Session, Status, VendorSessionId,
};
use crate::ports::{
    Change, CommandLine, CommandPlan, Commit, Folder, Held, NewFile, Place, Ports, Program,
    ProgramSpec, StartOrder, Vendor,
};
use crate::rules::{environment, terminal, words};

/// Runs a program with further variables.
const ENV: &str = "/usr/bin/env";

/// One argument of a command cannot be much larger than this; a longer message goes into a file.
const LONGEST_ARGUMENT: usize = 100_000;

/// How long an agent has to go whose start failed all the same.
const GRACE: Duration = Duration::from_secs(2);

/// What is to be started.
#[derive(Clone, Debug)]
pub struct Wish {
    pub mode: LaunchMode,
    pub id: Option<VendorSessionId>,
    pub message: Option<String>,
    /// A conversation that the vendor's program takes in first.
    pub import: Option<PathBuf>,
    /// The environment of the command that asks for it.
    pub environment: Environment,
    /// The session itself is made in the same commit.
    pub first: bool,
    /// The message of the outbox that the command line carries.
    pub carries: Option<MessageId>,
    /// What is recorded together with the launch.
    pub along: Commit,
}

/// Records a launch, then starts it. When this fails the session says so, and nothing runs.
pub async fn start(ports: &Ports, state: &mut SessionState, wish: Wish) -> Result<Held> {
    let (order, files) = prepare(ports, &state.session, &wish, next_number(state))?;
    let launch = order.record.launch.id;
    record(ports, state, &wish, &order.record.launch).await?;
    let written = write_down(ports, state, &wish, &files)
        .and_then(|()| neighbours::guard(ports, state, launch));
    let error = match written {
        Ok(()) => match hold(ports, state, order).await {
            Ok(held) => return Ok(held),
            Err(error) => error,
        },
        Err(error) => {
            let exit = Exit::NeverStarted;
            let end = LaunchEnd { exit, asked: false, at: ports.clock.now() };
            close(ports, state, end, &error).await?;
            return Err(error);
        }
    };
    let end = end_of_failed_start(ports, state, launch).await?;
    close(ports, state, end, &error).await?;
    Err(error)
}

fn next_number(state: &SessionState) -> u32 {
    state.launches.last().map_or(1, |launch| launch.number + 1)
}

fn prepare(
    ports: &Ports,
    session: &Session,
    wish: &Wish,
    number: u32,
) -> Result<(StartOrder, Vec<NewFile>)> {
    let vendor = ports.vendors.of(session)?;
    let program = find_program(ports, vendor.as_ref(), &wish.environment)?;
    let folder = folder(ports, session)?;
    let id = LaunchId::new(ports.clock.new_id());
    let Planned { line, preparation, variables, input } =
        planned(ports, vendor.as_ref(), session, wish, (id, program.version.as_deref()))?;
    let before = preparation.map_or_else(Vec::new, |arguments| argv(&program, arguments));
    let before = with_variables(before, variables);
    let shown = shown(ports, vendor.as_ref(), session, wish, (id, program.version.as_deref()))?;
    let shown = argv(&program, shown.unwrap_or_else(|| line.arguments.clone()));
    let argv = argv(&program, line.arguments);
    let mut launch = Launch {
        id,
        session: session.id,
        number,
        mode: wish.mode,
        planned: wish.id.clone(),
        message: wish.message.clone(),
        program: program.path,
        argv: shown,
        cwd: session.cwd.clone(),
        vendor_version: program.version,
        git_commit: folder.git_commit,
        environment: Vec::new(),
        created_at: ports.clock.now(),
        holder: None,
        agent: None,
        end: None,
    };
    let mut environment = agent_environment(vendor.as_ref(), session, &launch, &wish.environment);
    vendor.tell_environment(session, &ports.folders.folder(launch.id), &mut environment);
    launch.environment = environment.names();
    let record = LaunchRecord::new(session.clone(), launch, Vec::new());
    let size = terminal::size(&wish.environment);
    Ok((StartOrder { record, argv, before, input, environment, size }, line.files))
}

/// Looks at the folder of a session. An agent chose the one of its child, and could have put a
/// symlink into its place since then.
fn folder(ports: &Ports, session: &Session) -> Result<Folder> {
    let folder = ports.machine.folder(&session.cwd)?;
    if session.parent.is_none() || folder.real_path == session.cwd {
        return Ok(folder);
    }
    let (cwd, real) = (session.cwd.display(), folder.real_path.display());
    Err(Error::conflict(format!("`{cwd}` leads to another folder now"))
        .caused_by(format!("it is a symlink to `{real}`, or below one"))
        .hint("put the folder back where it was"))
}

fn find_program(ports: &Ports, vendor: &dyn Vendor, caller: &Environment) -> Result<Program> {
    ports.machine.find_program(&vendor.program(), caller).ok_or_else(|| {
        Error::vendor(format!("the program of `{}` is not installed", vendor.id()))
            .caused_by(vendor.program().absence())
            .hint("install it, or choose another agent with `--vendor`")
    })
}

/// What a vendor wants to be started.
struct Planned {
    line: CommandLine,
    /// The arguments of what has to be run before it.
    preparation: Option<Vec<String>>,
    /// The variables that it is given besides.
    variables: Vec<String>,
    input: Option<PathBuf>,
}

fn planned(
    ports: &Ports,
    vendor: &dyn Vendor,
    session: &Session,
    wish: &Wish,
    (launch, version): (LaunchId, Option<&str>),
) -> Result<Planned> {
    // Whatever a command line is made of: an older Segue, a handoff or a vendor's file may have it.
    session.model.as_deref().map_or(Ok(()), words::check_model)?;
    wish.id.as_ref().map_or(Ok(()), words::check_id)?;
    let message = wish.message.as_deref().map(|message| said(ports, launch, message));
    let import = wish.import.clone().or_else(|| missing_import(ports, vendor, session, wish));
    let plan = CommandPlan {
        session,
        version,
        mode: wish.mode,
        id: wish.id.as_ref(),
        message: message.as_deref(),
        import: import.as_deref(),
        files: ports.files.as_ref(),
        folder: &ports.folders.folder(launch),
        hook: &hook(ports),
        now: ports.clock.now(),
    };
    let (preparation, input) = (vendor.preparation(&plan), vendor.standard_input(&plan));
    let variables = vendor.preparation_variables(&plan);
    Ok(Planned { line: vendor.command(&plan)?, preparation, variables, input })
}

/// Stands for the message in the arguments that are recorded.
const MESSAGE_WORD: &str = "<message>";

/// Stands for the instructions in the arguments that are recorded.
const INSTRUCTIONS_WORD: &str = "<instructions>";

/// Returns the arguments as they are recorded: without the words of the message and of the
/// instructions. `None` if there are none.
fn shown(
    ports: &Ports,
    vendor: &dyn Vendor,
    session: &Session,
    wish: &Wish,
    launched: (LaunchId, Option<&str>),
) -> Result<Option<Vec<String>>> {
    if wish.message.is_none() && session.instructions.is_none() {
        return Ok(None);
    }
    let mut session = session.clone();
    session.instructions = session.instructions.map(|_| INSTRUCTIONS_WORD.to_owned());
    let message = wish.message.as_ref().map(|_| MESSAGE_WORD.to_owned());
    let wish = Wish { message, ..wish.clone() };
    Ok(Some(planned(ports, vendor, &session, &wish, launched)?.line.arguments))
}

/// Returns a command line that is given these variables.
fn with_variables(command: Vec<String>, variables: Vec<String>) -> Vec<String> {
    if command.is_empty() || variables.is_empty() {
        return command;
    }
    std::iter::once(ENV.to_owned()).chain(variables).chain(command).collect()
}

/// Returns what the vendor has to take in before a launch that nobody gave anything to take in.
fn missing_import(
    ports: &Ports,
    vendor: &dyn Vendor,
    session: &Session,
    wish: &Wish,
) -> Option<PathBuf> {
    let id = wish.id.as_ref().filter(|_| wish.mode == LaunchMode::Resume)?;
    let document = pending_import(ports, vendor, session)?;
    let place = Place { config_dir: session.config_dir.clone(), cwd: session.cwd.clone() };
    let known = vendor.conversation(ports.files.as_ref(), &place, id);
    matches!(known, Ok(None)).then_some(document)
}

/// Returns a conversation that was carried to the session and that its vendor has yet to take in.
pub(crate) fn pending_import(
    ports: &Ports,
    vendor: &dyn Vendor,
    session: &Session,
) -> Option<PathBuf> {
    let document = ports.folders.import(session.id);
    let is_there = |path: &PathBuf| matches!(ports.files.facts(path), Ok(Some(_)));
    Some(document).filter(|path| !vendor.has_own_files() && is_there(path))
}

fn argv(program: &Program, arguments: Vec<String>) -> Vec<String> {
    let mut argv = vec![program.path.display().to_string()];
    argv.extend(program.arguments.iter().cloned());
    argv.extend(arguments);
    argv
}

/// Returns the shell command that vendors call as their hook.
fn hook(ports: &Ports) -> String {
    let spec = ProgramSpec::Itself { subcommand: "hook" };
    let program = ports.machine.find_program(&spec, &Environment::default());
    // A program that was replaced meanwhile has no path that would outlive this process.
    let program = program.filter(|program| !program.path.starts_with("/proc"));
    program.map_or_else(
        || "true".to_owned(),
        |program| {
            let path = program.path.display().to_string().replace('\'', r"'\''");
            format!("'{path}' {}", program.arguments.join(" "))
        },
    )
}

/// Returns what a running agent itself is told: a message, or where to read one that is too long or
/// cannot be typed, which is on disk when this returns.
pub(crate) fn said_later(
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
    Ok(told_to_read(&path))
}

/// Returns what an agent was told about a message that was too long to be typed, in both ways.
pub(crate) fn file_told_of(ports: &Ports, launch: LaunchId, id: MessageId) -> [String; 2] {
    let path = ports.folders.folder(launch).join(format!("message-{id}.md"));
    [told_to_read(&path), told_to_read(&ports.folders.message(launch))]
}

fn told_to_read(path: &Path) -> String {
    format!("Read the file {} and do what it says.", path.display())
}

/// Returns what the agent itself is told: a long message, or where to read it.
pub(crate) fn said(ports: &Ports, launch: LaunchId, message: &str) -> String {
    if !is_long(message) {
        return message.to_owned();
    }
    told_to_read(&ports.folders.message(launch))
}

/// Other control characters than these are keys, or end a paste.
fn can_be_typed(message: &str) -> bool {
    !message.chars().any(|it| it.is_control() && !matches!(it, '\n' | '\t'))
}

fn is_long(message: &str) -> bool {
    message.len() > LONGEST_ARGUMENT
}

fn agent_environment(
    vendor: &dyn Vendor,
    session: &Session,
    launch: &Launch,
    caller: &Environment,
) -> Environment {
    let mut environment = environment::for_agent(caller, session, launch);
    let place = Place { config_dir: session.config_dir.clone(), cwd: session.cwd.clone() };
    vendor.prepare_environment(&place, &mut environment);
    environment
}

/// Makes the launch durable in the store.
async fn record(
    ports: &Ports,
    state: &mut SessionState,
    wish: &Wish,
    launch: &Launch,
) -> Result<()> {
    let mut commit = Commit::default();
    if wish.first {
        commit.changes.push(Change::CreateSession(Box::new(state.session.clone())));
        commit.events.push(state.event(ports, EventKind::SessionCreated, state.session.address()));
    }
    commit.changes.extend(wish.along.changes.iter().cloned());
    commit.changes.push(Change::CreateLaunch(Box::new(launch.clone())));
    if let Some(binding) = preset(state, wish, launch) {
        commit.events.push(state.event(
            ports,
            EventKind::Bound,
            format!("{} ({})", binding.vendor_session, binding.evidence),
        ));
        commit.changes.push(Change::AddBinding(binding));
    }
    if let Some(message) = wish.carries {
        let vendor = ports.vendors.of(&state.session)?;
        let found_in = (launch.id, wish.id.as_ref());
        let trace = messages::trace(ports, state, vendor.as_ref(), found_in);
        let (change, event) = messages::departure(ports, state, message, trace);
        commit.changes.push(change);
        commit.events.push(event);
    }
    let (status, event) = state.status_change(ports, Status::Starting);
    commit.changes.push(status);
    commit.events.push(event);
    let planned = format!("launch {} ({:?})", launch.number, launch.mode).to_lowercase();
    commit.events.push(state.event(ports, EventKind::LaunchPlanned, planned));
    for event in &mut commit.events {
        event.launch = Some(launch.id);
    }
    commit.events.extend(wish.along.events.iter().cloned());
    failpoint::hit("launch.commit.before");
    state.commit(ports, commit).await?;
    failpoint::hit("launch.commit.after");
    state.turn = None;
    state.source = None;
    Ok(())
}

/// Writes the launch's folder, which its holder needs, and the files that the vendor needs.
fn write_down(ports: &Ports, state: &SessionState, wish: &Wish, files: &[NewFile]) -> Result<()> {
    state.write_record(ports)?;
    failpoint::hit("launch.record.after");
    for file in files {
        ports.files.create(&file.path, file.contents.as_bytes()).map_err(|error| {
            Error::vendor(format!("cannot write `{}`", file.path.display())).caused_by(error)
        })?;
    }
    failpoint::hit("launch.files.after");
    let launch = state.open().map(|launch| launch.id);
    match (launch, wish.message.as_deref().filter(|message| is_long(message))) {
        (Some(launch), Some(message)) => ports.folders.write_message(launch, message),
        _ => Ok(()),
    }
}

/// Returns the ledger's line for an id that we chose and that it does not have yet.
fn preset(state: &SessionState, wish: &Wish, launch: &Launch) -> Option<Binding> {
    let id = wish.id.as_ref().filter(|_| wish.mode == LaunchMode::Fresh)?;
    (state.vendor_session() != Some(id)).then(|| Binding {
        session: state.session.id,
        launch: Some(launch.id),
        vendor_session: id.clone(),
        evidence: Evidence::Preset,
        at: launch.created_at,
    })
}

async fn hold(ports: &Ports, state: &mut SessionState, order: StartOrder) -> Result<Held> {
    let launch = order.record.launch.id;
    failpoint::hit("launch.hold.before");
    let held = ports.holders.start(&order).await?;
    failpoint::hit("launch.hold.after");
    let (holder, agent) = (Some(held.holder.clone()), held.agent.clone());
    let pid = agent.as_ref().map_or(0, |agent| agent.pid);
    let commit = Commit {
        changes: vec![Change::SetProcesses { launch, holder, agent }],
        events: vec![state.event(ports, EventKind::LaunchStarted, format!("process {pid}"))],
    };
    state.commit(ports, commit).await?;
    failpoint::hit("launch.started.after");
    Ok(held)
}

/// Sees to it that nothing of a start that failed runs or will run; returns how it ended.
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

/// Closes a launch whose start failed. Whether its agent ran for a moment may be unknown.
async fn close(ports: &Ports, state: &mut SessionState, end: LaunchEnd, why: &Error) -> Result<()> {
    let Some(launch) = state.open().map(|launch| launch.id) else { return Ok(()) };
    let (status, told) = match end.exit {
        Exit::NeverStarted => (Status::Ended(How::NeverStarted), "not started".to_owned()),
        Exit::Unknown => (Status::Lost, "nobody knows how".to_owned()),
        exit => (Status::Lost, exit.to_string()),
    };
    let (status, event) = state.status_change(ports, status);
    let told = state.event(ports, EventKind::LaunchEnded, format!("{told}: {why}"));
    let commit = Commit {
        changes: vec![Change::EndLaunch { launch, end }, status],
        events: vec![told, event],
    };
    state.commit(ports, commit).await
}
