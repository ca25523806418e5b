//! GitHub, and GitHub Enterprise Server.

mod api;
mod webhooks;

use std::sync::Arc;

use segue_core::Result;
use segue_core::model::ForgeId;
use segue_core::ports::{Forge, ForgeAccess, ForgeApi, Webhooks};

use crate::client::{ApiBase, ApiClient};
use crate::shared::rest::HubApi;

const ID: &str = "github";

pub(crate) const FORGE: Github = Github;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Github;

impl Forge for Github {
    fn id(&self) -> ForgeId {
        ForgeId::new(ID)
    }

    fn default_api(&self) -> Option<&'static str> {
        Some("https://api.github.com")
    }

    fn web_host(&self, api_host: &str) -> String {
        api_host.strip_prefix("api.").unwrap_or(api_host).to_owned()
    }

    fn longest_comment(&self) -> usize {
        65_536
    }

    fn webhooks(&self) -> &dyn Webhooks {
        &webhooks::GithubWebhooks
    }

    fn api(&self, access: &ForgeAccess) -> Result<Arc<dyn ForgeApi>> {
        // An Enterprise Server has its API below `/api/v3`, which the setting contains.
        let base = ApiBase::parse(&access.url, "")?;
        let client = ApiClient::new(ID, access, base, "Bearer")?
            .with_header("accept", "application/vnd.github+json")
            // The newest version that every supported Enterprise Server accepts.
            .with_header("x-github-api-version", "2022-11-28");
        Ok(Arc::new(HubApi::new(client, api::GithubDialect)))
    }
}
