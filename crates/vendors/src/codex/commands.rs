//! The commands of Codex that a message may run. Its other commands open lists or change settings.

use segue_core::model::{CommandEffect, ProgramCommand};
use segue_core::ports::ProgramCommands;

use super::Codex;
use crate::shared::commands::built_in;

impl ProgramCommands for Codex {
    fn built_in(&self) -> Vec<ProgramCommand> {
        vec![
            built_in("compact", "Replace the conversation by a summary", CommandEffect::Compaction),
            built_in("init", "Write an AGENTS.md for the project", CommandEffect::Prompt),
        ]
    }
}
