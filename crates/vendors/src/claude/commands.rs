//! The commands of Claude Code that a message may run.

use segue_core::model::{CommandArguments, CommandEffect, ProgramCommand};
use segue_core::ports::{Files, Place, ProgramCommands};

use super::Claude;
use crate::shared::commands::{built_in, markdown, skills};

/// The folder of the project's commands and skills.
const PROJECT_FOLDER: &str = ".claude";

impl ProgramCommands for Claude {
    fn built_in(&self) -> Vec<ProgramCommand> {
        vec![
            ProgramCommand {
                arguments: CommandArguments::Described("what the summary has to keep".to_owned()),
                ..built_in(
                    "compact",
                    "Replace the conversation by a summary",
                    CommandEffect::Compaction,
                )
            },
            built_in("init", "Write a CLAUDE.md for the project", CommandEffect::Prompt),
        ]
    }

    fn of_files(&self, files: &dyn Files, place: &Place) -> Vec<ProgramCommand> {
        let mut found = Vec::new();
        for folder in [place.cwd.join(PROJECT_FOLDER), place.config_dir.clone()] {
            found.extend(markdown(files, &folder.join("commands")));
            found.extend(skills(files, &folder.join("skills")));
        }
        found
    }
}
