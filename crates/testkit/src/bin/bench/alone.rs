//! Measures one operation in its own process, so that the process's peak memory is that of the
//! operation.

use std::fs::File;
use std::io::Read as _;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use segue_core::flows::handoff::{self, Destination, SourceConversation, TransferLimit};
use segue_core::model::{Environment, VendorId, VendorSessionId};
use segue_core::ports::{Place, Ports, ProjectFile, Projects, Transcripts, Vendor};
use segue_core::rules::redaction::KnownSecrets;
use segue_core::{Error, Result};
use segue_git::{CheckoutFolders, GitCheckouts};
use segue_host::archive::DiskArchive;
use segue_host::environments::LocalEnvironments;
use segue_host::hold::LocalHolders;
use segue_host::watch::LocalWatchers;
use segue_host::{
    DiskFolders, LocalCommands, LocalDiskMeter, LocalFiles, LocalMachine, LocalNotifier, Paths,
    SystemClock,
};
use segue_testkit::memory;
use segue_testkit::runtime::block_on;
use segue_testkit::vendors::vendor;

use crate::no_credentials::{NoCredentials, NoSources};
use crate::recording::{CWD, ID};
use crate::timing::timed;

/// The cost of an operation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cost {
    pub(crate) time: Duration,
    /// The peak memory of the process in bytes. Includes the memory of the benchmark program
    /// itself.
    pub(crate) peak: u64,
}

/// Starts this program again to measure one operation. `words` has the operation and its arguments.
pub(crate) fn run(words: &[&str]) -> Cost {
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    let output = command.arg("alone").args(words).output().expect("it starts");
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout);
    let mut figures = text.split_ascii_whitespace().map(|word| word.parse().expect("a number"));
    let mut next = || figures.next().expect("a figure");
    Cost { time: Duration::from_nanos(next()), peak: next() }
}

/// Runs one operation in the process that `run` has started. Returns its duration in nanoseconds
/// and the peak memory in bytes, separated by a space.
pub(crate) fn work(words: &[&str]) -> String {
    let time = match words {
        ["last", path, characters] => {
            let least = characters.parse().expect("a number");
            timed(|| read_newest(path.as_ref(), least)).0
        }
        ["conversation", path, cwd] => timed(|| read_facts(path.as_ref(), cwd)).0,
        ["whole", path] => timed(|| read_newest(path.as_ref(), usize::MAX)).0,
        ["forwards", path] => timed(|| read_forwards(path.as_ref())).0,
        ["lines", path] => timed(|| count_lines(path.as_ref())).0,
        ["convert", folder, to] => Trip::new(folder.as_ref(), to).measure_whole(),
        ["budget", folder, to, characters] => {
            Trip::new(folder.as_ref(), to).measure_within(characters.parse().expect("a number"))
        }
        _ => panic!("unknown operation: {words:?}"),
    };
    format!("{} {}", time.as_nanos(), memory::peak())
}

/// Reads the newest turns until they have at least `least` characters. Returns the number of turns
/// that it kept, which is 0 if `least` is `usize::MAX`.
fn read_newest(path: &Path, least: usize) -> usize {
    let (mut turns, mut count) = (Vec::new(), 0);
    let each = &mut |turn: segue_core::model::Turn| {
        count += turn.text.chars().count();
        if least < usize::MAX {
            turns.push(turn);
        }
        if count < least { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    let claude = vendor("claude");
    transcripts(claude.as_ref()).turns_back(&LocalFiles, path, each).expect("a conversation");
    assert!(count >= least.min(50_000), "{count} characters");
    turns.len()
}

/// Reads the facts about a conversation that Segue's decisions need. The transcript must be in a
/// config dir of Claude Code.
fn read_facts(path: &Path, cwd: &str) {
    let config_dir = path.ancestors().nth(3).expect("a home").to_owned();
    let place = Place { config_dir, cwd: cwd.into() };
    let (claude, id) = (vendor("claude"), VendorSessionId::new(ID));
    let found = transcripts(claude.as_ref()).conversation(&LocalFiles, &place, &id);
    let conversation = found.expect("a transcript").expect("a conversation");
    assert!(conversation.first_message.is_some() && !conversation.turn_open, "{conversation:?}");
}

/// Reads all turns from the beginning. Returns their total length in bytes.
fn read_forwards(path: &Path) -> usize {
    let mut count = 0;
    let each = &mut |turn: segue_core::model::Turn| {
        count += turn.text.len();
        ControlFlow::Continue(())
    };
    let claude = vendor("claude");
    transcripts(claude.as_ref()).turns(&LocalFiles, path, each).expect("a conversation");
    count
}

/// Returns the transcripts of a vendor that has some.
fn transcripts(vendor: &dyn Vendor) -> &dyn Transcripts {
    vendor.transcripts().expect("a vendor with transcripts")
}

/// Counts lines like `wc -l`.
fn count_lines(path: &Path) -> usize {
    let (mut file, mut buffer) = (File::open(path).expect("a file"), vec![0; 1 << 20]);
    let mut count = 0;
    while let Ok(read @ 1..) = file.read(&mut buffer) {
        count += buffer[..read].iter().filter(|byte| **byte == b'\n').count();
    }
    assert!(count > 0, "there are lines");
    count
}

/// A handoff of a conversation to another vendor.
struct Trip {
    ports: Ports,
    source: SourceConversation,
    to: Destination,
}

impl Trip {
    /// Prepares a handoff of the Claude Code conversation in a folder to the vendor `to`.
    fn new(folder: &Path, to: &str) -> Self {
        let goal = tempfile::tempdir_in(folder).expect("a folder").keep();
        let from = Place { config_dir: folder.to_owned(), cwd: PathBuf::from(CWD) };
        let place = Place { config_dir: goal.clone(), cwd: PathBuf::from(CWD) };
        let (claude, id) = (vendor("claude"), VendorSessionId::new(ID));
        let transcript = transcripts(claude.as_ref()).transcript(&LocalFiles, &from, &id);
        let source = SourceConversation { vendor: claude, place: from, id, transcript };
        let to = Destination {
            vendor: vendor(to),
            place,
            id: VendorSessionId::new("01a1e314-01ed-7c00-99ec-6209a75b8c75"),
            title: "a/b".to_owned(),
            model: None,
            append_to: None,
            import: goal.join("import.json"),
        };
        Self { ports: ports(&goal), source, to }
    }

    /// Measures the handoff of the whole conversation.
    fn measure_whole(&self) -> Duration {
        let convert =
            || handoff::convert(&self.ports, &self.source, &self.to, &KnownSecrets::default());
        let (time, written) = timed(convert);
        assert!(written.expect("a conversion").is_some(), "it takes turns");
        time
    }

    /// Measures the handoff of at most `budget` characters of the conversation.
    fn measure_within(&self, budget: usize) -> Duration {
        let limit = TransferLimit { budget, since: None };
        let (time, written) = timed(|| {
            let excerpt =
                handoff::gather(&self.ports, &self.source, limit, &KnownSecrets::default())?;
            handoff::write(&self.ports, &excerpt, &self.to)
        });
        assert!(written.expect("a conversion").is_some(), "it takes turns");
        time
    }
}

/// No folder has a project file.
#[derive(Debug)]
struct NoProjects;

impl Projects for NoProjects {
    fn root(&self, _folder: &Path) -> Option<PathBuf> {
        None
    }

    fn read(&self, root: &Path) -> Result<Arc<dyn ProjectFile>> {
        Err(Error::not_found(format!("there is no project in `{}`", root.display())))
    }

    fn default_vendor(&self) -> Result<Option<VendorId>> {
        Ok(None)
    }
}

fn ports(home: &Path) -> Ports {
    let home = home.join("segue").display().to_string();
    let environment = Environment::new([("SEGUE_HOME".to_owned(), home)]);
    let paths = Paths::from_environment(&environment).expect("places");
    paths.ensure().expect("places");
    Ports {
        store: block_on(segue_store::open(&paths.database())).expect("a store"),
        vendors: Arc::new(segue_vendors::all()),
        holders: Arc::new(LocalHolders::new(paths.clone())),
        folders: Arc::new(DiskFolders::new(paths.clone())),
        archive: Arc::new(DiskArchive::new(&paths)),
        checkouts: Arc::new(GitCheckouts::new(
            CheckoutFolders::default(),
            environment.clone(),
            Arc::new(SystemClock),
        )),
        files: Arc::new(LocalFiles),
        machine: Arc::new(LocalMachine::of(&paths).expect("an id")),
        projects: Arc::new(NoProjects),
        watchers: Arc::new(LocalWatchers),
        environments: Arc::new(LocalEnvironments::new(&environment)),
        credentials: Arc::new(NoCredentials),
        clock: Arc::new(SystemClock),
        notifier: Arc::new(LocalNotifier),
        commands: Arc::new(LocalCommands::new(&paths)),
        sources: Arc::new(NoSources),
        disk: Arc::new(LocalDiskMeter::new(&paths)),
    }
}
