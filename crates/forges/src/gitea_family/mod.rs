//! What Gitea and Forgejo have in common: Forgejo began as a copy of Gitea.

mod api;
mod webhooks;

use std::sync::Arc;

use segue_core::Result;
use segue_core::model::ForgeId;
use segue_core::ports::{Forge, ForgeAccess, ForgeApi, Webhooks};

use crate::client::{ApiBase, ApiClient};
use crate::shared::rest::HubApi;

/// One of the forges, by the names that differ.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GiteaFamily {
    pub(crate) id: &'static str,
    /// The prefixes of the headers of deliveries, in the order of preference. Forgejo sends those
    /// of Gitea, too.
    pub(crate) prefixes: &'static [&'static str],
}

impl Forge for GiteaFamily {
    fn id(&self) -> ForgeId {
        ForgeId::new(self.id)
    }

    fn webhooks(&self) -> &dyn Webhooks {
        self
    }

    fn api(&self, access: &ForgeAccess) -> Result<Arc<dyn ForgeApi>> {
        let base = ApiBase::parse(&access.url, "/api/v1")?;
        let client = ApiClient::new(self.id, access, base, "token")?;
        Ok(Arc::new(HubApi::new(client, api::GiteaDialect)))
    }
}
