//! The commands of Gemini that a message may run. Its command for a summary is not among them: a
//! transcript does not show its end if the conversation is short.

use segue_core::model::{CommandEffect, ProgramCommand};
use segue_core::ports::{Files, Place, ProgramCommands};

use super::Gemini;
use crate::shared::commands::{built_in, toml};

impl ProgramCommands for Gemini {
    fn built_in(&self) -> Vec<ProgramCommand> {
        vec![built_in("init", "Write a GEMINI.md", CommandEffect::Prompt)]
    }

    fn of_files(&self, files: &dyn Files, place: &Place) -> Vec<ProgramCommand> {
        let mut found = Vec::new();
        for folder in [place.cwd.join(".gemini"), place.config_dir.clone()] {
            found.extend(toml(files, &folder.join("commands")));
        }
        found
    }
}
