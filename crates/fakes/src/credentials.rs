//! Credentials for git in memory.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use segue_core::model::{GitHost, SecretText};
use segue_core::ports::{Credentials, GitTicket};
use segue_core::rules::askpass::PROGRAM;
use segue_core::{Error, Result};

use crate::Calls;

/// Tokens that a test sets, and tickets that are numbered.
#[derive(Debug)]
pub struct FakeCredentials {
    calls: Calls,
    tokens: Mutex<BTreeMap<GitHost, (String, SecretText)>>,
    variables: Mutex<Vec<String>>,
    tickets: Arc<Mutex<FakeTickets>>,
}

#[derive(Debug, Default)]
struct FakeTickets {
    opened: usize,
    open: BTreeMap<String, GitHost>,
}

#[derive(Debug)]
struct FakeTicket {
    secret: SecretText,
    tickets: Arc<Mutex<FakeTickets>>,
}

impl FakeCredentials {
    pub(crate) fn new(calls: Calls) -> Self {
        Self {
            calls,
            tokens: Mutex::default(),
            variables: Mutex::default(),
            tickets: Arc::default(),
        }
    }

    /// Sets the user name and the token for a host.
    pub fn put(&self, host: &str, username: &str, token: &str) {
        let host = GitHost::parse(host).unwrap();
        let credential = (username.to_owned(), SecretText::new(token));
        self.tokens.lock().unwrap().insert(host, credential);
    }

    /// Removes the credentials of all hosts.
    pub fn clear(&self) {
        self.tokens.lock().unwrap().clear();
    }

    /// Makes an environment variable one that contains a token.
    pub fn set_variable(&self, name: &str) {
        self.variables.lock().unwrap().push(name.to_owned());
    }
}

#[async_trait]
impl Credentials for FakeCredentials {
    fn username(&self, host: &GitHost) -> Option<String> {
        self.tokens.lock().unwrap().get(host).map(|(username, _)| username.clone())
    }

    async fn token(&self, host: &GitHost) -> Result<SecretText> {
        self.calls.enter("credentials.token")?;
        let token = self.tokens.lock().unwrap().get(host).map(|(_, token)| token.clone());
        token.ok_or_else(|| Error::config(format!("there are no credentials for `{host}`")))
    }

    fn variables(&self) -> Vec<String> {
        self.variables.lock().unwrap().clone()
    }

    fn askpass(&self) -> Result<PathBuf> {
        self.calls.enter("credentials.askpass")?;
        Ok(PathBuf::from("/state/bin").join(PROGRAM))
    }

    fn open_ticket(&self, host: &GitHost) -> Result<Arc<dyn GitTicket>> {
        self.calls.enter("credentials.open_ticket")?;
        let mut tickets = self.tickets.lock().unwrap();
        tickets.opened += 1;
        let secret = format!("ticket-{}", tickets.opened);
        tickets.open.insert(secret.clone(), host.clone());
        let secret = SecretText::new(secret);
        Ok(Arc::new(FakeTicket { secret, tickets: Arc::clone(&self.tickets) }))
    }

    fn ticket_host(&self, ticket: &SecretText) -> Option<GitHost> {
        self.tickets.lock().unwrap().open.get(ticket.expose()).cloned()
    }

    fn check(&self) -> Vec<Error> {
        Vec::new()
    }
}

impl GitTicket for FakeTicket {
    fn secret(&self) -> &SecretText {
        &self.secret
    }
}

impl Drop for FakeTicket {
    fn drop(&mut self) {
        self.tickets.lock().unwrap().open.remove(self.secret.expose());
    }
}
