//! Segue in a temporary folder, one for each test. Its processes end with the test.

use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use rustix::fs::{CWD, FileType, Mode, mknodat};
use rustix::process::Signal;
use segue_core::model::{
    Environment, Exit, Launch, LaunchEnd, LaunchId, LaunchRecord, ProcessRef, Restart, Session,
    SessionId, TerminalSize, VendorId,
};
use segue_core::ports::{Held, HolderEvent, Holders as _, StartOrder};
use segue_fakes::samples;
use segue_host::Paths;
use segue_host::hold::{LocalHolders, Snapshot, socket_path};
use segue_host::process::{self, ProcessHandle};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::net::unix::pipe;
use uuid::Uuid;

/// Maximum duration of every wait. Long enough for a busy machine.
pub(crate) const DEADLINE: Duration = Duration::from_secs(180);

/// Returns the path of the holder program, an example that cargo builds with these tests.
pub(crate) fn holder_program() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let program = test.parent().unwrap().parent().unwrap().join("examples/holder");
    assert!(program.exists(), "`{}` was not built with the tests", program.display());
    program
}

/// Segue in a temporary folder.
#[derive(Debug)]
pub(crate) struct HoldFixture {
    temp: TempDir,
    pub(crate) paths: Paths,
    pub(crate) holders: LocalHolders,
    /// The launches that were started, with their holders.
    started: Mutex<Vec<(LaunchId, ProcessRef)>>,
}

/// A named pipe through which agents send lines to the test, apart from their terminal.
#[derive(Debug)]
pub(crate) struct LinePipe {
    lines: Lines<BufReader<pipe::Receiver>>,
    path: PathBuf,
}

impl LinePipe {
    /// Waits for `count` lines.
    pub(crate) async fn read_lines(&mut self, count: usize) -> Vec<String> {
        let mut lines = Vec::new();
        while lines.len() < count {
            let line = tokio::time::timeout(DEADLINE, self.lines.next_line()).await;
            lines.push(line.unwrap().unwrap().unwrap());
        }
        lines
    }

    /// Writes a line for an agent that reads from the pipe.
    pub(crate) async fn write_line(&mut self, line: &str) {
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
    /// Environment variables besides those of every launch.
    pub(crate) variables: Vec<(&'static str, &'static str)>,
}

impl HoldFixture {
    pub(crate) fn new() -> Self {
        Self::at("home")
    }

    /// Creates a fixture whose Segue home has this path below the temporary folder.
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

    /// Returns a launch of a shell that runs a script in a terminal. The script can call `title TEXT`
    /// to set the terminal's title, which a test can wait for.
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

    pub(crate) async fn start(&self, test_launch: &TestLaunch) -> (LaunchId, Held) {
        let (launch, held) = self.try_start(test_launch).await;
        (launch, held.unwrap())
    }

    pub(crate) async fn try_start(
        &self,
        test_launch: &TestLaunch,
    ) -> (LaunchId, segue_core::Result<Held>) {
        self.try_start_in(test_launch, |_| {}).await
    }

    /// Starts a launch after `prepare` was called with its folder.
    pub(crate) async fn try_start_in(
        &self,
        test_launch: &TestLaunch,
        prepare: impl FnOnce(&Path),
    ) -> (LaunchId, segue_core::Result<Held>) {
        let order = order(test_launch);
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

    /// Waits until the agent's terminal has this title. It then shows all earlier output.
    pub(crate) async fn wait_for_title(&self, launch: LaunchId, title: &str) {
        let mut events = self.holders.subscribe(launch).await.unwrap();
        let wait = tokio::time::timeout(DEADLINE, async {
            loop {
                match events.next().await.unwrap() {
                    HolderEvent::Title(new) if new == title => return,
                    _ => {}
                }
            }
        });
        wait.await.unwrap();
    }

    /// Creates a named pipe in the agents' folder, to which they can write lines.
    pub(crate) fn line_pipe(&self, name: &str) -> LinePipe {
        let path = self.folder().join(name);
        mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        let pipe = pipe::OpenOptions::new().read_write(true).open_receiver(&path).unwrap();
        LinePipe { lines: BufReader::new(pipe).lines(), path }
    }

    /// Waits for the agent's end. Returns the end that subscribers get, or the recorded one if the
    /// holder has exited.
    pub(crate) async fn wait_for_end(&self, launch: LaunchId) -> LaunchEnd {
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
            // Processes may start others meanwhile, so they are listed several times.
            for pid in (0..20).flat_map(|_| processes_of(*launch)) {
                if let Some(process) = process::find(pid) {
                    kill(&process);
                }
            }
        }
    }
}

fn order(test_launch: &TestLaunch) -> StartOrder {
    let launch = launch(test_launch);
    let variables = [
        ("PATH", "/usr/local/bin:/usr/bin:/bin".to_owned()),
        ("HOME", test_launch.cwd.display().to_string()),
        ("SEGUE_SESSION", test_launch.session.to_string()),
        ("SEGUE_LAUNCH", launch.id.to_string()),
        ("SECRET", "only in memory".to_owned()),
        ("LINES", "7".to_owned()),
    ];
    let more = test_launch.variables.iter().map(|(name, value)| (*name, (*value).to_owned()));
    let variables = variables.into_iter().chain(more);
    let variables = variables.map(|(name, value)| (name.to_owned(), value));
    StartOrder {
        record: LaunchRecord::new(session(test_launch), launch, Vec::new()),
        argv: test_launch.argv.clone(),
        before: test_launch.before.clone(),
        input: test_launch.input.clone(),
        environment: Environment::new(variables),
        size: test_launch.size,
    }
}

fn session(test_launch: &TestLaunch) -> Session {
    Session {
        id: test_launch.session,
        vendor: VendorId::new("shell"),
        cwd: test_launch.cwd.clone(),
        config_dir: test_launch.cwd.clone(),
        headless: test_launch.headless,
        restart: Restart::Never,
        ..samples::session(1, "coder")
    }
}

fn launch(test_launch: &TestLaunch) -> Launch {
    Launch {
        id: LaunchId::new(Uuid::now_v7()),
        // Before a later launch, the holder ends what the earlier ones have left behind.
        number: 2,
        program: PathBuf::from(&test_launch.argv[0]),
        argv: test_launch.argv.clone(),
        ..samples::launch(&session(test_launch))
    }
}

/// Returns the processes whose environment names the launch.
pub(crate) fn processes_of(launch: LaunchId) -> Vec<u32> {
    let launch = launch.to_string();
    let belongs_to_launch =
        |pid: &u32| process::variable(*pid, "SEGUE_LAUNCH").is_some_and(|value| value == launch);
    process::all().into_iter().filter(belongs_to_launch).collect()
}

/// Sends a signal to a process if it is still alive.
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
        assert!(runtime.block_on(handle.gone_within(DEADLINE)).unwrap(), "{target:?} did not exit");
    })
    .join()
    .unwrap();
}

/// Waits until a process exits by itself.
pub(crate) async fn wait_for_exit(process: &ProcessRef) {
    if let Some(handle) = ProcessHandle::open(process).unwrap() {
        assert!(handle.gone_within(DEADLINE).await.unwrap(), "{process:?} did not exit");
    }
}

pub(crate) fn exit_code(exit: i32) -> Exit {
    Exit::Code(exit)
}
