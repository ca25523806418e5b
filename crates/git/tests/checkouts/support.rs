//! A scene for tests: a home of its own, repositories, and the port over real git.

use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use segue_core::model::{
    BranchName, BranchStart, EnsuredWorktree, Environment, Provision, RefName, RepositorySource,
    RepositoryUrl, SalvageOutcome, WorktreePlace, WorktreeSpec,
};
use segue_core::ports::{Checkouts as _, Clock, GitCaller, RemovalOrder, RestorationOrder};
use segue_core::{Error, Result};
use segue_git::{CheckoutFolders, GitCheckouts};
use tempfile::TempDir;
use uuid::Uuid;

/// A clock that moves by a second whenever it is read.
#[derive(Debug)]
struct TestClock {
    process: u64,
    count: AtomicU64,
}

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        let seconds = self.count.fetch_add(1, Ordering::SeqCst);
        let start: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
        start + SignedDuration::from_secs(i64::try_from(seconds).unwrap())
    }

    fn new_id(&self) -> Uuid {
        self.random_id()
    }

    fn random_id(&self) -> Uuid {
        let count = self.count.fetch_add(1, Ordering::SeqCst);
        // The first eight digits are part of names.
        Uuid::from_u64_pair((self.process & 0xffff) << 48 | count << 32, self.process)
    }
}

/// A temporary folder with a home, a project `app` and Segue's folders.
pub(crate) struct Scene {
    pub(crate) temp: TempDir,
    pub(crate) checkouts: GitCheckouts,
}

impl Scene {
    /// A scene without repositories.
    pub(crate) fn empty() -> Self {
        let temp = TempDir::new().unwrap();
        fs::create_dir(temp.path().join("home")).unwrap();
        let checkouts = checkouts_in(temp.path());
        let scene = Self { temp, checkouts };
        for (key, value) in [
            ("user.name", "User"),
            ("user.email", "user@example.org"),
            ("init.defaultBranch", "main"),
            ("protocol.file.allow", "always"),
        ] {
            scene.git(scene.path(""), &["config", "--global", key, value]);
        }
        scene
    }

    /// A scene with a project `app` that has one commit on `main`.
    pub(crate) fn new() -> Self {
        let scene = Self::empty();
        scene.init("app");
        scene
    }

    /// A scene with a remote repository `remote.git` and the project `app` that was cloned from it.
    pub(crate) fn with_remote() -> Self {
        let scene = Self::empty();
        scene.init("origin");
        let remote = scene.path("remote.git");
        scene.git(scene.path(""), &["clone", "-q", "--bare", "origin", "remote.git"]);
        scene.git(&remote, &["config", "uploadpack.allowFilter", "true"]);
        scene.git(&remote, &["config", "uploadpack.allowAnySHA1InWant", "true"]);
        scene.git(scene.path(""), &["clone", "-q", &scene.url(), "app"]);
        scene
    }

    pub(crate) fn init(&self, name: &str) {
        self.git(self.path(""), &["init", "-q", name]);
        self.write(&format!("{name}/file"), "one\n");
        self.git(self.path(name), &["add", "."]);
        self.git(self.path(name), &["commit", "-q", "-m", "first"]);
    }

    /// Returns the URL of `remote.git`.
    pub(crate) fn url(&self) -> String {
        format!("file://{}", self.path("remote.git").display())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.temp.path().canonicalize().unwrap().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// Writes a program, and returns its path.
    pub(crate) fn program(&self, name: &str, text: &str) -> String {
        self.write(name, format!("#!/bin/sh\n{text}\n"));
        fs::set_permissions(self.path(name), Permissions::from_mode(0o755)).unwrap();
        self.path(name).display().to_string()
    }

    /// Configures filters that work like Git LFS: the index has pointers, and the folder `lfs` has
    /// the contents.
    pub(crate) fn install_lfs(&self) {
        let store = self.path("lfs");
        fs::create_dir(&store).unwrap();
        let store = store.display();
        let clean = format!(
            "cat > '{store}/new'; oid=$(sha256sum < '{store}/new' | cut -d' ' -f1)\n\
             size=$(wc -c < '{store}/new'); mv '{store}/new' \"{store}/$oid\"\n\
             echo version https://git-lfs.github.com/spec/v1\n\
             echo oid sha256:$oid\necho size $size"
        );
        let smudge = format!("cat \"{store}/$(sed -n 's/^oid sha256://p')\"");
        for (name, script) in [("clean", clean), ("smudge", smudge)] {
            let program = self.program(name, &script);
            let key = format!("filter.lfs.{name}");
            self.git(self.path(""), &["config", "--global", &key, &program]);
        }
    }

    /// Runs git as a user does, and returns its output.
    pub(crate) fn git<A: AsRef<OsStr>>(&self, folder: impl AsRef<Path>, arguments: &[A]) -> String {
        let output = self.try_git(folder.as_ref(), arguments);
        let stderr = String::from_utf8_lossy(&output.stderr);
        let words: Vec<_> = arguments.iter().map(|it| it.as_ref().to_string_lossy()).collect();
        assert!(output.status.success(), "git {}: {stderr}", words.join(" "));
        String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
    }

    /// Runs git with an input, and returns its output.
    pub(crate) fn git_with_input(&self, arguments: &[&str], input: &str) -> String {
        let mut command = Command::new("git");
        command.args(arguments).current_dir(self.path("app")).env_clear();
        command.envs(self.environment().iter()).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{arguments:?}");
        String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
    }

    /// Starts git as a user does. It waits for its standard input.
    pub(crate) fn start_git(&self, folder: &Path, arguments: &[&str]) -> Child {
        let mut command = Command::new("git");
        command.args(arguments).current_dir(folder).env_clear();
        command.stdin(Stdio::piped()).stdout(Stdio::null());
        command.envs(self.environment().iter()).spawn().unwrap()
    }

    pub(crate) fn try_git<A: AsRef<OsStr>>(&self, folder: &Path, arguments: &[A]) -> Output {
        let mut command = Command::new("git");
        command.args(arguments).current_dir(folder).env_clear();
        command.envs(self.environment().iter()).output().unwrap()
    }

    /// Makes a commit in a folder, and returns its id.
    pub(crate) fn commit(&self, folder: impl AsRef<Path>, file: &str, content: &str) -> String {
        let folder = folder.as_ref();
        fs::write(folder.join(file), content).unwrap();
        self.git(folder, &["add", file]);
        self.git(folder, &["commit", "-q", "-m", file]);
        self.git(folder, &["rev-parse", "HEAD"])
    }

    /// Makes a branch in the remote with one commit of its own.
    pub(crate) fn push_branch(&self, branch: &str) -> String {
        let folder = self.path("origin");
        self.git(&folder, &["checkout", "-q", "-B", branch, "main"]);
        let commit = self.commit(&folder, "pushed", branch);
        let target = format!("{branch}:refs/heads/{branch}");
        self.git(&folder, &["push", "-q", "-f", &self.url(), &target]);
        self.git(&folder, &["checkout", "-q", "main"]);
        commit
    }

    pub(crate) fn environment(&self) -> Environment {
        environment_in(self.temp.path())
    }

    pub(crate) fn caller(&self) -> GitCaller {
        caller_in(self.temp.path())
    }

    /// The user's own repository.
    pub(crate) fn app(&self) -> RepositorySource {
        RepositorySource::Folder(self.path("app"))
    }

    /// The repository that is known by URL.
    pub(crate) fn remote(&self) -> RepositorySource {
        RepositorySource::Url(RepositoryUrl::parse(&self.url()).unwrap())
    }

    /// Returns the folder of the shared clone of `remote.git`.
    pub(crate) fn clone_folder(&self) -> PathBuf {
        let entries = fs::read_dir(self.path("data/clones")).unwrap();
        let mut clones = entries.map(|entry| entry.unwrap().path());
        clones.find(|path| path.extension().is_some_and(|it| it == "git")).unwrap()
    }

    pub(crate) fn spec(&self, source: RepositorySource, name: &str) -> WorktreeSpec {
        spec_in(&self.path(""), source, name)
    }

    pub(crate) async fn ensure(&self, spec: &WorktreeSpec) -> Result<EnsuredWorktree> {
        self.checkouts.ensure(spec, &self.caller()).await
    }

    /// Makes a worktree of the user's own repository, and returns its path.
    pub(crate) async fn worktree(&self, branch: &str) -> PathBuf {
        self.ensure(&self.spec(self.app(), branch)).await.unwrap().path
    }

    pub(crate) fn place(&self, path: &Path) -> WorktreePlace {
        WorktreePlace { source: self.app(), path: path.to_owned() }
    }

    pub(crate) fn removal(&self, path: &Path) -> RemovalOrder {
        RemovalOrder { place: self.place(path), include: Vec::new(), used_by: None }
    }

    pub(crate) async fn remove(&self, path: &Path) -> Result<SalvageOutcome> {
        self.checkouts.remove(&self.removal(path)).await
    }

    pub(crate) async fn restore(&self, salvage: &RefName) -> Result<EnsuredWorktree> {
        let (source, salvage) = (self.app(), salvage.clone());
        let order = RestorationOrder { source, salvage, branch: None };
        self.checkouts.restore(&order, &self.caller()).await
    }

    /// Makes the index of a worktree newer than its files. Otherwise git would compare the contents
    /// of files that were written in the same tick of the clock.
    pub(crate) fn settle(&self, worktree: &Path) {
        let index = self.git(worktree, &["rev-parse", "--absolute-git-dir"]);
        let index = fs::File::options().write(true).open(format!("{index}/index")).unwrap();
        let later = index.metadata().unwrap().modified().unwrap() + Duration::from_secs(10);
        index.set_modified(later).unwrap();
    }

    /// Returns the index and the state of a worktree, as git prints them.
    pub(crate) fn state(&self, worktree: &Path) -> String {
        let index = self.git(worktree, &["ls-files", "--stage", "--debug"]);
        let index = index.lines().filter(|line| !line.starts_with("  ") || line.contains("flags"));
        let flags = self.git(worktree, &["ls-files", "-v"]);
        let status = ["status", "--porcelain=v2", "--branch", "--ignored", "-uall", "-z"];
        let index = index.map(|line| line.split("\tflags").collect::<Vec<_>>().join(" "));
        let index = index.map(|line| line.split("size:").next().unwrap_or_default().to_owned());
        let index = index.collect::<Vec<_>>().join("\n");
        [index, flags, self.git(worktree, &status)].join("\n--\n")
    }

    /// Checks that a repository is in order: no damage, and nothing left locked.
    pub(crate) fn check(&self, repository: &Path) {
        self.git(repository, &["fsck", "--no-dangling", "--strict"]);
        let list = self.git(repository, &["worktree", "list", "--porcelain"]);
        assert!(!list.contains("\nlocked"), "{list}");
    }
}

pub(crate) fn branch(name: &str) -> BranchName {
    BranchName::parse(name).unwrap()
}

/// Returns the port over the folders of a scene. Another process can use the same.
pub(crate) fn checkouts_in(scene: &Path) -> GitCheckouts {
    let data = scene.join("data");
    let folders = CheckoutFolders {
        worktrees: data.join("worktrees"),
        clones: data.join("clones"),
        locks: data.join("locks"),
        scratch: data.join("scratch"),
    };
    let clock = TestClock { process: u64::from(std::process::id()), count: AtomicU64::new(0) };
    GitCheckouts::new(folders, environment_in(scene), Arc::new(clock))
}

/// Returns the caller of commands in a scene.
pub(crate) fn caller_in(scene: &Path) -> GitCaller {
    GitCaller { environment: environment_in(scene), ..GitCaller::default() }
}

/// Returns a wanted worktree in a scene.
pub(crate) fn spec_in(scene: &Path, source: RepositorySource, name: &str) -> WorktreeSpec {
    WorktreeSpec {
        source,
        path: scene.join("worktrees").join(name.replace('/', "-")),
        branch: branch(name),
        start: BranchStart::DefaultBranch,
        provision: Provision::default(),
    }
}

/// Returns an environment in which git finds only what belongs to the scene.
pub(crate) fn environment_in(scene: &Path) -> Environment {
    let home = scene.join("home").display().to_string();
    let path = std::env::var_os("PATH").unwrap().into_string().unwrap();
    Environment::new(
        [
            ("HOME", home),
            ("PATH", path),
            ("GIT_CONFIG_NOSYSTEM", "1".to_owned()),
            ("GIT_CONFIG_GLOBAL", scene.join("home/.gitconfig").display().to_string()),
        ]
        .map(|(name, value)| (name.to_owned(), value)),
    )
}

/// Returns the error of a result that must not be a success.
pub(crate) fn refused<T: std::fmt::Debug>(result: Result<T>) -> Error {
    result.unwrap_err()
}
