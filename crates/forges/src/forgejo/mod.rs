//! Forgejo.

use crate::gitea_family::GiteaFamily;

pub(crate) const FORGE: GiteaFamily =
    GiteaFamily { id: "forgejo", prefixes: &["x-forgejo", "x-gitea"] };
