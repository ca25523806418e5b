//! The timers of an agent in a project file.

use std::path::PathBuf;
use std::time::Duration;

use jiff::SignedDuration;
use segue_core::{Error, Result};
use serde::Deserialize;
use toml::Spanned;

use super::source::ProjectSource;

/// The shortest interval of a timer. With a shorter interval the agent would do nothing else.
const MIN_TIMER: Duration = Duration::from_secs(1);
const MAX_TIMER: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// A message that is sent to an agent at a regular interval.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenTimer {
    every: Spanned<String>,
    /// The path of a file, or the message itself.
    prompt: Spanned<String>,
    #[serde(default)]
    pub(super) interrupt: bool,
}

impl WrittenTimer {
    pub(super) fn every(&self, source: &ProjectSource) -> Result<Duration> {
        let text = self.every.as_ref();
        let every = text.parse::<SignedDuration>().ok().and_then(|it| Duration::try_from(it).ok());
        every.filter(|it| (MIN_TIMER..=MAX_TIMER).contains(it)).ok_or_else(|| {
            let error = Error::config(format!(
                "`every` must be a duration between `1s` and `8760h`, got `{text}`"
            ));
            source.at(&self.every, error.hint("write it as `20m` or `1h 30m`"))
        })
    }

    /// Returns the message, and the file that contains it. A prompt with white space, or without a
    /// dot and a slash, is the message itself. Any other prompt is the path of a file.
    pub(super) fn message(&self, source: &ProjectSource) -> Result<(PathBuf, String)> {
        let prompt = self.prompt.as_ref();
        if prompt.trim().is_empty() {
            let error = Error::config("the prompt of a timer is empty");
            return Err(source.at(&self.prompt, error.hint("write a message, or name a file")));
        }
        let is_word = !prompt.contains(char::is_whitespace);
        if is_word && (prompt.contains('.') || prompt.contains('/')) {
            let file = Spanned::new(self.prompt.span(), PathBuf::from(prompt));
            return source.text_file("prompt of a timer", &file);
        }
        Ok((source.path().to_owned(), prompt.clone()))
    }
}
