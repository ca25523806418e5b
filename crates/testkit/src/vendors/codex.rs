//! Codex in a world.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::{KEY, install, real};
use crate::model::Model;
use crate::world::World;

/// The provider's name in the settings.
const PROVIDER: &str = "scripted";

/// The variable with the provider's key.
const KEY_VARIABLE: &str = "SEGUE_SCRIPTED_MODEL_KEY";

/// A folder with codex's settings.
#[derive(Debug)]
pub struct CodexHome {
    folder: PathBuf,
    url: String,
    trusted: Vec<PathBuf>,
    features: Vec<(String, bool)>,
    extra: String,
}

/// Makes `codex` a program of the world that talks to the model and trusts the project folder.
pub fn with_codex(world: &mut World, model: &Model) -> CodexHome {
    install(world, "codex");
    world.set(KEY_VARIABLE, KEY);
    let mut home = CodexHome::at(&world.home().join(".codex"), model);
    home.trust(&world.project());
    home
}

impl CodexHome {
    /// Makes another home, which trusts no folder yet and counts where `CODEX_HOME` names it.
    pub fn at(folder: &Path, model: &Model) -> Self {
        fs::create_dir_all(folder).expect("a folder");
        let home = Self {
            folder: folder.to_owned(),
            url: model.url(),
            trusted: Vec::new(),
            // Without a network each run would wait for its list of plugins before it ends.
            features: vec![("plugins".to_owned(), false)],
            extra: String::new(),
        };
        home.write();
        home
    }

    /// Has this folder trusted, as if a person had said so.
    pub fn trust(&mut self, folder: &Path) {
        self.trusted.push(folder.canonicalize().expect("a folder"));
        self.write();
    }

    /// Has codex ask about this folder again.
    pub fn distrust(&mut self, folder: &Path) {
        let real = folder.canonicalize().expect("a folder");
        self.trusted.retain(|known| *known != real);
        self.write();
    }

    /// Switches a feature on or off.
    pub fn feature(&mut self, name: &str, on: bool) {
        self.features.retain(|(known, _)| known != name);
        self.features.push((name.to_owned(), on));
        self.write();
    }

    /// Adds tables to the settings.
    pub fn add(&mut self, tables: &str) {
        self.extra.push_str(tables);
        self.write();
    }

    /// Takes the model's provider out of the settings, as if the user had gone to another one.
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
            // A string in JSON is one in TOML, too.
            let name = json!(real(folder));
            writeln!(text, "[projects.{name}]\ntrust_level = \"trusted\"").expect("a text");
        }
        text + &self.extra
    }
}
