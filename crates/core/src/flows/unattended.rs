//! Refuses work without a person at a terminal for an agent that would have to ask one.

use crate::error::{Error, Result};
use crate::model::{Environment, Permission};
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
    let launching = vendor.launching();
    let program = || ports.machine.find_program(&launching.program(), environment);
    let can_ask = || {
        let version = program().and_then(|program| program.version);
        launching.headless().is_some_and(|it| it.questions(version.as_deref()).is_some())
    };
    if permission != Permission::Ask || can_ask() {
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
