//! The permissions, models and commands that a session accepts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::{CommandArguments, Permission, ProgramCommand};

/// `GET /v1/session/options`
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionOptions {
    /// Empty if the vendor's program ignores permissions, or if its arguments decide.
    pub permissions: Vec<Permission>,
    /// Models that are known for the vendor. Its program may accept others.
    pub models: Vec<String>,
    /// Commands of the vendor's program that `POST /v1/send` runs with `command`.
    pub commands: Vec<ProgramCommandView>,
}

/// A command of a vendor's program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProgramCommandView {
    /// Without the slash.
    pub name: String,
    pub description: String,
    /// What the arguments mean; empty if that is not known. Missing if the command has none.
    pub arguments: Option<String>,
}

impl From<ProgramCommand> for ProgramCommandView {
    fn from(ProgramCommand { name, description, arguments, .. }: ProgramCommand) -> Self {
        let arguments = match arguments {
            CommandArguments::Refused => None,
            CommandArguments::Accepted => Some(String::new()),
            CommandArguments::Described(text) => Some(text),
        };
        Self { name, description, arguments }
    }
}
