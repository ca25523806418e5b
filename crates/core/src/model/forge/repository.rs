//! Repositories of a forge.

use serde::{Deserialize, Serialize};

use crate::model::RepositoryUrl;
use crate::word_enum::word_enum;

/// A repository of a forge, as a delivery describes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForgeRepository {
    /// Stays the same if the repository is renamed.
    pub id: u64,
    /// The name with its owner, such as `team/app`. Owners may have several parts.
    pub full_name: String,
    /// `None` if the forge sends no URL that git can use.
    pub clone_url: Option<RepositoryUrl>,
    pub web_url: String,
    pub default_branch: Option<String>,
}

impl ForgeRepository {
    /// Returns the data with which the API finds the repository.
    pub fn address(&self) -> RepositoryAddress {
        RepositoryAddress { id: self.id, full_name: self.full_name.clone() }
    }
}

/// The data with which the API of a forge finds a repository.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RepositoryAddress {
    pub id: u64,
    /// The name with its owner, such as `team/app`.
    pub full_name: String,
}

word_enum! {
    /// What a user may do in a repository of a forge.
    pub enum RepositoryPermission {
        None = "none",
        Read = "read",
        Write = "write",
        Admin = "admin",
    }
}

impl RepositoryPermission {
    /// Returns whether the user may push commits.
    pub fn can_write(self) -> bool {
        matches!(self, Self::Write | Self::Admin)
    }
}
