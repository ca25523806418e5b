//! Environments for starts without a command of the user: the environment of the user's login shell,
//! and the variables of files.

mod files;
mod marked;
mod shell;

use std::sync::{Arc, Mutex, PoisonError, Weak};

use async_trait::async_trait;
use segue_core::model::Environment;
use segue_core::ports::{EnvironmentSettings, Environments};
use segue_core::rules::environment::{READING, without_shell_internals};
use segue_core::{Error, Result};
use tokio::sync::OnceCell;

pub use shell::{become_login_shell, print_environment};

use crate::paths::below_home;

/// Variables of this process that the login shell inherits, so that it uses the same home and the
/// same Segue. All other variables come from the profile of the user.
const INHERITED: [&str; 9] = [
    "HOME",
    "USER",
    "LOGNAME",
    "LANG",
    "XDG_RUNTIME_DIR",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
    "SEGUE_HOME",
];

/// The search path of a login shell before its profile changes it.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// One reading of the login shell. Its values are in memory for as long as a caller waits for it.
type ShellReading = OnceCell<Result<Environment>>;

/// Reads the environment of the login shell and of files.
#[derive(Debug)]
pub struct LocalEnvironments {
    /// The environment with which the login shell starts.
    base: Environment,
    /// The reading that is in progress, and its settings.
    current: Mutex<(Option<EnvironmentSettings>, Weak<ShellReading>)>,
}

impl LocalEnvironments {
    /// Creates a reader. `own` is the environment of this process, of which the login shell inherits
    /// only a few variables.
    pub fn new(own: &Environment) -> Self {
        let mut base = own.clone();
        base.retain(|name| INHERITED.contains(&name) || name.starts_with("LC_"));
        base.set("PATH", PATH);
        Self { base, current: Mutex::default() }
    }

    /// Returns the reading with these settings that is in progress, or a new one.
    fn reading(&self, settings: &EnvironmentSettings) -> Arc<ShellReading> {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        if let (Some(known), Some(reading)) = (&current.0, current.1.upgrade())
            && known == settings
        {
            return reading;
        }
        let reading = Arc::new(ShellReading::new());
        *current = (Some(settings.clone()), Arc::downgrade(&reading));
        reading
    }

    async fn read(&self, settings: &EnvironmentSettings) -> Result<Environment> {
        let mut environment = match settings.shell {
            true => shell::read(&self.base, settings.timeout).await?,
            false => self.base.clone(),
        };
        for file in &settings.files {
            let variables = files::read(&below_home(file, &self.base))?;
            variables.into_iter().for_each(|(name, value)| environment.set(name, value));
        }
        without_shell_internals(&mut environment);
        // A profile may set another `SEGUE_HOME`. The agent must use the Segue that starts it.
        environment.retain(|name| name != READING && name != "SEGUE_HOME");
        if let Some(home) = self.base.get("SEGUE_HOME") {
            environment.set("SEGUE_HOME", home);
        }
        Ok(environment)
    }
}

#[async_trait]
impl Environments for LocalEnvironments {
    async fn login_shell(&self, settings: &EnvironmentSettings) -> Result<Environment> {
        let reading = self.reading(settings);
        reading.get_or_init(|| self.read(settings)).await.clone()
    }

    fn check_files(&self, settings: &EnvironmentSettings) -> Vec<Error> {
        let files = settings.files.iter().map(|file| below_home(file, &self.base));
        files.filter_map(|file| files::read(&file).err()).collect()
    }
}

#[cfg(test)]
mod tests;
