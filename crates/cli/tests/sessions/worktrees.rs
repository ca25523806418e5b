//! Agents that work in worktrees of their own: made, listed, removed, and restored before their
//! sessions come back.

mod forks;
mod setup;

use std::fs;
use std::path::{Path, PathBuf};

use segue_testkit::repositories::{git, make_repository};
use segue_testkit::scene::{self, assert_knows, text};
use segue_testkit::{CommandOutcome, World, conversation, hold, launches};
use serde_json::{Value, json};

use crate::world;

/// Creates a world whose project folder is a repository.
pub(crate) fn world_with_repository() -> World {
    let world = world();
    make_repository(&world.project());
    world
}

/// Starts a session in a worktree, with a word to remember. Returns the session and its folder.
fn start(world: &World, name: &str, branch: &str) -> (Value, PathBuf) {
    let message = format!("remember the word {name}");
    world.ok(["run", "-d", "--vendor", "demo", "--name", name, "--worktree", branch, &message]);
    let session = world.session(name);
    conversation::wait_turns(world, &session, 1);
    launches::wait_guarded(world, &session);
    let folder = PathBuf::from(text(&session, "cwd"));
    (session, folder)
}

fn worktrees(world: &World) -> Vec<Value> {
    world.json(["worktree", "ls", "--json"])["worktrees"].as_array().unwrap().clone()
}

#[test]
fn session_in_a_worktree_has_its_own_folder_branch_and_port() {
    let world = world_with_repository();
    let (session, folder) = start(&world, "fox", "feature/fox");
    assert_eq!(session["worktree"], folder.to_str().unwrap());
    assert_eq!(session["branch"], "feature/fox");
    assert!(folder.starts_with(world.segue_home().join("data/worktrees")), "{folder:?}");
    assert_eq!(git(&folder, &["branch", "--show-current"]), "feature/fox");
    assert_eq!(git(&world.project(), &["branch", "--show-current"]), "main");
    let (_, record) = launches::newest(&world, &session);
    assert!(record.launch.environment.contains(&"SEGUE_PORT".to_owned()), "{record:?}");
    fs::write(folder.join("new.txt"), "x").unwrap();
    let listed = worktrees(&world);
    assert_eq!(listed.len(), 1, "{listed:#?}");
    assert_eq!(listed[0]["leased_to"]["address"], session["address"]);
    assert_eq!(listed[0]["changes"]["untracked"], 1, "{listed:#?}");
    assert_eq!(listed[0]["state"], "present");
    for name in ["fox", "feature/fox", text(&session, "cwd")] {
        assert_eq!(world.ok(["worktree", "path", name]).trim(), folder.to_str().unwrap());
    }
    let shown = world.ok(["worktree", "ls"]);
    assert!(shown.contains("feature/fox") && shown.contains("1 untracked"), "{shown}");
    let log = world.ok(["log", "fox"]);
    assert!(log.contains("branch feature/fox (new branch from"), "{log}");
}

#[test]
fn second_session_for_the_same_branch_is_refused_with_the_name_of_the_first() {
    let world = world_with_repository();
    start(&world, "fox", "fix");
    let second = world.segue(["run", "-d", "--vendor", "demo", "--worktree", "fix", "hello"]);
    assert_eq!(second.status, 4, "{second:#?}");
    assert!(second.stderr.contains("fox` works in the worktree of branch `fix`"), "{second:#?}");
    assert_eq!(world.sessions().len(), 1);
    world.ok(["stop", "fox"]);
    world.ok(["rm", "fox", "--yes"]);
    let listed = worktrees(&world);
    assert_eq!(listed[0]["leased_to"], Value::Null, "{listed:#?}");
    let (owl, _) = start(&world, "owl", "fix");
    assert_eq!(owl["worktree"], listed[0]["path"]);
}

#[test]
fn removed_worktree_is_restored_at_the_same_path_before_its_session_resumes() {
    let world = world_with_repository();
    let (before, folder) = start(&world, "fox", "fix");
    fs::write(folder.join("code.txt"), "staged\n").unwrap();
    git(&folder, &["add", "code.txt"]);
    fs::write(folder.join("code.txt"), "changed\n").unwrap();
    fs::write(folder.join("untracked.bin"), [0, 159, 146, 150]).unwrap();
    let status = git(&folder, &["status", "--porcelain"]);
    let running = world.segue(["worktree", "rm", "fox", "--yes"]);
    assert_eq!(running.status, 4, "{running:#?}");
    assert!(running.stderr.contains("fox"), "{running:#?}");
    world.ok(["stop", "fox"]);
    let unasked = world.segue(["worktree", "rm", "fox"]);
    assert_eq!(unasked.status, 2, "{unasked:#?}");
    let removed = world.json(["worktree", "rm", "fox", "--yes", "--json"]);
    assert_eq!(removed["outcome"], "removed", "{removed:#}");
    assert!(text(&removed, "salvage").starts_with("refs/segue/salvage/"), "{removed:#}");
    assert!(!folder.exists());
    assert_eq!(worktrees(&world)[0]["state"], "removed");
    let report = world.resume(["fox", "--stopped"]);
    report.assert_back("fox", "resumed");
    assert!(report.note("fox").contains("its worktree was made again"), "{report:#?}");
    assert_eq!(git(&folder, &["status", "--porcelain"]), status);
    assert_eq!(fs::read_to_string(folder.join("code.txt")).unwrap(), "changed\n");
    assert_eq!(git(&folder, &["show", ":code.txt"]), "staged");
    assert_eq!(fs::read(folder.join("untracked.bin")).unwrap(), [0, 159, 146, 150]);
    let after = world.session("fox");
    assert_eq!(after["vendor_session_id"], before["vendor_session_id"]);
    assert_eq!(after["worktree"], before["worktree"]);
    assert_knows(&world, "fox", "fox");
}

#[test]
fn released_worktree_stays_and_a_removed_one_is_gone_from_disk_and_from_git() {
    let world = world_with_repository();
    let (_, folder) = start(&world, "fox", "fix");
    fs::write(folder.join("note.txt"), "keep me").unwrap();
    let listed = || git(&world.project(), &["worktree", "list", "--porcelain"]);
    world.ok(["stop", "fox"]);
    world.ok(["rm", "fox", "--yes"]);
    assert_eq!(fs::read_to_string(folder.join("note.txt")).unwrap(), "keep me");
    assert!(listed().contains(folder.to_str().unwrap()));
    world.ok(["worktree", "rm", folder.to_str().unwrap(), "--yes"]);
    assert!(!folder.exists());
    assert!(!listed().contains(folder.to_str().unwrap()), "{}", listed());
}

#[test]
fn worktree_whose_folder_was_deleted_is_made_again_before_its_session_resumes() {
    let world = world_with_repository();
    let (_, folder) = start(&world, "fox", "fix");
    fs::write(folder.join("code.txt"), "two\n").unwrap();
    git(&folder, &["commit", "-q", "-a", "-m", "second"]);
    world.kill_everything();
    fs::remove_dir_all(&folder).unwrap();
    assert_eq!(worktrees(&world)[0]["state"], "missing");
    world.resume(["fox"]).assert_back("fox", "resumed");
    assert_eq!(fs::read_to_string(folder.join("code.txt")).unwrap(), "two\n");
    assert_eq!(git(&folder, &["branch", "--show-current"]), "fix");
    assert_knows(&world, "fox", "fox");
}

#[test]
fn agents_with_a_worktree_key_work_on_their_own_branches_and_come_back_there() {
    let world = world_with_repository();
    scene::write_agents_with(
        &world,
        "shop",
        &["fox", "owl"],
        "worktree = \"feature/{{agent}}\"\ngit = { name = \"Bot {{agent}}\", email = \"b@example.org\" }\n",
    );
    world.ok(["up"]);
    scene::wait_first_turns(&world);
    let folders: Vec<String> =
        world.sessions().iter().map(|it| text(it, "cwd").to_owned()).collect();
    let branches: Vec<String> =
        folders.iter().map(|it| git(Path::new(it), &["branch", "--show-current"])).collect();
    assert_eq!(branches, ["feature/fox", "feature/owl"]);
    world.kill_everything();
    world.resume([]).assert_back("fox", "resumed");
    world.ok(["up"]);
    let after: Vec<String> = world.sessions().iter().map(|it| text(it, "cwd").to_owned()).collect();
    assert_eq!(after, folders);
    assert_eq!(worktrees(&world).len(), 2);
    assert_knows(&world, "owl", "owl");
}

#[test]
fn repository_of_a_url_is_cloned_once_and_shared_by_its_worktrees() {
    let world = world();
    let origin = world.root().join("origin");
    fs::create_dir(&origin).unwrap();
    make_repository(&origin);
    let url = format!("file://{}", origin.display());
    for (name, branch) in [("fox", "one"), ("owl", "two")] {
        world.ok([
            "run",
            "-d",
            "--vendor",
            "demo",
            "--name",
            name,
            "--repo",
            &url,
            "--worktree",
            branch,
            "hello",
        ]);
        let folder = PathBuf::from(text(&world.session(name), "cwd"));
        assert_eq!(fs::read_to_string(folder.join("code.txt")).unwrap(), "one\n");
        assert_eq!(git(&folder, &["branch", "--show-current"]), branch);
    }
    let clones = fs::read_dir(world.segue_home().join("data/clones")).unwrap().count();
    assert_eq!(clones, 1);
    let secret = world.segue([
        "run",
        "-d",
        "--vendor",
        "demo",
        "--repo",
        "https://s3cret@example.org/a",
        "--worktree",
        "x",
        "hello",
    ]);
    assert_eq!(secret.status, 2, "{secret:#?}");
    assert!(!secret.stderr.contains("s3cret"), "{secret:#?}");
}

#[test]
fn invalid_branches_and_folders_without_a_repository_are_usage_errors() {
    let world = world();
    let run = |branch: &str| {
        world.segue(["run", "-d", "--vendor", "demo", "--worktree", branch, "hello"])
    };
    let outside = run("fix");
    assert_eq!(outside.status, 2, "{outside:#?}");
    assert!(outside.stderr.contains("is in no git repository"), "{outside:#?}");
    make_repository(&world.project());
    for branch in ["a b", "-x", "a..b", "HEAD", ""] {
        let outcome = run(branch);
        assert_eq!(outcome.status, 2, "{branch:?}: {outcome:#?}");
    }
    let taken = run("main");
    assert_eq!(taken.status, 4, "{taken:#?}");
    assert!(taken.stderr.contains(world.project().to_str().unwrap()), "{taken:#?}");
    assert_eq!(world.sessions().len(), 0);
    assert_eq!(worktrees(&world), Vec::<Value>::new());
}

#[test]
fn diff_compares_committed_changed_and_untracked_files_with_the_base() {
    let world = world_with_repository();
    let (_, folder) = start(&world, "fox", "fix");
    fs::write(folder.join("code.txt"), "two\n").unwrap();
    git(&folder, &["commit", "-q", "-a", "-m", "second"]);
    fs::write(folder.join("new.txt"), "x\ny\n").unwrap();
    let base = ["--base", "main"];
    let stat = world.ok(["worktree", "diff", "fox", "--stat", base[0], base[1]]);
    assert!(stat.contains("2 files changed, +3 -1"), "{stat}");
    let patch = world.ok(["worktree", "diff", "fix", base[0], base[1]]);
    assert!(patch.contains("\n+two\n") && patch.contains("\n-one\n"), "{patch}");
    assert!(patch.contains("\n+x\n"), "{patch}");
    let json = world.json(["worktree", "diff", "fox", base[0], base[1], "--json"]);
    assert_eq!(json["files"].as_array().unwrap().len(), 2, "{json:#}");
    let unknown = world.segue(["worktree", "diff", "nobody"]);
    assert_eq!(unknown.status, 3, "{unknown:#?}");
}

#[test]
fn garbage_collection_removes_only_worktrees_that_no_session_uses() {
    let world = world_with_repository();
    let (_, used) = start(&world, "fox", "used");
    let (_, unused) = start(&world, "owl", "unused");
    fs::write(unused.join("note.txt"), "keep me").unwrap();
    world.ok(["stop", "owl"]);
    world.ok(["rm", "owl", "--yes"]);
    let planned = world.json(["worktree", "gc", "--dry-run", "--json"]);
    assert_eq!(planned["removed"][0]["outcome"], "removable", "{planned:#}");
    assert!(unused.exists());
    let done = world.json(["worktree", "gc", "--json"]);
    assert_eq!(done["removed"].as_array().unwrap().len(), 1, "{done:#}");
    assert!(!unused.exists() && used.exists());
    world.ok(["worktree", "restore", "unused"]);
    assert_eq!(fs::read_to_string(unused.join("note.txt")).unwrap(), "keep me");
}

#[test]
fn files_of_include_and_link_are_in_a_new_worktree() {
    let world = world_with_repository();
    world.write(".gitignore", ".env\nnode_modules\nsegue.toml\n");
    world.write(".env", "KEY=1\n");
    world.write("node_modules/tool.js", "x");
    world.write("segue.toml", "[worktrees]\ninclude = [\".env\"]\nlink = [\"node_modules\"]\n");
    let untrusted = world.segue(["run", "-d", "--vendor", "demo", "--worktree", "fix", "hello"]);
    assert_eq!(untrusted.status, 5, "{untrusted:#?}");
    world.ok(["trust", "--yes"]);
    let (_, folder) = start(&world, "fox", "fix");
    assert_eq!(fs::read_to_string(folder.join(".env")).unwrap(), "KEY=1\n");
    assert_eq!(fs::read_to_string(folder.join("node_modules/tool.js")).unwrap(), "x");
    assert!(folder.join("node_modules").is_symlink());
}

#[test]
fn run_that_is_killed_while_it_makes_the_worktree_can_be_repeated() {
    let points = [
        "worktree.record.after",
        "git.worktree.add.after",
        "git.worktree.unlock.before",
        "worktree.made.after",
        "launch.commit.before",
    ];
    for point in points {
        let mut world = world_with_repository();
        let run = ["run", "-d", "--vendor", "demo", "--name", "fox", "--worktree", "fix", "hello"];
        world.ok(["daemon", "stop"]);
        hold::kill_both_at(&mut world, point, |world| world.start(run));
        let again = CommandOutcome::of(&mut world.command(run));
        assert_eq!(again.status, 0, "{point}: {again:#?}");
        let listed = worktrees(&world);
        assert_eq!(listed.len(), 1, "{point}: {listed:#?}");
        assert_eq!(listed[0]["leased_to"]["name"], "fox", "{point}: {listed:#?}");
        let folder = PathBuf::from(text(&listed[0], "path"));
        assert_eq!(git(&folder, &["status", "--porcelain"]), "", "{point}");
        git(&world.project(), &["fsck", "--strict"]);
        let list = git(&world.project(), &["worktree", "list", "--porcelain"]);
        assert!(!list.contains("\nlocked"), "{point}: {list}");
    }
}

#[test]
fn removal_that_is_killed_loses_nothing_and_can_be_repeated() {
    let points = [
        "worktree.remove.before",
        "git.salvage.ref.after",
        "git.worktree.remove.after",
        "worktree.removed.after",
    ];
    for point in points {
        let mut world = world_with_repository();
        let (_, folder) = start(&world, "fox", "fix");
        fs::write(folder.join("note.txt"), "keep me").unwrap();
        world.ok(["stop", "fox"]);
        world.ok(["daemon", "stop"]);
        let remove = ["worktree", "rm", "fox", "--yes"];
        hold::kill_both_at(&mut world, point, |world| world.start(remove));
        let again = CommandOutcome::of(&mut world.command(remove));
        assert!([0, 3].contains(&again.status), "{point}: {again:#?}");
        world.resume(["fox", "--stopped"]).assert_back("fox", "resumed");
        let note = fs::read_to_string(folder.join("note.txt")).unwrap();
        assert_eq!(note, "keep me", "{point}");
        assert_knows(&world, "fox", "fox");
    }
}

/// Starts a session in the worktree of the branch `fix`, gives it an untracked file, stops it, removes
/// its worktree, and moves the branch. Returns the folder of the worktree.
fn removed_with_moved_branch(world: &World) -> PathBuf {
    let (_, folder) = start(world, "fox", "fix");
    fs::write(folder.join("note.txt"), "keep me").unwrap();
    world.ok(["stop", "fox"]);
    world.ok(["worktree", "rm", "fox", "--yes"]);
    git(&world.project(), &["branch", "-f", "fix", &commit_without_parent(&world.project())]);
    folder
}

/// Makes a commit that is in the history of no branch.
fn commit_without_parent(repository: &Path) -> String {
    git(repository, &["commit-tree", "-m", "elsewhere", "HEAD^{tree}"])
}

/// Checks that the session is on the branch `fix-2`, in the record and in git, with all its files.
fn assert_on_new_branch(world: &World, folder: &Path) {
    assert_eq!(world.session("fox")["branch"], "fix-2");
    let listed = worktrees(world);
    assert_eq!((listed.len(), &listed[0]["branch"]), (1, &json!("fix-2")), "{listed:#?}");
    assert_eq!(listed[0]["checked_out"], Value::Null, "{listed:#?}");
    assert_eq!(git(folder, &["branch", "--show-current"]), "fix-2");
    assert_eq!(fs::read_to_string(folder.join("note.txt")).unwrap(), "keep me");
}

#[test]
fn worktree_that_is_restored_onto_a_new_branch_is_listed_and_resumed_on_that_branch() {
    let world = world_with_repository();
    let folder = removed_with_moved_branch(&world);
    let moved = world.segue(["worktree", "restore", "fox"]);
    assert_eq!(moved.status, 4, "{moved:#?}");
    let restored = world.json(["worktree", "restore", "fox", "--branch", "fix-2", "--json"]);
    assert_eq!(restored["branch"], "fix-2", "{restored:#}");
    assert_on_new_branch(&world, &folder);
    world.resume(["fox", "--stopped"]).assert_back("fox", "resumed");
    assert_knows(&world, "fox", "fox");
    // The folder is made again on the branch of the record.
    git(&folder, &["add", "note.txt"]);
    git(&folder, &["commit", "-q", "-m", "note"]);
    world.kill_everything();
    fs::remove_dir_all(&folder).unwrap();
    world.resume(["fox"]).assert_back("fox", "resumed");
    assert_on_new_branch(&world, &folder);
    let first = world.segue(["run", "-d", "--vendor", "demo", "--worktree", "fix", "hello"]);
    assert_eq!(first.status, 4, "{first:#?}");
    assert!(first.stderr.contains("is on branch `fix-2`"), "{first:#?}");
}

#[test]
fn restoration_onto_a_new_branch_that_is_killed_is_completed_on_that_branch() {
    let points = [
        "worktree.restore.before",
        "git.restore.add.after",
        "git.restore.state.after",
        "worktree.restored.after",
    ];
    for point in points {
        let mut world = world_with_repository();
        let folder = removed_with_moved_branch(&world);
        world.ok(["daemon", "stop"]);
        let restore = ["worktree", "restore", "fox", "--branch", "fix-2"];
        hold::kill_both_at(&mut world, point, |world| world.start(restore));
        world.resume(["fox", "--stopped"]).assert_back("fox", "resumed");
        assert_on_new_branch(&world, &folder);
        assert_knows(&world, "fox", "fox");
        git(&world.project(), &["fsck", "--strict"]);
        let list = git(&world.project(), &["worktree", "list", "--porcelain"]);
        assert!(!list.contains("\nlocked"), "{point}: {list}");
    }
}

#[test]
fn trust_question_of_a_vendor_is_answered_in_worktrees_of_trusted_projects_only() {
    let world = world_with_repository();
    world.write("start.md", "remember the word amber");
    let lines = "prompt = \"start.md\"\nargs = [\"--ask-trust-first\"]\nworktree = \"fix\"\n";
    scene::write_shop(&world, lines);
    world.ok(["up"]);
    let session = world.session("coder");
    conversation::wait_turns(&world, &session, 1);
    let log = world.ok(["log", "coder"]);
    assert!(log.contains("by Segue: a worktree of a trusted project"), "{log}");
    // Without a project file there is nothing that the user has trusted.
    let plain = world_with_repository();
    let run = ["run", "-d", "--vendor", "demo", "--name", "fox", "--worktree", "fix", "hello"];
    let mut run = plain.command(run);
    run.args(["--", "--ask-trust-first"]);
    assert_eq!(CommandOutcome::of(&mut run).status, 0);
    let waiting = plain.json(["wait", "fox", "--for", "waiting", "--json"]);
    assert_eq!(waiting["waiting_for"], "trust", "{waiting:#}");
}
