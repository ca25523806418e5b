//! A repository whose configuration, hooks, filters and attributes run programs. None of them may
//! run because Segue looks at a worktree.

use std::path::PathBuf;

use segue_core::model::{WorktreeOrigin, WorktreePlace};
use segue_core::ports::{Checkouts as _, InspectDepth};

use crate::support::Scene;

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
        std::fs::remove_file(&sprung).unwrap();
    }
    let (checkouts, app) = (&scene.checkouts, scene.app());
    let place = WorktreePlace { source: app.clone(), path: path.clone() };
    let silent = |what: &str| {
        let said = std::fs::read_to_string(&sprung).unwrap_or_default();
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
    std::fs::remove_file(path.join(".git")).unwrap();
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
