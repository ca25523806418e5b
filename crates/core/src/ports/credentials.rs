//! Tokens for git servers.

use std::fmt::Debug;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;

use crate::error::{Error, Result};
use crate::model::{GitHost, SecretText};

/// Tokens for git servers, from the sources that the user's settings name. A token is read when git
/// asks for it, and is stored nowhere.
#[async_trait]
pub trait Credentials: Debug + Send + Sync {
    /// Returns the user name for a host. `None` if the settings have no credentials for it.
    fn username(&self, host: &GitHost) -> Option<String>;

    /// Reads the token for a host. May run a program of the user. Errors contain nothing of the
    /// token.
    async fn token(&self, host: &GitHost) -> Result<SecretText>;

    /// Returns the names of environment variables that contain tokens. Agents and git do not get
    /// them.
    fn variables(&self) -> Vec<String>;

    /// Returns the program that git runs to ask for credentials (`GIT_ASKPASS`).
    fn askpass(&self) -> Result<PathBuf>;

    /// Opens a ticket for a git command of this process. The ticket is void when it is dropped.
    fn open_ticket(&self, host: &GitHost) -> Result<Arc<dyn GitTicket>>;

    /// Returns the host of an open ticket.
    fn ticket_host(&self, ticket: &SecretText) -> Option<GitHost>;

    /// Returns an error for each source that cannot be used. Reads no token.
    fn check(&self) -> Vec<Error>;
}

/// Shows that a git command belongs to this process, which then answers its questions for one host.
pub trait GitTicket: Debug + Send + Sync {
    /// Returns the text that the git command gets.
    fn secret(&self) -> &SecretText;
}
