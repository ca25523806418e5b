//! The forges of the user's settings.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use segue_core::model::{DispatchRule, ForgeId, ForgeSource, SecretText, SourceName};
use segue_core::ports::{Forge, ForgeApi, ForgeSources};
use segue_core::{Error, Result};

use crate::{Calls, FakeForges};

/// Settings with one source, `hub`, whose secret is `hush`. A test adds rules.
#[derive(Clone, Debug)]
pub struct FakeSources {
    calls: Calls,
    forges: FakeForges,
    rules: Arc<Mutex<Vec<DispatchRule>>>,
}

impl FakeSources {
    pub(crate) fn new(calls: Calls, forges: FakeForges) -> Self {
        Self { calls, forges, rules: Arc::default() }
    }

    /// Adds a rule.
    pub fn add_rule(&self, rule: DispatchRule) {
        self.rules.lock().unwrap().push(rule);
    }
}

#[async_trait]
impl ForgeSources for FakeSources {
    fn sources(&self) -> Result<Vec<ForgeSource>> {
        self.calls.enter("sources.sources")?;
        Ok(vec![ForgeSource {
            name: SourceName::parse("hub").unwrap(),
            forge: ForgeId::new("hub"),
            interval: Duration::from_secs(900),
            is_polled: false,
            has_token: true,
        }])
    }

    fn rules(&self) -> Result<Vec<DispatchRule>> {
        self.calls.enter("sources.rules")?;
        Ok(self.rules.lock().unwrap().clone())
    }

    fn forge(&self, _source: &ForgeSource) -> Result<Arc<dyn Forge>> {
        Ok(Arc::new(self.forges.clone()))
    }

    fn web_host(&self, _source: &SourceName) -> Result<String> {
        Ok("example.org".to_owned())
    }

    async fn secret(&self, source: &SourceName) -> Result<SecretText> {
        self.calls.enter("sources.secret")?;
        match source.as_str() {
            "hub" => Ok(SecretText::new("hush")),
            _ => Err(Error::not_found(format!("there is no source `{source}`"))),
        }
    }

    async fn api(&self, _source: &SourceName) -> Result<Arc<dyn ForgeApi>> {
        self.calls.enter("sources.api")?;
        Ok(Arc::new(self.forges.clone()))
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
