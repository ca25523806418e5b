//! The port of the MCP server to the daemon, for `segue mcp`.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use hyper::Method;
use segue_core::api::Caller;
use segue_core::model::Environment;
use segue_core::{Kind, Result};
use segue_mcp::{ApiCall, ApiCalls, ApiMethod};
use serde_json::Value;

use super::Client;
use crate::wiring::Local;

/// How long a call inside an agent waits for a daemon, which the agent may not start itself.
const DAEMON_TIMEOUT: Duration = Duration::from_secs(30);

/// At most this many connections stay open between calls.
const MAX_IDLE_CONNECTIONS: usize = 4;

/// Serves the MCP protocol on standard input and output until the input ends. Connects to the daemon
/// at the first call.
pub async fn serve_mcp(local: &Local) -> Result<()> {
    let local = local.clone().starting_apart();
    let calls = DaemonCalls { local, idle: Mutex::default(), caller: OnceLock::new() };
    segue_mcp::serve_stdio(Arc::new(calls)).await
}

/// Sends the calls of tools to the daemon. A connection carries one request at a time, so every call
/// takes a connection of its own, and leaves it for later calls.
#[derive(Debug)]
struct DaemonCalls {
    local: Local,
    idle: Mutex<Vec<Client>>,
    /// Found out once: it takes longer than a call to look at the processes above this one.
    caller: OnceLock<Caller>,
}

impl DaemonCalls {
    async fn client(&self) -> Result<Client> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        match idle {
            Some(client) => Ok(client),
            None => Client::connect_patiently(&self.local, DAEMON_TIMEOUT).await,
        }
    }

    fn keep(&self, client: Client) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < MAX_IDLE_CONNECTIONS {
            idle.push(client);
        }
    }
}

#[async_trait]
impl ApiCalls for DaemonCalls {
    /// Returns this process's folder and environment. The daemon ignores the environment of an
    /// agent's process, so it is not sent.
    fn caller(&self) -> Caller {
        let find = || match self.local.is_inside_agent() {
            true => {
                let cwd = self.local.cwd().to_owned();
                Caller { cwd, environment: Environment::default() }
            }
            false => self.local.caller(),
        };
        self.caller.get_or_init(find).clone()
    }

    fn is_agent(&self) -> bool {
        self.local.is_inside_agent()
    }

    async fn send(&self, call: ApiCall) -> Result<Value> {
        let client = self.client().await?;
        let method = match call.method {
            ApiMethod::Get => Method::GET,
            ApiMethod::Post => Method::POST,
        };
        let answer = match call.is_change {
            true => client.line.change(method, &call.path, &call.body).await,
            false => client.line.ask(method, &call.path, &call.body).await,
        };
        // A connection that failed may not work again.
        if !matches!(&answer, Err(error) if error.kind == Kind::Unavailable) {
            self.keep(client);
        }
        answer
    }
}
