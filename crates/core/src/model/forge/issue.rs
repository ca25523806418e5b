//! Issues.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::ForgeUser;

/// An issue of a repository.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForgeIssue {
    /// Unique on the forge.
    pub id: u64,
    /// Unique in the repository; the number that people write.
    pub number: u64,
    pub title: String,
    pub body: String,
    pub web_url: String,
    pub is_open: bool,
    pub author: Option<ForgeUser>,
    pub labels: Vec<String>,
    pub assignees: Vec<ForgeUser>,
    pub updated_at: Option<Timestamp>,
}
