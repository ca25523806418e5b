//! The paths of Segue's files and folders.

use std::path::{Path, PathBuf};

use segue_core::model::{Environment, LaunchId, SessionId};
use segue_core::{Error, Result};

use crate::failure::quoted;
use crate::own_folder::{Openness, check_settings_folder, ensure_folder};

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

    /// Returns the folder of worktrees.
    pub fn worktrees(&self) -> PathBuf {
        self.data.join("worktrees")
    }

    /// Returns the folder of shared clones.
    pub fn clones(&self) -> PathBuf {
        self.data.join("clones")
    }

    /// Returns the folder for temporary files of git commands.
    pub fn git_scratch(&self) -> PathBuf {
        self.state.join("git")
    }

    /// Returns the folder in which the git state of a folder is read.
    pub fn git_view(&self) -> PathBuf {
        self.state.join("git-view")
    }

    /// Returns the folder of the logs of worktrees' setup and teardown commands.
    pub fn worktree_logs(&self) -> PathBuf {
        self.state.join("worktree-logs")
    }

    /// Returns the folder of the programs that other programs run.
    pub fn programs(&self) -> PathBuf {
        self.state.join("bin")
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

    /// Returns the folder of the locks of repositories.
    pub fn repository_locks(&self) -> PathBuf {
        self.locks().join("repositories")
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

    /// Returns the file through which a browser is led to a login link.
    pub fn browser_page(&self) -> PathBuf {
        self.state().join("open.html")
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

/// Replaces `~/` by the home folder.
pub(crate) fn below_home(path: &Path, environment: &Environment) -> PathBuf {
    match (path.strip_prefix("~"), environment.get("HOME")) {
        (Ok(rest), Some(home)) => Path::new(home).join(rest),
        _ => path.to_owned(),
    }
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
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};

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
            let error = ensure_folder(Path::new("/"), Openness::Readable).unwrap_err();
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
