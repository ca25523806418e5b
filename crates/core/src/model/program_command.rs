//! A command of a vendor's program.

use crate::word_enum::word_enum;

/// A command of a vendor's program that a message may run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramCommand {
    /// Without the slash.
    pub name: String,
    pub description: String,
    pub arguments: CommandArguments,
    pub effect: CommandEffect,
}

/// The text after the name of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandArguments {
    /// The program runs the command only without further text.
    Refused,
    Accepted,
    /// With what the text means.
    Described(String),
}

word_enum! {
    /// What a command does.
    pub enum CommandEffect {
        /// It begins a turn with a prompt that the program writes.
        Prompt = "prompt",
        /// It replaces the conversation by a summary.
        Compaction = "compaction",
    }
}
