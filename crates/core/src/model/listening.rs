//! Where the daemon accepts requests over a network.

use std::net::SocketAddr;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where and how the daemon accepts requests over TCP. It is stored, so that a new daemon listens
/// there as well.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ListenSettings {
    pub address: SocketAddr,
    pub transport: Transport,
    /// The names in lower case by which clients reach this address, besides its number and, on
    /// loopback, `localhost`.
    #[serde(default)]
    pub hosts: Vec<String>,
}

/// What protects the requests on their way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Transport {
    /// Nothing. Only for loopback.
    Plain,
    /// TLS, with a certificate chain and a private key in PEM files.
    Tls { certificate: PathBuf, key: PathBuf },
    /// A proxy on the same machine or in the same network, which speaks TLS with the clients.
    Proxy,
}
