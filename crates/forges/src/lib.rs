//! Support for forges, one folder per forge: how their deliveries are verified and read, and a
//! client for their API.
//!
//! A forge's folder has a file for each topic: `mod` (the table of the forge), `webhooks`
//! (signatures and payloads) and `api`. `shared` has what several forges have in common, `client`
//! the HTTP client, and `gitea_family` what Gitea and Forgejo have in common.

mod client;
mod forgejo;
mod gitea;
mod gitea_family;
mod github;
mod gitlab;
mod shared;

use std::sync::Arc;

use segue_core::model::ForgeId;
use segue_core::ports::{Forge, Forges};
use segue_core::{Error, Result};

/// Returns every forge that this build supports. A new forge is registered in this list.
pub fn all() -> BuiltInForges {
    BuiltInForges {
        forges: vec![
            Arc::new(github::FORGE),
            Arc::new(forgejo::FORGE),
            Arc::new(gitea::FORGE),
            Arc::new(gitlab::FORGE),
        ],
    }
}

/// The forges that this build supports.
#[derive(Clone, Debug)]
pub struct BuiltInForges {
    forges: Vec<Arc<dyn Forge>>,
}

impl Forges for BuiltInForges {
    fn get(&self, id: &ForgeId) -> Result<Arc<dyn Forge>> {
        let found = self.forges.iter().find(|forge| forge.id() == *id);
        found.cloned().ok_or_else(|| self.unknown(id))
    }

    fn all(&self) -> Vec<Arc<dyn Forge>> {
        self.forges.clone()
    }
}

impl BuiltInForges {
    fn unknown(&self, id: &ForgeId) -> Error {
        let names: Vec<String> =
            self.forges.iter().map(|forge| format!("`{}`", forge.id())).collect();
        let shown: String = id.as_str().chars().take(64).collect();
        Error::usage(format!("there is no forge `{}`", shown.escape_debug()))
            .hint(format!("use one of the known forges: {}", names.join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use segue_core::Kind;

    use super::*;

    #[test]
    fn get_finds_every_forge_by_its_id() {
        let known = all();
        for forge in known.all() {
            assert_eq!(known.get(&forge.id()).unwrap().id(), forge.id());
        }
    }

    #[test]
    fn unknown_forge_is_a_usage_error_that_lists_the_known_forges() {
        let error = all().get(&ForgeId::new("hub\u{1b}")).unwrap_err();
        assert_eq!(
            (error.kind, error.message.as_str()),
            (Kind::Usage, "there is no forge `hub\\u{1b}`")
        );
        let names = "use one of the known forges: `github`, `forgejo`, `gitea`, `gitlab`";
        assert_eq!(error.hints, [names]);
    }
}
