//! Searches the other known config dirs for a conversation that is missing in its session's config
//! dir.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::flows::{SessionState, conversation};
use crate::model::{Environment, VendorSessionId};
use crate::ports::{Place, Ports, Vendor};

/// Returns the config dirs of a vendor: those of its sessions, and the default one for this
/// environment.
pub(crate) async fn known_config_dirs(
    ports: &Ports,
    vendor: &dyn Vendor,
    environment: &Environment,
) -> Result<BTreeSet<PathBuf>> {
    let used = ports.store.config_dirs(&vendor.id()).await?;
    let mut config_dirs: BTreeSet<PathBuf> = used.into_iter().collect();
    // If the default config dir cannot be determined, it is left out.
    config_dirs.extend(vendor.launching().config_dir(environment));
    Ok(config_dirs)
}

/// Adds the other config dirs that contain the conversation to a refusal, and the commands that
/// continue the conversation there.
pub(crate) async fn add_hints(
    ports: &Ports,
    state: &SessionState,
    (id, environment): (&VendorSessionId, &Environment),
    error: Error,
) -> Result<Error> {
    let vendor = ports.vendors.of(&state.session)?;
    let session = &state.session;
    let has_it = |config_dir: &Path| {
        let place = Place { config_dir: config_dir.to_owned(), cwd: session.cwd.clone() };
        // A conversation that cannot be read cannot be offered.
        matches!(conversation::read(ports, vendor.as_ref(), &place, id), Ok(Some(_)))
    };
    let config_dirs = known_config_dirs(ports, vendor.as_ref(), environment).await?;
    let found = config_dirs.into_iter().filter(|config_dir| *config_dir != session.config_dir);
    Ok(found.filter(|config_dir| has_it(config_dir)).fold(error, |error, config_dir| {
        let (name, address, vendor) = (&session.name, session.address(), &session.vendor);
        error.caused_by(format!("it is in `{}`", config_dir.display())).hint(format!(
            "run `segue rm --yes {address} && segue adopt {vendor}:{id} --name {name}` to continue \
             it there"
        ))
    }))
}
