//! Gitea.

use crate::gitea_family::GiteaFamily;

pub(crate) const FORGE: GiteaFamily = GiteaFamily { id: "gitea", prefixes: &["x-gitea"] };
