//! Commands of a vendor's program that a message may run.

use std::fmt::Debug;

use super::Place;
use crate::model::ProgramCommand;
use crate::ports::Files;

/// The commands of a vendor's program that end without a further key of the user.
pub trait ProgramCommands: Debug + Send + Sync {
    /// Lists the commands of the program itself.
    fn built_in(&self) -> Vec<ProgramCommand>;

    /// Lists the commands that files of the user and of the project define for an agent in this
    /// place. An agent may have written these files.
    fn of_files(&self, _files: &dyn Files, _place: &Place) -> Vec<ProgramCommand> {
        Vec::new()
    }

    /// Returns the text to type for a command with its arguments. It is sent with Enter.
    fn typing(&self, command: &str) -> String {
        command.to_owned()
    }
}
