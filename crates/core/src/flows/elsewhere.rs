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
pub(crate) async fn known_homes(
    ports: &Ports,
    vendor: &dyn Vendor,
    environment: &Environment,
) -> Result<BTreeSet<PathBuf>> {
    let own = ports.store.config_dirs(&vendor.id()).await?;
    let mut homes: BTreeSet<PathBuf> = own.into_iter().collect();
    // If the default config dir cannot be determined, it is left out.
    homes.extend(vendor.launching().config_dir(environment));
    Ok(homes)
}

/// Adds to a refusal the other config dirs that contain the conversation, and the command to
/// continue it there.
pub(crate) async fn offer(
    ports: &Ports,
    state: &SessionState,
    (id, environment): (&VendorSessionId, &Environment),
    error: Error,
) -> Result<Error> {
    let vendor = ports.vendors.of(&state.session)?;
    let own = &state.session;
    let has_it = |home: &Path| {
        let place = Place { config_dir: home.to_owned(), cwd: own.cwd.clone() };
        // A conversation that cannot be read cannot be offered.
        matches!(conversation::read(ports, vendor.as_ref(), &place, id), Ok(Some(_)))
    };
    let homes = known_homes(ports, vendor.as_ref(), environment).await?;
    let found = homes.into_iter().filter(|home| *home != own.config_dir);
    Ok(found.filter(|home| has_it(home)).fold(error, |error, home| {
        let (name, address, vendor) = (&own.name, own.address(), &own.vendor);
        error.caused_by(format!("it is in `{}`", home.display())).hint(format!(
            "run `segue rm --yes {address} && segue adopt {vendor}:{id} --name {name}` to go on with \
             it there"
        ))
    }))
}
