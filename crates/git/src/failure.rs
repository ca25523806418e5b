//! User-facing errors of git commands and of file operations.

use std::io;
use std::path::Path;
use std::process::ExitStatus;

use segue_core::model::GitHost;
use segue_core::rules::shell::quoted;
use segue_core::{Error, Kind};

/// At most this many characters of git's standard error are part of an error.
const SHOWN_CHARACTERS: usize = 2000;

/// Parts of messages of git and of the system about a full disk. Git does not always print the
/// system's own message.
const FULL_DISK: [&str; 5] = [
    "No space left on device",
    "quota exceeded",
    "no storage space",
    "unable to write",
    "write error",
];

/// Parts of git's messages before the URL of a server that rejects the credentials.
const UNAUTHORIZED: [&str; 3] = [
    "could not read Username for '",
    "could not read Password for '",
    "Authentication failed for '",
];

/// Words of ssh if the key of a server is unknown or has changed, and how a person helps.
const UNKNOWN_SERVER: (&str, &str) = (
    "Host key verification failed",
    "in a terminal, and compare the key of the server before you accept it: Segue runs git without \
     a terminal, so ssh cannot ask you",
);
/// Words of ssh before the kinds of proof that a server accepts, and how a person helps.
const REFUSED_KEY: (&str, &str) = (
    "Permission denied (",
    "in a terminal to try your key. Without a terminal, ssh uses only keys without a passphrase and \
     keys in your ssh agent: see `ssh-add -l`",
);

/// Makes an error "cannot `action` `path`" from an I/O error.
pub(crate) fn cannot(action: &str, path: &Path, error: &io::Error) -> Error {
    let kind = match error.kind() {
        io::ErrorKind::NotFound
        | io::ErrorKind::PermissionDenied
        | io::ErrorKind::ReadOnlyFilesystem
        | io::ErrorKind::StorageFull
        | io::ErrorKind::QuotaExceeded => Kind::Unavailable,
        _ => Kind::Internal,
    };
    let failed = Error::new(kind, format!("cannot {action} `{}`", path.display())).caused_by(error);
    with_hint(failed, path)
}

/// Returns `None` if a file or folder is gone: another program may remove it meanwhile.
pub(crate) fn unless_gone<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        result => result.map(Some),
    }
}

/// Makes an error from a git command that failed. Its standard error becomes part of the error.
/// `about` is the path that the command writes to.
pub(crate) fn git_failed(command: &str, about: &Path, status: ExitStatus, stderr: &str) -> Error {
    let mut error = Error::unavailable(format!("`git {command}` failed for `{}`", quoted(about)));
    let said = shown(stderr);
    error = match said.is_empty() {
        true => error.caused_by(format!("it printed no reason ({status})")),
        false => error.caused_by(said),
    };
    with_hint(error, about)
}

/// Makes an error from a git command that was ended, because it took too long for example.
pub(crate) fn git_stopped(command: &str, folder: &Path, why: &str, stderr: &str) -> Error {
    let error = Error::unavailable(format!("`git {command}` in `{}` was ended", quoted(folder)));
    let said = shown(stderr);
    let error = error.caused_by(why);
    if said.is_empty() { error } else { error.caused_by(said) }
}

fn with_hint(error: Error, path: &Path) -> Error {
    let has = |words: &str| error.causes.iter().any(|cause| cause.contains(words));
    if FULL_DISK.iter().any(|words| has(words)) {
        let there = quoted(path.ancestors().find(|path| path.exists()).unwrap_or(path));
        return error.hint(format!("run `df -h {there}` to see whether the disk is full"));
    }
    if let Some((_, help)) = [UNKNOWN_SERVER, REFUSED_KEY].iter().find(|(words, _)| has(words)) {
        let place = match path.is_dir() {
            true => format!("git -C {} ls-remote", quoted(path)),
            false => format!("git ls-remote {}", quoted(path)),
        };
        return error.hint(format!("run `{place}` {help}"));
    }
    if has("Permission denied") || has("Read-only file system") {
        let path = quoted(path);
        return error.hint(format!("run `namei -l {path}` to see who may write there"));
    }
    match error.causes.iter().find_map(|cause| unauthorized_host(cause)) {
        Some(host) => error.hint(format!(
            "add a table `[credentials.\"{host}\"]` with a valid token to config.toml, or set up \
             your own git: `git help credentials`"
        )),
        None => error,
    }
}

/// Returns the host of the server that rejects the credentials.
fn unauthorized_host(said: &str) -> Option<GitHost> {
    let url = UNAUTHORIZED.iter().find_map(|words| Some(said.split_once(words)?.1))?;
    let (scheme, rest) = url.split_once('\'')?.0.split_once("://")?;
    let authority = rest.split('/').next()?;
    let host = authority.rsplit_once('@').map_or(authority, |(_user, host)| host);
    GitHost::of_scheme(scheme, host).ok()
}

/// Returns the end of git's standard error, without credentials in URLs.
fn shown(stderr: &str) -> String {
    let text = without_credentials(stderr.trim());
    let count = text.chars().count();
    let end: String = text.chars().skip(count.saturating_sub(SHOWN_CHARACTERS)).collect();
    if count > SHOWN_CHARACTERS { format!("…{end}") } else { end }
}

/// Removes the part between `://` and `@`. The remotes of a user's repository may have tokens there.
pub(crate) fn without_credentials(text: &str) -> String {
    let mut parts = text.split("://");
    let mut clean = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end =
            part.find(|c: char| c == '/' || c.is_whitespace() || c == '\'').unwrap_or(part.len());
        let secret = part[..end].rfind('@').map_or(0, |at| at + 1);
        clean.push_str("://");
        clean.push_str(&part[secret..]);
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_in_urls_are_removed() {
        let table = [
            (
                "fatal: unable to access 'https://t0ken@h/a/'",
                "fatal: unable to access 'https://h/a/'",
            ),
            ("a://u:p@h and b://x@y", "a://h and b://y"),
            ("https://h/a@b", "https://h/a@b"),
            ("no url, me@example.org", "no url, me@example.org"),
            ("https://", "https://"),
        ];
        for (text, wanted) in table {
            assert_eq!(without_credentials(text), wanted);
        }
    }

    #[test]
    fn server_that_wants_credentials_is_named_in_a_hint() {
        let status = std::os::unix::process::ExitStatusExt::from_raw(128 << 8);
        let table = [
            (
                "fatal: could not read Username for 'https://h:8443': terminal prompts disabled",
                "[credentials.\"h:8443\"]",
            ),
            ("fatal: could not read Password for 'http://me@127.0.0.1:80': x", "\"127.0.0.1\""),
            ("remote: no\nfatal: Authentication failed for 'https://h/team/app.git/'", "\"h\""),
        ];
        for (said, expected) in table {
            let error = git_failed("fetch", Path::new("/x"), status, said);
            assert!(error.hints[0].contains(expected), "{error:?}");
        }
        let other = git_failed("fetch", Path::new("/x"), status, "fatal: no 'https://h'");
        assert!(other.hints.is_empty(), "{other:?}");
    }

    #[test]
    fn server_that_ssh_does_not_know_and_a_refused_key_have_hints() {
        let status = std::os::unix::process::ExitStatusExt::from_raw(128 << 8);
        let end = "\r\nfatal: Could not read from remote repository.";
        let url = "ssh://git@h/app";
        let table = [
            ("Host key verification failed.", url, "`git ls-remote ssh://git@h/app` in a terminal"),
            ("git@h: Permission denied (publickey).", url, "`ssh-add -l`"),
            ("git@h: Permission denied (publickey,password).", "/", "`git -C / ls-remote`"),
        ];
        for (said, about, expected) in table {
            let error = git_failed("fetch", Path::new(about), status, &format!("{said}{end}"));
            assert!(error.causes[0].starts_with(said), "{error:?}");
            assert_eq!(error.hints.len(), 1, "{error:?}");
            assert!(error.hints[0].contains(expected), "{error:?}");
        }
    }

    #[test]
    fn full_disk_and_missing_permission_have_hints() {
        let full = io::Error::from(io::ErrorKind::StorageFull);
        let error = cannot("write", Path::new("/dev/a b/c"), &full);
        assert_eq!(error.kind, Kind::Unavailable);
        assert!(error.hints[0].contains("`df -h /dev`"), "{error:?}");
        let status = std::os::unix::process::ExitStatusExt::from_raw(128 << 8);
        let said = "fatal: could not create '/x': Permission denied";
        let error = git_failed("worktree add", Path::new("/x"), status, said);
        assert_eq!(error.message, "`git worktree add` failed for `/x`");
        assert_eq!(error.causes, [said]);
        assert!(error.hints[0].contains("namei"), "{:?}", error.hints);
    }
}
