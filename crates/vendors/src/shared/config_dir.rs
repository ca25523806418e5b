//! Determines the folder in which a vendor keeps its files.

use std::path::{Path, PathBuf};

use segue_core::model::Environment;
use segue_core::{Error, Result};

const HINT: &str = "run `export HOME=~` and try again";

/// Returns the folder that the environment variable names, or else the default folder. Fails if
/// there is neither, or if the path is relative: it must be the same in every working folder.
pub(crate) fn from_variable(
    environment: &Environment,
    (title, variable): (&str, &str),
    default: Option<PathBuf>,
) -> Result<PathBuf> {
    let Some(folder) = set(environment, variable).map(PathBuf::from).or(default) else {
        return Err(undetermined(title)
            .caused_by(format!("neither `{variable}` nor `HOME` is set"))
            .hint(HINT));
    };
    if folder.is_absolute() {
        return Ok(folder);
    }
    Err(Error::config(format!("`{}` is not an absolute path", folder.display()))
        .caused_by(format!("the folder of its files comes from `{variable}` or `HOME`")))
}

/// Returns a folder below the user's home. `None` if `HOME` is missing or empty.
pub(crate) fn below_home(environment: &Environment, name: &str) -> Option<PathBuf> {
    set(environment, "HOME").map(|home| Path::new(home).join(name))
}

/// Returns the value of an environment variable. `None` if it is missing or empty.
pub(crate) fn set<'a>(environment: &'a Environment, variable: &str) -> Option<&'a str> {
    environment.get(variable).filter(|value| !value.is_empty())
}

/// Returns the error for a vendor whose folder is named neither by this variable nor by `HOME`.
pub(crate) fn unknown(title: &str, variable: &str) -> Error {
    undetermined(title)
        .caused_by(format!("neither `{variable}` nor `HOME` is an absolute path"))
        .hint(HINT)
}

fn undetermined(title: &str) -> Error {
    Error::config(format!("cannot determine where {title} keeps its files"))
}
