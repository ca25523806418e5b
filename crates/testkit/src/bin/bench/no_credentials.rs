//! Settings without credentials for git and without forges.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use segue_core::model::{DispatchRule, ForgeSource, GitHost, SecretText, SourceName};
use segue_core::ports::{Credentials, Forge, ForgeApi, ForgeSources, GitTicket};
use segue_core::{Error, Result};

/// No operation that is measured asks for credentials.
#[derive(Debug)]
pub(crate) struct NoCredentials;

fn none() -> Error {
    Error::not_found("there are no credentials")
}

#[async_trait]
impl Credentials for NoCredentials {
    fn username(&self, _host: &GitHost) -> Option<String> {
        None
    }

    async fn token(&self, _host: &GitHost) -> Result<SecretText> {
        Err(none())
    }

    fn variables(&self) -> Vec<String> {
        Vec::new()
    }

    fn askpass(&self) -> Result<PathBuf> {
        Err(none())
    }

    fn open_ticket(&self, _host: &GitHost) -> Result<Arc<dyn GitTicket>> {
        Err(none())
    }

    fn ticket_host(&self, _ticket: &SecretText) -> Option<GitHost> {
        None
    }

    fn check(&self) -> Vec<Error> {
        Vec::new()
    }
}

/// Settings without forges.
#[derive(Debug)]
pub(crate) struct NoSources;

#[async_trait]
impl ForgeSources for NoSources {
    fn sources(&self) -> Result<Vec<ForgeSource>> {
        Ok(Vec::new())
    }

    fn rules(&self) -> Result<Vec<DispatchRule>> {
        Ok(Vec::new())
    }

    fn forge(&self, _source: &ForgeSource) -> Result<Arc<dyn Forge>> {
        Err(none())
    }

    fn web_host(&self, _source: &SourceName) -> Result<String> {
        Err(none())
    }

    async fn secret(&self, _source: &SourceName) -> Result<SecretText> {
        Err(none())
    }

    async fn api(&self, _source: &SourceName) -> Result<Arc<dyn ForgeApi>> {
        Err(none())
    }

    async fn paced_api(&self, source: &SourceName) -> Result<Arc<dyn ForgeApi>> {
        self.api(source).await
    }

    fn variables(&self) -> Vec<String> {
        Vec::new()
    }

    fn check(&self) -> Vec<Error> {
        Vec::new()
    }
}
