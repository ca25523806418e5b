//! Environments for launches that no command of the user requests.

use std::fmt::Debug;
use std::path::PathBuf;
use std::time::Duration;

use async_trait::async_trait;

use crate::error::{Error, Result};
use crate::model::Environment;

/// The user's settings for automatic restarts: where their environment comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnvironmentSettings {
    /// Whether the login shell is read.
    pub shell: bool,
    /// Files with `NAME=value` lines. Their variables replace those of the shell.
    pub files: Vec<PathBuf>,
    /// How long the login shell may take.
    pub timeout: Duration,
}

impl EnvironmentSettings {
    /// Returns whether the settings name at least one source.
    pub fn has_source(&self) -> bool {
        self.shell || !self.files.is_empty()
    }
}

/// Reads environments anew for each launch. Values are never stored, logged or part of an error.
#[async_trait]
pub trait Environments: Debug + Send + Sync {
    /// Reads the environment of the user's login shell and of the configured files. Takes at most
    /// the timeout of the settings. Concurrent calls share one read.
    async fn login_shell(&self, settings: &EnvironmentSettings) -> Result<Environment>;

    /// Returns an error for each configured file that cannot be used.
    fn check_files(&self, settings: &EnvironmentSettings) -> Vec<Error>;
}
