//! GitLab.

mod api;
mod objects;
mod payload;
mod webhooks;

use std::sync::Arc;

use segue_core::Result;
use segue_core::model::ForgeId;
use segue_core::ports::{Forge, ForgeAccess, ForgeApi, Webhooks};

use crate::client::{ApiBase, ApiClient};

const ID: &str = "gitlab";

pub(crate) const FORGE: Gitlab = Gitlab;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Gitlab;

impl Forge for Gitlab {
    fn id(&self) -> ForgeId {
        ForgeId::new(ID)
    }

    fn default_api(&self) -> Option<&'static str> {
        Some("https://gitlab.com")
    }

    fn longest_comment(&self) -> usize {
        // The limit is 1 MiB, and a character has at most four bytes.
        250_000
    }

    fn webhooks(&self) -> &dyn Webhooks {
        &webhooks::GitlabWebhooks
    }

    fn api(&self, access: &ForgeAccess) -> Result<Arc<dyn ForgeApi>> {
        let base = ApiBase::parse(&access.url, "/api/v4")?;
        // GitLab takes access tokens in this form, too, and OAuth tokens only in this form.
        let client = ApiClient::new(ID, access, base, "Bearer")?;
        Ok(Arc::new(api::GitlabApi::new(client)))
    }
}
