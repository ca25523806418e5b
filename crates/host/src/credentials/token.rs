//! Reads tokens: from the output of a program, or from a file.

use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use segue_core::model::{Environment, SecretText};
use segue_core::{Error, Result, failpoint};
use tokio::io::AsyncReadExt as _;
use tokio::process::{Child, Command};

use crate::failure::quoted;
use crate::paths::below_home;
use crate::private_file::{self, UnusableFile};

/// The maximum length of a token and of everything that is printed or written with it.
const MAX_TOKEN_BYTES: u64 = 64 << 10;

/// How long a program may take to print a token. It may ask a person for a passphrase.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(60);

/// Where a token comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TokenSource {
    /// The first line that a program prints. The first word is the program.
    Command(Vec<String>),
    /// An environment variable.
    Variable(String),
    /// The first line of a file, which only the user may read: absolute, or below `~/`.
    File(PathBuf),
}

impl TokenSource {
    /// Reads the token. A variable is read from `environment`, and a program runs with it.
    pub async fn read(&self, environment: &Environment) -> Result<SecretText> {
        match self {
            Self::Command(words) => read_command(words, environment, COMMAND_TIMEOUT).await,
            Self::File(path) => read_file(&below_home(path, environment)),
            Self::Variable(name) => {
                environment.get(name).and_then(first_line).ok_or_else(|| empty_variable(name))
            }
        }
    }

    /// Returns an error if the source certainly cannot be used. Reads no token.
    pub fn check(&self, environment: &Environment) -> Result<()> {
        match self {
            Self::Command(words) => {
                let program = words.first().map(String::as_str).unwrap_or_default();
                match crate::programs::exists(program, environment) {
                    true => Ok(()),
                    false => Err(unusable_command(words, "there is no such program")),
                }
            }
            Self::File(path) => {
                let path = below_home(path, environment);
                private_file::open(&path).map(drop).map_err(|error| unusable_file(&path, error))
            }
            Self::Variable(_) => Ok(()),
        }
    }
}

/// Returns the first line of a text as a token. `None` if it is empty or has control characters.
fn first_line(text: &str) -> Option<SecretText> {
    let line = text.lines().next().unwrap_or_default();
    let is_usable = !line.trim().is_empty() && !line.contains(char::is_control);
    is_usable.then(|| SecretText::new(line))
}

fn empty_variable(name: &str) -> Error {
    Error::config(format!("the environment variable `{name}` has no token"))
        .caused_by("neither your login shell nor the files of `[environment]` have it")
        .hint("add it to a file of `files` under `[environment]` in config.toml")
}

fn read_file(path: &Path) -> Result<SecretText> {
    let text = private_file::read(path, MAX_TOKEN_BYTES);
    let text = text.map_err(|error| unusable_file(path, error))?;
    first_line(&text).ok_or_else(|| {
        let why = "its first line is empty or has control characters".to_owned();
        unusable_file(path, UnusableFile { why, hint: None })
    })
}

fn unusable_file(path: &Path, UnusableFile { why, hint }: UnusableFile) -> Error {
    let error = Error::config(format!("cannot read a token from `{}`", path.display()));
    error.caused_by(why).hint(hint.unwrap_or_else(|| {
        "put the token into the first line of the file that `file` in config.toml names".to_owned()
    }))
}

/// Nothing that the program prints is part of the error: it could be the token.
fn unusable_command(words: &[String], why: impl std::fmt::Display) -> Error {
    let words: Vec<String> = words.iter().map(|word| quoted(Path::new(word))).collect();
    let command = words.join(" ");
    Error::config(format!("cannot read a token from `{command}`"))
        .caused_by(why)
        .hint(format!("run `{command}` to see what it prints: its first line is the token"))
}

async fn read_command(
    words: &[String],
    environment: &Environment,
    limit: Duration,
) -> Result<SecretText> {
    let cannot = |why: String| unusable_command(words, why);
    let mut running = start(words, environment).map_err(|error| cannot(error.to_string()))?;
    let read = tokio::time::timeout(limit, output(&mut running)).await;
    let Ok(read) = read else {
        end(&mut running).await;
        return Err(cannot(format!("it took longer than {} seconds", limit.as_secs())));
    };
    let (bytes, status) = read.map_err(|error| cannot(error.to_string()))?;
    if !status.success() {
        return Err(cannot(format!("it failed: {status}")));
    }
    let token = str::from_utf8(&bytes).ok().and_then(first_line);
    token.ok_or_else(|| {
        cannot("the first line that it prints is empty, or is not plain text".to_owned())
    })
}

/// Starts the program in a process group of its own.
fn start(words: &[String], environment: &Environment) -> std::io::Result<Child> {
    let (program, arguments) = words.split_first().ok_or(std::io::ErrorKind::InvalidInput)?;
    let mut command = Command::new(program);
    command.args(arguments).env_clear().envs(environment.iter()).current_dir("/");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    failpoint::hit("token.command.before");
    command.process_group(0).kill_on_drop(true).spawn()
}

async fn output(running: &mut Child) -> std::io::Result<(Vec<u8>, ExitStatus)> {
    let mut bytes = Vec::new();
    if let Some(stdout) = running.stdout.take() {
        stdout.take(MAX_TOKEN_BYTES).read_to_end(&mut bytes).await?;
    }
    Ok((bytes, running.wait().await?))
}

/// Ends the program and everything in its process group.
async fn end(running: &mut Child) {
    let group = running.id().and_then(|pid| Pid::from_raw(i32::try_from(pid).ok()?));
    if let Some(group) = group {
        // It fails if the group has no process.
        let _gone = kill_process_group(group, Signal::KILL);
    }
    if let Err(error) = running.wait().await {
        tracing::warn!(%error, "a program that prints a token could not be waited for");
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Read as _;
    use std::os::unix::fs::PermissionsExt as _;

    use rustix::fs::OFlags;

    use super::*;

    fn shell(script: &str) -> TokenSource {
        TokenSource::Command(["sh", "-c", script].map(str::to_owned).into())
    }

    fn environment() -> Environment {
        Environment::new([("PATH".to_owned(), "/usr/bin:/bin".to_owned())])
    }

    #[tokio::test]
    async fn token_is_the_first_line_that_a_program_prints() {
        let table = [
            ("printf hush-1", Some("hush-1")),
            ("printf 'hush-2\\nuser: ann\\n'", Some("hush-2")),
            ("printf 'hush-3\\r\\n'", Some("hush-3")),
            ("true", None),
            ("printf '\\nhush-4'", None),
            ("printf 'hush-5\\033[0m\\n'", None),
            ("printf 'hush-6\\377'", None),
            ("echo hush-7; echo hush-7 >&2; exit 3", None),
            ("yes hush-8", None),
        ];
        for (script, expected) in table {
            match shell(script).read(&environment()).await {
                Ok(token) => assert_eq!(Some(token.expose()), expected),
                Err(error) => {
                    assert_eq!(expected, None, "{script}: {error:?}");
                    let causes = format!("{:?}", error.causes);
                    assert!(!causes.contains("hush"), "{causes}");
                }
            }
        }
    }

    #[tokio::test]
    async fn program_that_takes_too_long_is_ended_with_its_children() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RWXU).unwrap();
        let flags = OFlags::RDONLY | OFlags::NONBLOCK;
        let reader = rustix::fs::open(&pipe, flags, rustix::fs::Mode::empty()).unwrap();
        rustix::fs::fcntl_setfl(&reader, OFlags::RDONLY).unwrap();
        // The child keeps the pipe open until it is killed.
        let script = format!("sh -c 'exec 3>{0}; sleep 1000' & sleep 1000", pipe.display());
        let words: Vec<String> = ["sh", "-c", &script].map(str::to_owned).into();
        let limit = Duration::from_millis(200);
        let error = read_command(&words, &environment(), limit).await.unwrap_err();
        assert!(error.causes[0].contains("longer than"), "{error:?}");
        // Blocks as long as a process has the pipe open.
        assert_eq!(fs::File::from(reader).read(&mut [0]).unwrap(), 0);
    }

    #[tokio::test]
    async fn file_must_be_private_and_its_token_is_in_no_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        let source = TokenSource::File(path.clone());
        fs::write(&path, "hush-hush\nsecond\n").unwrap();
        for mode in [0o644, 0o640, 0o604, 0o660] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            let error = source.read(&environment()).await.unwrap_err();
            assert!(error.causes[0].contains(&format!("(mode {mode:04o})")), "{error:?}");
            assert!(!format!("{error:?}").contains("hush"), "{error:?}");
            assert_eq!(source.check(&environment()), Err(error));
        }
        for mode in [0o600, 0o400] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            let token = source.read(&environment()).await.unwrap();
            assert_eq!(token.expose(), "hush-hush");
            source.check(&environment()).unwrap();
        }
        let mut with_home = environment();
        with_home.set("HOME", folder.path().to_string_lossy());
        let below = TokenSource::File("~/token".into());
        assert!(below.read(&with_home).await.is_ok());
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        fs::write(&path, "\nhush-hush\n").unwrap();
        assert!(source.read(&environment()).await.is_err());
        assert!(TokenSource::File(folder.path().into()).check(&environment()).is_err());
        assert!(TokenSource::Command(vec!["no-such".into()]).check(&environment()).is_err());
        shell("true").check(&environment()).unwrap();
    }
}
