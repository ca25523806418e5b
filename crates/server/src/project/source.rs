//! The text of a project file, and errors that name a line in it.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::{fs, io};

use segue_core::rules::address;
use segue_core::{Error, Kind, Result};
use segue_host::confined;
use serde::de::DeserializeOwned;
use toml::Spanned;

/// The largest text file. No person writes larger ones.
const MAX_TEXT_BYTES: u64 = 1 << 20;

/// A project file and the text files that it names. Each file is read once, so the user trusts
/// exactly the text that an agent gets.
#[derive(Debug)]
pub(super) struct ProjectSource {
    path: PathBuf,
    text: String,
    /// The contents of the text files that were read.
    texts: Mutex<BTreeMap<PathBuf, String>>,
}

impl ProjectSource {
    pub(super) fn read(path: &Path) -> Result<Self> {
        let text = read_file(path).map_err(|error| {
            Error::config(format!("cannot read `{}`", path.display()))
                .caused_by(error)
                .hint("`segue init` in an empty folder writes an example")
        })?;
        Ok(Self { path: path.to_owned(), text, texts: Mutex::default() })
    }

    pub(super) fn parse<T: DeserializeOwned>(&self) -> Result<T> {
        toml::from_str(&self.text).map_err(|error| {
            let (message, similar) = without_parser_terms(error.message());
            let readable = similar.iter().fold(Error::config(message), |readable, key| {
                readable.hint(format!("did you mean `{key}`?"))
            });
            let readable = readable
                .hint("correct that line; `segue init` in an empty folder writes an example");
            self.at_range(error.span().unwrap_or_default(), readable)
        })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Puts the file and the line before the message of an error.
    pub(super) fn at<T>(&self, place: &Spanned<T>, error: Error) -> Error {
        self.at_range(place.span(), error)
    }

    /// Returns the error for a reserved key.
    pub(super) fn not_built<T>(&self, place: &Spanned<T>, key: &str) -> Error {
        let error = Error::config(format!("`{key}` is not built yet"));
        self.at(place, error.hint(format!("remove `{key}`")))
    }

    /// Reads a file of the project that a key names. Returns its path and its text.
    pub(super) fn text_file(
        &self,
        key: &str,
        file: &Spanned<PathBuf>,
    ) -> Result<(PathBuf, String)> {
        let folder = self.folder();
        let path = folder.join(file.as_ref());
        let unreadable = |cause: &dyn std::fmt::Display| {
            let message = format!("cannot read `{}`, the {key} of an agent", path.display());
            let error = Error::config(message).caused_by(cause);
            let hint = format!("put that file into `{}`, or remove `{key}`", folder.display());
            self.at(file, error.hint(hint))
        };
        self.read_text(file.as_ref()).map_err(|error| unreadable(&error))
    }

    /// Reads a file of the project that no key names. `None` if it does not exist.
    pub(super) fn optional_text_file(&self, file: &Path) -> Result<Option<(PathBuf, String)>> {
        match self.read_text(file) {
            Ok(found) => Ok(Some(found)),
            Err(error) if is_missing(&error) => Ok(None),
            Err(error) => {
                let path = self.folder().join(file);
                Err(Error::config(format!("cannot read `{}`", path.display())).caused_by(error))
            }
        }
    }

    fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new("/"))
    }

    /// Reads a text file of the project, once.
    fn read_text(&self, file: &Path) -> io::Result<(PathBuf, String)> {
        let path = self.folder().join(file);
        let mut texts = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(text) = texts.get(&path) {
            return Ok((path.clone(), text.clone()));
        }
        let text = confined::read_text(self.folder(), file, MAX_TEXT_BYTES)?;
        if text.contains('\0') {
            let cause = "it has a zero byte, which no argument of a program can have";
            return Err(io::Error::other(cause));
        }
        texts.insert(path.clone(), text.clone());
        drop(texts);
        Ok((path, text))
    }

    fn at_range(&self, range: Range<usize>, error: Error) -> Error {
        let before = self.text.as_bytes().get(..range.start).unwrap_or_default();
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        let message = format!("`{}` line {line}: {}", self.path.display(), error.message);
        Error { kind: Kind::Config, message, ..error }
    }
}

/// Keys that are reserved for later versions.
pub(super) const RESERVED_KEYS: [&str; 2] = ["effort", "fallback"];

/// Removes Rust types and reserved keys from a message of the parser. Also returns the keys that
/// are similar to an unknown key.
fn without_parser_terms(message: &str) -> (String, Vec<String>) {
    let mut message = message.replace("expected u32", "expected a whole number");
    message = message.replace("missing field", "missing key");
    if message == "invalid type: map, expected a sequence" {
        message = "expected a list of tables, each of them below `[[…]]`, got one table".to_owned();
    }
    message = message.replace("expected a sequence", "expected a list");
    if let Some((found, _)) = message.split_once(", expected struct ") {
        message = format!("{found}, expected a table, whose keys are below `[…]`");
    }
    let Some((unknown, known)) =
        message.strip_prefix("unknown field `").and_then(|rest| rest.split_once("`, expected "))
    else {
        return (message, Vec::new());
    };
    // Every second piece is between two backticks.
    let known: Vec<&str> =
        known.split('`').skip(1).step_by(2).filter(|key| !RESERVED_KEYS.contains(key)).collect();
    let listed: Vec<String> = known.iter().map(|key| format!("`{key}`")).collect();
    let one_of = if listed.len() > 1 { "one of " } else { "" };
    let text = format!("unknown key `{unknown}`, expected {one_of}{}", listed.join(", "));
    (text, address::nearest(unknown, known))
}

/// Returns whether a file does not exist, or its folder is not a folder.
fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Reads a regular file. A device or a pipe might never end.
fn read_file(path: &Path) -> io::Result<String> {
    let metadata = fs::metadata(path)?;
    if !metadata.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    if metadata.len() > MAX_TEXT_BYTES {
        return Err(io::Error::other(format!("it is larger than {MAX_TEXT_BYTES} bytes")));
    }
    fs::read_to_string(path)
}
