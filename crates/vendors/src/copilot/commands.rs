//! The commands of Copilot that a message may run.

use segue_core::model::{CommandEffect, ProgramCommand};
use segue_core::ports::{Files, Place, ProgramCommands};

use super::Copilot;
use crate::shared::commands::{built_in, markdown, skills};

impl ProgramCommands for Copilot {
    fn built_in(&self) -> Vec<ProgramCommand> {
        vec![
            built_in("compact", "Replace the conversation by a summary", CommandEffect::Compaction),
            built_in("init", "Write instructions for the project", CommandEffect::Prompt),
        ]
    }

    fn of_files(&self, files: &dyn Files, place: &Place) -> Vec<ProgramCommand> {
        let mut found = Vec::new();
        for folder in [".github/skills", ".agents/skills"] {
            found.extend(skills(files, &place.cwd.join(folder)));
        }
        found.extend(skills(files, &place.config_dir.join("skills")));
        // Copilot runs the commands of another program, too.
        found.extend(markdown(files, &place.cwd.join(".claude/commands")));
        found
    }
}
