//! The connections of a process that asks the daemon on behalf of another program.

use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use segue_core::api::Caller;
use segue_core::model::Environment;
use segue_core::{Kind, Result};

use super::Client;
use crate::wiring::Local;

/// How long a request inside an agent waits for a daemon, which the agent may not start itself.
pub(super) const DAEMON_TIMEOUT: Duration = Duration::from_secs(30);

/// At most this many connections stay open between requests.
const MAX_IDLE_CONNECTIONS: usize = 4;

/// Connections to the daemon. A connection carries one request at a time, so every request takes a
/// connection of its own, and leaves it for later requests.
#[derive(Debug)]
pub(super) struct ClientPool {
    local: Local,
    idle: Mutex<Vec<Client>>,
    /// Found out once: it takes longer than a request to look at the processes above this one.
    is_inside_agent: OnceLock<bool>,
}

impl ClientPool {
    pub(super) fn new(local: &Local) -> Self {
        let local = local.clone().starting_apart();
        Self { local, idle: Mutex::default(), is_inside_agent: OnceLock::new() }
    }

    pub(super) fn local(&self) -> &Local {
        &self.local
    }

    pub(super) fn is_inside_agent(&self) -> bool {
        *self.is_inside_agent.get_or_init(|| self.local.is_inside_agent())
    }

    /// Returns this process's folder and environment. The daemon ignores the environment of an
    /// agent's process, so it is not sent.
    pub(super) fn caller(&self) -> Caller {
        if self.is_inside_agent() {
            let cwd = self.local.cwd().to_owned();
            return Caller { cwd, environment: Environment::default() };
        }
        self.local.caller()
    }

    pub(super) async fn client(&self) -> Result<Client> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        match idle {
            Some(client) => Ok(client),
            None => Client::connect_patiently(&self.local, DAEMON_TIMEOUT).await,
        }
    }

    /// Keeps a connection for later requests, unless it failed: then it may not work again. Returns
    /// whether it works.
    pub(super) fn keep<T>(&self, client: Client, answer: &Result<T>) -> bool {
        if matches!(answer, Err(error) if error.kind == Kind::Unavailable) {
            return false;
        }
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < MAX_IDLE_CONNECTIONS {
            idle.push(client);
        }
        true
    }
}
