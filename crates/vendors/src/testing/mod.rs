//! Helpers for the tests of all vendors: a session, a command plan, and a temporary config dir.

mod options;
pub(crate) mod turns;

use std::fs;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use jiff::Timestamp;
use segue_core::model::{Environment, LaunchMode, ProcessRef, Screen, Session, VendorSessionId};
use segue_core::ports::{
    CommandPlan, FileFacts, Files, McpServerCommand, McpServers, NewContents, Place,
};
use serde_json::{Value, json};
use tempfile::TempDir;

/// Returns a session as the flows pass it to a vendor.
pub(crate) fn session() -> Session {
    let value = json!({
        "id": "01980000-0000-7000-8000-000000000001", "name": "coder", "fleet": "shop",
        "agent": null, "vendor": "demo", "cwd": "/code", "config_dir": "/home/u/.segue-demo",
        "model": null, "permission": "ask", "instructions": null, "headless": false,
        "restart": "on-crash", "args": [], "env": {}, "parent": null,
        "status": {"status": "starting"}, "spoke": false,
        "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z",
    });
    serde_json::from_value(value).unwrap()
}

/// Returns an environment with these variables.
pub(crate) fn environment(pairs: &[(&str, &str)]) -> Environment {
    Environment::new(pairs.iter().map(|(name, value)| ((*name).into(), (*value).into())))
}

/// Returns a command plan as the flows pass it to a vendor.
pub(crate) fn plan<'a>(
    session: &'a Session,
    files: &'a dyn Files,
    (mode, id, message): (LaunchMode, Option<&'a VendorSessionId>, Option<&'a str>),
) -> CommandPlan<'a> {
    CommandPlan {
        session,
        version: None,
        mode,
        id,
        message,
        import: None,
        files,
        folder: Path::new("/state/launches/one"),
        hook: "'/bin/segue' hook",
        ask: "'/bin/segue' ask-person",
        now: Timestamp::UNIX_EPOCH,
    }
}

/// Parses a recorded screen, in which faint text is between `⟦` and `⟧`.
pub(crate) fn recorded_screen(text: &str) -> Screen {
    let (mut rows, mut firm_rows) = (Vec::new(), Vec::new());
    for line in text.lines() {
        let (mut row, mut firm_row, mut is_faint) = (String::new(), String::new(), false);
        for c in line.chars() {
            match c {
                '⟦' => is_faint = true,
                '⟧' => is_faint = false,
                c => {
                    row.push(c);
                    firm_row.push(if is_faint { ' ' } else { c });
                }
            }
        }
        rows.push(row.trim_end().to_owned());
        firm_rows.push(firm_row.trim_end().to_owned());
    }
    Screen { rows, firm_rows, ..Screen::default() }
}

/// Returns a screen without faint text.
pub(crate) fn plain_screen(title: &str, cursor: Option<(u16, u16)>, text: &str) -> Screen {
    let rows: Vec<String> = text.lines().map(|row| row.trim_end().to_owned()).collect();
    Screen { firm_rows: rows.clone(), rows, title: title.to_owned(), cursor, revision: 1 }
}

/// Returns the words of a command line.
pub(crate) fn words(line: &str) -> Vec<String> {
    line.split(' ').map(str::to_owned).collect()
}

/// Parses each non-empty line as JSON.
pub(crate) fn json_lines(text: impl AsRef<[u8]>) -> Vec<Value> {
    let lines = text.as_ref().split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| serde_json::from_slice(line).unwrap()).collect()
}

/// Writes each value as a line of JSON.
pub(crate) fn to_json_lines<'a>(values: impl IntoIterator<Item = &'a Value>) -> String {
    values.into_iter().map(|value| format!("{value}\n")).collect()
}

/// Returns a process with this process id and start time.
pub(crate) fn process(pid: u32, started: u64) -> ProcessRef {
    ProcessRef { pid, started, boot: String::new() }
}

/// A vendor's config dir in a temporary folder.
pub(crate) struct Home {
    pub(crate) folder: TempDir,
    pub(crate) place: Place,
    pub(crate) disk: CountingFiles,
}

impl Home {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let place = Place { config_dir: folder.path().to_owned(), cwd: "/code/a".into() };
        Self { folder, place, disk: CountingFiles::default() }
    }

    /// Writes a file below the config dir. Returns its path.
    pub(crate) fn write(&self, path: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        path
    }
}

/// Files on disk. Counts the bytes that are read. Reports the Unix epoch as the modification time
/// of every file.
#[derive(Debug, Default)]
pub(crate) struct CountingFiles {
    bytes_read: AtomicUsize,
    /// Files that processes seem to have open.
    opened: Mutex<Vec<(PathBuf, u32)>>,
}

impl CountingFiles {
    pub(crate) fn bytes_read(&self) -> usize {
        self.bytes_read.load(Ordering::Relaxed)
    }

    /// Makes a process seem to have a file open.
    pub(crate) fn open_in(&self, path: impl Into<PathBuf>, pid: u32) {
        self.opened.lock().unwrap().push((path.into(), pid));
    }
}

impl Files for CountingFiles {
    fn facts(&self, path: &Path) -> io::Result<Option<FileFacts>> {
        match fs::metadata(path) {
            Ok(facts) => Ok(Some(FileFacts {
                length: facts.len(),
                modified: Timestamp::UNIX_EPOCH,
                inode: facts.ino(),
            })),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn head(&self, path: &Path, limit: usize) -> io::Result<Vec<u8>> {
        self.read_at(path, 0, limit)
    }

    fn tail(&self, path: &Path, limit: usize) -> io::Result<Vec<u8>> {
        let length = fs::metadata(path)?.len();
        self.read_at(path, length.saturating_sub(limit as u64), limit)
    }

    fn read_at(&self, path: &Path, offset: u64, limit: usize) -> io::Result<Vec<u8>> {
        let mut file = fs::File::open(path)?;
        file.seek(SeekFrom::Start(offset))?;
        let mut bytes = Vec::new();
        file.take(limit as u64).read_to_end(&mut bytes)?;
        self.bytes_read.fetch_add(bytes.len(), Ordering::Relaxed);
        Ok(bytes)
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<PathBuf>> {
        match fs::read_dir(folder) {
            Ok(entries) => entries.map(|entry| Ok(entry?.path())).collect(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    fn create(&self, path: &Path, contents: &[u8]) -> io::Result<bool> {
        if path.exists() {
            return Ok(false);
        }
        fs::create_dir_all(path.parent().unwrap())?;
        fs::write(path, contents).map(|()| true)
    }

    fn begin(&self, _path: &Path) -> io::Result<Box<dyn NewContents>> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn is_open_in(&self, path: &Path, pid: u32) -> bool {
        self.opened.lock().unwrap().iter().any(|(open, by)| open == path && *by == pid)
    }

    fn opened_in(&self, folder: &Path, pid: Option<u32>) -> Vec<(u32, PathBuf)> {
        let opened = self.opened.lock().unwrap();
        let is_wanted = |(open, by): &&(PathBuf, u32)| {
            open.parent() == Some(folder) && pid.is_none_or(|pid| pid == *by)
        };
        opened.iter().filter(is_wanted).map(|(open, by)| (*by, open.clone())).collect()
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn end_last_line(&self, _path: &Path) -> io::Result<bool> {
        Ok(false)
    }
}

/// Returns Segue's own MCP server, and another one.
pub(crate) fn mcp_commands() -> [McpServerCommand; 2] {
    let server = |name: &str, arguments: &str, variables: &[&'static str], is_required| {
        let (name, program) = (name.to_owned(), "/opt/se gue".to_owned());
        let (arguments, variables) = (words(arguments), variables.to_vec());
        McpServerCommand { name, program, arguments, variables, is_required }
    };
    let own = server(McpServerCommand::OWN_NAME, "mcp", &["SEGUE_SESSION"], true);
    [own, server("my-files", "relay my-files", &["SEGUE_SESSION", "SEGUE_EDITOR_SERVERS"], false)]
}

/// Returns the MCP servers of a launch in the folder `/launch`.
pub(crate) fn mcp_servers(commands: &[McpServerCommand]) -> McpServers<'_> {
    McpServers { commands, folder: Path::new("/launch") }
}
