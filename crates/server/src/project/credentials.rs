//! The tables `[credentials."HOST"]` of the user's settings.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use segue_core::Result;
use segue_core::model::GitHost;
use segue_core::rules::environment::check_variable;
use segue_host::credentials::TokenSource;
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::settings;

/// The default user name. Git servers that take a token as the password ignore it.
const DEFAULT_USERNAME: &str = "x-access-token";

/// The credentials of all hosts.
pub(crate) type CredentialSettings = BTreeMap<GitHost, HostCredential>;

/// The credentials of one host.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "CredentialTable")]
pub(crate) struct HostCredential {
    pub(crate) username: String,
    pub(crate) source: TokenSource,
}

/// A table as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CredentialTable {
    command: Option<Vec<String>>,
    env: Option<String>,
    file: Option<PathBuf>,
    username: Option<String>,
}

impl TryFrom<CredentialTable> for HostCredential {
    type Error = String;

    fn try_from(table: CredentialTable) -> Result<Self, String> {
        let CredentialTable { command, env, file, username } = table;
        let source = one_source(command, env, file)?;
        let username = username.unwrap_or_else(|| DEFAULT_USERNAME.to_owned());
        if username.is_empty() || username.contains(char::is_control) {
            return Err("`username` must not be empty or contain control characters".to_owned());
        }
        Ok(Self { username, source })
    }
}

/// A table with nothing but the source of a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SecretSource(pub(crate) TokenSource);

impl<'de> Deserialize<'de> for SecretSource {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SecretVisitor)
    }
}

/// Reads a table. The error for any other value does not show it: it could be the secret itself.
struct SecretVisitor;

impl<'de> Visitor<'de> for SecretVisitor {
    type Value = SecretSource;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table with `command`, `env` or `file`")
    }

    fn visit_str<E: serde::de::Error>(self, _secret: &str) -> Result<SecretSource, E> {
        Err(E::custom("expected a table with `command`, `env` or `file`, not the secret itself"))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<SecretSource, A::Error> {
        let table = SecretTable::deserialize(MapAccessDeserializer::new(map))?;
        SecretSource::try_from(table).map_err(serde::de::Error::custom)
    }
}

/// A table as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SecretTable {
    command: Option<Vec<String>>,
    env: Option<String>,
    file: Option<PathBuf>,
}

impl TryFrom<SecretTable> for SecretSource {
    type Error = String;

    fn try_from(SecretTable { command, env, file }: SecretTable) -> Result<Self, String> {
        one_source(command, env, file).map(Self)
    }
}

/// Returns the only source of a secret that a table names.
fn one_source(
    command: Option<Vec<String>>,
    env: Option<String>,
    file: Option<PathBuf>,
) -> Result<TokenSource, String> {
    match (command, env, file) {
        (Some(words), None, None) => command_source(words),
        (None, Some(name), None) => variable_source(name),
        (None, None, Some(path)) => file_source(path),
        _ => Err("it needs exactly one of `command`, `env` and `file`".to_owned()),
    }
}

fn command_source(words: Vec<String>) -> Result<TokenSource, String> {
    match words.first() {
        Some(program) if !program.is_empty() => Ok(TokenSource::Command(words)),
        _ => Err("`command` must name a program".to_owned()),
    }
}

fn variable_source(name: String) -> Result<TokenSource, String> {
    check_variable(&name, "").map_err(|error| error.to_string())?;
    Ok(TokenSource::Variable(name))
}

fn file_source(path: PathBuf) -> Result<TokenSource, String> {
    if path.is_absolute() || path.starts_with("~") {
        return Ok(TokenSource::File(path));
    }
    Err(format!("`{}` must be an absolute path, or begin with `~/`", path.display()))
}

/// Returns the credentials of the settings. Fails if the file cannot be read.
pub(crate) fn credentials(config_file: &Path) -> Result<CredentialSettings> {
    settings::credentials(config_file)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn each_host_has_one_source_and_a_default_username() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config.toml");
        assert_eq!(credentials(&file).unwrap(), CredentialSettings::new());
        let text = r#"
            [credentials."Git.Example.org:443"]
            command = ["pass", "show", "git"]
            [credentials."git.example.org:8443"]
            env = "GIT_TOKEN"
            username = "ann"
            [credentials.localhost]
            file = "~/.config/segue/token"
        "#;
        fs::write(&file, text).unwrap();
        let known = credentials(&file).unwrap();
        let of = |host: &str| known[&GitHost::parse(host).unwrap()].clone();
        let words = ["pass", "show", "git"].map(str::to_owned).into();
        let source = TokenSource::Command(words);
        let username = DEFAULT_USERNAME.to_owned();
        assert_eq!(of("git.example.org"), HostCredential { username, source });
        let source = TokenSource::Variable("GIT_TOKEN".to_owned());
        assert_eq!(of("git.example.org:8443"), HostCredential { username: "ann".into(), source });
        assert_eq!(of("localhost").source, TokenSource::File("~/.config/segue/token".into()));
    }

    #[test]
    fn wrong_tables_are_refused_with_the_reason() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config.toml");
        let table = [
            ("h", "", "exactly one of"),
            ("h", "username = \"ann\"", "exactly one of"),
            ("h", "env = \"A\"\nfile = \"/a\"", "exactly one of"),
            ("h", "command = []", "must name a program"),
            ("h", "command = [\"\"]", "must name a program"),
            ("h", "env = \"A=B\"", "cannot be a variable"),
            ("h", "env = \"SEGUE_X\"", "reserved"),
            ("h", "file = \"token\"", "absolute path"),
            ("h", "env = \"A\"\nusername = \"\"", "`username` must not be empty"),
            ("h", "env = \"A\"\nusername = \"a\\nb\"", "control characters"),
            ("h", "token = \"hush\"", "unknown field `token`"),
            ("https://h", "env = \"A\"", "is not a host"),
            ("me@h", "env = \"A\"", "is not a host"),
            ("h/a", "env = \"A\"", "is not a host"),
        ];
        for (host, lines, expected) in table {
            fs::write(&file, format!("[credentials.\"{host}\"]\n{lines}\n")).unwrap();
            let error = credentials(&file).unwrap_err();
            assert!(error.causes[0].contains(expected), "{host} {lines}: {error:?}");
            assert!(!format!("{error:?}").contains("hush"), "{error:?}");
        }
    }
}
