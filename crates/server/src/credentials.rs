//! The port `Credentials`: the user's settings, the sources of tokens on this machine, and tickets.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use segue_core::model::{Environment, GitHost, SecretText};
use segue_core::ports::{Credentials, Environments, GitTicket};
use segue_core::{Error, Result};
use segue_host::Paths;
use segue_host::credentials::{Tickets, TokenSource, link_askpass};

use crate::project::{self, CredentialSettings, HostCredential};

/// Credentials from the sources that `config.toml` names. The file is read for each question.
#[derive(Debug)]
pub(crate) struct ConfiguredCredentials {
    config_file: PathBuf,
    /// The folder of the program that git runs.
    programs: PathBuf,
    /// The environment of the daemon.
    environment: Environment,
    environments: Arc<dyn Environments>,
    tickets: Tickets,
}

impl ConfiguredCredentials {
    pub(crate) fn new(
        paths: &Paths,
        environment: &Environment,
        environments: Arc<dyn Environments>,
    ) -> Self {
        Self {
            config_file: paths.config_file(),
            programs: paths.programs(),
            environment: environment.clone(),
            environments,
            tickets: Tickets::default(),
        }
    }

    /// Returns the credentials of all hosts. None if the file cannot be read: `segue doctor` reports
    /// that.
    fn settings(&self) -> CredentialSettings {
        project::credentials(&self.config_file).unwrap_or_default()
    }

    fn of(&self, host: &GitHost) -> Option<HostCredential> {
        self.settings().remove(host)
    }

    /// Returns the environment of the login shell and of the files of `[environment]`.
    async fn login_environment(&self) -> Result<Environment> {
        let settings = project::environment(&self.config_file);
        match settings.has_source() {
            true => self.environments.login_shell(&settings).await,
            false => Ok(Environment::default()),
        }
    }
}

#[async_trait]
impl Credentials for ConfiguredCredentials {
    fn username(&self, host: &GitHost) -> Option<String> {
        self.of(host).map(|credential| credential.username)
    }

    async fn token(&self, host: &GitHost) -> Result<SecretText> {
        let credential = self
            .of(host)
            .ok_or_else(|| Error::config(format!("config.toml has no credentials for `{host}`")))?;
        match &credential.source {
            TokenSource::Variable(name) if self.environment.get(name).is_none() => {
                credential.source.read(&self.login_environment().await?).await
            }
            source => source.read(&self.environment).await,
        }
    }

    fn variables(&self) -> Vec<String> {
        let name = |credential: HostCredential| match credential.source {
            TokenSource::Variable(name) => Some(name),
            TokenSource::Command(_) | TokenSource::File(_) => None,
        };
        self.settings().into_values().filter_map(name).collect()
    }

    fn askpass(&self) -> Result<PathBuf> {
        link_askpass(&self.programs)
    }

    fn open_ticket(&self, host: &GitHost) -> Result<Arc<dyn GitTicket>> {
        self.tickets.open(host)
    }

    fn ticket_host(&self, ticket: &SecretText) -> Option<GitHost> {
        self.tickets.host(ticket)
    }

    fn check(&self) -> Vec<Error> {
        let settings = self.settings();
        let checked = settings.values().map(|it| it.source.check(&self.environment));
        checked.filter_map(Result::err).collect()
    }
}
