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
        let ground = Self { temp: TempDir::new().unwrap() };
        fs::create_dir(ground.project()).unwrap();
        ground.init(&ground.project());
        ground.commit(&ground.project(), "1");
        fs::write(ground.project().join("a"), "2").unwrap();
        ground
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

    fn mark(&self) -> PathBuf {
        self.temp.path().join("mark")
    }

    /// Writes a program that creates the marker file when it runs, and returns its path.
    fn trap(&self) -> String {
        let path = self.temp.path().join("trap");
        let text = format!("#!/bin/sh\n: >{}\nexit 1\n", self.mark().display());
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
fn state_describes_a_repository_and_only_names_another_folder() {
    let ground = CheckoutFixture::new();
    let nothing = ground.state(ground.temp.path());
    assert_eq!((nothing.branch, nothing.commits, nothing.dirty), (None, vec![], vec![]));
    for number in 0..DIRTY {
        fs::write(ground.project().join(format!("ü {number}")), "").unwrap();
    }
    fs::create_dir(ground.project().join("below")).unwrap();
    let index = fs::read(ground.project().join(".git/index")).unwrap();
    for folder in [ground.project(), ground.project().join("below")] {
        let FolderState { branch, commits, dirty, more_dirty, .. } = ground.state(&folder);
        assert_eq!(branch.as_deref(), Some("feature/x"));
        assert!(commits.len() == 1 && commits[0].ends_with("first step"), "{commits:?}");
        assert_eq!((dirty.len(), more_dirty), (DIRTY, 1));
        assert_eq!(dirty[0], " M a");
    }
    assert_eq!(fs::read(ground.project().join(".git/index")).unwrap(), index, "index was changed");
}

#[test]
fn staged_ignored_and_removed_files_are_listed_as_git_lists_them() {
    let ground = CheckoutFixture::new();
    let project = ground.project();
    let put = |name: &str, text: &str| fs::write(project.join(name), text).unwrap();
    put(".gitignore", "*.log\n");
    put("x.log", "");
    put("own.tmp", "");
    put(".git/info/exclude", "own.tmp\n");
    put("new", "1");
    ground.git(&project, &["add", "new", ".gitignore"]);
    fs::remove_file(project.join("a")).unwrap();
    let expected: Vec<String> =
        ground.git(&project, &["status", "--porcelain"]).lines().map(str::to_owned).collect();
    assert_eq!(expected, ["A  .gitignore", " D a", "A  new"]);
    assert_eq!(ground.state(&project).dirty, expected);
    ground.git(&project, &["update-index", "--split-index"]);
    assert_eq!(ground.state(&project).dirty, expected, "with a split index");
}

#[test]
fn worktrees_and_sha256_repositories_are_described() {
    let ground = CheckoutFixture::new();
    let tree = ground.temp.path().join("tree");
    ground
        .git(&ground.project(), &["worktree", "add", "-q", "-b", "topic", tree.to_str().unwrap()]);
    fs::write(tree.join("b"), "").unwrap();
    let state = ground.state(&tree);
    assert_eq!((state.branch.as_deref(), state.commits.len()), (Some("topic"), 1));
    assert_eq!(state.dirty, ["?? b"]);
    let long = ground.temp.path().join("long");
    fs::create_dir(&long).unwrap();
    ground.git(&long, &["init", "-q", "--object-format=sha256"]);
    ground.init(&long);
    ground.commit(&long, "1");
    fs::write(long.join("a"), "2").unwrap();
    let state = ground.state(&long);
    assert_eq!((state.commits.len(), state.dirty), (1, vec![" M a".to_owned()]));
}

/// One way in which a repository can make git run a program.
struct Way {
    name: &'static str,
    set: fn(&CheckoutFixture),
    /// A common git command that runs the program.
    sprung_by: &'static [&'static str],
}

const STATUS: &[&str] = &["status"];
const LOG: &[&str] = &["log"];
const DIFF: &[&str] = &["diff"];

fn attributes(ground: &CheckoutFixture, text: &str) {
    fs::write(ground.project().join(".gitattributes"), text).unwrap();
}

fn clean_filter(ground: &CheckoutFixture) {
    attributes(ground, "* filter=x\n");
    ground.config(&[("filter.x.clean", &ground.trap()), ("filter.x.smudge", &ground.trap())]);
}

fn process_filter(ground: &CheckoutFixture) {
    attributes(ground, "* filter=x\n");
    ground.config(&[("filter.x.process", &ground.trap()), ("filter.x.required", "true")]);
}

fn filter_of_info_attributes(ground: &CheckoutFixture) {
    fs::write(ground.project().join(".git/info/attributes"), "* filter=x\n").unwrap();
    ground.config(&[("filter.x.clean", &ground.trap())]);
}

fn included_config(ground: &CheckoutFixture) {
    attributes(ground, "* filter=x\n");
    let text = format!("[filter \"x\"]\n\tclean = {}\n", ground.trap());
    fs::write(ground.project().join("more.config"), text).unwrap();
    ground.config(&[("include.path", "../more.config")]);
}

fn worktree_config(ground: &CheckoutFixture) {
    ground.config(&[("extensions.worktreeConfig", "true")]);
    let text = format!("[core]\n\tfsmonitor = {}\n", ground.trap());
    fs::write(ground.project().join(".git/config.worktree"), text).unwrap();
}

fn monitor(ground: &CheckoutFixture) {
    ground.config(&[("core.fsmonitor", &ground.trap())]);
}

fn hooks(ground: &CheckoutFixture) {
    let folder = ground.temp.path().join("hooks");
    fs::create_dir(&folder).unwrap();
    let hook = folder.join("post-index-change");
    fs::copy(ground.trap(), hook).unwrap();
    ground.config(&[("core.hooksPath", folder.to_str().unwrap())]);
    // The content is the same again: git refreshes its index and runs the hook.
    fs::write(ground.project().join("a"), "1").unwrap();
}

fn external_diff(ground: &CheckoutFixture) {
    ground.config(&[("diff.external", &ground.trap())]);
}

fn text_conversion(ground: &CheckoutFixture) {
    attributes(ground, "* diff=x\n");
    ground.config(&[("diff.x.textconv", &ground.trap()), ("diff.x.command", &ground.trap())]);
}

fn signatures(ground: &CheckoutFixture) {
    ground.config(&[("log.showSignature", "true"), ("gpg.program", &ground.trap())]);
    let commit = ground.git(&ground.project(), &["cat-file", "commit", "HEAD"]);
    let signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n";
    let signed = commit.replacen("\n\n", &format!("\n{signature}\n"), 1);
    let file = ground.temp.path().join("commit");
    fs::write(&file, signed).unwrap();
    let words = ["hash-object", "-t", "commit", "-w", file.to_str().unwrap()];
    let id = ground.git(&ground.project(), &words);
    ground.git(&ground.project(), &["update-ref", "HEAD", id.trim()]);
}

fn lazy_fetch(ground: &CheckoutFixture) {
    let project = ground.project();
    let tree = ground.git(&project, &["rev-parse", "HEAD^{tree}"]).trim().to_owned();
    ground.config(&[
        ("core.repositoryformatversion", "1"),
        ("extensions.partialClone", "origin"),
        ("remote.origin.url", "ssh://nowhere.invalid/x"),
        ("remote.origin.promisor", "true"),
        ("core.sshCommand", &ground.trap()),
        ("credential.helper", &ground.trap()),
    ]);
    let (folder, file) = tree.split_at(2);
    fs::remove_file(project.join(".git/objects").join(folder).join(file)).unwrap();
}

fn submodule(ground: &CheckoutFixture) {
    let inner = ground.project().join("inner");
    fs::create_dir(&inner).unwrap();
    ground.init(&inner);
    ground.commit(&inner, "1");
    ground.git(&ground.project(), &["add", "inner"]);
    ground.git(&inner, &["config", "core.fsmonitor", &ground.trap()]);
}

fn aliases_and_pagers(ground: &CheckoutFixture) {
    let trap = format!("!{}", ground.trap());
    ground.config(&[
        ("alias.status", &trap),
        ("alias.log", &trap),
        ("alias.trap", &trap),
        ("core.pager", &ground.trap()),
        ("pager.status", &ground.trap()),
        ("pager.log", &ground.trap()),
        ("core.editor", &ground.trap()),
        ("core.alternateRefsCommand", &ground.trap()),
        ("core.askPass", &ground.trap()),
    ]);
}

const WAYS: [Way; 13] = [
    Way { name: "clean filter", set: clean_filter, sprung_by: STATUS },
    Way { name: "process filter", set: process_filter, sprung_by: STATUS },
    Way { name: "info/attributes", set: filter_of_info_attributes, sprung_by: STATUS },
    Way { name: "include.path", set: included_config, sprung_by: STATUS },
    Way { name: "config.worktree", set: worktree_config, sprung_by: STATUS },
    Way { name: "fsmonitor", set: monitor, sprung_by: STATUS },
    Way { name: "hooks", set: hooks, sprung_by: STATUS },
    Way { name: "external diff", set: external_diff, sprung_by: DIFF },
    Way { name: "textconv", set: text_conversion, sprung_by: DIFF },
    Way { name: "gpg program", set: signatures, sprung_by: LOG },
    Way { name: "ssh command", set: lazy_fetch, sprung_by: STATUS },
    Way { name: "submodule", set: submodule, sprung_by: STATUS },
    Way { name: "alias, pager", set: aliases_and_pagers, sprung_by: &["trap"] },
];

#[test]
fn looking_at_a_folder_runs_no_program_that_its_repository_names() {
    for Way { name, set, sprung_by } in WAYS {
        let ground = CheckoutFixture::new();
        set(&ground);
        // The setup itself may have run the program.
        let _earlier = fs::remove_file(ground.mark());
        let state = ground.state(&ground.project());
        assert!(!ground.mark().exists(), "{name}: a program of the repository was run");
        assert_eq!(state.commits.len(), 1, "{name}: {state:?}");
        ground.git(&ground.project(), sprung_by);
        assert!(ground.mark().exists(), "{name}: git does not run this program");
    }
}

#[test]
fn bare_repositories_and_the_core_worktree_setting_are_ignored() {
    let ground = CheckoutFixture::new();
    let bare = ground.temp.path().join("bare");
    ground.git(ground.temp.path(), &["clone", "-q", "--bare", "project", "bare"]);
    ground.git(&bare, &["config", "core.fsmonitor", &ground.trap()]);
    fs::create_dir(bare.join("tree")).unwrap();
    for folder in [bare.join("tree"), bare] {
        let state = ground.state(&folder);
        assert_eq!((state.branch, state.commits, state.dirty), (None, vec![], vec![]));
        assert!(!ground.mark().exists());
    }

    let elsewhere = ground.temp.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    fs::write(elsewhere.join("secret-name"), "").unwrap();
    ground.config(&[("core.worktree", elsewhere.to_str().unwrap())]);
    assert_eq!(ground.state(&ground.project()).dirty, [" M a"]);
}

#[test]
fn named_pipe_as_config_or_exclude_file_does_not_block() {
    let ground = CheckoutFixture::new();
    for name in ["config", "info/exclude"] {
        let path = ground.project().join(".git").join(name);
        fs::remove_file(&path).unwrap();
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    }
    assert_eq!(ground.state(&ground.project()).dirty, [" M a"]);
}
