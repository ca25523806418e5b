//! Decides which launches belong to this machine. A store that was copied or moved contains launches
//! whose processes are on another machine. This machine cannot find, stop or replace them.

use crate::error::Error;
use crate::model::{MachineId, MachineIds};

/// The status detail of a session that runs on another machine.
pub const ON_ANOTHER_MACHINE: &str = "on another machine";

/// Returns the machine of a launch if it is another machine. A launch without a recorded machine
/// counts as a launch of this machine: earlier versions did not record the machine.
pub fn other_machine(recorded: Option<MachineId>, here: &MachineIds) -> Option<MachineId> {
    recorded.filter(|machine| *machine != here.own && !here.replaced.contains(machine))
}

/// Returns the error for a command that needs the process of a launch on another machine.
pub fn refusal(address: &str, other: MachineId, here: &MachineIds) -> Error {
    let file = here.file.display();
    Error::conflict(format!("`{address}` runs on another machine"))
        .caused_by(format!("machine {other} started its process; this is machine {}", here.own))
        .hint("run the command on that machine")
        .hint(format!(
            "if that machine is gone: `echo {other} >> '{file}' && segue daemon stop`, then run \
             the command again"
        ))
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::error::Kind;

    fn machine(number: u128) -> MachineId {
        MachineId::new(Uuid::from_u128(number))
    }

    fn here() -> MachineIds {
        MachineIds { own: machine(1), replaced: vec![machine(2)], file: "/s/machine-id".into() }
    }

    #[test]
    fn launch_is_of_another_machine_if_its_recorded_id_is_unknown_here() {
        let table = [
            ("recorded by a version that did not record machines", None, None),
            ("started here", Some(machine(1)), None),
            ("started on a machine that this one replaces", Some(machine(2)), None),
            ("started elsewhere", Some(machine(3)), Some(machine(3))),
        ];
        for (what, recorded, expected) in table {
            assert_eq!(other_machine(recorded, &here()), expected, "{what}");
        }
    }

    #[test]
    fn refusal_names_both_machines_and_the_command_that_takes_over() {
        let error = refusal("shop/coder", machine(3), &here());
        assert_eq!(error.kind, Kind::Conflict);
        assert_eq!(error.message, "`shop/coder` runs on another machine");
        assert!(error.causes[0].contains(&machine(1).to_string()), "{error:?}");
        let take_over = format!("echo {} >> '/s/machine-id'", machine(3));
        assert!(error.hints[1].contains(&take_over), "{error:?}");
    }
}
