//! Git repositories for tests, made by the git program.

use std::fs;
use std::path::Path;
use std::process::Command;

/// Runs git without the settings of this machine, as the user Ann. Returns its output without the
/// last line break.
pub fn git(folder: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=Ann", "-c", "user.email=ann@example.org"]).args(arguments);
    command.current_dir(folder).env("GIT_CONFIG_GLOBAL", "/dev/null");
    let output = command.env("GIT_CONFIG_NOSYSTEM", "1").output().expect("git starts");
    assert!(output.status.success(), "git {arguments:?}: {output:?}");
    String::from_utf8_lossy(&output.stdout).trim_end_matches('\n').to_owned()
}

/// Makes a repository with one commit, in which the file `code.txt` is `one`. Creates the folder if
/// it does not exist.
pub fn make_repository(folder: &Path) {
    fs::create_dir_all(folder).expect("a folder");
    git(folder, &["init", "-q", "-b", "main"]);
    fs::write(folder.join("code.txt"), "one\n").expect("a file");
    git(folder, &["add", "code.txt"]);
    git(folder, &["commit", "-q", "-m", "begin"]);
}

/// Makes such a repository as the bare `app.git` in a folder. It accepts pushes, and lets partial
/// clones fetch what they lack.
pub fn make_origin(folder: &Path) {
    make_repository(&folder.join("draft"));
    git(folder, &["clone", "-q", "--bare", "draft", "app.git"]);
    for key in ["uploadpack.allowFilter", "uploadpack.allowAnySHA1InWant"] {
        git(&folder.join("app.git"), &["config", key, "true"]);
    }
}
