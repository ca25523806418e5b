//! Measures worktrees of a repository with 50,000 files: from a shared clone against git alone, and
//! a second dispatch against a fresh clone.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use segue_core::model::{
    BranchName, BranchStart, Environment, Provision, RepositorySource, RepositoryUrl, WorktreeSpec,
};
use segue_core::ports::{Checkouts as _, GitCaller};
use segue_git::{CheckoutFolders, GitCheckouts};
use segue_host::ProcessContext;
use segue_host::clock::SystemClock;
use segue_testkit::runtime::block_on;
use tempfile::TempDir;

use crate::table::{Aim, Figure, Row};
use crate::timing::{median, timed, whole_run};

const FILES: usize = 50_000;
const FILES_PER_FOLDER: usize = 100;
const TIMES: usize = 5;

const WORKTREE_AIM: Aim = Aim::Within(1.2);

pub(crate) fn measure(_program: &Path) -> Vec<Row> {
    let scene = WorktreeScene::new();
    let first = scene.dispatch(0);
    let (mut own, mut bare) = (Vec::new(), Vec::new());
    for number in 1..=TIMES {
        own.push(scene.dispatch(number));
        bare.push(scene.bare_worktree(number));
    }
    let own = median(own);
    vec![
        Row::new("worktree of 50,000 files from a clone", Figure::Time(own))
            .against(Figure::Time(median(bare)))
            .aim(WORKTREE_AIM),
        Row::new("  against a fresh clone", Figure::Time(own)).against(Figure::Time(first)),
    ]
}

/// A repository with many files, and the port that makes worktrees of it.
struct WorktreeScene {
    temp: TempDir,
    checkouts: GitCheckouts,
}

impl WorktreeScene {
    fn new() -> Self {
        let temp = TempDir::new().expect("a folder");
        let path = |name: &str| temp.path().join(name);
        let folders = CheckoutFolders {
            worktrees: path("worktrees"),
            clones: path("clones"),
            locks: path("locks"),
            scratch: path("scratch"),
        };
        let checkouts = GitCheckouts::new(folders, environment(temp.path()), Arc::new(SystemClock));
        let scene = Self { checkouts, temp };
        scene.git(&["init", "-q", "--bare", "-b", "main", "origin"]);
        scene.git(&["-C", "origin", "config", "uploadpack.allowFilter", "true"]);
        scene.import();
        scene
    }

    fn path(&self, name: &str) -> PathBuf {
        self.temp.path().join(name)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("git");
        command.args(arguments).current_dir(self.temp.path()).env_clear();
        command.envs(environment(self.temp.path()).iter());
        command
    }

    fn git(&self, arguments: &[&str]) {
        whole_run(&mut self.command(arguments));
    }

    /// Fills the repository with one commit of all files.
    fn import(&self) {
        let mut stream = String::from(
            "commit refs/heads/main\ncommitter Ann <ann@example.org> 1767225600 +0000\n\
             data 5\nbegin\n",
        );
        for number in 0..FILES {
            let (folder, text) = (number / FILES_PER_FOLDER, format!("line {number}\n"));
            let length = text.len();
            let entry = format!("M 100644 inline f{folder}/{number}.txt\ndata {length}\n{text}");
            stream.write_str(&entry).expect("a text");
        }
        let mut command = self.command(&["-C", "origin", "fast-import", "--quiet"]);
        let mut import = command.stdin(Stdio::piped()).spawn().expect("git starts");
        let mut input = import.stdin.take().expect("a piped standard input");
        input.write_all(stream.as_bytes()).expect("git reads");
        drop(input);
        assert!(import.wait().expect("git ends").success());
    }

    /// Makes a worktree as a task does: with a clone, or with a fetch of the clone that is there.
    fn dispatch(&self, number: usize) -> Duration {
        let url = format!("file://{}", self.path("origin").display());
        let spec = WorktreeSpec {
            source: RepositorySource::Url(RepositoryUrl::parse(&url).expect("a URL")),
            path: self.path(&format!("worktrees/own-{number}")),
            branch: BranchName::parse(&format!("own-{number}")).expect("a name"),
            start: BranchStart::DefaultBranch,
            provision: Provision::default(),
        };
        let environment = environment(self.temp.path());
        let caller = GitCaller { environment, ..GitCaller::default() };
        let ensure = || block_on(self.checkouts.ensure(&spec, &caller));
        let (time, made) = timed(ensure);
        made.expect("a worktree");
        time
    }

    /// Makes a worktree of the same clone with git alone.
    fn bare_worktree(&self, number: usize) -> Duration {
        let clones = fs::read_dir(self.path("clones")).expect("the clones");
        let clone = clones.flatten().next().expect("a clone").path();
        let (clone, path) = (clone.display().to_string(), self.path(&format!("bare-{number}")));
        let (branch, path) = (format!("bare-{number}"), path.display().to_string());
        let base = "origin/main";
        let add = ["-C", &clone, "worktree", "add", "-q", "--no-track", "-b", &branch, &path, base];
        whole_run(&mut self.command(&add))
    }
}

/// The environment of git, without the settings of this machine.
fn environment(home: &Path) -> Environment {
    let own = ProcessContext::read().expect("an environment").environment;
    let home = home.display().to_string();
    Environment::new([
        ("PATH".to_owned(), own.get("PATH").unwrap_or_default().to_owned()),
        ("HOME".to_owned(), home),
        ("GIT_CONFIG_NOSYSTEM".to_owned(), "1".to_owned()),
    ])
}
