//! The interface to forges: servers with repositories, issues and pull requests.

mod api;
mod failure;
mod webhooks;

use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use super::Clock;
use crate::error::Result;
use crate::model::{ForgeId, SecretText};

pub use api::{
    AssignedIssue, CommentSearch, ForgeApi, ListPage, ListQuery, ListScope, RequestPace,
};
pub use failure::{ForgeFailure, ForgeFault, ForgeResult};
pub use webhooks::Webhooks;

/// The forges that this build supports.
pub trait Forges: Debug + Send + Sync {
    /// Returns a forge. The error for an unknown id lists the known ones.
    fn get(&self, id: &ForgeId) -> Result<Arc<dyn Forge>>;

    fn all(&self) -> Vec<Arc<dyn Forge>>;
}

/// One kind of forge.
pub trait Forge: Debug + Send + Sync {
    fn id(&self) -> ForgeId;

    /// Returns the URL of the API if the settings name none. `None` if every server of this kind
    /// has its own.
    fn default_api(&self) -> Option<&'static str> {
        None
    }

    /// Returns the host of the server that has the repositories, from the host of its API.
    fn web_host(&self, api_host: &str) -> String {
        api_host.to_owned()
    }

    /// Returns the most characters of a comment that the forge accepts.
    fn longest_comment(&self) -> usize {
        60_000
    }

    /// Returns how deliveries are verified and read.
    fn webhooks(&self) -> &dyn Webhooks;

    /// Creates a client for one server and one account. Sends nothing. Fails if the URL cannot be
    /// used: without TLS, only this machine is allowed.
    fn api(&self, access: &ForgeAccess) -> Result<Arc<dyn ForgeApi>>;
}

/// A server of a forge, and the account with which Segue uses it.
#[derive(Clone, Debug)]
pub struct ForgeAccess {
    /// The URL of the API, or of the server.
    pub url: String,
    pub token: SecretText,
    /// The most time that one request takes.
    pub timeout: Duration,
    pub clock: Arc<dyn Clock>,
    /// Delays background requests. `None` sends each request at once.
    pub pace: Option<Arc<dyn RequestPace>>,
}
