//! The daemon itself, and the command that sends a request.

use std::path::PathBuf;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::Environment;

/// Version of the protocol. It increases if a client and a daemon of different versions would
/// misunderstand each other.
pub const PROTOCOL: u32 = 3;

/// The HTTP header with the id of a request that changes something. The client creates the id, a
/// UUIDv7. A request that a caller repeats with the same id is carried out once.
pub const REQUEST_HEADER: &str = "segue-request";

/// The standard name of the same header. Its value can be any text, which stands for an id.
pub const IDEMPOTENCY_HEADER: &str = "idempotency-key";

/// `GET /v1/health`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Health {
    pub version: String,
    pub protocol: u32,
    pub pid: u32,
    pub started_at: Timestamp,
    /// The daemon is stopping: it finishes earlier requests and accepts no new ones.
    #[serde(default)]
    pub ending: bool,
}

/// The working folder and the environment of the command that sends a request. A client on a network
/// sends no environment: it gets that of the user's login shell.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Caller {
    /// `/` if the client has no folder on the machine of the daemon.
    #[serde(default = "root_folder")]
    pub cwd: PathBuf,
    #[schemars(skip)]
    pub environment: Environment,
}

fn root_folder() -> PathBuf {
    PathBuf::from("/")
}
