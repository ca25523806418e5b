//! Reads the settings of Codex that a launch depends on. Segue never writes them.

use std::path::Path;

use segue_core::ports::Files;
use toml::{Table, Value};

/// Maximum size of a settings file in bytes.
const LARGEST_FILE_BYTES: usize = 1024 * 1024;

/// The provider that Codex uses by default.
const DEFAULT_PROVIDER: &str = "openai";

/// Returns the model provider that a launch with these arguments uses. Codex refuses a conversation
/// that names another provider or no provider.
pub(super) fn provider(files: &dyn Files, config_dir: &Path, arguments: &[String]) -> String {
    let given = GivenSettings::read(arguments);
    let local = given.local.filter(|_| given.is_local);
    let overridden = given.overridden("model_provider");
    let chosen = local.map(str::to_owned).or(overridden);
    chosen
        .or_else(|| in_files(files, config_dir, given.profile, "model_provider"))
        .unwrap_or_else(|| DEFAULT_PROVIDER.to_owned())
}

/// Returns the user's own instructions for the agent. Segue adds those of the session to them.
pub(super) fn instructions(
    files: &dyn Files,
    config_dir: &Path,
    arguments: &[String],
) -> Option<String> {
    const KEY: &str = "developer_instructions";
    let given = GivenSettings::read(arguments);
    given.overridden(KEY).or_else(|| in_files(files, config_dir, given.profile, KEY))
}

/// Looks up a key in the file of the profile, and then in the settings file.
fn in_files(
    files: &dyn Files,
    config_dir: &Path,
    profile: Option<&str>,
    key: &str,
) -> Option<String> {
    let is_file_name = |name: &&str| !name.contains('/');
    let profile = profile.filter(is_file_name).map(|name| format!("{name}.config.toml"));
    let names = profile.into_iter().chain(["config.toml".to_owned()]);
    let mut tables = names.filter_map(|name| read(files, &config_dir.join(name)));
    tables.find_map(|table| table.get(key)?.as_str().map(str::to_owned))
}

/// Reads a settings file. Returns `None` if it is missing or invalid: Codex itself reports the
/// error.
fn read(files: &dyn Files, path: &Path) -> Option<Table> {
    let bytes = files.head(path, LARGEST_FILE_BYTES).ok()?;
    std::str::from_utf8(&bytes).ok()?.parse().ok()
}

/// The settings on a command line.
#[derive(Debug, Default)]
struct GivenSettings<'a> {
    profile: Option<&'a str>,
    local: Option<&'a str>,
    is_local: bool,
    overrides: Vec<&'a str>,
}

impl<'a> GivenSettings<'a> {
    fn read(arguments: &'a [String]) -> Self {
        let mut given = Self::default();
        let mut words = arguments.iter().map(String::as_str);
        while let Some(word) = words.next() {
            let (flag, value) = match word.split_once('=') {
                Some((flag, value)) if flag.starts_with("--") => (flag, Some(value)),
                _ => (word, None),
            };
            match flag {
                "-c" | "--config" => given.overrides.extend(value.or_else(|| words.next())),
                "-p" | "--profile" => given.profile = value.or_else(|| words.next()),
                "--local-provider" => given.local = value.or_else(|| words.next()),
                "--oss" => given.is_local = true,
                _ => {}
            }
        }
        given
    }

    /// Returns the last value that was given for a key. A value that is no TOML string is used as
    /// it is.
    fn overridden(&self, key: &str) -> Option<String> {
        let values = self.overrides.iter().rev().filter_map(|it| it.split_once('='));
        let (_, value) = values.into_iter().find(|(name, _)| name.trim() == key)?;
        let table: Option<Table> = format!("value = {value}").parse().ok();
        let parsed = table.and_then(|table| table.get("value").cloned());
        Some(match parsed {
            Some(Value::String(text)) => text,
            _ => value.trim().to_owned(),
        })
    }
}

/// Quotes a text as a TOML string.
pub(super) fn quoted(text: &str) -> String {
    // A JSON string is a valid TOML string, except for one character that TOML does not allow.
    serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007F")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Home;

    fn words(line: &str) -> Vec<String> {
        line.split(' ').filter(|word| !word.is_empty()).map(str::to_owned).collect()
    }

    #[test]
    fn provider_comes_from_arguments_then_profile_then_settings() {
        let home = Home::new();
        let asked = |line: &str| provider(&home.disk, home.folder.path(), &words(line));
        assert_eq!(asked(""), "openai", "no settings");
        home.write("config.toml", "model_provider = \"mine\"\n[tui]\nx = 1\n");
        home.write("work.config.toml", "model_provider = \"works\"\n");
        home.write("plain.config.toml", "model = \"m\"\n");
        for (line, wanted) in [
            ("", "mine"),
            ("-p work", "works"),
            ("--profile=work", "works"),
            ("--profile plain", "mine"),
            ("-p absent", "mine"),
            ("-p ../work", "mine"),
            ("-p work -c model_provider=\"given\"", "given"),
            ("-c model_provider=bare", "bare"),
            ("--config=model_provider='x' -c model=\"m\"", "x"),
            ("-c model_provider=\"a\" -c model_provider=\"b\"", "b"),
            ("--oss --local-provider ollama", "ollama"),
            ("--local-provider ollama", "mine"),
        ] {
            assert_eq!(asked(line), wanted, "{line}");
        }
        home.write("config.toml", "model_provider = [broken");
        assert_eq!(asked(""), "openai");
    }

    #[test]
    fn user_instructions_come_from_arguments_or_settings() {
        let home = Home::new();
        let asked = |line: &str| instructions(&home.disk, home.folder.path(), &words(line));
        assert_eq!(asked(""), None);
        home.write("config.toml", "developer_instructions = \"be\\nkind\"\n");
        assert_eq!(asked("").as_deref(), Some("be\nkind"));
        assert_eq!(asked("-c developer_instructions=other").as_deref(), Some("other"));
    }

    #[test]
    fn quoted_text_is_parsed_as_the_same_text() {
        for text in ["plain", "a\n\"b\"\\c\t\u{1}", "\u{7f}", "ünï 🎉", "'''"] {
            let table: Table = format!("x = {}", quoted(text)).parse().unwrap();
            assert_eq!(table["x"].as_str(), Some(text));
        }
    }
}
