//! Settings without credentials for git.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use segue_core::model::{GitHost, SecretText};
use segue_core::ports::{Credentials, GitTicket};
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
