//! The user's own settings: `config.toml`.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use segue_core::model::VendorId;
use segue_core::{Error, Result};
use serde::Deserialize;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    /// The vendor of agents for which none is named.
    vendor: Option<String>,
}

/// Returns the vendor that the user prefers.
pub(crate) fn default_vendor(config_file: &Path) -> Result<Option<VendorId>> {
    let text = match fs::read_to_string(config_file) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(broken(config_file).caused_by(error)),
    };
    let settings: Settings =
        toml::from_str(&text).map_err(|error| broken(config_file).caused_by(error.message()))?;
    Ok(settings.vendor.map(VendorId::new))
}

fn broken(config_file: &Path) -> Error {
    Error::config(format!("cannot read `{}`", config_file.display()))
        .hint("its one key is `vendor = \"…\"`")
}
