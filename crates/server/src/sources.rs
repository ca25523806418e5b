//! The port `ForgeSources`: the forges and rules of `config.toml`, with their secrets.

mod pace;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use segue_core::model::{
    DispatchRule, Environment, ForgeId, ForgeSource, RepositoryUrl, SecretText, SourceName,
};
use segue_core::ports::{
    Clock, Environments, Forge, ForgeAccess, ForgeApi, ForgeSources, Forges, RequestPace,
};
use segue_core::{Error, Result};
use segue_host::Paths;
use segue_host::credentials::TokenSource;

use crate::project::{self, SecretSource, SourceTable};
use pace::RegularPace;

/// The most time that a request to a forge takes.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

/// How long the secret of a webhook is used after it was read.
const SECRET_LIFETIME: Duration = Duration::from_secs(10);

/// The forges that `config.toml` names. The file is read for each question.
#[derive(Debug)]
pub(crate) struct ConfiguredSources {
    config_file: PathBuf,
    /// The environment of the daemon.
    environment: Environment,
    environments: Arc<dyn Environments>,
    forges: Arc<dyn Forges>,
    clock: Arc<dyn Clock>,
    /// The secrets of webhooks that were read a moment ago. Anybody can send requests to a webhook, and
    /// reading a secret may start a program.
    read_secrets: Mutex<HashMap<SourceName, (SecretSource, SecretText, Instant)>>,
    /// The pauses between the background requests of each source.
    paces: Mutex<HashMap<SourceName, Arc<RegularPace>>>,
}

impl ConfiguredSources {
    pub(crate) fn new(
        paths: &Paths,
        environment: &Environment,
        environments: Arc<dyn Environments>,
        (forges, clock): (Arc<dyn Forges>, Arc<dyn Clock>),
    ) -> Self {
        let (config_file, environment) = (paths.config_file(), environment.clone());
        let (read_secrets, paces) = (Mutex::default(), Mutex::default());
        Self { config_file, environment, environments, forges, clock, read_secrets, paces }
    }

    fn table(&self, source: &SourceName) -> Result<SourceTable> {
        let tables = project::source_tables(&self.config_file)?;
        let found = tables.into_iter().find(|table| table.name == source.as_str());
        found.ok_or_else(|| unknown(source))
    }

    fn read_secrets(
        &self,
    ) -> MutexGuard<'_, HashMap<SourceName, (SecretSource, SecretText, Instant)>> {
        self.read_secrets.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the secret of a webhook if it was read a moment ago.
    fn read_secret(&self, name: &SourceName, source: &SecretSource) -> Option<SecretText> {
        let known = self.read_secrets().get(name).cloned();
        let is_current = |(from, _, at): &(SecretSource, SecretText, Instant)| {
            from == source && at.elapsed() < SECRET_LIFETIME
        };
        known.filter(is_current).map(|(_, text, _)| text)
    }

    async fn read(&self, SecretSource(source): &SecretSource) -> Result<SecretText> {
        match source {
            TokenSource::Variable(name) if self.environment.get(name).is_none() => {
                source.read(&self.login_environment().await?).await
            }
            source => source.read(&self.environment).await,
        }
    }

    /// Returns the environment of the login shell and of the files of `[environment]`.
    async fn login_environment(&self) -> Result<Environment> {
        let settings = project::environment(&self.config_file);
        match settings.has_source() {
            true => self.environments.login_shell(&settings).await,
            false => Ok(Environment::default()),
        }
    }

    fn paces(&self) -> MutexGuard<'_, HashMap<SourceName, Arc<RegularPace>>> {
        self.paces.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn client(
        &self,
        source: &SourceName,
        pace: Option<Arc<RegularPace>>,
    ) -> Result<Arc<dyn ForgeApi>> {
        let pace = pace.map(|pace| pace as Arc<dyn RequestPace>);
        let table = self.table(source)?;
        let forge = self.forges.get(&ForgeId::new(table.forge.as_str()))?;
        let url = api_url(&table, forge.as_ref())?;
        let token = self.read(&table.token.ok_or_else(|| missing(source, "token"))?).await?;
        let (timeout, clock) = (REQUEST_TIMEOUT, Arc::clone(&self.clock));
        forge.api(&ForgeAccess { url, token, timeout, clock, pace })
    }

    /// Returns an error if a source certainly cannot be used.
    fn check_source(&self, table: &SourceTable) -> Result<()> {
        let source = table.source()?;
        let forge = self.forges.get(&source.forge)?;
        api_url(table, forge.as_ref())?;
        let mut secrets = table.secret.iter().chain(&table.token);
        secrets.try_for_each(|SecretSource(secret)| secret.check(&self.environment))
    }
}

/// Returns the URL of the API of a source.
fn api_url(table: &SourceTable, forge: &dyn Forge) -> Result<String> {
    let default = forge.default_api().map(str::to_owned);
    table.api.clone().or(default).ok_or_else(|| {
        Error::config(format!("the source `{}` in config.toml has no `api`", table.name))
            .caused_by(format!("every {} server has its own", forge.id()))
            .hint("add the URL of the server, such as `api = \"https://git.example.org\"`")
    })
}

fn unknown(source: &SourceName) -> Error {
    Error::not_found(format!("config.toml has no source `{source}`"))
        .hint("add a table `[[sources]]` with this name")
}

fn missing(source: &SourceName, key: &str) -> Error {
    Error::config(format!("the source `{source}` in config.toml has no `{key}`"))
        .hint(format!("add it to the source, such as `{key} = {{ env = \"NAME\" }}`"))
}

#[async_trait]
impl ForgeSources for ConfiguredSources {
    fn sources(&self) -> Result<Vec<ForgeSource>> {
        project::source_tables(&self.config_file)?.iter().map(SourceTable::source).collect()
    }

    fn rules(&self) -> Result<Vec<DispatchRule>> {
        let home = self.environment.get("HOME").unwrap_or("/");
        project::dispatch_rules(&self.config_file, Path::new(home))
    }

    fn forge(&self, source: &ForgeSource) -> Result<Arc<dyn Forge>> {
        self.forges.get(&source.forge)
    }

    fn web_host(&self, source: &SourceName) -> Result<String> {
        let table = self.table(source)?;
        let forge = self.forges.get(&ForgeId::new(table.forge.as_str()))?;
        let api = RepositoryUrl::parse(&api_url(&table, forge.as_ref())?)?;
        Ok(forge.web_host(api.host()))
    }

    async fn secret(&self, source: &SourceName) -> Result<SecretText> {
        let secret = self.table(source)?.secret.ok_or_else(|| missing(source, "secret"))?;
        if let Some(text) = self.read_secret(source, &secret) {
            return Ok(text);
        }
        let text = self.read(&secret).await?;
        let entry = (secret, text.clone(), Instant::now());
        self.read_secrets().insert(source.clone(), entry);
        Ok(text)
    }

    async fn api(&self, source: &SourceName) -> Result<Arc<dyn ForgeApi>> {
        self.client(source, None).await
    }

    async fn paced_api(&self, source: &SourceName) -> Result<Arc<dyn ForgeApi>> {
        let pace = Arc::clone(self.paces().entry(source.clone()).or_default());
        self.client(source, Some(pace)).await
    }

    fn variables(&self) -> Vec<String> {
        let tables = project::source_tables(&self.config_file).unwrap_or_default();
        let secrets =
            tables.into_iter().flat_map(|table| table.secret.into_iter().chain(table.token));
        let name = |SecretSource(secret): SecretSource| match secret {
            TokenSource::Variable(name) => Some(name),
            TokenSource::Command(_) | TokenSource::File(_) => None,
        };
        secrets.filter_map(name).collect()
    }

    fn check(&self) -> Vec<Error> {
        let Ok(tables) = project::source_tables(&self.config_file) else { return Vec::new() };
        let sources = tables.iter().filter_map(|table| self.check_source(table).err());
        sources.chain(self.rules().err()).collect()
    }
}
