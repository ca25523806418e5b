//! Finds sessions whose process is on another machine. Lists contain them, but commands that need
//! the process are refused.

use crate::error::Result;
use crate::model::{MachineId, Session};
use crate::ports::{OpenLaunch, Ports};
use crate::rules::machines;

/// Returns the machine of an open launch, if that is another machine.
pub fn other_machine(ports: &Ports, open: Option<&OpenLaunch>) -> Option<MachineId> {
    machines::other_machine(open?.machine, ports.machine.ids())
}

/// Returns an error if the recorded machine of a launch is another machine.
pub fn refuse_other(ports: &Ports, session: &Session, recorded: Option<MachineId>) -> Result<()> {
    let here = ports.machine.ids();
    match machines::other_machine(recorded, here) {
        Some(other) => Err(machines::refusal(&session.address(), other, here)),
        None => Ok(()),
    }
}
