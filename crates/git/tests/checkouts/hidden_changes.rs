//! Changes that git itself hides or cannot store. A salvage has them all the same.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use segue_core::ports::Checkouts as _;

use crate::files::contents;
use crate::support::Scene;

/// Removes a worktree and restores it. Checks that every file is back, byte for byte.
async fn round_trip(scene: &Scene, path: &Path) {
    let files = contents(path);
    let outcome = scene.remove(path).await.unwrap();
    assert!(!path.exists());
    let salvage = outcome.salvage().unwrap_or_else(|| panic!("{outcome:?}"));
    scene.git(scene.path("app"), &["gc", "-q", "--prune=now"]);
    scene.restore(&salvage.reference).await.unwrap();
    assert_eq!(contents(path), files);
    scene.check(&scene.path("app"));
}

/// Makes a commit with files of Git LFS.
fn with_lfs(scene: &Scene) {
    scene.install_lfs();
    let app = scene.path("app");
    scene.write("app/.gitattributes", "*.bin filter=lfs\n");
    for name in ["a.bin", "b.bin"] {
        scene.write(&format!("app/{name}"), format!("content of {name}\n"));
    }
    scene.git(&app, &["add", "."]);
    scene.git(&app, &["commit", "-q", "-m", "media"]);
}

#[tokio::test]
async fn unchanged_files_of_git_lfs_are_stored_as_pointers_and_come_back() {
    let scene = Scene::new();
    with_lfs(&scene);
    let path = scene.worktree("x").await;
    assert_eq!(scene.read("worktrees/x/a.bin"), "content of a.bin\n");
    scene.settle(&path);
    scene.write("worktrees/x/b.bin", "changed\n");
    let files = contents(&path);
    let outcome = scene.remove(&path).await.unwrap();
    let reference = outcome.salvage().unwrap().reference.clone();
    let blob = |name: &str| {
        scene.git(scene.path("app"), &["cat-file", "blob", &format!("{reference}:files/{name}")])
    };
    assert!(blob("a.bin").starts_with("version https://git-lfs"), "{}", blob("a.bin"));
    assert_eq!(blob("b.bin"), "changed");
    scene.restore(&reference).await.unwrap();
    assert_eq!(contents(&path), files);
}

#[tokio::test]
async fn pointer_that_was_never_replaced_by_its_content_comes_back_as_a_pointer() {
    let scene = Scene::new();
    with_lfs(&scene);
    let set_smudge = |program: &str| {
        scene.git(scene.path("app"), &["config", "--global", "filter.lfs.smudge", program]);
    };
    set_smudge("cat");
    let path = scene.worktree("x").await;
    scene.settle(&path);
    assert!(scene.read("worktrees/x/a.bin").starts_with("version"));
    scene.write("worktrees/x/untracked", "x");
    let files = contents(&path);
    let outcome = scene.remove(&path).await.unwrap();
    set_smudge(&scene.path("smudge").display().to_string());
    scene.restore(&outcome.salvage().unwrap().reference).await.unwrap();
    assert_eq!(contents(&path), files);
}

#[tokio::test]
async fn changed_files_of_git_lfs_that_flags_hide_are_salvaged() {
    let scene = Scene::new();
    with_lfs(&scene);
    let path = scene.worktree("x").await;
    scene.settle(&path);
    scene.git(&path, &["update-index", "--assume-unchanged", "a.bin"]);
    scene.git(&path, &["update-index", "--skip-worktree", "b.bin"]);
    // As long as the content that the pointers name.
    scene.write("worktrees/x/a.bin", "changed a a.bin\n\n");
    scene.write("worktrees/x/b.bin", "changed b b.bin\n\n");
    assert_eq!(scene.git(&path, &["status", "--porcelain"]), "");
    round_trip(&scene, &path).await;
}

#[tokio::test]
async fn content_that_a_filter_removes_before_a_commit_is_salvaged() {
    let scene = Scene::new();
    let app = scene.path("app");
    let strip = scene.program("strip", "grep -v output; true");
    scene.git(&app, &["config", "filter.strip.clean", &strip]);
    scene.write("app/.gitattributes", "*.ipynb filter=strip\n");
    scene.git(&app, &["add", "."]);
    scene.git(&app, &["commit", "-q", "-m", "attributes"]);
    let path = scene.worktree("x").await;
    scene.commit(&path, "notes.ipynb", "code\noutput: 42\n");
    scene.settle(&path);
    assert_eq!(scene.git(&path, &["status", "--porcelain"]), "");
    assert_eq!(scene.git(&path, &["cat-file", "blob", "HEAD:notes.ipynb"]), "code");
    round_trip(&scene, &path).await;
    assert_eq!(scene.read("worktrees/x/notes.ipynb"), "code\noutput: 42\n");
}

#[tokio::test]
async fn file_or_symlink_in_the_place_of_a_submodule_comes_back() {
    let scene = Scene::with_remote();
    let app = scene.path("app");
    for name in ["sub", "libs/deep"] {
        scene.git(&app, &["submodule", "--quiet", "add", &scene.url(), name]);
    }
    scene.git(&app, &["commit", "-q", "-m", "submodules"]);
    scene.git(&app, &["push", "-q", "origin", "HEAD:main"]);
    let path = scene.worktree("x").await;
    fs::remove_dir(path.join("sub")).unwrap();
    fs::write(path.join("sub"), "precious").unwrap();
    fs::remove_dir_all(path.join("libs")).unwrap();
    fs::write(path.join("libs"), "also precious").unwrap();
    round_trip(&scene, &path).await;
    fs::remove_file(path.join("sub")).unwrap();
    symlink("file", path.join("sub")).unwrap();
    round_trip(&scene, &path).await;
}

#[tokio::test]
async fn files_in_the_folder_of_a_submodule_that_was_never_fetched_come_back() {
    let scene = Scene::with_remote();
    let app = scene.path("app");
    scene.git(&app, &["submodule", "--quiet", "add", &scene.url(), "sub"]);
    scene.git(&app, &["commit", "-q", "-m", "submodule"]);
    scene.git(&app, &["push", "-q", "origin", "HEAD:main"]);
    let path = scene.worktree("x").await;
    scene.write("worktrees/x/sub/notes", "precious");
    round_trip(&scene, &path).await;
}

#[tokio::test]
async fn git_folder_of_a_submodule_whose_name_ends_like_a_lock_comes_back() {
    let scene = Scene::with_remote();
    let app = scene.path("app");
    let add = ["submodule", "--quiet", "add", "--name", "deps.lock", &scene.url(), "sub"];
    scene.git(&app, &add);
    scene.git(&app, &["commit", "-q", "-m", "submodule"]);
    scene.git(&app, &["push", "-q", "origin", "HEAD:main"]);
    let path = scene.worktree("x").await;
    scene.git(&path, &["submodule", "--quiet", "update", "--init"]);
    let commit = scene.commit(path.join("sub"), "unpushed", "x");
    round_trip(&scene, &path).await;
    assert_eq!(scene.git(path.join("sub"), &["rev-parse", "HEAD"]), commit);
}

#[tokio::test]
async fn submodule_works_after_its_worktree_came_back_with_another_git_folder() {
    let scene = Scene::with_remote();
    let app = scene.path("app");
    scene.git(&app, &["submodule", "--quiet", "add", &scene.url(), "sub"]);
    scene.git(&app, &["commit", "-q", "-m", "submodule"]);
    scene.git(&app, &["push", "-q", "origin", "HEAD:main"]);
    let ensure = async |folder: &str, branch: &str| {
        let mut spec = scene.spec(scene.app(), branch);
        spec.path = scene.path("worktrees").join(folder).join("same");
        scene.ensure(&spec).await.unwrap().path
    };
    let (first, second) = (ensure("a", "x").await, ensure("b", "y").await);
    scene.git(&second, &["submodule", "--quiet", "update", "--init"]);
    let commit = scene.commit(second.join("sub"), "unpushed", "x");
    let outcome = scene.remove(&second).await.unwrap();
    scene.remove(&first).await.unwrap();
    // The repository calls the second worktree by the name that the first one had.
    scene.restore(&outcome.salvage().unwrap().reference).await.unwrap();
    assert!(app.join(".git/worktrees/same").is_dir());
    assert_eq!(scene.git(second.join("sub"), &["rev-parse", "HEAD"]), commit);
    assert_eq!(scene.git(second.join("sub"), &["status", "--porcelain"]), "");
}

#[tokio::test]
async fn file_in_the_place_of_a_folder_that_a_sparse_checkout_leaves_out_comes_back() {
    let scene = Scene::new();
    let app = scene.path("app");
    for name in ["in/file", "out/file"] {
        scene.write(&format!("app/{name}"), "x");
    }
    scene.git(&app, &["add", "."]);
    scene.git(&app, &["commit", "-q", "-m", "folders"]);
    let path = scene.worktree("x").await;
    scene.git(&path, &["sparse-checkout", "set", "--sparse-index", "in"]);
    assert!(!path.join("out").exists());
    fs::write(path.join("out"), "precious").unwrap();
    round_trip(&scene, &path).await;
}

#[tokio::test]
async fn names_that_differ_only_in_case_come_back_although_a_setting_ignores_case() {
    let scene = Scene::new();
    scene.git(scene.path("app"), &["config", "core.ignoreCase", "true"]);
    let path = scene.worktree("x").await;
    scene.write("worktrees/x/FILE", "precious");
    assert_eq!(scene.git(&path, &["status", "--porcelain"]), "");
    round_trip(&scene, &path).await;
}

#[tokio::test]
async fn symlinks_and_modes_come_back_although_settings_ignore_them() {
    let scene = Scene::new();
    let path = scene.worktree("x").await;
    scene.git(&path, &["config", "core.symlinks", "false"]);
    scene.git(&path, &["config", "core.fileMode", "false"]);
    symlink("file", path.join("link")).unwrap();
    scene.program("worktrees/x/program", "true");
    round_trip(&scene, &path).await;
}

#[tokio::test]
async fn names_that_no_tree_of_git_can_have_come_back() {
    let scene = Scene::new();
    let path = scene.worktree("x").await;
    scene.write("worktrees/x/.GIT/config", "x");
    scene.write("worktrees/x/deep/.Git", "x");
    symlink("file", path.join(".gitmodules")).unwrap();
    scene.git(&path, &["init", "-q", "nested"]);
    symlink("file", path.join("nested/.gitmodules")).unwrap();
    round_trip(&scene, &path).await;
}

#[tokio::test]
async fn ignored_files_that_worktreeinclude_names_are_salvaged() {
    let scene = Scene::new();
    let app = scene.path("app");
    scene.commit(&app, ".gitignore", "*.local\n*.log\n");
    scene.commit(&app, ".worktreeinclude", "*.local\n");
    let path = scene.worktree("x").await;
    scene.write("worktrees/x/a.local", "changed by an agent");
    scene.write("worktrees/x/b.log", "x");
    let outcome = scene.checkouts.salvage(&scene.place(&path), &[]).await.unwrap();
    let reference = &outcome.salvage().unwrap().reference;
    let files = scene.git(&app, &["ls-tree", "--name-only", &format!("{reference}:files")]);
    assert_eq!(files, ".gitignore\n.worktreeinclude\na.local\nfile");
}
