//! Work without a terminal for an agent that would have to ask a person. A task is refused, because
//! no person waits for it. A headless run is started with a notice: it is useful for a question that
//! needs no permission, and the person sees at once what the agent was refused.

use crate::error::{Error, Result};
use crate::model::{Environment, Permission, PermissionEffect};
use crate::ports::{Ports, Vendor};

/// Fails if a headless agent with this permission would have to ask a person, and the vendor's
/// program cannot ask while it runs headless. Some programs then refuse whatever needs a permission,
/// and others do not ask at all.
pub(crate) fn check(
    ports: &Ports,
    vendor: &dyn Vendor,
    permission: Permission,
    environment: &Environment,
) -> Result<()> {
    if !cannot_ask(ports, vendor, permission, environment) {
        return Ok(());
    }
    let vendor = vendor.id();
    Err(Error::config(format!(
        "`{vendor}` cannot ask a person while it runs headless, and its permission is `{}`",
        permission.word()
    ))
    .hint("add `--interactive`: then it runs in a terminal, where it can ask")
    .hint(
        "or write `permission = \"accept-edits\"` or `permission = \"auto\"` into the agent's \
           section of segue.toml",
    ))
}

/// Returns the notice about a headless agent that cannot ask a person for what its permission does
/// not allow. `None` if it can ask, or if the permission has no effect on the vendor.
pub(crate) fn notice(
    ports: &Ports,
    vendor: &dyn Vendor,
    permission: Permission,
    environment: &Environment,
) -> Option<String> {
    let has_effect = vendor.capabilities().permission == PermissionEffect::Limits;
    let is_due = has_effect && cannot_ask(ports, vendor, permission, environment);
    let (vendor, permission) = (vendor.id(), permission.word());
    is_due.then(|| {
        format!(
            "`{vendor}` cannot ask a person while it runs headless: with the permission \
             `{permission}` it goes without the tools that need one"
        )
    })
}

fn cannot_ask(
    ports: &Ports,
    vendor: &dyn Vendor,
    permission: Permission,
    environment: &Environment,
) -> bool {
    let launching = vendor.launching();
    let program = || ports.machine.find_program(&launching.program(), environment);
    let can_ask = || {
        let version = program().and_then(|program| program.version);
        launching.headless().is_some_and(|it| it.questions(version.as_deref()).is_some())
    };
    permission == Permission::Ask && !can_ask()
}
