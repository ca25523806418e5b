//! The commands of `OpenCode` that a message may run.

use std::path::PathBuf;

use segue_core::model::{CommandEffect, ProgramCommand};
use segue_core::ports::{Files, Place, ProgramCommands};

use super::OpenCode;
use crate::shared::commands::{built_in, markdown, skills};

const COMPACT: &str = "compact";

impl ProgramCommands for OpenCode {
    fn built_in(&self) -> Vec<ProgramCommand> {
        vec![
            built_in(COMPACT, "Replace the conversation by a summary", CommandEffect::Compaction),
            built_in("init", "Write an AGENTS.md for the project", CommandEffect::Prompt),
        ]
    }

    fn of_files(&self, files: &dyn Files, place: &Place) -> Vec<ProgramCommand> {
        let mut found = Vec::new();
        found.extend(markdown(files, &place.cwd.join(".opencode/command")));
        found.extend(skills(files, &place.cwd.join(".claude/skills")));
        if let Some(folder) = settings_folder(place) {
            found.extend(markdown(files, &folder.join("command")));
        }
        found
    }

    /// The space closes the list of commands. Otherwise the first Enter would only choose from it. A
    /// command of the terminal is run by choosing it.
    fn typing(&self, command: &str) -> String {
        let is_chosen = command.strip_prefix('/') == Some(COMPACT);
        let end = if is_chosen { "" } else { " " };
        format!("{command}{end}")
    }
}

/// Returns the folder of the user's settings. `None` if it cannot be derived from the data folder.
fn settings_folder(place: &Place) -> Option<PathBuf> {
    let home = place.config_dir.parent().filter(|data| data.ends_with(".local/share"))?;
    Some(home.parent()?.parent()?.join(".config/opencode"))
}
