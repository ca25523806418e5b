//! The only file that chooses the implementations of the ports: the store, the host and the vendors.

mod agent_host;

use std::ffi::OsString;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use segue_core::api::{AttachPoint, Caller, Finding, Severity};
use segue_core::model::{Environment, LaunchId, RequestId, SecretText, TerminalSize};
use segue_core::ports::{
    Checkouts, Clock, Files, Forges, Ports, Program, ProgramSpec, Projects, Store, Terminals,
    Vendors,
};
use segue_core::rules::{self, editor_servers, environment};
use segue_core::{Error, Result};
use segue_git::{CheckoutFolders, GitCheckouts};
use segue_host::archive::DiskArchive;
use segue_host::clock::SystemClock;
use segue_host::environments::{self, LocalEnvironments};
use segue_host::files::LocalFiles;
use segue_host::folders::DiskFolders;
use segue_host::hold::{self, LocalHolders, LocalTerminals};
use segue_host::machine::LocalMachine;
use segue_host::watch::LocalWatchers;
use segue_host::{LocalCommands, LocalDiskMeter, LocalNotifier, commands};
use segue_host::{
    Paths, ProcessContext, browser, cgroup, failpoints, mcp_relay, orphans, peer, process_context,
    scope,
};

use crate::credentials::ConfiguredCredentials;
use crate::project::ProjectFolders;
use crate::sources::ConfiguredSources;

pub use segue_host::has_variable;
pub use segue_host::hold::AttachEnd;
pub use segue_host::pager::{Pager, Size};
pub use segue_host::standard_output::reader_gone;

/// The version of this program.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The exit status of a process that got no answer of a person. Vendors take it as a refusal.
const REFUSED_STATUS: u8 = 2;

/// The paths and the environment of this process, read once.
#[derive(Clone, Debug)]
pub struct Local {
    paths: Paths,
    context: ProcessContext,
    /// Shows the user why a command takes long.
    notice: Option<fn(&str)>,
    /// A daemon that this process starts is none of its descendants.
    starts_apart: bool,
}

impl Local {
    /// Reads the environment and the working folder of a command.
    pub fn here() -> Result<Self> {
        Self::read(failpoints::ProcessRole::Cli)
    }

    fn read(role: failpoints::ProcessRole) -> Result<Self> {
        let mut context = ProcessContext::read()?;
        // An agent's program has it for its own session alone.
        context.environment.retain(|name| name != editor_servers::VARIABLE);
        let paths = Paths::from_environment(&context.environment)?;
        failpoints::arm(&context.environment, role);
        Ok(Self { paths, context, notice: None, starts_apart: false })
    }

    /// Sets the function that shows the user why a command takes long.
    #[must_use]
    pub fn with_notice(self, notice: fn(&str)) -> Self {
        Self { notice: Some(notice), ..self }
    }

    /// Shows the user why a command takes long. Does nothing if no function was set for that.
    /// Makes this process start a daemon by a command of its own, for a process that other programs
    /// start and end: some of them end all its descendants, too.
    #[must_use]
    pub(crate) fn starting_apart(self) -> Self {
        Self { starts_apart: true, ..self }
    }

    pub(crate) fn starts_apart(&self) -> bool {
        self.starts_apart
    }

    pub(crate) fn notice(&self, text: &str) {
        if let Some(notice) = self.notice {
            notice(text);
        }
    }

    /// Returns the caller for a request. Its environment includes the size of this command's
    /// terminal, if there is one.
    pub fn caller(&self) -> Caller {
        let mut environment = self.environment().clone();
        if let Some(size) = process_context::terminal_size() {
            rules::terminal::set_size(&mut environment, size);
        }
        Caller { cwd: self.cwd().to_owned(), environment }
    }

    pub fn cwd(&self) -> &Path {
        &self.context.cwd
    }

    pub fn environment(&self) -> &Environment {
        &self.context.environment
    }

    /// Returns the names of the environment variables that cannot be passed on because they are not
    /// valid UTF-8.
    pub fn left_out(&self) -> &[String] {
        &self.context.left_out
    }

    /// Returns whether an agent started this process, even if the process has removed the mark from
    /// its environment.
    pub fn is_inside_agent(&self) -> bool {
        self.environment().get(environment::LAUNCH).is_some()
            || peer::is_of_an_agent(std::process::id())
    }

    pub fn paths(&self) -> &Paths {
        &self.paths
    }

    /// Returns the terminals of all agents.
    pub fn terminals(&self) -> Arc<dyn Terminals> {
        Arc::new(LocalTerminals::new(self.paths.launches()))
    }
}

/// Creates the implementations that the flows use.
pub(crate) fn ports(
    paths: &Paths,
    environment: &Environment,
    store: Arc<dyn Store>,
) -> Result<Ports> {
    let checkouts = checkouts(paths, environment);
    let environments = Arc::new(LocalEnvironments::new(environment));
    let credentials = ConfiguredCredentials::new(paths, environment, environments.clone());
    let forges = (forges(), Arc::new(SystemClock) as Arc<dyn Clock>);
    let sources = ConfiguredSources::new(paths, environment, environments.clone(), forges);
    Ok(Ports {
        store,
        vendors: vendors(),
        holders: Arc::new(LocalHolders::new(paths.clone())),
        folders: Arc::new(DiskFolders::new(paths.clone())),
        archive: Arc::new(DiskArchive::new(paths)),
        files: files(),
        machine: Arc::new(LocalMachine::of(paths)?),
        projects: projects(paths.config_file(), Arc::clone(&checkouts)),
        checkouts,
        watchers: Arc::new(LocalWatchers),
        environments,
        credentials: Arc::new(credentials),
        clock: Arc::new(SystemClock),
        notifier: Arc::new(LocalNotifier),
        commands: Arc::new(LocalCommands::new(paths)),
        sources: Arc::new(sources),
        disk: Arc::new(LocalDiskMeter::new(paths)),
    })
}

/// Removes the empty cgroups of ended launches, and starts to end the processes that killed holders
/// leave behind.
pub(crate) fn tidy_after_holders(paths: &Paths) {
    use segue_core::ports::LaunchRecords as _;
    let folders = DiskFolders::new(paths.clone());
    cgroup::remove_empty(|launch| folders.end(launch).is_ok_and(|end| end.is_some()));
    tokio::spawn(async {
        if let Err(error) = orphans::end_adopted().await {
            tracing::error!(%error, "the processes of killed holders are not ended");
        }
    });
}

/// Fails if holders run outside of this PID namespace. The daemon could not identify their agents,
/// and an agent may have started it.
pub(crate) async fn refuse_outside_holders(paths: &Paths) -> Result<()> {
    LocalHolders::new(paths.clone()).refuse_outside().await
}

/// Returns the size of an agent's screen and the text of its rows. `None` without a holder.
pub(crate) async fn screen(
    paths: &Paths,
    launch: LaunchId,
) -> Result<Option<(TerminalSize, Vec<String>)>> {
    let snapshot = LocalHolders::new(paths.clone()).snapshot(launch).await?;
    Ok(snapshot.map(|it| (TerminalSize { rows: it.size.rows, cols: it.size.cols }, it.rows)))
}

/// Deletes the copies that an earlier daemon wrote for clients to read.
pub(crate) fn forget_readings(paths: &Paths) {
    use segue_core::ports::Files as _;
    if let Err(error) = LocalFiles.remove(&paths.readings()) {
        tracing::warn!(%error, "the copies for clients cannot be deleted");
    }
}

pub(crate) fn vendors() -> Arc<dyn Vendors> {
    Arc::new(segue_vendors::all())
}

pub(crate) fn forges() -> Arc<dyn Forges> {
    Arc::new(segue_forges::all())
}

/// Returns the project files of this machine, with the user's settings.
fn projects(config_file: PathBuf, checkouts: Arc<dyn Checkouts>) -> Arc<dyn Projects> {
    Arc::new(ProjectFolders::new(vendors(), checkouts, config_file))
}

/// Returns the project files of this machine, for callers that only need the names in them.
pub(crate) fn projects_without_settings() -> Arc<dyn Projects> {
    let checkouts = checkouts_in(CheckoutFolders::default(), &Environment::default());
    projects(PathBuf::new(), checkouts)
}

/// Returns the worktrees of this machine.
fn checkouts(paths: &Paths, environment: &Environment) -> Arc<dyn Checkouts> {
    let folders = CheckoutFolders {
        worktrees: paths.worktrees(),
        clones: paths.clones(),
        locks: paths.repository_locks(),
        scratch: paths.git_scratch(),
    };
    checkouts_in(folders, environment)
}

fn checkouts_in(folders: CheckoutFolders, environment: &Environment) -> Arc<dyn Checkouts> {
    Arc::new(GitCheckouts::new(folders, environment.clone(), Arc::new(SystemClock)))
}

pub(crate) fn files() -> Arc<dyn Files> {
    Arc::new(LocalFiles)
}

/// Finds a vendor's program.
pub(crate) fn find_program(spec: &ProgramSpec, environment: &Environment) -> Option<Program> {
    segue_host::programs::find(spec, environment)
}

/// Returns the current time.
pub fn now() -> jiff::Timestamp {
    use segue_core::ports::Clock as _;
    SystemClock.now()
}

/// Returns random bytes that cannot be predicted.
pub(crate) fn random_bytes<const COUNT: usize>() -> Result<[u8; COUNT]> {
    segue_host::random::random_bytes()
}

/// Creates the id of a request.
pub(crate) fn new_request_id() -> RequestId {
    use segue_core::ports::Clock as _;
    RequestId::new(SystemClock.new_id())
}

/// Returns whether a launch was ever recorded here.
pub(crate) fn has_launches(paths: &Paths) -> Result<bool> {
    use segue_core::ports::LaunchRecords as _;
    let (records, unreadable) = DiskFolders::new(paths.clone()).read_all()?;
    Ok(!records.is_empty() || !unreadable.is_empty())
}

/// Runs the daemon in this process.
pub fn run_daemon() -> Result<()> {
    let local = Local::read(failpoints::ProcessRole::Daemon)?;
    if local.is_inside_agent() {
        return Err(Error::usage("an agent may not start the daemon")
            .hint("run `segue daemon start` in a terminal of your own"));
    }
    segue_host::daemon::become_daemon()?;
    start_log();
    orphans::adopt()?;
    let runtime = runtime()?;
    let served = runtime.block_on(crate::daemon::run(local));
    runtime.shutdown_timeout(crate::daemon::CLOSE);
    served.map(drop)
}

/// The number of sessions that can write their records to disk at the same time.
const WORKER_THREADS: usize = 4;

/// Creates the daemon's runtime. The daemon mostly waits, but a record must be on disk before its
/// process is started. With several threads, no session waits for the disk writes of another.
fn runtime() -> Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(WORKER_THREADS)
        .thread_name("session")
        .enable_all()
        .build()
        .map_err(|error| Error::internal("cannot start the runtime").caused_by(error))
}

fn start_log() {
    let subscriber = tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_ansi(false)
        // An error of logging would be printed on standard error. On a full disk that would end
        // the daemon.
        .log_internal_errors(false);
    // Only a test can have set a subscriber before.
    let _first_wins = subscriber.try_init();
}

/// Returns findings about this machine that the user should know.
pub(crate) fn machine_notes(environment: &Environment) -> Vec<Finding> {
    let user = environment.get("USER").or(environment.get("LOGNAME")).unwrap_or_default();
    let systemd = Path::new("/run/systemd/system").is_dir();
    if !systemd || user.is_empty() || user == "root" || scope::linger_enabled(user) {
        return Vec::new();
    }
    vec![Finding {
        severity: Severity::Note,
        what: format!("agents of `{user}` end when `{user}` logs out of this machine"),
        cure: Some(format!("run `loginctl enable-linger {user}` to keep them")),
        curable: false,
        fixed: false,
    }]
}

/// Reports how the daemon identifies the processes of agents. Gets the number of live launches, and
/// how many of them have a cgroup.
pub(crate) fn protection_note((live, in_cgroups): (usize, usize)) -> Finding {
    let by_cgroups = "the processes of agents are identified by their cgroups";
    let by_ancestry = "the processes of agents are identified by their ancestry";
    let (what, cure) = match cgroup::check() {
        _ if live > 0 && live == in_cgroups => (by_cgroups.to_owned(), None),
        Ok(()) if live == 0 => (by_cgroups.to_owned(), None),
        Ok(()) => (
            format!("{by_ancestry}: {} of {live} have no cgroup", live - in_cgroups),
            Some("run `segue stop`, then `segue resume`, to give them one".to_owned()),
        ),
        Err(error) => (
            format!("{by_ancestry}: no cgroup can be made here ({error})"),
            Some(
                "see docs/security.md: what this cannot prevent, and how to get cgroups".to_owned(),
            ),
        ),
    };
    Finding { severity: Severity::Note, what, cure, curable: false, fixed: false }
}

/// Attaches this process's terminal to the terminal of a session.
pub async fn attach(local: &Local, point: &AttachPoint) -> Result<AttachEnd> {
    let terminal = hold::UserTerminal::of_this_process()?;
    hold::attach(&*local.terminals(), point.launch, terminal).await
}

/// Opens the user's editor with a text, and returns the text that the editor has left. Blocks until
/// the editor was closed.
pub fn edit(local: &Local, text: &str) -> Result<String> {
    segue_host::editor::edit(text, local.paths().state(), local.environment())
}

/// Stops this process as Ctrl-Z does. Returns after the process was continued.
pub fn suspend() -> Result<()> {
    process_context::suspend()
}

/// Opens a link in the user's browser. Returns false if the user has no display.
pub fn open_in_browser(local: &Local, link: &SecretText) -> Result<bool> {
    if !browser::has_display(local.environment()) {
        return Ok(false);
    }
    browser::open(link, &local.paths.browser_page()).map(|()| true)
}

/// Returns the extension for VS Code, as the file that the editor installs.
pub fn vscode_extension() -> &'static [u8] {
    segue_web::vscode_extension()
}

/// Installs the extension in `file` into the user's code editor. `program` is the editor's command,
/// by default the first that is found. Returns the path of the command.
pub fn install_extension(local: &Local, file: &Path, program: Option<&str>) -> Result<PathBuf> {
    segue_host::extensions::install(file, program, local.environment())
}

/// Returns the last output of a session's agent.
pub fn last_output(point: &AttachPoint) -> Option<String> {
    segue_host::last_output::read(point.socket.parent()?)
}

/// Runs a holder in this process.
pub fn hold(arguments: Vec<OsString>) -> ExitCode {
    hold::run_holder(arguments)
}

/// Records the report that a vendor writes to the standard input of Segue's hook. Prints nothing and
/// always succeeds, so that it does not disturb the vendor.
pub fn hook() -> ExitCode {
    // Without a launch, or if the launch is gone, there is nothing to record.
    let _recorded = own_launch().and_then(|(paths, launch)| {
        segue_host::hook::record(&paths, launch, std::io::stdin().lock())
            .map_err(|error| Error::internal("cannot record").caused_by(error))
    });
    ExitCode::SUCCESS
}

/// Returns the launch that this process belongs to, and the paths of its Segue.
fn own_launch() -> Result<(Paths, LaunchId)> {
    let context = ProcessContext::read()?;
    let paths = Paths::from_environment(&context.environment)?;
    let launch = context.environment.get(environment::LAUNCH).unwrap_or_default();
    let unknown = |_| Error::usage("this process belongs to no launch");
    Ok((paths, launch.parse().map_err(unknown)?))
}

/// Asks a person for a headless agent, whose program writes its request to the standard input of this
/// process. Prints the reply. Fails if there is no holder to ask, so that the vendor refuses.
pub fn ask_person() -> ExitCode {
    let replied = own_launch().and_then(|(paths, launch)| {
        hold::ask_person(&paths.launch(launch), std::io::stdin().lock())
    });
    let printed = replied.map_err(|error| error.to_string()).and_then(|reply| {
        let mut output = std::io::stdout();
        let printed = output.write_all(reply.as_bytes()).and_then(|()| output.flush());
        printed.map_err(|error| error.to_string())
    });
    match printed {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            // If standard error is closed, the exit status remains.
            let _written = writeln!(std::io::stderr(), "{reason}");
            ExitCode::from(REFUSED_STATUS)
        }
    }
}

/// Replaces this process by the agent. Returns only if that fails.
pub fn exec_agent(arguments: Vec<OsString>) -> ExitCode {
    // The error was reported to the holder through a pipe. The output of this process is not read.
    let _reported = hold::exec_agent(arguments);
    ExitCode::FAILURE
}

/// Replaces this process by the user's login shell, which prints its environment. Returns only if
/// that fails.
pub fn login_shell(arguments: Vec<OsString>) -> ExitCode {
    // The daemon notices that nothing was printed. The output of this process is not shown.
    let _reported = environments::become_login_shell(arguments);
    ExitCode::FAILURE
}

/// Replaces this process by the shell that runs a command. Returns only if that fails.
pub fn shell_command(arguments: Vec<OsString>) -> ExitCode {
    // The daemon reports that the command failed.
    let _reported = commands::become_shell(arguments);
    ExitCode::FAILURE
}

/// Replaces this process by an MCP server of an editor. Returns only if that fails.
pub fn mcp_relay(arguments: Vec<OsString>) -> ExitCode {
    let error = mcp_relay::become_server(arguments);
    // The agent's program may show this error.
    let _written = writeln!(std::io::stderr(), "Error: {error}");
    ExitCode::FAILURE
}

/// Prints the environment of this process for the daemon.
pub fn print_environment(arguments: &[OsString]) -> ExitCode {
    let Some(mark) = arguments.first() else { return ExitCode::FAILURE };
    match environments::print_environment(mark) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

/// Runs the built-in agent in this process.
pub fn demo_agent(arguments: Vec<OsString>) -> ExitCode {
    agent_host::run(arguments)
}
