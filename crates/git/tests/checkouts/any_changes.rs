//! Any mix of changes comes back from a salvage byte for byte, with the same index.

use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use proptest::prelude::*;
use proptest::test_runner::Config;
use segue_core::model::SalvageOutcome;

use crate::files::contents;
use crate::support::Scene;

/// Names of files. Some are folders of others.
const NAMES: [&[u8]; 10] = [
    b"file",
    b"plain",
    b"dir/one",
    b"dir/two",
    b"dir",
    b"deep/er/x",
    b"not \xff\xfe utf-8",
    b"new\nline",
    b"-dash \"quoted\\",
    "ümlaut/😀".as_bytes(),
];

/// A change of one file.
#[derive(Clone, Debug)]
enum FileChange {
    Write(usize, Vec<u8>),
    Delete(usize),
    Execute(usize),
    Link(usize, usize),
    Stage(usize),
    StageAll,
    Unstage(usize),
    Intend(usize),
    Rename(usize, usize),
    Assume(usize),
    Commit,
}

fn any_change() -> impl Strategy<Value = FileChange> {
    let name = 0..NAMES.len();
    let content = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..40),
        Just(b"one\r\ntwo\n\r\n".to_vec()),
        Just(Vec::new()),
    ];
    prop_oneof![
        6 => (name.clone(), content).prop_map(|(name, content)| FileChange::Write(name, content)),
        2 => name.clone().prop_map(FileChange::Delete),
        1 => name.clone().prop_map(FileChange::Execute),
        2 => (name.clone(), name.clone()).prop_map(|(name, target)| FileChange::Link(name, target)),
        4 => name.clone().prop_map(FileChange::Stage),
        1 => Just(FileChange::StageAll),
        1 => name.clone().prop_map(FileChange::Unstage),
        1 => name.clone().prop_map(FileChange::Intend),
        2 => (name.clone(), name.clone()).prop_map(|(from, to)| FileChange::Rename(from, to)),
        1 => name.prop_map(FileChange::Assume),
        1 => Just(FileChange::Commit),
    ]
}

impl FileChange {
    /// Applies the change. Changes that git or the file system refuse do nothing.
    fn apply(&self, scene: &Scene, worktree: &Path) {
        let name = |number: &usize| OsStr::from_bytes(NAMES[*number]);
        let git = |arguments: &[&OsStr]| drop(scene.try_git(worktree, arguments));
        let word = OsStr::new;
        match self {
            Self::Write(file, content) => {
                let path = make_way(worktree, name(file));
                fs::write(path, content).unwrap();
            }
            Self::Delete(file) => remove(&worktree.join(name(file))),
            Self::Execute(file) => {
                let path = worktree.join(name(file));
                if fs::symlink_metadata(&path).is_ok_and(|facts| facts.is_file()) {
                    fs::set_permissions(path, Permissions::from_mode(0o755)).unwrap();
                }
            }
            Self::Link(file, target) => {
                symlink(name(target), make_way(worktree, name(file))).unwrap();
            }
            Self::Stage(file) => git(&[word("add"), word("-A"), word("--"), name(file)]),
            Self::StageAll => git(&[word("add"), word("-A")]),
            Self::Unstage(file) => {
                git(&[
                    word("rm"),
                    word("-q"),
                    word("-r"),
                    word("--cached"),
                    word("--"),
                    name(file),
                ]);
            }
            Self::Intend(file) => git(&[word("add"), word("-N"), word("--"), name(file)]),
            Self::Rename(from, to) => {
                git(&[word("mv"), word("-k"), word("--"), name(from), name(to)]);
            }
            Self::Assume(file) => {
                git(&[word("update-index"), word("--assume-unchanged"), word("--"), name(file)]);
            }
            Self::Commit => git(&[word("commit"), word("-q"), word("-m"), word("step")]),
        }
    }
}

/// Removes whatever is in the way of a new file, and returns its path.
fn make_way(worktree: &Path, name: &OsStr) -> std::path::PathBuf {
    let path = worktree.join(name);
    for ancestor in Path::new(name).ancestors().skip(1) {
        let ancestor = worktree.join(ancestor);
        if fs::symlink_metadata(&ancestor).is_ok_and(|facts| !facts.is_dir()) {
            fs::remove_file(ancestor).unwrap();
        }
    }
    remove(&path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    path
}

fn remove(path: &Path) {
    match fs::symlink_metadata(path) {
        Ok(facts) if facts.is_dir() => fs::remove_dir_all(path).unwrap(),
        Ok(_) => fs::remove_file(path).unwrap(),
        Err(_) => {}
    }
}

async fn round_trip(changes: Vec<FileChange>) -> Result<(), TestCaseError> {
    let scene = Scene::new();
    let path = scene.worktree("x").await;
    for change in &changes {
        change.apply(&scene, &path);
    }
    let before = (scene.state(&path), contents(&path));
    let outcome = scene.remove(&path).await.unwrap();
    prop_assert!(!path.exists());
    match outcome {
        SalvageOutcome::Made(salvage) => {
            scene.git(scene.path("app"), &["gc", "-q", "--prune=now"]);
            scene.restore(&salvage.reference).await.unwrap();
        }
        SalvageOutcome::NothingToSalvage { .. } => {
            scene.ensure(&scene.spec(scene.app(), "x")).await.unwrap();
        }
    }
    prop_assert_eq!(contents(&path), before.1);
    prop_assert_eq!(scene.state(&path), before.0);
    scene.check(&scene.path("app"));
    Ok(())
}

proptest! {
    #![proptest_config(Config { cases: 40, max_shrink_iters: 60, failure_persistence: None, ..Config::default() })]

    #[test]
    fn any_mix_of_changes_comes_back(changes in prop::collection::vec(any_change(), 1..14)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(round_trip(changes))?;
    }
}
