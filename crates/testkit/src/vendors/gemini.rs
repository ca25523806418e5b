//! Installs and configures Gemini CLI in a `World`.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{KEY, change, install, real};
use crate::model::Model;
use crate::world::World;

/// A `.gemini` folder with Gemini CLI's settings and conversations.
#[derive(Debug)]
pub struct GeminiHome {
    folder: PathBuf,
}

/// Installs `gemini` in the world. It talks to the model and trusts the project folder.
pub fn with_gemini(world: &mut World, model: &Model) -> GeminiHome {
    install(world, "gemini");
    world.set("GEMINI_API_KEY", KEY);
    world.set("GOOGLE_GEMINI_BASE_URL", model.url());
    // If no model is set, Gemini CLI first asks a smaller model to choose one.
    world.set("GEMINI_MODEL", "gemini-2.5-flash");
    let home = GeminiHome::at(&world.home());
    home.trust(&world.project());
    home
}

impl GeminiHome {
    /// Creates another home, which trusts no folder yet. Gemini CLI uses it if `GEMINI_CLI_HOME` or
    /// `HOME` names it. The retention of conversations has its default value.
    pub fn at(home: &Path) -> Self {
        let folder = home.join(".gemini");
        fs::create_dir_all(&folder).expect("a folder");
        let settings = json!({
            "security": {
                "auth": {"selectedType": "gemini-api-key"},
                "folderTrust": {"enabled": true},
            },
            "general": {"enableAutoUpdate": false, "maxAttempts": 2},
            "privacy": {"usageStatisticsEnabled": false},
            "ui": {"theme": "Default"},
        });
        fs::write(folder.join("settings.json"), settings.to_string()).expect("a file");
        fs::write(folder.join("trustedFolders.json"), "{}").expect("a file");
        Self { folder }
    }

    /// Returns the folder with the settings and the conversations.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Records that the user trusts this folder.
    pub fn trust(&self, folder: &Path) {
        self.trusted(|folders| folders[real(folder)] = json!("TRUST_FOLDER"));
    }

    /// Revokes the trust in this folder. Gemini CLI asks about it again.
    pub fn distrust(&self, folder: &Path) {
        self.trusted(|folders| {
            folders.as_object_mut().expect("folders").remove(&real(folder));
        });
    }

    /// Disables the retention limit: Gemini CLI then deletes no conversations, not even old or
    /// empty ones.
    pub fn keep_sessions(&self) {
        self.change(|settings| {
            settings["general"]["sessionRetention"] = json!({"enabled": false});
        });
    }

    /// Changes the settings.
    pub fn change(&self, settings: impl FnOnce(&mut Value)) {
        change(&self.folder.join("settings.json"), settings);
    }

    fn trusted(&self, folders: impl FnOnce(&mut Value)) {
        change(&self.folder.join("trustedFolders.json"), folders);
    }
}
