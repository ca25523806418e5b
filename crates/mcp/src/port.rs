//! The port to the daemon.

use std::fmt::Debug;

use async_trait::async_trait;
use segue_core::api::Caller;
use segue_core::{Error, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Sends requests to the daemon's HTTP API, with the rights of the process or the token that uses
/// the MCP server.
#[async_trait]
pub trait ApiCalls: Debug + Send + Sync + 'static {
    /// Returns the working folder and the environment for requests that start an agent.
    fn caller(&self) -> Caller;

    /// Returns whether the caller has a working folder of its own on this machine. A client on a
    /// network has none.
    fn has_folder(&self) -> bool {
        true
    }

    /// Returns whether the calls come from inside an agent. Only the daemon decides about rights; this
    /// decides which tools are listed.
    fn is_agent(&self) -> bool {
        false
    }

    /// Sends a request and returns the body of the answer. The first request may have to connect. If
    /// the connection breaks, the request is sent again, and a change is still carried out once.
    async fn send(&self, call: ApiCall) -> Result<Value>;
}

/// A request to the daemon.
#[derive(Clone, Debug, PartialEq)]
pub struct ApiCall {
    pub method: ApiMethod,
    /// The path with its query.
    pub path: String,
    /// `Null` if the request has no body.
    pub body: Value,
    /// The request changes something: it needs an id, so that it is carried out once.
    pub is_change: bool,
}

/// The method of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApiMethod {
    Get,
    Post,
}

/// Sends a request that changes nothing.
pub(crate) async fn ask<A: DeserializeOwned>(
    api: &dyn ApiCalls,
    path: &str,
    body: &impl Serialize,
) -> Result<A> {
    post(api, path, body, false).await
}

/// Sends a request that changes something.
pub(crate) async fn change<A: DeserializeOwned>(
    api: &dyn ApiCalls,
    path: &str,
    body: &impl Serialize,
) -> Result<A> {
    post(api, path, body, true).await
}

/// Reads from a path with query parameters.
pub(crate) async fn get<A: DeserializeOwned>(
    api: &dyn ApiCalls,
    path: &str,
    parameters: &impl Serialize,
) -> Result<A> {
    let parameters = serde_urlencoded::to_string(parameters)
        .map_err(|error| Error::internal("a request cannot be written").caused_by(error))?;
    let path = if parameters.is_empty() { path.to_owned() } else { format!("{path}?{parameters}") };
    let call = ApiCall { method: ApiMethod::Get, path, body: Value::Null, is_change: false };
    understood(api.send(call).await?)
}

async fn post<A: DeserializeOwned>(
    api: &dyn ApiCalls,
    path: &str,
    body: &impl Serialize,
    is_change: bool,
) -> Result<A> {
    let body = serde_json::to_value(body)
        .map_err(|error| Error::internal("a request cannot be written").caused_by(error))?;
    let call = ApiCall { method: ApiMethod::Post, path: path.to_owned(), body, is_change };
    understood(api.send(call).await?)
}

fn understood<A: DeserializeOwned>(answer: Value) -> Result<A> {
    serde_json::from_value(answer).map_err(|error| {
        Error::unavailable("the daemon's answer cannot be understood")
            .caused_by(error)
            .hint("run `segue daemon stop` in a terminal, then try again")
    })
}
