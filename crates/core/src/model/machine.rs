//! Machines, by their ids.

use std::path::PathBuf;

use super::MachineId;

/// The ids by which launches name this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MachineIds {
    /// New launches get this id.
    pub own: MachineId,
    /// The ids of machines that do not exist any more. The user declared that this machine takes
    /// over their launches.
    pub replaced: Vec<MachineId>,
    /// The file that contains the ids, one on each line.
    pub file: PathBuf,
}

impl MachineIds {
    /// Returns all ids, the own one first.
    pub fn all(&self) -> Vec<MachineId> {
        std::iter::once(self.own).chain(self.replaced.iter().copied()).collect()
    }
}
