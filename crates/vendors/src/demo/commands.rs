//! The commands of the demo agent that a message may run.

use segue_core::model::{CommandArguments, CommandEffect, ProgramCommand};
use segue_core::ports::ProgramCommands;

use super::Demo;
use crate::shared::commands::built_in;

impl ProgramCommands for Demo {
    fn built_in(&self) -> Vec<ProgramCommand> {
        let seconds = |name: &str, description: &str| ProgramCommand {
            arguments: CommandArguments::Described("seconds".to_owned()),
            ..built_in(name, description, CommandEffect::Prompt)
        };
        vec![
            built_in("ask", "Ask for a permission", CommandEffect::Prompt),
            seconds("slow", "Answer slowly"),
            seconds("tool", "Use a tool"),
        ]
    }
}
