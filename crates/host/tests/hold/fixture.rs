//! A separate Segue for each test. Its processes end with the test.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use jiff::Timestamp;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use rustix::process::Signal;
use segue_core::model::{
    Environment, Exit, FleetName, Launch, LaunchEnd, LaunchId, LaunchMode, LaunchRecord,
    Permission, ProcessRef, Restart, Session, SessionId, SessionName, Status, TerminalSize,
    VendorId,
};
use segue_core::ports::{Held, HolderEvent, Holders as _, StartOrder};
use segue_host::Paths;
use segue_host::hold::{LocalHolders, Snapshot, socket_path};
use segue_host::process::{self, ProcessHandle};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::net::unix::pipe;
use uuid::Uuid;

/// Longer than anything here takes on a busy machine.
pub(crate) const DEADLINE: Duration = Duration::from_secs(180);

/// Returns the holder program, which is built with these tests.
pub(crate) fn holder_program() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let program = test.parent().unwrap().parent().unwrap().join("examples/holder");
    assert!(program.exists(), "`{}` is built with the tests", program.display());
    program
}

/// One Segue in a temporary folder.
#[derive(Debug)]
pub(crate) struct HoldFixture {
    temp: TempDir,
    pub(crate) paths: Paths,
    pub(crate) holders: LocalHolders,
    started: Mutex<Vec<(LaunchId, ProcessRef)>>,
}

/// Reads lines that agents write to a named pipe, beside their terminal.
#[derive(Debug)]
pub(crate) struct Ear {
    lines: Lines<BufReader<pipe::Receiver>>,
    path: PathBuf,
}

impl Ear {
    /// Waits for this many lines.
    pub(crate) async fn hears(&mut self, count: usize) -> Vec<String> {
        let mut heard = Vec::new();
        while heard.len() < count {
            let line = tokio::time::timeout(DEADLINE, self.lines.next_line()).await;
            heard.push(line.unwrap().unwrap().unwrap());
        }
        heard
    }

    /// Writes a line for an agent that reads from the pipe.
    pub(crate) async fn says(&mut self, line: &str) {
        let pipe = pipe::OpenOptions::new().open_sender(&self.path).unwrap();
        let line = format!("{line}\n");
        loop {
            pipe.writable().await.unwrap();
            if pipe.try_write(line.as_bytes()).is_ok() {
                return;
            }
        }
    }
}

/// A launch to start.
#[derive(Clone, Debug)]
pub(crate) struct TestLaunch {
    pub(crate) session: SessionId,
    pub(crate) argv: Vec<String>,
    pub(crate) before: Vec<String>,
    pub(crate) input: Option<PathBuf>,
    pub(crate) cwd: PathBuf,
    pub(crate) headless: bool,
    pub(crate) size: TerminalSize,
    /// Environment variables besides the usual ones.
    pub(crate) variables: Vec<(&'static str, &'static str)>,
}

impl HoldFixture {
    pub(crate) fn new() -> Self {
        Self::at("home")
    }

    /// Creates a Segue whose home has this path below a temporary folder.
    pub(crate) fn at(home: &str) -> Self {
        let temp = TempDir::new().unwrap();
        let home = temp.path().join(home).to_str().unwrap().to_owned();
        let environment = Environment::new([("SEGUE_HOME".to_owned(), home)]);
        let paths = Paths::from_environment(&environment).unwrap();
        paths.ensure().unwrap();
        let holders = LocalHolders::new(paths.clone()).with_program(holder_program());
        Self { temp, paths, holders, started: Mutex::default() }
    }

    pub(crate) fn folder(&self) -> &Path {
        self.temp.path()
    }

    /// Returns a launch of a shell that runs a script in a terminal. The script can call `title …`,
    /// which the test can wait for.
    pub(crate) fn shell(&self, script: &str) -> TestLaunch {
        let script = format!("title() {{ printf '\\033]2;%s\\007' \"$1\"; }}; {script}");
        TestLaunch {
            session: SessionId::new(Uuid::now_v7()),
            argv: ["/bin/sh", "-c", &script].map(str::to_owned).to_vec(),
            before: Vec::new(),
            input: None,
            cwd: self.folder().to_owned(),
            headless: false,
            size: TerminalSize::DEFAULT,
            variables: Vec::new(),
        }
    }

    pub(crate) async fn start(&self, wanted: &TestLaunch) -> (LaunchId, Held) {
        let (launch, held) = self.try_start(wanted).await;
        (launch, held.unwrap())
    }

    pub(crate) async fn try_start(
        &self,
        wanted: &TestLaunch,
    ) -> (LaunchId, segue_core::Result<Held>) {
        self.try_start_in(wanted, |_| {}).await
    }

    /// Starts a launch whose folder was prepared with `prepare`.
    pub(crate) async fn try_start_in(
        &self,
        wanted: &TestLaunch,
        prepare: impl FnOnce(&Path),
    ) -> (LaunchId, segue_core::Result<Held>) {
        let order = order(wanted);
        let launch = order.record.launch.id;
        DirBuilder::new().mode(0o700).create(self.paths.launch(launch)).unwrap();
        prepare(&self.paths.launch(launch));
        let held = self.holders.start(&order).await;
        if let Ok(held) = &held {
            self.started.lock().unwrap().push((launch, held.holder.clone()));
        }
        (launch, held)
    }

    pub(crate) fn socket(&self, launch: LaunchId) -> PathBuf {
        socket_path(&self.paths.launch(launch))
    }

    pub(crate) async fn snapshot(&self, launch: LaunchId) -> Snapshot {
        self.holders.snapshot(launch).await.unwrap().unwrap()
    }

    /// Waits until the agent's terminal has this title: then it shows all output before the title.
    pub(crate) async fn titled(&self, launch: LaunchId, title: &str) {
        let mut events = self.holders.subscribe(launch).await.unwrap();
        let titled = tokio::time::timeout(DEADLINE, async {
            loop {
                match events.next().await.unwrap() {
                    HolderEvent::Title(new) if new == title => return,
                    _ => {}
                }
            }
        });
        titled.await.unwrap();
    }

    /// Creates a named pipe in the agents' folder, to which they can write lines.
    pub(crate) fn ear(&self, name: &str) -> Ear {
        let path = self.folder().join(name);
        mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        let pipe = pipe::OpenOptions::new().read_write(true).open_receiver(&path).unwrap();
        Ear { lines: BufReader::new(pipe).lines(), path }
    }

    /// Waits for the agent's end, as a subscriber is notified of it.
    pub(crate) async fn ended(&self, launch: LaunchId) -> LaunchEnd {
        let Ok(mut events) = self.holders.subscribe(launch).await else {
            return self.recorded_end(launch);
        };
        let end = tokio::time::timeout(DEADLINE, async {
            loop {
                match events.next().await {
                    Some(HolderEvent::Ended(end)) => return Some(end),
                    Some(_) => {}
                    None => return None,
                }
            }
        });
        end.await.unwrap().unwrap_or_else(|| self.recorded_end(launch))
    }

    pub(crate) fn recorded_end(&self, launch: LaunchId) -> LaunchEnd {
        let text = fs::read(self.paths.launch(launch).join("end.json")).unwrap();
        serde_json::from_slice(&text).unwrap()
    }
}

impl Drop for HoldFixture {
    fn drop(&mut self) {
        for (launch, holder) in self.started.get_mut().unwrap() {
            kill(holder);
            // Look several times, because some may have been starting others.
            for pid in (0..20).flat_map(|_| marked(*launch)) {
                if let Some(process) = process::find(pid) {
                    kill(&process);
                }
            }
        }
    }
}

fn order(wanted: &TestLaunch) -> StartOrder {
    let launch = launch(wanted);
    let variables = [
        ("PATH", "/usr/local/bin:/usr/bin:/bin".to_owned()),
        ("HOME", wanted.cwd.display().to_string()),
        ("SEGUE_SESSION", wanted.session.to_string()),
        ("SEGUE_LAUNCH", launch.id.to_string()),
        ("SECRET", "only in memory".to_owned()),
        ("LINES", "7".to_owned()),
    ];
    let more = wanted.variables.iter().map(|(name, value)| (*name, (*value).to_owned()));
    let variables = variables.into_iter().chain(more);
    let variables = variables.map(|(name, value)| (name.to_owned(), value));
    StartOrder {
        record: LaunchRecord::new(session(wanted), launch, Vec::new()),
        argv: wanted.argv.clone(),
        before: wanted.before.clone(),
        input: wanted.input.clone(),
        environment: Environment::new(variables),
        size: wanted.size,
    }
}

fn session(wanted: &TestLaunch) -> Session {
    Session {
        id: wanted.session,
        name: SessionName::parse("coder").unwrap(),
        fleet: FleetName::parse("shop").unwrap(),
        agent: None,
        vendor: VendorId::new("shell"),
        description: None,
        cwd: wanted.cwd.clone(),
        config_dir: wanted.cwd.clone(),
        model: None,
        permission: Permission::Ask,
        instructions: None,
        headless: wanted.headless,
        restart: Restart::Never,
        args: Vec::new(),
        env: BTreeMap::new(),
        parent: None,
        status: Status::Starting,
        archive: true,
        spoke: false,
        created_at: Timestamp::now(),
        updated_at: Timestamp::now(),
    }
}

fn launch(wanted: &TestLaunch) -> Launch {
    Launch {
        id: LaunchId::new(Uuid::now_v7()),
        session: wanted.session,
        number: 1,
        mode: LaunchMode::Fresh,
        planned: None,
        message: None,
        program: PathBuf::from(&wanted.argv[0]),
        argv: wanted.argv.clone(),
        cwd: wanted.cwd.clone(),
        vendor_version: None,
        git_commit: None,
        environment: Vec::new(),
        created_at: Timestamp::now(),
        machine: None,
        holder: None,
        agent: None,
        end: None,
    }
}

/// Returns the processes with the mark of a launch.
pub(crate) fn marked(launch: LaunchId) -> Vec<u32> {
    let mark = launch.to_string();
    let is_marked =
        |pid: &u32| process::variable(*pid, "SEGUE_LAUNCH").is_some_and(|value| value == mark);
    process::all().into_iter().filter(is_marked).collect()
}

/// Sends a signal to exactly this process, if it is still alive.
pub(crate) fn send(target: &ProcessRef, signal: Signal) {
    if let Some(handle) = ProcessHandle::open(target).unwrap() {
        handle.signal(signal).unwrap();
    }
}

/// Kills a process and waits until it has exited.
pub(crate) fn kill(process: &ProcessRef) {
    let Some(handle) = ProcessHandle::open(process).unwrap() else { return };
    handle.signal(Signal::KILL).unwrap();
    let target = process.clone();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        assert!(runtime.block_on(handle.gone_within(DEADLINE)).unwrap(), "{target:?} ends");
    })
    .join()
    .unwrap();
}

/// Waits until a process exits by itself.
pub(crate) async fn gone(process: &ProcessRef) {
    if let Some(handle) = ProcessHandle::open(process).unwrap() {
        assert!(handle.gone_within(DEADLINE).await.unwrap(), "{process:?} ends");
    }
}

pub(crate) fn code(exit: i32) -> Exit {
    Exit::Code(exit)
}
