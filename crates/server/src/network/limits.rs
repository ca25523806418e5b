//! Counts connections and requests from a network, so that one client cannot occupy the daemon.

use std::collections::HashMap;
use std::hash::Hash;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use segue_core::model::TokenId;
use segue_core::rules::request_rate::{RateLimit, RateState};
use segue_core::{Error, Kind, Result};

/// The most connections at the same time.
const MAX_CONNECTIONS: usize = 512;

/// The most connections of one address at the same time.
const MAX_CONNECTIONS_OF_PEER: usize = 128;

/// The most terminals that are open with one token at the same time.
const MAX_TERMINALS_OF_TOKEN: usize = 32;

/// The most askers that are remembered. Beyond that, those that asked least recently are forgotten
/// first.
const MAX_ASKERS: usize = 10_000;

/// How often an address or a token may ask.
const REQUESTS: RateLimit = RateLimit { burst: 1000, interval: Duration::from_millis(2) };

/// How often an address may ask without a valid token or signature.
const FAILURES: RateLimit = RateLimit { burst: 30, interval: Duration::from_secs(2) };

/// Whose requests are counted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Asker {
    Peer(IpAddr),
    Token(TokenId),
    /// An address that sent no valid token or signature.
    Stranger(IpAddr),
}

impl Asker {
    fn limit(self) -> RateLimit {
        match self {
            Self::Peer(_) | Self::Token(_) => REQUESTS,
            Self::Stranger(_) => FAILURES,
        }
    }
}

/// The counters of all clients.
#[derive(Clone, Debug)]
pub(crate) struct NetworkLimits {
    started: Instant,
    askers: Arc<Mutex<HashMap<Asker, RateState>>>,
    connections: OpenCounts<IpAddr>,
    terminals: OpenCounts<TokenId>,
}

impl Default for NetworkLimits {
    fn default() -> Self {
        Self {
            started: Instant::now(),
            askers: Arc::default(),
            connections: OpenCounts::default(),
            terminals: OpenCounts::default(),
        }
    }
}

impl NetworkLimits {
    /// Counts a request. Fails if its sender asks too often.
    pub(crate) fn count(&self, asker: Asker) -> Result<()> {
        let now = self.started.elapsed();
        let mut askers = lock(&self.askers);
        if askers.len() >= MAX_ASKERS && !askers.contains_key(&asker) {
            forget(&mut askers, now);
        }
        let state = askers.entry(asker).or_insert_with(RateState::unused);
        let taken = state.take(asker.limit(), now);
        drop(askers);
        taken.map_err(too_many)
    }

    /// Counts a connection until the returned value is dropped. `None` if there are too many.
    pub(crate) fn open(&self, peer: IpAddr) -> Option<CountedConnection> {
        self.connections
            .open(peer, |all, own| all < MAX_CONNECTIONS && own < MAX_CONNECTIONS_OF_PEER)
    }

    /// Counts a terminal until the returned value is dropped. Fails if its token has too many.
    pub(crate) fn open_terminal(&self, token: TokenId) -> Result<CountedTerminal> {
        let opened = self.terminals.open(token, |_, own| own < MAX_TERMINALS_OF_TOKEN);
        opened.ok_or_else(|| {
            Error::new(
                Kind::TooMany,
                format!("{MAX_TERMINALS_OF_TOKEN} terminals are open already"),
            )
            .hint("close one of them")
        })
    }
}

/// Forgets askers whose limit is whole again or, if there is none, all of them.
fn forget(askers: &mut HashMap<Asker, RateState>, now: Duration) {
    askers.retain(|_, state| !state.is_unused(now));
    if askers.len() >= MAX_ASKERS {
        askers.clear();
    }
}

fn too_many(wait: Duration) -> Error {
    let seconds = wait.as_secs() + 1;
    let error = Error::new(Kind::TooMany, "too many requests in a short time")
        .hint(format!("try again in {seconds} s"));
    Error { retry_after_seconds: Some(seconds), ..error }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Counts what each owner has open at the same time.
#[derive(Debug)]
struct OpenCounts<K>(Arc<Mutex<HashMap<K, usize>>>);

impl<K> Clone for OpenCounts<K> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<K> Default for OpenCounts<K> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<K: Copy + Eq + Hash> OpenCounts<K> {
    /// Counts one more. `is_allowed` gets the number of all owners, and that of this owner.
    fn open(
        &self,
        owner: K,
        is_allowed: impl Fn(usize, usize) -> bool,
    ) -> Option<CountedOpening<K>> {
        let mut counts = lock(&self.0);
        let own = counts.get(&owner).copied().unwrap_or_default();
        if !is_allowed(counts.values().sum(), own) {
            return None;
        }
        counts.insert(owner, own + 1);
        drop(counts);
        Some(CountedOpening { counts: self.clone(), owner })
    }
}

/// Something that counts until it is dropped.
#[derive(Debug)]
pub(crate) struct CountedOpening<K: Copy + Eq + Hash> {
    counts: OpenCounts<K>,
    owner: K,
}

/// A connection that counts.
pub(crate) type CountedConnection = CountedOpening<IpAddr>;

/// An open terminal that counts.
pub(crate) type CountedTerminal = CountedOpening<TokenId>;

impl<K: Copy + Eq + Hash> Drop for CountedOpening<K> {
    fn drop(&mut self) {
        let mut counts = lock(&self.counts.0);
        let own = counts.entry(self.owner).or_default();
        *own = own.saturating_sub(1);
        if *own == 0 {
            counts.remove(&self.owner);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    fn peer(number: u8) -> IpAddr {
        Ipv4Addr::new(192, 0, 2, number).into()
    }

    #[test]
    fn connections_are_limited_in_all_and_for_each_address() {
        let limits = NetworkLimits::default();
        let mut open: Vec<CountedConnection> =
            (0..MAX_CONNECTIONS_OF_PEER).map(|_| limits.open(peer(1)).unwrap()).collect();
        assert!(limits.open(peer(1)).is_none());
        drop(open.pop());
        open.push(limits.open(peer(1)).unwrap());
        for number in 2..5 {
            open.extend((0..MAX_CONNECTIONS_OF_PEER).map(|_| limits.open(peer(number)).unwrap()));
        }
        assert!(limits.open(peer(5)).is_none());
        open.clear();
        assert!(lock(&limits.connections.0).is_empty());
        assert!(limits.open(peer(5)).is_some());
    }

    #[test]
    fn terminals_are_limited_for_each_token() {
        let limits = NetworkLimits::default();
        let token = |number: u8| {
            format!("00000000-0000-7000-8000-00000000000{number}").parse::<TokenId>().unwrap()
        };
        let open: Vec<CountedTerminal> =
            (0..MAX_TERMINALS_OF_TOKEN).map(|_| limits.open_terminal(token(1)).unwrap()).collect();
        assert_eq!(limits.open_terminal(token(1)).unwrap_err().kind, Kind::TooMany);
        assert!(limits.open_terminal(token(2)).is_ok());
        drop(open);
        assert!(limits.open_terminal(token(1)).is_ok());
    }

    #[test]
    fn strangers_are_refused_sooner_than_clients_with_a_token() {
        let limits = NetworkLimits::default();
        let refused = (0..200).filter(|_| limits.count(Asker::Stranger(peer(1))).is_err()).count();
        assert!(refused >= 100, "{refused}");
        let error = limits.count(Asker::Stranger(peer(1))).unwrap_err();
        assert_eq!(error.kind, Kind::TooMany);
        assert!(limits.count(Asker::Peer(peer(1))).is_ok());
        assert!(limits.count(Asker::Stranger(peer(2))).is_ok());
    }

    #[test]
    fn number_of_remembered_askers_is_limited() {
        let limits = NetworkLimits::default();
        for number in 0..u32::try_from(2 * MAX_ASKERS).unwrap() {
            limits.count(Asker::Stranger(Ipv4Addr::from(number).into())).unwrap();
        }
        assert!(lock(&limits.askers).len() <= MAX_ASKERS);
    }
}
