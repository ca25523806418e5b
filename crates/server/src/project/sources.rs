//! The tables `[[sources]]` of the user's settings.

use std::path::Path;
use std::time::Duration;

use segue_core::model::{ForgeId, ForgeSource, SourceName};
use segue_core::{Error, Result};
use serde::Deserialize;

use super::credentials::SecretSource;
use super::settings::{self, PositiveDuration};

/// How often a forge is asked for missed deliveries if the settings do not say it.
const DEFAULT_INTERVAL: Duration = Duration::from_secs(15 * 60);

/// The shortest interval: each pass sends several requests.
const SHORTEST_INTERVAL: Duration = Duration::from_secs(10);

/// A forge, as it is written.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SourceTable {
    pub(crate) name: String,
    pub(crate) forge: String,
    /// The secret of the webhook.
    pub(crate) secret: Option<SecretSource>,
    /// The URL of the API.
    pub(crate) api: Option<String>,
    /// The token for the API.
    pub(crate) token: Option<SecretSource>,
    reconcile: Option<PositiveDuration>,
    poll: Option<PositiveDuration>,
}

impl SourceTable {
    /// Returns the source without its secrets. Fails if a value cannot be used.
    pub(crate) fn source(&self) -> Result<ForgeSource> {
        let interval = match (self.reconcile, self.poll) {
            (Some(_), Some(_)) => {
                return Err(self.wrong("`reconcile` and `poll` exclude each other"));
            }
            (Some(PositiveDuration(every)), None) | (None, Some(PositiveDuration(every))) => every,
            (None, None) => DEFAULT_INTERVAL,
        };
        if interval < SHORTEST_INTERVAL {
            let shortest = SHORTEST_INTERVAL.as_secs();
            return Err(self.wrong(&format!("the interval must be at least {shortest}s")));
        }
        if self.poll.is_some() && self.token.is_none() {
            return Err(self.wrong("`poll` needs a `token`"));
        }
        Ok(ForgeSource {
            name: SourceName::parse(&self.name).map_err(|error| self.wrong(&error.message))?,
            forge: ForgeId::new(self.forge.as_str()),
            interval,
            is_polled: self.poll.is_some(),
            has_token: self.token.is_some(),
        })
    }

    fn wrong(&self, why: &str) -> Error {
        let shown: String = self.name.chars().take(64).collect();
        Error::config(format!(
            "the source `{}` in config.toml cannot be used",
            shown.escape_debug()
        ))
        .caused_by(why)
        .hint("docs/configuration.md describes the keys under `[[sources]]`")
    }
}

/// Returns the sources as they are written. Fails if the file cannot be read, or if two sources have
/// the same name.
pub(crate) fn source_tables(config_file: &Path) -> Result<Vec<SourceTable>> {
    let (sources, _) = settings::dispatch(config_file)?;
    for (place, source) in sources.iter().enumerate() {
        if sources.iter().skip(place + 1).any(|other| other.name == source.name) {
            return Err(source.wrong("another source has the same name"));
        }
    }
    Ok(sources)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn written(text: &str) -> Result<Vec<ForgeSource>> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config.toml");
        fs::write(&file, text).unwrap();
        source_tables(&file)?.iter().map(SourceTable::source).collect()
    }

    const SOURCE: &str = "[[sources]]\nname = \"hub\"\nforge = \"github\"\n";

    #[test]
    fn source_has_defaults_and_polls_if_the_settings_say_so() {
        assert_eq!(written("").unwrap(), []);
        let source = ForgeSource {
            name: SourceName::parse("hub").unwrap(),
            forge: ForgeId::new("github"),
            interval: DEFAULT_INTERVAL,
            is_polled: false,
            has_token: false,
        };
        assert_eq!(written(SOURCE).unwrap(), std::slice::from_ref(&source));
        let polled = format!("{SOURCE}poll = \"2m\"\ntoken = {{ env = \"HUB_TOKEN\" }}\n");
        let interval = Duration::from_secs(120);
        let expected = ForgeSource { interval, is_polled: true, has_token: true, ..source };
        assert_eq!(written(&polled).unwrap(), [expected]);
    }

    #[test]
    fn wrong_sources_are_refused_with_the_reason() {
        let table = [
            ("poll = \"2m\"", "needs a `token`"),
            ("reconcile = \"1s\"", "at least 10s"),
            ("reconcile = \"1m\"\npoll = \"1m\"", "exclude each other"),
            ("secret = { text = \"hush\" }", "unknown field `text`"),
            ("secret = \"hush\"", "not the secret itself"),
            ("token = {}", "exactly one of"),
        ];
        for (line, expected) in table {
            let error = written(&format!("{SOURCE}{line}\n")).unwrap_err();
            assert!(format!("{error:?}").contains(expected), "{line}: {error:?}");
            assert!(!format!("{error:?}").contains("hush"), "{error:?}");
        }
        let error = written(&format!("{SOURCE}{SOURCE}")).unwrap_err();
        assert_eq!(error.causes, ["another source has the same name"]);
    }
}
