//! A view of a worktree for git: its index, its files and the repository's objects, but nothing of
//! the repository's configuration.
//!
//! The configuration of a repository can name programs: filters, hooks, a file system monitor,
//! external diffs. None of them may run because Segue looks at a worktree. So git never sees that
//! configuration: it gets a git folder of our own.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::{Path, PathBuf};

use segue_core::model::CommitId;
use segue_core::{Error, Result};

use crate::command::GitCommand;
use crate::failure::cannot;
use crate::layout::RepositoryFolders;
use crate::program::Git;
use crate::scratch::{Scratch, ScratchFolder};

/// Matches the setting of the repository that defines the ids of objects.
const FORMAT: &str = "^extensions\\.objectformat$";
/// Matches this setting and those that define how files are compared. Their values are single words,
/// and none of them can name a program.
const COMPARISON: &str =
    "^(extensions\\.objectformat|core\\.(autocrlf|eol|filemode|ignorecase|symlinks))$";

/// Our own configuration. Names that are special on other systems are allowed: a worktree on this
/// system may have them.
const CONFIG: &str = "[core]\n\tbare = false\n\tfsmonitor = false\n\tuntrackedCache = false\n\
    \tquotePath = false\n\thooksPath = /dev/null\n\tprotectNTFS = false\n\tprotectHFS = false\n\
    [submodule]\n\trecurse = false\n[gc]\n\tauto = 0\n";

/// Attributes that make git take files as they are.
const RAW: &str = "* !text !eol !crlf !ident !filter !working-tree-encoding\n";

/// Maximum length of a file that is copied into the view. Real files are smaller.
const LONGEST_FILE_BYTES: u64 = 1 << 20;

/// The folders of one worktree.
#[derive(Clone, Debug)]
pub(crate) struct WorktreeFolders {
    pub(crate) repository: RepositoryFolders,
    /// The folder with the checked-out files.
    pub(crate) checkout: PathBuf,
    /// The git folder of this worktree alone.
    pub(crate) admin: PathBuf,
}

/// How files are compared with the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileReading {
    /// With the line ends that attributes and settings define, but without filters.
    Text,
    /// Byte for byte. Settings that make git overlook names, symlinks or permissions do not apply.
    Raw,
}

/// A git folder that replaces the repository's own. It is removed on drop.
#[derive(Debug)]
pub(crate) struct View<'a> {
    git: &'a Git,
    pub(crate) folder: ScratchFolder,
    worktree: &'a WorktreeFolders,
}

impl<'a> View<'a> {
    /// Creates a view. `head` is the commit that is checked out.
    pub(crate) async fn open(
        git: &'a Git,
        scratch: &Scratch,
        worktree: &'a WorktreeFolders,
        head: Option<&CommitId>,
        reading: FileReading,
    ) -> Result<Self> {
        let view = Self { git, folder: scratch.new_folder()?, worktree };
        let config = view.config(reading).await?;
        let head = head.map_or("ref: refs/heads/unborn", CommitId::as_str);
        let filled = view.fill(&config, head);
        filled.map_err(|error| cannot("write", &view.folder.path, &error))?;
        view.use_attributes(reading)?;
        Ok(view)
    }

    /// Returns the folder with the checked-out files.
    pub(crate) fn checkout(&self) -> &Path {
        &self.worktree.checkout
    }

    /// Prepares a command that uses the worktree's own index.
    pub(crate) fn command(&self) -> GitCommand {
        let index = self.worktree.admin.join("index");
        self.command_with_index(&index)
    }

    /// Prepares a command that uses another index.
    pub(crate) fn command_with_index(&self, index: &Path) -> GitCommand {
        let objects = self.worktree.repository.common.join("objects");
        let checkout = &self.worktree.checkout;
        // The folder may be gone.
        let start = if checkout.is_dir() { checkout } else { &self.folder.path };
        self.git
            .closed(start)
            .path_variable("GIT_DIR", &self.folder.path)
            .path_variable("GIT_WORK_TREE", start)
            .path_variable("GIT_INDEX_FILE", index)
            .path_variable("GIT_OBJECT_DIRECTORY", &objects)
    }

    /// Replaces the attributes: our own that make git take files as they are, or those of the
    /// repository.
    pub(crate) fn use_attributes(&self, reading: FileReading) -> Result<()> {
        let path = self.folder.path.join("info/attributes");
        let attributes = match reading {
            FileReading::Raw => RAW.as_bytes().to_vec(),
            FileReading::Text => self.repository_attributes(),
        };
        fs::write(&path, attributes).map_err(|error| cannot("write", &path, &error))
    }

    /// Returns whether the repository has attributes outside its worktrees.
    pub(crate) fn has_attributes(&self) -> bool {
        !self.repository_attributes().is_empty()
    }

    fn repository_attributes(&self) -> Vec<u8> {
        read(&self.worktree.repository.common.join("info/attributes"))
    }

    fn fill(&self, config: &str, head: &str) -> io::Result<()> {
        let folder = &self.folder.path;
        for name in ["objects", "refs", "info"] {
            fs::create_dir(folder.join(name))?;
        }
        fs::write(folder.join("HEAD"), format!("{head}\n"))?;
        fs::write(folder.join("config"), config)?;
        let common = &self.worktree.repository.common;
        fs::write(folder.join("info/exclude"), self.ignore_patterns())?;
        if common.join("shallow").is_file() {
            fs::copy(common.join("shallow"), folder.join("shallow"))?;
        }
        self.link_shared_index()
    }

    /// Returns the ignore patterns of the user and of the repository that are not in `.gitignore`
    /// files. Later ones have precedence.
    fn ignore_patterns(&self) -> Vec<u8> {
        let user = self.git.user_ignore.as_deref().map(read).unwrap_or_default();
        let repository = read(&self.worktree.repository.common.join("info/exclude"));
        [user, repository].join(&b'\n')
    }

    /// Links the `sharedindex.*` files. If the index is split, they have most of it.
    fn link_shared_index(&self) -> io::Result<()> {
        let Ok(entries) = fs::read_dir(&self.worktree.admin) else { return Ok(()) };
        for entry in entries.flatten() {
            if entry.file_name().to_string_lossy().starts_with("sharedindex.") {
                symlink(entry.path(), self.folder.path.join(entry.file_name()))?;
            }
        }
        Ok(())
    }

    async fn config(&self, reading: FileReading) -> Result<String> {
        let pattern = match reading {
            FileReading::Text => COMPARISON,
            FileReading::Raw => FORMAT,
        };
        let mut text = CONFIG.to_owned();
        text.extend(self.settings(pattern).await?.iter().filter_map(|line| setting(line)));
        if reading == FileReading::Raw && ignores_case(&self.worktree.checkout) {
            text.push_str("[core]\n\tignoreCase = true\n");
        }
        Ok(text)
    }

    /// Returns settings of the repository that match a pattern.
    async fn settings(&self, pattern: &str) -> Result<Vec<String>> {
        let config = self.worktree.repository.common.join("config");
        let mut file = OsString::from("--file=");
        file.push(&config);
        // With `--file` git follows no `include`.
        let command = self.git.closed(&self.folder.path).arg("config").arg(file);
        let output = command.args(["--get-regexp", pattern]).output().await?;
        // The exit code is 1 if nothing matches.
        if !matches!(output.status.code(), Some(0 | 1)) {
            let config = config.display();
            let unreadable = Error::unavailable(format!("cannot read `{config}`"));
            return Err(unreadable.caused_by(output.stderr.trim()));
        }
        let text = String::from_utf8_lossy(&output.stdout);
        Ok(text.lines().map(str::to_owned).collect())
    }
}

/// Turns a line of `git config` output into a section of a configuration file. Returns `None` if
/// the value is not a single alphanumeric word.
fn setting(line: &str) -> Option<String> {
    let (key, value) = line.split_once(' ')?;
    let (section, name) = key.split_once('.')?;
    let is_word = value.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let version =
        if section == "extensions" { "[core]\n\trepositoryformatversion = 1\n" } else { "" };
    is_word.then(|| format!("{version}[{section}]\n\t{name} = {value}\n"))
}

/// Returns whether the file system of a checkout ignores case.
fn ignores_case(checkout: &Path) -> bool {
    let inode = |name: &str| {
        let facts = fs::symlink_metadata(checkout.join(name)).ok()?;
        Some((facts.dev(), facts.ino()))
    };
    inode(".git").is_some() && inode(".git") == inode(".GIT")
}

/// Reads a regular file of at most [`LONGEST_FILE_BYTES`]. Returns no bytes for anything else.
fn read(path: &Path) -> Vec<u8> {
    match fs::metadata(path) {
        Ok(facts) if facts.is_file() && facts.len() <= LONGEST_FILE_BYTES => {
            fs::read(path).unwrap_or_default()
        }
        _ => Vec::new(),
    }
}
