//! Finds out whether a shared clone is damaged.

use segue_core::{Error, Result};

use crate::command::TimeLimit;
use crate::locked::LockedRepository;

/// Parts of git's messages about a damaged repository. Messages without them are about the network
/// or the remote.
const DAMAGE: [&str; 12] = [
    "corrupt",
    "bad object",
    "bad tree",
    "broken ref",
    "did not send all necessary objects",
    "inflate",
    "invalid object",
    "is empty",
    "missing object",
    "not a git repository",
    "unable to read",
    "unpackable",
];

/// Returns why a clone cannot be used. `None` if its files and its refs can be read.
pub(super) async fn damage(repository: &LockedRepository<'_>) -> Result<Option<String>> {
    let folder = &repository.folders.common;
    let is_file = |name: &str| folder.join(name).is_file();
    if let Some(name) = ["HEAD", "config"].into_iter().find(|name| !is_file(name)) {
        return Ok(Some(format!("the file `{name}` is missing")));
    }
    if let Some(name) = ["objects", "refs"].into_iter().find(|name| !folder.join(name).is_dir()) {
        return Ok(Some(format!("the folder `{name}` is missing")));
    }
    // The type makes git open the object of every ref.
    let command = repository.git.bookkeeping(&repository.folders);
    let command = command.args(["for-each-ref", "--format=%(objecttype)"]);
    let output = command.args(["refs/heads/", "refs/remotes/", "refs/segue/"]).output().await?;
    let is_healthy = output.status.success() && !is_damage(&output.stderr);
    Ok((!is_healthy).then(|| output.stderr.trim().to_owned()))
}

/// Returns the damage that made a command fail. `None` if git finds none.
pub(super) async fn damage_after(
    repository: &LockedRepository<'_>,
    error: &Error,
) -> Result<Option<String>> {
    if !error.causes.iter().any(|cause| is_damage(cause)) {
        return Ok(None);
    }
    let command = repository.git.bookkeeping(&repository.folders).limit(TimeLimit::LOCAL);
    let command = command.args(["fsck", "--no-dangling", "--no-progress"]);
    let output = command.output().await?;
    Ok((!output.status.success()).then(|| error.causes.join(": ")))
}

fn is_damage(text: &str) -> bool {
    let text = text.to_lowercase();
    DAMAGE.iter().any(|words| text.contains(words))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damage_is_distinguished_from_errors_of_the_network() {
        for text in [
            "error: object file .git/objects/12/34 is empty",
            "fatal: loose object 12 (stored in .git/objects/12) is corrupt",
            "error: inflate: data stream error (incorrect header check)",
            "warning: ignoring broken ref refs/heads/x",
            "fatal: bad object refs/heads/x",
            "fatal: missing object 1234 for refs/heads/x",
            "fatal: not a git repository: '/data/clones/x.git'",
        ] {
            assert!(is_damage(text), "{text}");
        }
        for text in [
            "fatal: unable to access 'https://h/': Could not resolve host: h",
            "fatal: Could not read from remote repository.",
            "fatal: Authentication failed for 'https://h/'",
            "ssh: connect to host h port 22: Connection refused",
        ] {
            assert!(!is_damage(text), "{text}");
        }
    }
}
