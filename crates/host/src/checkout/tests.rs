use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use tempfile::TempDir;

use super::*;

/// A repository with one commit. The file `a` is modified but has the same size as before.
struct CheckoutFixture {
    temp: TempDir,
}

impl CheckoutFixture {
    fn new() -> Self {
        let fixture = Self { temp: TempDir::new().unwrap() };
        fs::create_dir(fixture.project()).unwrap();
        fixture.init(&fixture.project());
        fixture.commit(&fixture.project(), "1");
        fs::write(fixture.project().join("a"), "2").unwrap();
        fixture
    }

    fn init(&self, folder: &Path) {
        self.git(folder, &["init", "-q", "-b", "feature/x"]);
        self.git(folder, &["config", "user.name", "a"]);
        self.git(folder, &["config", "user.email", "a@b"]);
    }

    fn commit(&self, folder: &Path, content: &str) {
        fs::write(folder.join("a"), content).unwrap();
        self.git(folder, &["add", "a"]);
        self.git(folder, &["commit", "-q", "-m", "first step"]);
    }

    fn project(&self) -> PathBuf {
        self.temp.path().join("project")
    }

    fn marker(&self) -> PathBuf {
        self.temp.path().join("marker")
    }

    /// Writes a program that creates the marker file when it runs, and returns its path.
    fn trap(&self) -> String {
        let path = self.temp.path().join("trap");
        let text = format!("#!/bin/sh\n: >{}\nexit 1\n", self.marker().display());
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
        path.display().to_string()
    }

    fn config(&self, pairs: &[(&str, &str)]) {
        for (key, value) in pairs {
            self.git(&self.project(), &["config", key, value]);
        }
    }

    /// Runs git as users do. Returns its output, whatever its exit code is.
    fn git(&self, folder: &Path, arguments: &[&str]) -> String {
        let mut command = Command::new("git");
        command.args(arguments).current_dir(folder).env("HOME", self.temp.path());
        let output = command.env("GIT_CONFIG_NOSYSTEM", "1").output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    }

    fn state(&self, folder: &Path) -> FolderState {
        let place = self.temp.path().join("view");
        let state = state_through(folder, &place);
        assert!(!place.exists(), "the view was not removed");
        state
    }
}

#[test]
fn state_describes_a_repository_and_is_empty_for_another_folder() {
    let fixture = CheckoutFixture::new();
    let nothing = fixture.state(fixture.temp.path());
    assert_eq!((nothing.branch, nothing.commits, nothing.dirty), (None, vec![], vec![]));
    for number in 0..MAX_DIRTY_FILES {
        fs::write(fixture.project().join(format!("ü {number}")), "").unwrap();
    }
    fs::create_dir(fixture.project().join("below")).unwrap();
    let index = fs::read(fixture.project().join(".git/index")).unwrap();
    for folder in [fixture.project(), fixture.project().join("below")] {
        let FolderState { branch, commits, dirty, more_dirty, .. } = fixture.state(&folder);
        assert_eq!(branch.as_deref(), Some("feature/x"));
        assert!(commits.len() == 1 && commits[0].ends_with("first step"), "{commits:?}");
        assert_eq!((dirty.len(), more_dirty), (MAX_DIRTY_FILES, 1));
        assert_eq!(dirty[0], " M a");
    }
    assert_eq!(fs::read(fixture.project().join(".git/index")).unwrap(), index, "index was changed");
}

#[test]
fn staged_ignored_and_removed_files_are_listed_as_git_lists_them() {
    let fixture = CheckoutFixture::new();
    let project = fixture.project();
    let put = |name: &str, text: &str| fs::write(project.join(name), text).unwrap();
    put(".gitignore", "*.log\n");
    put("x.log", "");
    put("own.tmp", "");
    put(".git/info/exclude", "own.tmp\n");
    put("new", "1");
    fixture.git(&project, &["add", "new", ".gitignore"]);
    fs::remove_file(project.join("a")).unwrap();
    let expected: Vec<String> =
        fixture.git(&project, &["status", "--porcelain"]).lines().map(str::to_owned).collect();
    assert_eq!(expected, ["A  .gitignore", " D a", "A  new"]);
    assert_eq!(fixture.state(&project).dirty, expected);
    fixture.git(&project, &["update-index", "--split-index"]);
    assert_eq!(fixture.state(&project).dirty, expected, "with a split index");
}

#[test]
fn worktrees_and_sha256_repositories_are_described() {
    let fixture = CheckoutFixture::new();
    let tree = fixture.temp.path().join("tree");
    fixture
        .git(&fixture.project(), &["worktree", "add", "-q", "-b", "topic", tree.to_str().unwrap()]);
    fs::write(tree.join("b"), "").unwrap();
    let state = fixture.state(&tree);
    assert_eq!((state.branch.as_deref(), state.commits.len()), (Some("topic"), 1));
    assert_eq!(state.dirty, ["?? b"]);
    let long = fixture.temp.path().join("long");
    fs::create_dir(&long).unwrap();
    fixture.git(&long, &["init", "-q", "--object-format=sha256"]);
    fixture.init(&long);
    fixture.commit(&long, "1");
    fs::write(long.join("a"), "2").unwrap();
    let state = fixture.state(&long);
    assert_eq!((state.commits.len(), state.dirty), (1, vec![" M a".to_owned()]));
}

/// One way in which a repository can make git run a program.
struct Way {
    name: &'static str,
    set_up: fn(&CheckoutFixture),
    /// A common git command that runs the program.
    command: &'static [&'static str],
}

const STATUS: &[&str] = &["status"];
const LOG: &[&str] = &["log"];
const DIFF: &[&str] = &["diff"];

fn attributes(fixture: &CheckoutFixture, text: &str) {
    fs::write(fixture.project().join(".gitattributes"), text).unwrap();
}

fn clean_filter(fixture: &CheckoutFixture) {
    attributes(fixture, "* filter=x\n");
    fixture.config(&[("filter.x.clean", &fixture.trap()), ("filter.x.smudge", &fixture.trap())]);
}

fn process_filter(fixture: &CheckoutFixture) {
    attributes(fixture, "* filter=x\n");
    fixture.config(&[("filter.x.process", &fixture.trap()), ("filter.x.required", "true")]);
}

fn filter_of_info_attributes(fixture: &CheckoutFixture) {
    fs::write(fixture.project().join(".git/info/attributes"), "* filter=x\n").unwrap();
    fixture.config(&[("filter.x.clean", &fixture.trap())]);
}

fn included_config(fixture: &CheckoutFixture) {
    attributes(fixture, "* filter=x\n");
    let text = format!("[filter \"x\"]\n\tclean = {}\n", fixture.trap());
    fs::write(fixture.project().join("more.config"), text).unwrap();
    fixture.config(&[("include.path", "../more.config")]);
}

fn worktree_config(fixture: &CheckoutFixture) {
    fixture.config(&[("extensions.worktreeConfig", "true")]);
    let text = format!("[core]\n\tfsmonitor = {}\n", fixture.trap());
    fs::write(fixture.project().join(".git/config.worktree"), text).unwrap();
}

fn monitor(fixture: &CheckoutFixture) {
    fixture.config(&[("core.fsmonitor", &fixture.trap())]);
}

fn hooks(fixture: &CheckoutFixture) {
    let folder = fixture.temp.path().join("hooks");
    fs::create_dir(&folder).unwrap();
    let hook = folder.join("post-index-change");
    fs::copy(fixture.trap(), hook).unwrap();
    fixture.config(&[("core.hooksPath", folder.to_str().unwrap())]);
    // The content is the same again, so git refreshes its index and runs the hook.
    fs::write(fixture.project().join("a"), "1").unwrap();
}

fn external_diff(fixture: &CheckoutFixture) {
    fixture.config(&[("diff.external", &fixture.trap())]);
}

fn text_conversion(fixture: &CheckoutFixture) {
    attributes(fixture, "* diff=x\n");
    fixture.config(&[("diff.x.textconv", &fixture.trap()), ("diff.x.command", &fixture.trap())]);
}

fn signatures(fixture: &CheckoutFixture) {
    fixture.config(&[("log.showSignature", "true"), ("gpg.program", &fixture.trap())]);
    let commit = fixture.git(&fixture.project(), &["cat-file", "commit", "HEAD"]);
    let signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n";
    let signed = commit.replacen("\n\n", &format!("\n{signature}\n"), 1);
    let file = fixture.temp.path().join("commit");
    fs::write(&file, signed).unwrap();
    let words = ["hash-object", "-t", "commit", "-w", file.to_str().unwrap()];
    let id = fixture.git(&fixture.project(), &words);
    fixture.git(&fixture.project(), &["update-ref", "HEAD", id.trim()]);
}

fn lazy_fetch(fixture: &CheckoutFixture) {
    let project = fixture.project();
    let tree = fixture.git(&project, &["rev-parse", "HEAD^{tree}"]).trim().to_owned();
    fixture.config(&[
        ("core.repositoryformatversion", "1"),
        ("extensions.partialClone", "origin"),
        ("remote.origin.url", "ssh://nowhere.invalid/x"),
        ("remote.origin.promisor", "true"),
        ("core.sshCommand", &fixture.trap()),
        ("credential.helper", &fixture.trap()),
    ]);
    let (folder, file) = tree.split_at(2);
    fs::remove_file(project.join(".git/objects").join(folder).join(file)).unwrap();
}

fn submodule(fixture: &CheckoutFixture) {
    let inner = fixture.project().join("inner");
    fs::create_dir(&inner).unwrap();
    fixture.init(&inner);
    fixture.commit(&inner, "1");
    fixture.git(&fixture.project(), &["add", "inner"]);
    fixture.git(&inner, &["config", "core.fsmonitor", &fixture.trap()]);
}

fn aliases_and_pagers(fixture: &CheckoutFixture) {
    let trap = format!("!{}", fixture.trap());
    fixture.config(&[
        ("alias.status", &trap),
        ("alias.log", &trap),
        ("alias.trap", &trap),
        ("core.pager", &fixture.trap()),
        ("pager.status", &fixture.trap()),
        ("pager.log", &fixture.trap()),
        ("core.editor", &fixture.trap()),
        ("core.alternateRefsCommand", &fixture.trap()),
        ("core.askPass", &fixture.trap()),
    ]);
}

const WAYS: [Way; 13] = [
    Way { name: "clean filter", set_up: clean_filter, command: STATUS },
    Way { name: "process filter", set_up: process_filter, command: STATUS },
    Way { name: "info/attributes", set_up: filter_of_info_attributes, command: STATUS },
    Way { name: "include.path", set_up: included_config, command: STATUS },
    Way { name: "config.worktree", set_up: worktree_config, command: STATUS },
    Way { name: "fsmonitor", set_up: monitor, command: STATUS },
    Way { name: "hooks", set_up: hooks, command: STATUS },
    Way { name: "external diff", set_up: external_diff, command: DIFF },
    Way { name: "textconv", set_up: text_conversion, command: DIFF },
    Way { name: "gpg program", set_up: signatures, command: LOG },
    Way { name: "ssh command", set_up: lazy_fetch, command: STATUS },
    Way { name: "submodule", set_up: submodule, command: STATUS },
    Way { name: "alias, pager", set_up: aliases_and_pagers, command: &["trap"] },
];

#[test]
fn reading_the_state_runs_no_program_that_the_repository_names() {
    for Way { name, set_up, command } in WAYS {
        let fixture = CheckoutFixture::new();
        set_up(&fixture);
        // The setup itself may have run the program.
        let _earlier = fs::remove_file(fixture.marker());
        let state = fixture.state(&fixture.project());
        assert!(!fixture.marker().exists(), "{name}: a program of the repository was run");
        assert_eq!(state.commits.len(), 1, "{name}: {state:?}");
        fixture.git(&fixture.project(), command);
        assert!(fixture.marker().exists(), "{name}: git does not run this program");
    }
}

#[test]
fn bare_repositories_and_the_core_worktree_setting_are_ignored() {
    let fixture = CheckoutFixture::new();
    let bare = fixture.temp.path().join("bare");
    fixture.git(fixture.temp.path(), &["clone", "-q", "--bare", "project", "bare"]);
    fixture.git(&bare, &["config", "core.fsmonitor", &fixture.trap()]);
    fs::create_dir(bare.join("tree")).unwrap();
    for folder in [bare.join("tree"), bare] {
        let state = fixture.state(&folder);
        assert_eq!((state.branch, state.commits, state.dirty), (None, vec![], vec![]));
        assert!(!fixture.marker().exists());
    }

    let elsewhere = fixture.temp.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    fs::write(elsewhere.join("secret-name"), "").unwrap();
    fixture.config(&[("core.worktree", elsewhere.to_str().unwrap())]);
    assert_eq!(fixture.state(&fixture.project()).dirty, [" M a"]);
}

#[test]
fn named_pipe_as_config_or_exclude_file_does_not_block() {
    let fixture = CheckoutFixture::new();
    for name in ["config", "info/exclude"] {
        let path = fixture.project().join(".git").join(name);
        fs::remove_file(&path).unwrap();
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    }
    assert_eq!(fixture.state(&fixture.project()).dirty, [" M a"]);
}
