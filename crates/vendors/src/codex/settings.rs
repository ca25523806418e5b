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
    let from_arguments = GivenSettings::read(arguments);
    let local = from_arguments.local.filter(|_| from_arguments.is_local);
    let overridden = from_arguments.overridden("model_provider");
    let chosen = local.map(str::to_owned).or(overridden);
    chosen
        .or_else(|| in_files(files, config_dir, from_arguments.profile, "model_provider"))
        .unwrap_or_else(|| DEFAULT_PROVIDER.to_owned())
}

/// Returns the user's instructions for the agent, without the instructions of the session.
pub(super) fn instructions(
    files: &dyn Files,
    config_dir: &Path,
    arguments: &[String],
) -> Option<String> {
    const KEY: &str = "developer_instructions";
    let from_arguments = GivenSettings::read(arguments);
    from_arguments
        .overridden(KEY)
        .or_else(|| in_files(files, config_dir, from_arguments.profile, KEY))
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
        let mut from_arguments = Self::default();
        let mut rest = arguments.iter().map(String::as_str);
        while let Some(argument) = rest.next() {
            let (flag, value) = match argument.split_once('=') {
                Some((flag, value)) if flag.starts_with("--") => (flag, Some(value)),
                _ => (argument, None),
            };
            match flag {
                "-c" | "--config" => from_arguments.overrides.extend(value.or_else(|| rest.next())),
                "-p" | "--profile" => from_arguments.profile = value.or_else(|| rest.next()),
                "--local-provider" => from_arguments.local = value.or_else(|| rest.next()),
                "--oss" => from_arguments.is_local = true,
                _ => {}
            }
        }
        from_arguments
    }

    /// Returns the last value that was given for a key. A value that is no TOML string is used as
    /// it is.
    fn overridden(&self, key: &str) -> Option<String> {
        let values = self.overrides.iter().rev().filter_map(|setting| setting.split_once('='));
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

    fn split(line: &str) -> Vec<String> {
        line.split(' ').filter(|argument| !argument.is_empty()).map(str::to_owned).collect()
    }

    #[test]
    fn provider_comes_from_arguments_then_profile_then_settings() {
        let home = Home::new();
        let provider_for = |line: &str| provider(&home.disk, home.folder.path(), &split(line));
        assert_eq!(provider_for(""), "openai", "no settings");
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
            assert_eq!(provider_for(line), wanted, "{line}");
        }
        home.write("config.toml", "model_provider = [broken");
        assert_eq!(provider_for(""), "openai");
    }

    #[test]
    fn user_instructions_come_from_arguments_or_settings() {
        let home = Home::new();
        let instructions_for =
            |line: &str| instructions(&home.disk, home.folder.path(), &split(line));
        assert_eq!(instructions_for(""), None);
        home.write("config.toml", "developer_instructions = \"be\\nkind\"\n");
        assert_eq!(instructions_for("").as_deref(), Some("be\nkind"));
        assert_eq!(instructions_for("-c developer_instructions=other").as_deref(), Some("other"));
    }

    #[test]
    fn quoted_text_is_parsed_as_the_same_text() {
        for text in ["plain", "a\n\"b\"\\c\t\u{1}", "\u{7f}", "ünï 🎉", "'''"] {
            let table: Table = format!("x = {}", quoted(text)).parse().unwrap();
            assert_eq!(table["x"].as_str(), Some(text));
        }
    }
}
