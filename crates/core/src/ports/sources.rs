//! The forges of the user's settings.

use std::fmt::Debug;
use std::sync::Arc;

use async_trait::async_trait;

use crate::error::{Error, Result};
use crate::model::{DispatchRule, ForgeSource, SecretText, SourceName};
use crate::ports::{Forge, ForgeApi};

/// The forges of the user's settings, and the rules for their events. The settings are read for each
/// call. Secrets are read when they are needed, and are stored nowhere.
#[async_trait]
pub trait ForgeSources: Debug + Send + Sync {
    /// Returns all sources, in the order of the settings. Fails if the settings cannot be read.
    fn sources(&self) -> Result<Vec<ForgeSource>>;

    /// Returns all rules, in the order of the settings. Fails if the settings cannot be read.
    fn rules(&self) -> Result<Vec<DispatchRule>>;

    /// Returns how the forge of a source works.
    fn forge(&self, source: &ForgeSource) -> Result<Arc<dyn Forge>>;

    /// Returns the host of the server that has the repositories of a source.
    fn web_host(&self, source: &SourceName) -> Result<String>;

    /// Reads the secret of a source's webhook. May run a program of the user. Errors contain nothing
    /// of the secret.
    async fn secret(&self, source: &SourceName) -> Result<SecretText>;

    /// Returns a client for the API of a source. Reads its token, and sends nothing. Fails if the
    /// settings have no token for the source.
    async fn api(&self, source: &SourceName) -> Result<Arc<dyn ForgeApi>>;

    /// Returns a client like `api`, whose requests have pauses between them. It is for background
    /// requests.
    async fn paced_api(&self, source: &SourceName) -> Result<Arc<dyn ForgeApi>>;

    /// Returns the names of environment variables that contain secrets of sources. Agents do not get
    /// them.
    fn variables(&self) -> Vec<String>;

    /// Returns an error for each source or rule that cannot be used. Reads no secret.
    fn check(&self) -> Vec<Error>;
}
