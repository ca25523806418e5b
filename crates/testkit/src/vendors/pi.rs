//! Installs and configures Pi in a `World`.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{KEY, change, install};
use crate::model::Model;
use crate::world::World;

/// A folder with Pi's settings and conversations. Pi trusts every folder.
#[derive(Debug)]
pub struct PiHome {
    folder: PathBuf,
}

/// Installs `pi` in the world. It talks to the model.
pub fn with_pi(world: &mut World, model: &Model) -> PiHome {
    install(world, "pi");
    world.set("PI_OFFLINE", "1");
    world.set("PI_TELEMETRY", "0");
    PiHome::at(&world.home().join(".pi/agent"), model)
}

impl PiHome {
    /// Creates another folder with settings. Pi uses it if `PI_CODING_AGENT_DIR` names it.
    pub fn at(folder: &Path, model: &Model) -> Self {
        fs::create_dir_all(folder).expect("a folder");
        let provider = json!({
            "baseUrl": format!("{}/v1", model.url()), "api": "openai-completions", "apiKey": KEY,
            "models": [{"id": "scripted-1", "contextWindow": 200_000, "maxTokens": 8000}],
        });
        let models = json!({"providers": {"scripted": provider}});
        let settings = json!({
            "defaultProvider": "scripted", "defaultModel": "scripted-1",
            "retry": {"maxRetries": 1, "baseDelayMs": 100, "provider": {"maxRetries": 0}},
        });
        for (name, value) in [("models.json", models), ("settings.json", settings)] {
            fs::write(folder.join(name), value.to_string()).expect("a file");
        }
        Self { folder: folder.to_owned() }
    }

    /// Returns the folder with the settings and the conversations.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Changes the settings.
    pub fn change(&self, settings: impl FnOnce(&mut Value)) {
        change(&self.folder.join("settings.json"), settings);
    }
}
