//! Installs and configures `OpenCode` in a `World`.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{KEY, change, install};
use crate::model::Model;
use crate::world::World;

/// The model's name in `OpenCode`'s settings: provider and model.
const MODEL: &str = "scripted/scripted-1";

/// Environment variables that disable network access at startup.
const QUIET: [(&str, &str); 3] = [
    ("OPENCODE_DISABLE_AUTOUPDATE", "1"),
    ("OPENCODE_DISABLE_MODELS_FETCH", "1"),
    ("OPENCODE_DISABLE_LSP_DOWNLOAD", "1"),
];

/// A folder with `OpenCode`'s settings. `OpenCode` trusts every folder.
#[derive(Debug)]
pub struct OpencodeHome {
    folder: PathBuf,
}

/// Installs `opencode` in the world. It talks to the model.
pub fn with_opencode(world: &mut World, model: &Model) -> OpencodeHome {
    install(world, "opencode");
    QUIET.iter().for_each(|(name, value)| world.set(name, *value));
    OpencodeHome::at(&world.home().join(".config/opencode"), model)
}

impl OpencodeHome {
    /// Creates another folder with settings. `OpenCode` uses it if it is
    /// `$XDG_CONFIG_HOME/opencode` or if `OPENCODE_CONFIG_DIR` names it. The conversations are in
    /// another folder, `$XDG_DATA_HOME/opencode`.
    pub fn at(folder: &Path, model: &Model) -> Self {
        fs::create_dir_all(folder).expect("a folder");
        let provider = json!({
            "npm": "@ai-sdk/openai-compatible", "name": "scripted",
            "options": {"baseURL": format!("{}/v1", model.url()), "apiKey": KEY},
            "models": {
                "scripted-1": {"name": "scripted-1", "limit": {"context": 128_000, "output": 4096}},
                "scripted-2": {"name": "scripted-2", "limit": {"context": 128_000, "output": 4096}},
            },
        });
        let settings = json!({
            "autoupdate": false, "share": "disabled", "model": MODEL, "small_model": MODEL,
            "provider": {"scripted": provider},
        });
        fs::write(folder.join("opencode.json"), settings.to_string()).expect("a file");
        // `OpenCode` installs this package before it loads a plugin, and the installation fails
        // without a network. With these files, the package seems to be installed already.
        fs::create_dir_all(folder.join("node_modules")).expect("a folder");
        let installed = json!({"packages": {"": {"dependencies": {"@opencode-ai/plugin": "*"}}}});
        fs::write(folder.join("package-lock.json"), installed.to_string()).expect("a file");
        Self { folder: folder.to_owned() }
    }

    /// Deletes the package that `OpenCode` installs before it loads a plugin, as if `OpenCode` had
    /// never run.
    pub fn forget_installed(&self) {
        fs::remove_dir_all(self.folder.join("node_modules")).expect("a folder");
        fs::remove_file(self.folder.join("package-lock.json")).expect("a file");
    }

    /// Returns the folder with the settings.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Changes the settings.
    pub fn change(&self, settings: impl FnOnce(&mut Value)) {
        change(&self.folder.join("opencode.json"), settings);
    }
}
