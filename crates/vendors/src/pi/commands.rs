//! The commands of Pi that a message may run.

use segue_core::model::{CommandEffect, ProgramCommand};
use segue_core::ports::{Files, Place, ProgramCommands};

use super::Pi;
use crate::shared::commands::{built_in, markdown, skills};

/// The prefix of the commands that run skills.
const SKILL_PREFIX: &str = "skill:";

impl ProgramCommands for Pi {
    fn built_in(&self) -> Vec<ProgramCommand> {
        let summary = "Replace the conversation by a summary";
        vec![built_in("compact", summary, CommandEffect::Compaction)]
    }

    fn of_files(&self, files: &dyn Files, place: &Place) -> Vec<ProgramCommand> {
        let mut found = Vec::new();
        for folder in [place.cwd.join(".pi"), place.config_dir.clone()] {
            found.extend(markdown(files, &folder.join("prompts")));
        }
        let skills = skills(files, &place.cwd.join(".agents/skills"));
        let with_prefix = |skill: ProgramCommand| ProgramCommand {
            name: format!("{SKILL_PREFIX}{}", skill.name),
            ..skill
        };
        found.extend(skills.into_iter().map(with_prefix));
        found
    }
}
