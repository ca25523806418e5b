//! Tickets: random texts by which the daemon recognizes its own git commands.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use segue_core::Result;
use segue_core::model::{GitHost, SecretText};
use segue_core::ports::GitTicket;

use crate::random::random_bytes;

/// The length of a ticket: 256 bits.
const TICKET_BYTES: usize = 32;

/// The open tickets, in memory only. `Debug` output has nothing of them.
#[derive(Clone, Default)]
pub struct Tickets(Arc<Mutex<HashMap<String, GitHost>>>);

impl Tickets {
    /// Opens a ticket for a host. It is void when the returned value is dropped.
    pub fn open(&self, host: &GitHost) -> Result<Arc<dyn GitTicket>> {
        let secret = random_text()?;
        self.all().insert(secret.clone(), host.clone());
        Ok(Arc::new(OpenTicket { secret: SecretText::new(secret), all: self.clone() }))
    }

    /// Returns the host of an open ticket.
    pub fn host(&self, ticket: &SecretText) -> Option<GitHost> {
        self.all().get(ticket.expose()).cloned()
    }

    fn all(&self) -> MutexGuard<'_, HashMap<String, GitHost>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn random_text() -> Result<String> {
    let bytes: [u8; TICKET_BYTES] = random_bytes()?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

impl fmt::Debug for Tickets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Tickets").field(&self.all().len()).finish()
    }
}

#[derive(Debug)]
struct OpenTicket {
    secret: SecretText,
    all: Tickets,
}

impl GitTicket for OpenTicket {
    fn secret(&self) -> &SecretText {
        &self.secret
    }
}

impl Drop for OpenTicket {
    fn drop(&mut self) {
        self.all.all().remove(self.secret.expose());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticket_is_valid_for_its_host_until_it_is_dropped() {
        let tickets = Tickets::default();
        let hosts = ["a.example.org", "b.example.org"].map(|host| GitHost::parse(host).unwrap());
        let open = hosts.each_ref().map(|host| tickets.open(host).unwrap());
        let secrets = open.each_ref().map(|ticket| ticket.secret().clone());
        assert_ne!(secrets[0], secrets[1]);
        assert_eq!(secrets[0].expose().len(), 2 * TICKET_BYTES);
        for (secret, host) in secrets.iter().zip(&hosts) {
            assert_eq!(tickets.host(secret).as_ref(), Some(host));
        }
        assert_eq!(tickets.host(&SecretText::new("")), None);
        assert_eq!(tickets.host(&SecretText::new("0".repeat(64))), None);
        let shown = format!("{tickets:?} {open:?}");
        assert!(!shown.contains(secrets[0].expose()), "{shown}");
        drop(open);
        for secret in &secrets {
            assert_eq!(tickets.host(secret), None);
        }
    }
}
