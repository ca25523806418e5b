//! Commands of a vendor's program that a message may run.

use std::fmt::Debug;

use super::Place;
use crate::model::ProgramCommand;
use crate::ports::Files;

/// The commands of a vendor's program that end without a further key of the user.
pub trait ProgramCommands: Debug + Send + Sync {
    /// Lists the commands for an agent in this place: those of the program, of the user and of the
    /// project. Descriptions come from files that an agent may have written.
    fn list(&self, files: &dyn Files, place: &Place) -> Vec<ProgramCommand>;

    /// Returns the text to type for a command with its arguments. It is sent with Enter.
    fn typing(&self, command: &str) -> String {
        command.to_owned()
    }
}
