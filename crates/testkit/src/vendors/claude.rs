//! Claude Code in a world.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{KEY, change, install, real};
use crate::model::Model;
use crate::world::World;

/// How much of the end of a key is noted as approved.
const TAIL: usize = 20;

/// Switches off what is not part of a conversation, and long retries.
const QUIET: [(&str, &str); 5] = [
    ("CLAUDE_CODE_MAX_RETRIES", "1"),
    ("DISABLE_AUTOUPDATER", "1"),
    ("DISABLE_ERROR_REPORTING", "1"),
    ("DISABLE_TELEMETRY", "1"),
    ("CLAUDE_CODE_IDE_SKIP_AUTO_INSTALL", "1"),
];

/// Claude's settings about a user: first-run questions that were answered.
#[derive(Debug)]
pub struct ClaudeHome {
    file: PathBuf,
}

/// Makes `claude` a program of the world that talks to the model and trusts the project folder.
pub fn with_claude(world: &mut World, model: &Model) -> ClaudeHome {
    install(world, "claude");
    world.set("ANTHROPIC_BASE_URL", model.url());
    world.set("ANTHROPIC_API_KEY", KEY);
    QUIET.iter().for_each(|(name, value)| world.set(name, *value));
    let home = ClaudeHome::create(world.home().join(".claude.json"));
    home.trust(&world.project());
    home
}

/// Has claude believe in a subscription instead of a key: only then it tells when a limit ends.
pub fn subscribe_claude(world: &mut World) {
    world.unset("ANTHROPIC_API_KEY");
    world.set("CLAUDE_CODE_OAUTH_TOKEN", KEY);
}

impl ClaudeHome {
    /// Makes another config dir, which trusts no folder yet and counts where `CLAUDE_CONFIG_DIR`
    /// names it.
    pub fn at(config: &Path) -> Self {
        fs::create_dir_all(config).expect("a folder");
        Self::create(config.join(".claude.json"))
    }

    /// Has this folder trusted, as if a person had said so.
    pub fn trust(&self, folder: &Path) {
        self.answer(folder, true);
    }

    /// Has claude ask about this folder again.
    pub fn distrust(&self, folder: &Path) {
        self.answer(folder, false);
    }

    /// Has claude ask about the API key again.
    pub fn forget_key(&self) {
        self.change(|settings| settings["customApiKeyResponses"] = json!({}));
    }

    /// Has claude ask what it asks at its very first start.
    pub fn forget_onboarding(&self) {
        self.change(|settings| settings["hasCompletedOnboarding"] = json!(false));
    }

    fn create(file: PathBuf) -> Self {
        let settings = json!({
            "hasCompletedOnboarding": true,
            "customApiKeyResponses": {"approved": [&KEY[KEY.len() - TAIL..]], "rejected": []},
            "projects": {},
        });
        fs::write(&file, settings.to_string()).expect("a file");
        Self { file }
    }

    fn answer(&self, folder: &Path, trusted: bool) {
        self.change(|settings| {
            settings["projects"][real(folder)]["hasTrustDialogAccepted"] = json!(trusted);
        });
    }

    fn change(&self, settings: impl FnOnce(&mut Value)) {
        change(&self.file, settings);
    }
}
