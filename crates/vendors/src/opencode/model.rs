//! Chooses the model of an imported conversation. `OpenCode` continues with the model of the last
//! message.

use std::path::{Path, PathBuf};

use segue_core::ports::{Files, TranscriptionOrder};
use segue_core::{Error, Result};
use serde_json::{Value, json};

use super::paths;
use super::rows::json as read_json;
use crate::shared::files;

const SETTINGS_LIMIT_BYTES: usize = 1024 * 1024;

/// The settings files of a folder, the highest precedence first.
const FOLDER_SETTINGS: [&str; 4] =
    [".opencode/opencode.jsonc", ".opencode/opencode.json", "opencode.jsonc", "opencode.json"];

/// The settings files of the user, the highest precedence first.
const USER_SETTINGS: [&str; 3] = ["opencode.jsonc", "opencode.json", "config.json"];

const LAST_MODEL_QUERY: &str =
    "SELECT model FROM session WHERE model IS NOT NULL ORDER BY time_updated DESC LIMIT 1";

/// A model and its provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OpencodeModel {
    pub(super) provider: String,
    pub(super) name: String,
}

impl OpencodeModel {
    /// Parses a name such as `provider/model`.
    fn parse(text: &str) -> Option<Self> {
        let (provider, name) = text.split_once('/')?;
        // OpenCode replaces text in braces, so Segue does not know the final name.
        let is_literal = !provider.is_empty() && !name.is_empty() && !text.contains('{');
        is_literal.then(|| Self { provider: provider.to_owned(), name: name.to_owned() })
    }

    /// Reads the model of a message or of a conversation.
    pub(super) fn read(value: &Value) -> Option<Self> {
        let name = value["modelID"].as_str().or(value["id"].as_str())?;
        Some(Self { provider: value["providerID"].as_str()?.to_owned(), name: name.to_owned() })
    }

    /// Returns the JSON of the model in a message of the user.
    pub(super) fn as_json(&self) -> Value {
        json!({"providerID": self.provider, "modelID": self.name})
    }
}

/// Returns the requested model, or the model that `OpenCode` would use.
pub(super) fn of(order: &TranscriptionOrder<'_>) -> Result<OpencodeModel> {
    let (files, place) = (order.files, order.place);
    let requested = order.model.and_then(OpencodeModel::parse);
    let found = requested.or_else(|| model_in_settings(files, &place.cwd, &place.config_dir));
    let found = found.or_else(|| last_chosen(files, &place.config_dir));
    match found {
        Some(model) => Ok(model),
        None => last_used(&place.config_dir)?.ok_or_else(no_model),
    }
}

fn no_model() -> Error {
    Error::config("cannot determine which model OpenCode would use")
        .caused_by("its settings name no model, and no conversation has used one")
        .hint("give the agent a model: `model = \"provider/model\"`")
}

/// Returns the model in the settings. Searches the working folder and its parents up to the
/// repository's root, and then the user's settings.
fn model_in_settings(files: &dyn Files, cwd: &Path, config_dir: &Path) -> Option<OpencodeModel> {
    let mut candidates: Vec<PathBuf> = Vec::new();
    for folder in cwd.ancestors() {
        candidates.extend(FOLDER_SETTINGS.map(|name| folder.join(name)));
        if files::exists(files, &folder.join(".git")) {
            break;
        }
    }
    if let Some(home) = user_home(config_dir) {
        candidates.extend(USER_SETTINGS.map(|name| home.join(".config/opencode").join(name)));
    }
    candidates
        .iter()
        .find_map(|path| OpencodeModel::parse(settings(files, path)?["model"].as_str()?))
}

/// Returns the model that the user chose last.
fn last_chosen(files: &dyn Files, config_dir: &Path) -> Option<OpencodeModel> {
    let path = user_home(config_dir)?.join(".local/state/opencode/model.json");
    OpencodeModel::read(&settings(files, &path)?["recent"][0])
}

/// Returns the model of the conversation that was updated last.
fn last_used(config_dir: &Path) -> Result<Option<OpencodeModel>> {
    let Some(database) = paths::open_database(config_dir)? else { return Ok(None) };
    let model = database.row(LAST_MODEL_QUERY, [], |row| Ok(read_json(row.get_ref(0)?)))?;
    Ok(model.as_ref().and_then(OpencodeModel::read))
}

/// Returns the user's home. `None` if the config dir is not the default one.
fn user_home(config_dir: &Path) -> Option<&Path> {
    let is_default = config_dir.ends_with(".local/share/opencode");
    config_dir.ancestors().nth(3).filter(|_| is_default)
}

fn settings(files: &dyn Files, path: &Path) -> Option<Value> {
    let bytes = files.head(path, SETTINGS_LIMIT_BYTES).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    serde_json::from_str(&text).ok().or_else(|| serde_json::from_str(&without_comments(&text)).ok())
}

/// Removes comments and trailing commas from JSON.
fn without_comments(text: &str) -> String {
    let mut output = String::new();
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match (c, rest.peek()) {
            ('"', _) => {
                output.push(c);
                let mut is_escaped = false;
                for inside in rest.by_ref() {
                    output.push(inside);
                    if inside == '"' && !is_escaped {
                        break;
                    }
                    is_escaped = inside == '\\' && !is_escaped;
                }
            }
            ('/', Some('/')) => drop(rest.by_ref().find(|c| *c == '\n')),
            ('/', Some('*')) => {
                let mut last = ' ';
                rest.next();
                let _end =
                    rest.by_ref().find(|c| std::mem::replace(&mut last, *c) == '*' && *c == '/');
            }
            ('}' | ']', _) => {
                let length = output.trim_end().trim_end_matches(',').len();
                output.truncate(length);
                output.push(c);
            }
            _ => output.push(c),
        }
    }
    output
}

#[cfg(test)]
mod tests {
    use segue_core::model::VendorSessionId;
    use segue_core::ports::Place;

    use super::*;
    use crate::testing::Home;
    use crate::testing::turns::order;

    const DATA: &str = ".local/share/opencode";

    fn choose(home: &Home, requested: Option<&str>) -> Result<String> {
        let root = home.folder.path();
        let place = Place { config_dir: root.join(DATA), cwd: root.join("code/a") };
        let id = VendorSessionId::new("ses_1");
        let order =
            TranscriptionOrder { place: &place, model: requested, ..order(home, &id, None) };
        of(&order).map(|model| format!("{} {}", model.provider, model.name))
    }

    #[test]
    fn requested_model_overrides_the_model_that_opencode_would_use() {
        let home = Home::new();
        let error = choose(&home, None).unwrap_err();
        assert_eq!(error.kind, segue_core::Kind::Config);
        let database = home.write(&format!("{DATA}/opencode.db"), "");
        let writer = rusqlite::Connection::open(database).unwrap();
        writer.execute_batch(include_str!("fixtures/recorded.sql")).unwrap();
        assert_eq!(choose(&home, None).unwrap(), "fake fake-1");
        let recent = r#"{"recent": [{"providerID": "p", "modelID": "m"}]}"#;
        home.write(".local/state/opencode/model.json", recent);
        assert_eq!(choose(&home, None).unwrap(), "p m");
        let of_user =
            "{ // mine\n \"x\": \"a // b\\\"\", /* and * / */ \"model\": \"u/v/w\",\n},\n";
        home.write(".config/opencode/opencode.json", of_user.trim_end_matches(",\n"));
        assert_eq!(choose(&home, None).unwrap(), "u v/w");
        home.write("code/opencode.json", r#"{"model": "{env:MODEL}/x"}"#);
        assert_eq!(choose(&home, None).unwrap(), "u v/w");
        home.write("code/a/opencode.jsonc", r#"{"model": "near/by"}"#);
        assert_eq!(choose(&home, None).unwrap(), "near by");
        assert_eq!(choose(&home, Some("asked/for")).unwrap(), "asked for");
    }
}
