//! Gemini CLI in a world.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{KEY, change, install, real};
use crate::model::Model;
use crate::world::World;

/// A `.gemini` folder.
#[derive(Debug)]
pub struct GeminiHome {
    folder: PathBuf,
}

/// Makes `gemini` a program of the world that talks to the model and trusts the project folder.
pub fn with_gemini(world: &mut World, model: &Model) -> GeminiHome {
    install(world, "gemini");
    world.set("GEMINI_API_KEY", KEY);
    world.set("GOOGLE_GEMINI_BASE_URL", model.url());
    // Without a model it asks a smaller one first which to take.
    world.set("GEMINI_MODEL", "gemini-2.5-flash");
    let home = GeminiHome::at(&world.home());
    home.trust(&world.project());
    home
}

impl GeminiHome {
    /// Makes another home, which trusts no folder yet and counts where `GEMINI_CLI_HOME` or `HOME`
    /// names it. How long conversations are kept is as by default.
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

    /// Returns the folder with the settings, the conversations and all else.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Has this folder trusted, as if a person had said so.
    pub fn trust(&self, folder: &Path) {
        self.trusted(|folders| folders[real(folder)] = json!("TRUST_FOLDER"));
    }

    /// Has gemini ask about this folder again.
    pub fn distrust(&self, folder: &Path) {
        self.trusted(|folders| {
            folders.as_object_mut().expect("folders").remove(&real(folder));
        });
    }

    /// Has no conversation deleted, whatever its age or emptiness.
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
