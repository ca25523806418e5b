//! A conversation that is not in its own config dir, but in another one that is known.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::flows::SessionState;
use crate::model::{Environment, VendorSessionId};
use crate::ports::{Place, Ports, SessionSummary, Vendor};

/// Returns the config dirs of a vendor: those of its sessions, and the one that a command would use.
pub(crate) fn known_homes(
    sessions: &[SessionSummary],
    vendor: &dyn Vendor,
    environment: &Environment,
) -> BTreeSet<PathBuf> {
    let own = sessions.iter().filter(|it| it.session.vendor == vendor.id());
    let mut homes: BTreeSet<PathBuf> = own.map(|it| it.session.config_dir.clone()).collect();
    // One whose folder cannot be told has nothing there.
    homes.extend(vendor.config_dir(environment));
    homes
}

/// Adds to a refusal where the conversation is, if it is anywhere, and how to go on with it there.
pub(crate) async fn offer(
    ports: &Ports,
    state: &SessionState,
    (id, environment): (&VendorSessionId, &Environment),
    error: Error,
) -> Result<Error> {
    let vendor = ports.vendors.of(&state.session)?;
    let sessions = ports.store.sessions().await?;
    let own = &state.session;
    let has_it = |home: &Path| {
        let place = Place { config_dir: home.to_owned(), cwd: own.cwd.clone() };
        // What cannot be read is nothing that could be offered.
        matches!(vendor.conversation(ports.files.as_ref(), &place, id), Ok(Some(_)))
    };
    let homes = known_homes(&sessions, vendor.as_ref(), environment);
    let found = homes.into_iter().filter(|home| *home != own.config_dir);
    Ok(found.filter(|home| has_it(home)).fold(error, |error, home| {
        let (name, address, vendor) = (&own.name, own.address(), &own.vendor);
        error.caused_by(format!("it is in `{}`", home.display())).hint(format!(
            "run `segue rm --yes {address} && segue adopt {vendor}:{id} --name {name}` to go on with \
             it there"
        ))
    }))
}
