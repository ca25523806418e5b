//! A view of a repository for git: the index, the objects and the files, without the repository's
//! configuration.

use std::fs::{self, File, Permissions};
use std::io::{self, Read as _};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::retry_on_intr;
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use crate::ProcessContext;
use crate::files::open_regular;
use crate::git::{Head, Repository};
use crate::programs::in_path;

/// Matches the settings of the repository that are copied. They define how files are stored. Their
/// values are single words, and none of them can name a program.
const COPIED_SETTINGS: &str =
    "^(core\\.(filemode|symlinks|ignorecase|autocrlf|eol)|extensions\\.objectformat)$";

/// Segue's own configuration for git. It switches off the file system monitor, the untracked cache,
/// the quoting of file names, hooks and submodules.
const CONFIG: &str = "[core]\n\tbare = false\n\tfsmonitor = false\n\tuntrackedCache = false\n\
    \tquotePath = false\n\thooksPath = /dev/null\n[submodule]\n\trecurse = false\n";

/// The timeout of a git command. Git can block, for example if `.gitignore` is a named pipe.
const GIT_TIMEOUT: Duration = Duration::from_secs(20);
/// At most this many bytes of git's output are read.
const MAX_OUTPUT_BYTES: u64 = 4 << 20;
/// At most this many bytes of `info/exclude` or of a configuration are read. Real files are smaller.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// A folder that replaces the repository's own `.git`. It is removed on drop.
#[derive(Debug)]
pub(super) struct GitView<'a> {
    git: PathBuf,
    place: &'a Path,
    repository: &'a Repository,
}

impl<'a> GitView<'a> {
    /// Creates the folder. Removes an existing folder in its place, which a killed process has
    /// left. Returns `None` if git is not installed.
    pub(super) fn make(
        place: &'a Path,
        repository: &'a Repository,
        head: &Head,
    ) -> io::Result<Option<Self>> {
        let Some(git) = program() else { return Ok(None) };
        let view = Self { git, place, repository };
        view.remove()?;
        for folder in ["objects", "refs", "info"] {
            fs::create_dir_all(place.join(folder))?;
        }
        fs::set_permissions(place, Permissions::from_mode(0o700))?;
        let unborn = "ref: refs/heads/unborn".to_owned();
        let head = head.commit.clone().unwrap_or(unborn);
        fs::write(place.join("HEAD"), format!("{head}\n"))?;
        fs::write(place.join("config"), CONFIG)?;
        view.copy_settings()?;
        fs::write(place.join("info/exclude"), view.excluded())?;
        view.link_shared_index()?;
        Ok(Some(view))
    }

    /// Runs a git command that only reads, and returns the lines of its output. Returns no lines if
    /// the command fails.
    pub(super) fn git(&self, arguments: &[&str]) -> Vec<String> {
        match self.output(arguments) {
            Ok(Some(text)) => text.lines().map(str::to_owned).collect(),
            Ok(None) => Vec::new(),
            Err(error) => {
                tracing::warn!(%error, "the git state of a folder cannot be read");
                Vec::new()
            }
        }
    }

    fn output(&self, arguments: &[&str]) -> io::Result<Option<String>> {
        // Git writes to a file, so that this process does not have to read a pipe while it waits.
        let path = self.place.join("output");
        let mut child = self.command(arguments, File::create(&path)?).spawn()?;
        if !ended_in_time(&mut child)? {
            return Err(io::Error::new(io::ErrorKind::TimedOut, "git did not end in time"));
        }
        if !child.wait()?.success() {
            return Ok(None);
        }
        let mut bytes = Vec::new();
        open_regular(&path)?.take(MAX_OUTPUT_BYTES).read_to_end(&mut bytes)?;
        Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
    }

    /// Builds a git command without the daemon's environment, which could also name programs.
    fn command(&self, arguments: &[&str], output: File) -> Command {
        let mut command = Command::new(&self.git);
        command
            .arg("--no-pager")
            .args(arguments)
            .current_dir(&self.repository.checkout)
            .env_clear()
            .env("HOME", self.place)
            .env("LC_ALL", "C.UTF-8")
            .env("GIT_DIR", self.place)
            .env("GIT_WORK_TREE", &self.repository.checkout)
            .env("GIT_INDEX_FILE", self.repository.folder.join("index"))
            .env("GIT_OBJECT_DIRECTORY", self.repository.common.join("objects"))
            .envs(ISOLATION)
            .stdin(Stdio::null())
            .stdout(output)
            .stderr(Stdio::null())
            .process_group(0);
        command
    }

    /// Copies the settings that define how files are stored.
    fn copy_settings(&self) -> io::Result<()> {
        let config = self.repository.common.join("config");
        let copy = self.place.join("settings");
        fs::write(&copy, read(&config))?;
        let Some(copy) = copy.to_str() else { return Ok(()) };
        // With `--file` git follows no `include`.
        let known = self.git(&["config", "--file", copy, "--get-regexp", COPIED_SETTINGS]);
        let settings = known.iter().filter_map(|line| setting(line));
        let text: String = std::iter::once(CONFIG.to_owned()).chain(settings).collect();
        fs::write(self.place.join("config"), text)
    }

    /// Returns the ignore patterns of the repository and of the user that are not in `.gitignore`
    /// files.
    fn excluded(&self) -> Vec<u8> {
        let mut patterns = read(&self.repository.common.join("info/exclude"));
        let environment = ProcessContext::read().map(|it| it.environment).unwrap_or_default();
        let folder =
            |name: &str| environment.get(name).filter(|it| !it.is_empty()).map(PathBuf::from);
        let settings = folder("XDG_CONFIG_HOME").or_else(|| Some(folder("HOME")?.join(".config")));
        if let Some(settings) = settings {
            patterns.push(b'\n');
            patterns.extend(read(&settings.join("git/ignore")));
        }
        patterns
    }

    /// Links the `sharedindex.*` files of the repository. They contain most of a split index.
    fn link_shared_index(&self) -> io::Result<()> {
        let Ok(entries) = fs::read_dir(&self.repository.folder) else { return Ok(()) };
        for entry in entries.flatten() {
            if entry.file_name().to_string_lossy().starts_with("sharedindex.") {
                symlink(entry.path(), self.place.join(entry.file_name()))?;
            }
        }
        Ok(())
    }

    fn remove(&self) -> io::Result<()> {
        match fs::remove_dir_all(self.place) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

impl Drop for GitView<'_> {
    fn drop(&mut self) {
        if let Err(error) = self.remove() {
            tracing::warn!(%error, "the view of a repository cannot be removed");
        }
    }
}

/// Environment variables that stop git from reading other configuration, fetching, running programs
/// and prompting.
const ISOLATION: [(&str, &str); 11] = [
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_ATTR_NOSYSTEM", "1"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    ("GIT_ALLOW_PROTOCOL", "none"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_ASKPASS", "/bin/false"),
    ("GIT_PAGER", "cat"),
    ("PATH", "/nonexistent"),
];

/// Converts a line of `git config` output into a section of a configuration file. `None` if the
/// value is not a single alphanumeric word.
fn setting(line: &str) -> Option<String> {
    let (key, value) = line.split_once(' ')?;
    let (section, name) = key.split_once('.')?;
    let is_word = value.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let version =
        if section == "extensions" { "[core]\n\trepositoryformatversion = 1\n" } else { "" };
    is_word.then(|| format!("{version}[{section}]\n\t{name} = {value}\n"))
}

/// Finds git in the PATH of this process. Ignores relative folders.
fn program() -> Option<PathBuf> {
    in_path("git", &ProcessContext::read().ok()?.environment)
}

/// Reads at most [`MAX_FILE_BYTES`] bytes of a file. Returns no bytes if the file is missing or not
/// regular.
fn read(path: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    let file = open_regular(path).map(|file| file.take(MAX_FILE_BYTES));
    match file.and_then(|mut file| file.read_to_end(&mut bytes)) {
        Ok(_) => bytes,
        Err(_) => Vec::new(),
    }
}

/// Waits until a process exits. Kills it after the timeout and returns `false`.
fn ended_in_time(child: &mut Child) -> io::Result<bool> {
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let pid = pid.ok_or_else(|| io::Error::other("git has no process id"))?;
    let handle = pidfd_open(pid, PidfdFlags::empty())?;
    let limit = Timespec { tv_sec: GIT_TIMEOUT.as_secs().cast_signed(), tv_nsec: 0 };
    let ready = retry_on_intr(|| poll(&mut [PollFd::new(&handle, PollFlags::IN)], Some(&limit)))?;
    if ready == 0 {
        child.kill()?;
        child.wait()?;
    }
    Ok(ready > 0)
}
