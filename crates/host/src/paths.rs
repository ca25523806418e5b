//! The paths of Segue's files, and the checks of their owners and permissions.

use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};
use segue_core::model::{Environment, LaunchId, SessionId};
use segue_core::{Error, Result};

use crate::atomic::sync_folder;
use crate::failure::{cannot, quoted};

/// The paths of one installation of Segue. Installations with different values of `SEGUE_HOME`
/// share no files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paths {
    /// `SEGUE_HOME`, if it is set.
    home: Option<PathBuf>,
    config: PathBuf,
    data: PathBuf,
    state: PathBuf,
}

impl Paths {
    /// Finds the paths. All are below `SEGUE_HOME` if it is set, otherwise in the XDG folders.
    pub fn from_environment(environment: &Environment) -> Result<Self> {
        if let Some(home) = absolute(environment, "SEGUE_HOME")? {
            return Ok(Self {
                config: home.clone(),
                data: home.join("data"),
                state: home.join("state"),
                home: Some(home),
            });
        }
        Ok(Self {
            home: None,
            config: xdg(environment, "XDG_CONFIG_HOME", ".config")?,
            data: xdg(environment, "XDG_DATA_HOME", ".local/share")?,
            state: xdg(environment, "XDG_STATE_HOME", ".local/state")?,
        })
    }

    pub fn config_file(&self) -> PathBuf {
        self.config.join("config.toml")
    }

    pub fn data(&self) -> &Path {
        &self.data
    }

    pub fn database(&self) -> PathBuf {
        self.data.join("segue.db")
    }

    /// Returns the folder of the archived conversations.
    pub fn archive(&self) -> PathBuf {
        self.data.join("archive")
    }

    pub fn state(&self) -> &Path {
        &self.state
    }

    pub fn launches(&self) -> PathBuf {
        self.state.join("launches")
    }

    /// Returns the folder of conversations that a vendor's program will import at its next start.
    pub fn imports(&self) -> PathBuf {
        self.state.join("imports")
    }

    /// Returns the folder of archived copies that were unpacked to be read.
    pub fn readings(&self) -> PathBuf {
        self.state.join("readings")
    }

    pub fn launch(&self, launch: LaunchId) -> PathBuf {
        self.launches().join(launch.to_string())
    }

    pub fn fleets(&self) -> PathBuf {
        self.state.join("fleets")
    }

    pub fn locks(&self) -> PathBuf {
        self.state.join("locks")
    }

    /// Returns the lock that the holder of a session's live launch holds.
    pub fn session_lock(&self, session: SessionId) -> PathBuf {
        self.locks().join(format!("session-{session}"))
    }

    /// Returns the real folder of the store. Symlinks are resolved.
    pub fn store_folder(&self) -> PathBuf {
        let store = self.database().canonicalize().ok();
        let beside = store.and_then(|store| store.parent().map(Path::to_owned));
        beside.or_else(|| self.data.canonicalize().ok()).unwrap_or_else(|| self.data.clone())
    }

    /// Returns the file with the ids of this machine. It is in the state folder because a copy of
    /// the data folder may be on another machine.
    pub fn machine_ids(&self) -> PathBuf {
        self.state.join("machine-id")
    }

    pub fn daemon_socket(&self) -> PathBuf {
        self.state.join("daemon.sock")
    }

    /// Returns the lock that the daemon holds while it lives.
    pub fn daemon_lock(&self) -> PathBuf {
        self.locks().join("daemon")
    }

    /// Returns the lock that a client holds while it starts a daemon, so that only one client at a
    /// time does so.
    pub fn start_lock(&self) -> PathBuf {
        self.locks().join("start")
    }

    pub fn log_file(&self) -> PathBuf {
        self.state.join("daemon.log")
    }

    /// Creates missing folders. Refuses folders that other users could access.
    pub fn ensure(&self) -> Result<()> {
        if let Some(home) = &self.home {
            ensure_folder(home, Openness::Readable)?;
        }
        let folders =
            [self.data.clone(), self.state.clone(), self.launches(), self.fleets(), self.locks()];
        folders.iter().try_for_each(|folder| ensure_folder(folder, Openness::Private))?;
        check_settings_folder(&self.config)
    }
}

/// The access that other users may have to a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Openness {
    /// No access.
    Private,
    /// Read access. Private content is in private folders below it.
    Readable,
}

impl Openness {
    fn forbidden_bits(self) -> u32 {
        match self {
            Self::Private => 0o077,
            Self::Readable => 0o022,
        }
    }
}

/// Creates a folder with mode 0700 if it is missing. Then checks its owner and its permissions.
pub(crate) fn ensure_folder(folder: &Path, openness: Openness) -> Result<()> {
    match fs::metadata(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => make_folder(folder)?,
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            return Err(not_a_folder(folder));
        }
        _ => {}
    }
    check_folder(folder, openness)
}

/// Returns the error for a file in the place of a folder or of one of its parents.
fn not_a_folder(folder: &Path) -> Error {
    let file = folder.ancestors().find(|path| path.exists()).unwrap_or(folder);
    Error::config(format!("`{}` is not a folder", file.display()))
        .hint(format!("move it away: `mv {0} {0}.old`", quoted(file)))
}

fn make_folder(folder: &Path) -> Result<()> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.map_err(|error| cannot("make the folder", folder, &error))?;
    // The umask may have removed permissions that the owner needs.
    fs::set_permissions(folder, Permissions::from_mode(0o700))
        .map_err(|error| cannot("make the folder", folder, &error))?;
    match folder.parent() {
        Some(parent) => {
            sync_folder(parent).map_err(|error| cannot("make the folder", folder, &error))
        }
        None => Ok(()),
    }
}

fn check_folder(folder: &Path, openness: Openness) -> Result<()> {
    let facts = fs::metadata(folder).map_err(|error| cannot("use the folder", folder, &error))?;
    if !facts.is_dir() {
        return Err(not_a_folder(folder));
    }
    check_owner(folder, facts.uid())?;
    check_mode(folder, facts.mode() & 0o777, openness)?;
    access(folder, Access::WRITE_OK | Access::EXEC_OK)
        .map_err(|error| cannot("write into the folder", folder, &error.into()))
}

/// Checks the folder of the user's settings, because the settings define which programs are run. The
/// folder may be missing, and root may own it.
fn check_settings_folder(folder: &Path) -> Result<()> {
    let Ok(facts) = fs::metadata(folder) else { return Ok(()) };
    if facts.uid() != 0 {
        check_owner(folder, facts.uid())?;
    }
    check_mode(folder, facts.mode() & 0o777, Openness::Readable)
}

fn check_owner(folder: &Path, owner: u32) -> Result<()> {
    let me = rustix::process::geteuid().as_raw();
    if owner == me {
        return Ok(());
    }
    Err(Error::config(format!(
        "the folder `{}` belongs to user {owner}, but the current user is {me}",
        folder.display()
    ))
    .hint(format!("run `sudo chown -R {me} {}` to change its owner", quoted(folder)))
    .hint("or use a folder of your own: `export SEGUE_HOME=~/.segue`"))
}

fn check_mode(folder: &Path, mode: u32, openness: Openness) -> Result<()> {
    if mode & openness.forbidden_bits() == 0 {
        return Ok(());
    }
    Err(Error::config(format!(
        "the folder `{}` has mode {mode:04o}: other users could access its content",
        folder.display()
    ))
    .hint(format!("run `chmod 700 {}`", quoted(folder))))
}

fn xdg(environment: &Environment, name: &str, default: &str) -> Result<PathBuf> {
    let base = match absolute(environment, name)? {
        Some(base) => base,
        None => home(environment, name)?.join(default),
    };
    Ok(base.join("segue"))
}

fn home(environment: &Environment, alternative: &str) -> Result<PathBuf> {
    absolute(environment, "HOME")?.ok_or_else(|| {
        Error::config(format!(
            "there is no folder for files: neither HOME nor {alternative} is set"
        ))
        .hint("run `export SEGUE_HOME=/some/folder` to set a folder for all files")
    })
}

/// Returns the path in an environment variable. An empty value counts as unset, as the XDG
/// specification requires.
fn absolute(environment: &Environment, name: &str) -> Result<Option<PathBuf>> {
    let Some(value) = environment.get(name).filter(|value| !value.is_empty()) else {
        return Ok(None);
    };
    let path = PathBuf::from(value);
    if path.is_absolute() {
        return Ok(Some(path));
    }
    Err(Error::config(format!("{name} is `{value}`, which is not an absolute path"))
        .hint(format!("run `export {name}=\"$PWD\"/{}`", quoted(&path))))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::chown;

    use segue_core::Kind;
    use tempfile::TempDir;

    use super::*;

    fn environment(pairs: &[(&str, &str)]) -> Environment {
        Environment::new(pairs.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())))
    }

    fn paths_in(folder: &Path) -> Paths {
        Paths::from_environment(&environment(&[("SEGUE_HOME", folder.to_str().unwrap())])).unwrap()
    }

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().mode() & 0o777
    }

    #[test]
    fn segue_home_moves_all_paths() {
        let paths = paths_in(Path::new("/x"));
        assert_eq!(paths.config_file(), Path::new("/x/config.toml"));
        assert_eq!(paths.database(), Path::new("/x/data/segue.db"));
        assert_eq!(paths.daemon_socket(), Path::new("/x/state/daemon.sock"));
    }

    #[test]
    fn without_segue_home_the_xdg_folders_or_their_defaults_are_used() {
        let paths = Paths::from_environment(&environment(&[
            ("HOME", "/home/a"),
            ("XDG_DATA_HOME", "/d"),
            ("XDG_STATE_HOME", ""),
        ]))
        .unwrap();
        assert_eq!(paths.config_file(), Path::new("/home/a/.config/segue/config.toml"));
        assert_eq!(paths.data(), Path::new("/d/segue"));
        assert_eq!(paths.state(), Path::new("/home/a/.local/state/segue"));
    }

    #[test]
    fn relative_or_missing_variable_is_named_in_the_error() {
        let table: &[(&[(&str, &str)], &str)] = &[
            (&[("SEGUE_HOME", "x/y")], "SEGUE_HOME"),
            (&[("HOME", "/h"), ("XDG_DATA_HOME", "data")], "XDG_DATA_HOME"),
            (&[("HOME", "h")], "HOME"),
            (&[], "HOME"),
        ];
        for (variables, named) in table {
            let error = Paths::from_environment(&environment(variables)).unwrap_err();
            assert_eq!(error.kind, Kind::Config);
            assert!(error.message.contains(named), "{error}");
            assert!(!error.hints.is_empty(), "{error}");
        }
    }

    #[test]
    fn ensure_creates_private_folders_and_can_be_repeated() {
        let temp = TempDir::new().unwrap();
        let paths = paths_in(&temp.path().join("deep/er"));
        paths.ensure().unwrap();
        paths.ensure().unwrap();
        for folder in [paths.data(), paths.state(), &paths.launches(), &paths.locks()] {
            assert_eq!(mode(folder), 0o700, "{}", folder.display());
        }
    }

    #[test]
    fn ensure_refuses_a_folder_open_to_others_and_hints_at_chmod() {
        let temp = TempDir::new().unwrap();
        let paths = paths_in(temp.path());
        paths.ensure().unwrap();
        for looser in [0o777, 0o750, 0o701] {
            fs::set_permissions(paths.state(), Permissions::from_mode(looser)).unwrap();
            let error = paths.ensure().unwrap_err();
            assert_eq!(error.kind, Kind::Config);
            assert!(error.message.contains(&format!("{looser:04o}")), "{error}");
            assert_eq!(error.hints, [format!("run `chmod 700 {}`", paths.state().display())]);
        }
        fs::set_permissions(paths.state(), Permissions::from_mode(0o700)).unwrap();
        paths.ensure().unwrap();
    }

    #[test]
    fn ensure_accepts_a_home_that_others_read_but_not_one_they_write() {
        let temp = TempDir::new().unwrap();
        let paths = paths_in(temp.path());
        fs::set_permissions(temp.path(), Permissions::from_mode(0o755)).unwrap();
        paths.ensure().unwrap();
        fs::set_permissions(temp.path(), Permissions::from_mode(0o777)).unwrap();
        assert!(paths.ensure().unwrap_err().message.contains("0777"));
    }

    #[test]
    fn ensure_refuses_a_folder_of_another_user() {
        let temp = TempDir::new().unwrap();
        let paths = paths_in(temp.path());
        paths.ensure().unwrap();
        if chown(paths.data(), Some(12345), None).is_err() {
            // Only root can change the owner of a folder. As another user, check the folder `/`.
            let error = check_folder(Path::new("/"), Openness::Readable).unwrap_err();
            assert!(error.message.contains("belongs to user 0"), "{error}");
            return;
        }
        let error = paths.ensure().unwrap_err();
        assert_eq!(error.kind, Kind::Config);
        assert!(error.message.contains("12345"), "{error}");
    }

    #[test]
    fn ensure_refuses_a_settings_folder_that_others_can_write() {
        let temp = TempDir::new().unwrap();
        let home = temp.path().to_str().unwrap();
        let paths = Paths::from_environment(&environment(&[("HOME", home)])).unwrap();
        paths.ensure().unwrap();
        let folder = temp.path().join(".config/segue");
        assert!(!folder.exists());
        fs::create_dir_all(&folder).unwrap();
        fs::set_permissions(&folder, Permissions::from_mode(0o755)).unwrap();
        paths.ensure().unwrap();
        fs::set_permissions(&folder, Permissions::from_mode(0o775)).unwrap();
        assert!(paths.ensure().unwrap_err().message.contains("0775"));
    }

    #[test]
    fn ensure_refuses_a_folder_without_write_permission() {
        let temp = TempDir::new().unwrap();
        let paths = paths_in(temp.path());
        paths.ensure().unwrap();
        fs::set_permissions(paths.state(), Permissions::from_mode(0o500)).unwrap();
        let outcome = paths.ensure();
        fs::set_permissions(paths.state(), Permissions::from_mode(0o700)).unwrap();
        if rustix::process::geteuid().is_root() {
            // Root may write into every folder.
            return outcome.unwrap();
        }
        let error = outcome.unwrap_err();
        assert_eq!(error.kind, Kind::Unavailable);
        assert!(error.message.contains("cannot write into the folder"), "{error}");
    }

    #[test]
    fn ensure_refuses_a_file_in_the_place_of_a_folder() {
        let temp = TempDir::new().unwrap();
        fs::write(temp.path().join("state"), "x").unwrap();
        let error = paths_in(temp.path()).ensure().unwrap_err();
        assert!(error.message.contains("is not a folder"), "{error}");
    }
}
