//! Installs and configures Copilot CLI in a `World`.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{KEY, change, install, installation, real};
use crate::model::Model;
use crate::world::World;

/// A `.copilot` folder with Copilot CLI's settings and conversations.
#[derive(Debug)]
pub struct CopilotHome {
    folder: PathBuf,
}

/// Installs `copilot` in the world. It talks to the model and trusts the project folder.
pub fn with_copilot(world: &mut World, model: &Model) -> CopilotHome {
    install(world, "copilot");
    world.set("COPILOT_PROVIDER_BASE_URL", format!("{}/v1", model.url()));
    world.set("COPILOT_PROVIDER_API_KEY", KEY);
    world.set("COPILOT_MODEL", "gpt-4.1");
    world.set("COPILOT_OFFLINE", "true");
    world.set("COPILOT_AUTO_UPDATE", "false");
    // Copilot CLI unpacks itself before its first start, which takes longer than everything else in
    // a test. All tests share the unpacked files.
    let unpacked = installation().join("copilot-unpacked");
    world.set("COPILOT_PKG_CACHE_HOME", unpacked.to_str().expect("a plain path"));
    let home = CopilotHome::at(&world.home().join(".copilot"));
    home.trust(&world.project());
    home
}

impl CopilotHome {
    /// Creates another home, which trusts no folder yet. Copilot CLI uses it if `COPILOT_HOME`
    /// names it.
    pub fn at(folder: &Path) -> Self {
        fs::create_dir_all(folder).expect("a folder");
        for (name, text) in [("config.json", r#"{"trustedFolders": []}"#), ("settings.json", "{}")]
        {
            fs::write(folder.join(name), text).expect("a file");
        }
        Self { folder: folder.to_owned() }
    }

    /// Returns the folder with the settings and the conversations.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Records that the user trusts this folder.
    pub fn trust(&self, folder: &Path) {
        self.trusted(|folders| folders.push(json!(real(folder))));
    }

    /// Revokes the trust in this folder. Copilot CLI asks about it again.
    pub fn distrust(&self, folder: &Path) {
        self.trusted(|folders| folders.retain(|known| *known != real(folder)));
    }

    /// Changes the settings.
    pub fn change(&self, settings: impl FnOnce(&mut Value)) {
        change(&self.folder.join("settings.json"), settings);
    }

    fn trusted(&self, folders: impl FnOnce(&mut Vec<Value>)) {
        change(&self.folder.join("config.json"), |config| {
            folders(config["trustedFolders"].as_array_mut().expect("folders"));
        });
    }
}
