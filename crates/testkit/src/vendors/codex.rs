//! Installs and configures Codex in a `World`.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::{KEY, install, real};
use crate::model::Model;
use crate::world::World;

/// The name of the scripted model's provider in the settings.
const PROVIDER: &str = "scripted";

/// The environment variable with the provider's API key.
const KEY_VARIABLE: &str = "SCRIPTED_MODEL_KEY";

/// A folder with Codex's settings.
#[derive(Debug)]
pub struct CodexHome {
    folder: PathBuf,
    url: String,
    trusted: Vec<PathBuf>,
    features: Vec<(String, bool)>,
    extra: String,
}

/// Installs `codex` in the world. It talks to the model and trusts the project folder.
pub fn with_codex(world: &mut World, model: &Model) -> CodexHome {
    install(world, "codex");
    world.set(KEY_VARIABLE, KEY);
    let mut home = CodexHome::at(&world.home().join(".codex"), model);
    home.trust(&world.project());
    home
}

impl CodexHome {
    /// Creates another home, which trusts no folder yet. Codex uses it if `CODEX_HOME` names it.
    pub fn at(folder: &Path, model: &Model) -> Self {
        fs::create_dir_all(folder).expect("a folder");
        let home = Self {
            folder: folder.to_owned(),
            url: model.url(),
            trusted: Vec::new(),
            // Codex would fetch its list of plugins and, without a network, wait for it before it
            // exits.
            features: vec![("plugins".to_owned(), false)],
            extra: String::new(),
        };
        home.write();
        home
    }

    /// Records that the user trusts this folder.
    pub fn trust(&mut self, folder: &Path) {
        self.trusted.push(folder.canonicalize().expect("a folder"));
        self.write();
    }

    /// Revokes the trust in this folder. Codex asks about it again.
    pub fn distrust(&mut self, folder: &Path) {
        let real = folder.canonicalize().expect("a folder");
        self.trusted.retain(|known| *known != real);
        self.write();
    }

    /// Enables or disables a feature.
    pub fn feature(&mut self, name: &str, on: bool) {
        self.features.retain(|(known, _)| known != name);
        self.features.push((name.to_owned(), on));
        self.write();
    }

    /// Appends TOML tables to the settings.
    pub fn add(&mut self, tables: &str) {
        self.extra.push_str(tables);
        self.write();
    }

    /// Replaces the model's provider with one of another name, as if the user had switched
    /// providers.
    pub fn forget_provider(&self) {
        let settings = self.settings().replace(PROVIDER, "another");
        fs::write(self.folder.join("config.toml"), settings).expect("a file");
    }

    fn write(&self) {
        fs::write(self.folder.join("config.toml"), self.settings()).expect("a file");
    }

    fn settings(&self) -> String {
        let mut text = format!(
            "model = \"scripted-1\"\n\
             model_provider = \"{PROVIDER}\"\n\
             check_for_update_on_startup = false\n\
             [model_providers.{PROVIDER}]\n\
             name = \"{PROVIDER}\"\n\
             base_url = \"{}/v1\"\n\
             wire_api = \"responses\"\n\
             env_key = \"{KEY_VARIABLE}\"\n\
             request_max_retries = 1\n\
             stream_max_retries = 1\n\
             [analytics]\n\
             enabled = false\n\
             [tui]\n\
             resume_cwd = \"session\"\n",
            self.url
        );
        text.push_str("[features]\n");
        for (name, on) in &self.features {
            writeln!(text, "{name} = {on}").expect("a text");
        }
        for folder in &self.trusted {
            // A JSON string is also a valid TOML string.
            let name = json!(real(folder));
            writeln!(text, "[projects.{name}]\ntrust_level = \"trusted\"").expect("a text");
        }
        text + &self.extra
    }
}
