//! Installs and configures Claude Code in a `World`.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{KEY, change, install, real};
use crate::model::Model;
use crate::world::World;

/// Claude Code stores this many characters of the end of an API key that the user has approved.
const TAIL: usize = 20;

/// Environment variables that limit retries, and that disable updates, telemetry, error reports and
/// the installation of an IDE extension.
const QUIET: [(&str, &str); 5] = [
    ("CLAUDE_CODE_MAX_RETRIES", "1"),
    ("DISABLE_AUTOUPDATER", "1"),
    ("DISABLE_ERROR_REPORTING", "1"),
    ("DISABLE_TELEMETRY", "1"),
    ("CLAUDE_CODE_IDE_SKIP_AUTO_INSTALL", "1"),
];

/// Claude Code's user settings, with the answers to the questions of its first start.
#[derive(Debug)]
pub struct ClaudeHome {
    file: PathBuf,
}

/// Installs `claude` in the world. It talks to the model and trusts the project folder.
pub fn with_claude(world: &mut World, model: &Model) -> ClaudeHome {
    install(world, "claude");
    world.set("ANTHROPIC_BASE_URL", model.url());
    world.set("ANTHROPIC_API_KEY", KEY);
    QUIET.iter().for_each(|(name, value)| world.set(name, *value));
    let home = ClaudeHome::create(world.home().join(".claude.json"));
    home.trust(&world.project());
    home
}

/// Gives Claude Code the token of a subscription instead of an API key. Only with a subscription
/// does it report when a usage limit ends.
pub fn subscribe_claude(world: &mut World) {
    world.unset("ANTHROPIC_API_KEY");
    world.set("CLAUDE_CODE_OAUTH_TOKEN", KEY);
}

impl ClaudeHome {
    /// Creates another config dir, which trusts no folder yet. Claude Code uses it if
    /// `CLAUDE_CONFIG_DIR` names it.
    pub fn at(config: &Path) -> Self {
        fs::create_dir_all(config).expect("a folder");
        Self::create(config.join(".claude.json"))
    }

    /// Records that the user trusts this folder.
    pub fn trust(&self, folder: &Path) {
        self.answer(folder, true);
    }

    /// Revokes the trust in this folder. Claude Code asks about it again.
    pub fn distrust(&self, folder: &Path) {
        self.answer(folder, false);
    }

    /// Forgets the approved API key. Claude Code asks about it again.
    pub fn forget_key(&self) {
        self.change(|settings| settings["customApiKeyResponses"] = json!({}));
    }

    /// Marks the first start as unfinished. Claude Code asks its first-start questions again.
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
