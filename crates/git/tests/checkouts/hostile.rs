//! A repository whose configuration, hooks, filters and attributes run programs. None of them may
//! run because Segue looks at a worktree.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use segue_core::model::{Salvage, WorktreeOrigin, WorktreePlace};
use segue_core::ports::{Checkouts as _, InspectDepth};
use serde_json::{Value, json};

use crate::support::{Scene, refused};

const HOOKS: [&str; 9] = [
    "fsmonitor-watchman",
    "post-checkout",
    "post-index-change",
    "post-merge",
    "pre-auto-gc",
    "pre-commit",
    "query-watchman",
    "reference-transaction",
    "sendemail-validate",
];

/// Makes a trap of other repositories and files that the configuration can name.
fn set_indirect_traps(scene: &Scene, trap: &str) {
    let app = scene.path("app");
    scene.init("alternate");
    let objects = scene.path("alternate/.git/objects").display().to_string();
    scene.write("app/.git/objects/info/alternates", objects);
    scene.write("included", format!("[core]\n\tfsmonitor = {trap}\n\tsshCommand = {trap}\n"));
    let included = scene.path("included").display().to_string();
    for key in ["include.path", "includeIf.gitdir:/.path"] {
        scene.git(&app, &["config", key, &included]);
    }
}

/// Makes a worktree, and then a trap of everything in the repository that can name a program.
async fn trapped(scene: &Scene) -> PathBuf {
    let app = scene.path("app");
    scene.write("app/.gitattributes", "* filter=evil diff=evil merge=evil\n");
    scene.write("app/second", "x");
    scene.git(&app, &["add", "."]);
    scene.git(&app, &["commit", "-q", "-m", "attributes"]);
    let path = scene.worktree("x").await;
    let sprung = scene.path("sprung").display().to_string();
    let trap = scene.program("trap", &format!("echo \"$0 $*\" >> '{sprung}'; exit 1"));
    let shell = format!("!{trap}");
    let settings = [
        ("core.fsmonitor", &trap),
        ("core.pager", &trap),
        ("core.editor", &trap),
        ("core.sshCommand", &trap),
        ("core.askPass", &trap),
        ("core.alternateRefsCommand", &trap),
        ("core.gitProxy", &trap),
        ("gc.recentObjectsHook", &trap),
        ("credential.helper", &shell),
        ("diff.external", &trap),
        ("diff.evil.command", &trap),
        ("diff.evil.textconv", &trap),
        ("filter.evil.clean", &trap),
        ("filter.evil.smudge", &trap),
        ("filter.evil.process", &trap),
        ("merge.evil.driver", &trap),
        ("gpg.program", &trap),
        ("interactive.diffFilter", &trap),
        ("pager.diff", &trap),
        ("pager.status", &trap),
        ("alias.status", &shell),
        ("alias.worktree", &shell),
        ("uploadpack.packObjectsHook", &trap),
        ("remote.origin.url", &format!("ext::{trap}")),
        ("remote.origin.promisor", &"false".to_owned()),
        ("protocol.ext.allow", &"always".to_owned()),
        ("log.showSignature", &"true".to_owned()),
        ("filter.evil.required", &"true".to_owned()),
    ];
    for (key, value) in settings {
        scene.git(&app, &["config", key, value.as_str()]);
    }
    set_indirect_traps(scene, &trap);
    for hook in HOOKS {
        scene.program(&format!("app/.git/hooks/{hook}"), &format!("exec '{trap}'"));
    }
    // The contents must be read again.
    scene.write("worktrees/x/file", "changed");
    scene.write("worktrees/x/second", "x");
    scene.write("worktrees/x/untracked", "x");
    scene.git(&app, &["config", "extensions.worktreeConfig", "true"]);
    for folder in [&app, &path] {
        scene.git(folder, &["config", "--worktree", "core.fsmonitor", &trap]);
        scene.git(folder, &["config", "--worktree", "filter.evil.clean", &trap]);
    }
    path
}

#[tokio::test]
async fn nothing_of_the_repository_runs_for_our_own_bookkeeping() {
    let scene = Scene::new();
    let path = trapped(&scene).await;
    let sprung = scene.path("sprung");
    if sprung.exists() {
        fs::remove_file(&sprung).unwrap();
    }
    let (checkouts, app) = (&scene.checkouts, scene.app());
    let place = WorktreePlace { source: app.clone(), path: path.clone() };
    let silent = |what: &str| {
        let said = fs::read_to_string(&sprung).unwrap_or_default();
        assert!(said.is_empty(), "{what} ran {said}");
    };
    checkouts.identify(&path).await.unwrap();
    silent("identify");
    assert_eq!(checkouts.list(&app).await.unwrap().len(), 2);
    silent("list");
    let facts = checkouts.inspect(&place, InspectDepth::StateAndSize).await.unwrap();
    assert_eq!((facts.changes.modified, facts.changes.untracked), (1, 1));
    silent("inspect");
    let diff = checkouts.diff(&place, Some("main"), 1 << 20, &scene.caller()).await.unwrap();
    assert_eq!(diff.files.len(), 2);
    silent("diff");
    let ensured = scene.ensure(&scene.spec(app.clone(), "x")).await.unwrap();
    assert_eq!(ensured.origin, WorktreeOrigin::Existing);
    silent("ensure of an existing worktree");
    checkouts.salvage(&place, &["*".to_owned()]).await.unwrap();
    silent("salvage");
    assert_eq!(checkouts.salvages(&app).await.unwrap().len(), 1);
    silent("salvages");
    fs::remove_file(path.join(".git")).unwrap();
    scene.ensure(&scene.spec(app.clone(), "x")).await.unwrap();
    silent("repair");
    scene.remove(&path).await.unwrap();
    silent("remove");
    let expired = checkouts.expire_salvages(&app, "2030-01-01T00:00:00Z".parse().unwrap()).await;
    assert_eq!(expired.unwrap().len(), 2);
    silent("expire");
    // The traps work.
    assert!(!scene.try_git(&scene.path("app"), &["add", "--renormalize", "."]).status.success());
    assert!(sprung.exists());
}

/// Replaces a salvage by a commit with this metadata and this tree of nested repositories.
fn forge(scene: &Scene, salvage: &Salvage, nested: &str, metadata: &Value) {
    let metadata = metadata.to_string();
    let json = scene.git_with_input(&["hash-object", "-w", "--stdin"], &metadata);
    let nested = scene.git_with_input(&["mktree"], nested);
    let lines = format!("040000 tree {nested}\tnested\n100644 blob {json}\tsalvage.json\n");
    let root = scene.git_with_input(&["mktree"], &lines);
    let head = salvage.head.as_ref().unwrap().as_str();
    let app = scene.path("app");
    let commit = scene.git(&app, &["commit-tree", "-p", head, "-m", "forged", &root]);
    scene.git(&app, &["update-ref", salvage.reference.as_str(), &commit]);
}

#[tokio::test]
async fn forged_salvage_writes_nothing_outside_its_worktree() {
    let scene = Scene::new();
    let app = scene.path("app");
    let path = scene.worktree("x").await;
    scene.write("worktrees/x/untracked", "x");
    let salvage = scene.remove(&path).await.unwrap().salvage().unwrap().clone();
    let json = format!("{}:salvage.json", salvage.reference);
    let json: Value = serde_json::from_str(&scene.git(&app, &["cat-file", "blob", &json])).unwrap();
    let blob = scene.git(&app, &["rev-parse", "HEAD:file"]);
    scene.write("worktrees/victim", "as it was");
    let mode = || fs::metadata(scene.path("worktrees/victim")).unwrap().permissions().mode();
    let before = mode();

    let outside = scene.git_with_input(&["mktree"], &format!("100644 blob {blob}\tvictim\n"));
    forge(&scene, &salvage, &format!("040000 tree {outside}\t%..\n"), &json);
    assert!(scene.restore(&salvage.reference).await.is_err());
    let elsewhere = scene.path("elsewhere").display().to_string();
    for (key, value) in [
        ("permissions", json!({ "../victim": 0o777 })),
        ("nested_permissions", json!({ "../victim": 0o777 })),
        ("nested_empty_folders", json!(["../made"])),
        ("state_empty_folders", json!(["../../made"])),
        ("path", json!(elsewhere)),
        ("path", json!("relative")),
    ] {
        let mut json = json.clone();
        json[key] = value;
        forge(&scene, &salvage, "", &json);
        assert!(scene.restore(&salvage.reference).await.is_err(), "{key}");
    }
    // Only these values are refused.
    forge(&scene, &salvage, "", &json);
    scene.restore(&salvage.reference).await.unwrap();
    assert_eq!((scene.read("worktrees/victim"), mode()), ("as it was".to_owned(), before));
    for name in ["worktrees/made", "app/.git/made", "elsewhere", "app/relative"] {
        assert!(!scene.path(name).exists(), "{name}");
    }
}

#[tokio::test]
async fn removal_of_a_folder_that_belongs_to_another_repository_is_refused() {
    let scene = Scene::new();
    let path = scene.worktree("x").await;
    scene.init("other");
    let theirs = scene.path("their-worktree").display().to_string();
    scene.git(scene.path("other"), &["worktree", "add", "-q", "-b", "y", &theirs]);
    fs::copy(scene.path("their-worktree/.git"), path.join(".git")).unwrap();
    let error = refused(scene.remove(&path).await);
    assert!(error.message.contains("is a worktree of another repository"), "{error}");
    assert!(path.join("file").is_file());
    let list = scene.git(scene.path("other"), &["worktree", "list"]);
    assert!(list.contains(&theirs), "{list}");
}

#[tokio::test]
async fn grafts_do_not_hide_commits_that_only_the_worktree_keeps() {
    let scene = Scene::new();
    let app = scene.path("app");
    let path = scene.worktree("x").await;
    scene.git(&path, &["checkout", "-q", "--detach"]);
    let commit = scene.commit(&path, "detached work", "x");
    scene.git(&path, &["checkout", "-q", "x"]);
    let head = scene.git(&app, &["rev-parse", "HEAD"]);
    scene.write("app/.git/info/grafts", format!("{head} {commit}\n"));
    let outcome = scene.remove(&path).await.unwrap();
    assert!(outcome.salvage().is_some(), "{outcome:?}");
}

#[tokio::test]
async fn names_that_look_like_options_are_names() {
    let scene = Scene::new();
    let app = scene.path("app");
    for name in ["--force", "-b", "--upload-pack=x"] {
        scene.write(&format!("app/{name}"), name);
    }
    scene.git(&app, &["add", "."]);
    scene.git(&app, &["commit", "-q", "-m", "names"]);
    scene.git(&app, &["update-ref", "refs/tags/--detach", "HEAD"]);
    let mut spec = scene.spec(scene.app(), "x");
    spec.path = scene.path("worktrees/--force");
    let path = scene.ensure(&spec).await.unwrap().path;
    scene.write("worktrees/--force/--untracked", "x");
    let outcome = scene.remove(&path).await.unwrap();
    assert!(!path.exists());
    scene.restore(&outcome.salvage().unwrap().reference).await.unwrap();
    assert_eq!(scene.read("worktrees/--force/--untracked"), "x");
}

#[tokio::test]
async fn variables_of_the_caller_do_not_lead_git_elsewhere() {
    let scene = Scene::new();
    scene.init("other");
    let mut caller = scene.caller();
    let other = scene.path("other").display().to_string();
    for (name, value) in [
        ("GIT_DIR", format!("{other}/.git")),
        ("GIT_WORK_TREE", other.clone()),
        ("GIT_INDEX_FILE", format!("{other}/.git/index")),
        ("GIT_CONFIG_COUNT", "1".to_owned()),
        ("GIT_CONFIG_KEY_0", "core.hooksPath".to_owned()),
        ("GIT_CONFIG_VALUE_0", other.clone()),
    ] {
        caller.environment.set(name, value);
    }
    caller.environment.set("GIT_AUTHOR_NAME", "Coder");
    let said = scene.path("author").display().to_string();
    scene.program("app/.git/hooks/post-checkout", &format!("echo $GIT_AUTHOR_NAME > '{said}'"));
    let spec = scene.spec(scene.app(), "x");
    scene.checkouts.ensure(&spec, &caller).await.unwrap();
    assert_eq!(scene.checkouts.list(&scene.app()).await.unwrap().len(), 2);
    assert_eq!(scene.read("author"), "Coder\n");
    assert_eq!(scene.git(&other, &["branch", "--list", "x"]), "");
}
