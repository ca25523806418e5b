//! Carries out each changing request once, even if a client sends it several times.
//!
//! Within one daemon, a repeated request waits for the first one and gets the same response. A
//! later daemon finds the steps of the request in the store: they were recorded in the same commits
//! as the changes.

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher, Hash};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use segue_core::model::{RequestKey, RequestStep};
use segue_core::ports::{Commit, Ports};
use segue_core::{Error, Kind, Result, failpoint};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::sync::watch;
use tokio::time::Instant;

pub(crate) use segue_core::flows::requests::step;

/// At most this many responses per caller are kept in memory. The requests of one caller never
/// displace those of another.
const MAX_ANSWERS_PER_CALLER: usize = 64;

/// A response is kept in memory for this time after its request arrived.
const ANSWER_LIFETIME: Duration = Duration::from_secs(600);

/// A response with more bytes is not stored. A later daemon carries out the request again.
const MAX_STORED_ANSWER_BYTES: usize = 256 * 1024;

type RequestOutcome = Result<Value>;

/// The requests that this daemon carries out or has carried out recently.
#[derive(Debug, Default)]
pub(crate) struct Requests {
    remembered: Mutex<RememberedRequests>,
}

#[derive(Debug, Default)]
struct RememberedRequests {
    entries: HashMap<RequestKey, Entry>,
    /// The keys with the times of their arrival, oldest first.
    order: VecDeque<(RequestKey, Instant)>,
}

#[derive(Debug)]
struct Entry {
    /// A hash of the request's content.
    digest: u64,
    /// `None` while the request is being carried out.
    outcome: watch::Receiver<Option<RequestOutcome>>,
}

/// Whether the response to a request is stored, for a later daemon that gets the request again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AnswerStorage {
    /// The response is not stored. If the work is repeated, it finds its own steps or changes
    /// nothing.
    NotStored,
    /// The work stores its response in the same commit as its changes.
    WithChanges,
    /// The response is stored after the work is done.
    AfterWork,
}

/// One request that is carried out at most once.
#[derive(Clone, Debug)]
pub(crate) struct Once {
    requests: Arc<Requests>,
    /// `None` if the store cannot be opened and has to be repaired.
    ports: Option<Ports>,
    /// `None` if the client sent no id. Then the work is done every time.
    request: Option<(RequestKey, u64)>,
}

impl Once {
    /// Identifies a request by its key and a hash of its content.
    pub(crate) fn new(
        requests: &Arc<Requests>,
        ports: Option<&Ports>,
        key: Option<RequestKey>,
        content: &impl Hash,
    ) -> Self {
        let hasher = BuildHasherDefault::<DefaultHasher>::default();
        let request = key.map(|key| (key, hasher.hash_one(content)));
        Self { requests: Arc::clone(requests), ports: ports.cloned(), request }
    }

    /// Returns the key under which the work records its steps.
    pub(crate) fn key(&self) -> Option<RequestKey> {
        self.request.map(|(key, _)| key)
    }

    /// Does the work, unless it was done before or is in progress. The work continues if the client
    /// disconnects. Fails if the id was used for a request with other content.
    pub(crate) async fn carry_out<T>(
        self,
        storage: AnswerStorage,
        work: impl Future<Output = Result<T>> + Send + 'static,
    ) -> Result<T>
    where
        T: Serialize + DeserializeOwned + Send + 'static,
    {
        let Some((key, digest)) = self.request else { return work.await };
        let mut outcome = match self.requests.enter(key, digest)? {
            Entered::Again(outcome) => outcome,
            Entered::First(sender) => {
                let outcome = sender.subscribe();
                tokio::spawn(async move {
                    let done = stored_answer_or_work(self.ports.as_ref(), key, storage, work).await;
                    // The work may succeed if the client tries again.
                    if done.as_ref().is_err_and(|error| error.kind == Kind::Unavailable) {
                        self.requests.forget(key);
                    }
                    sender.send_replace(Some(done));
                });
                outcome
            }
        };
        let done = outcome.wait_for(Option::is_some).await.ok().and_then(|done| done.clone());
        let done = done.ok_or_else(|| Error::internal(format!("request `{}` failed", key.id)))?;
        parse(done?)
    }
}

async fn stored_answer_or_work<T: Serialize>(
    ports: Option<&Ports>,
    key: RequestKey,
    storage: AnswerStorage,
    work: impl Future<Output = Result<T>>,
) -> RequestOutcome {
    let recorded = ports.filter(|_| storage != AnswerStorage::NotStored);
    if let Some(ports) = recorded
        && let Some(answer) = stored_answer(ports, key).await?
    {
        return Ok(answer);
    }
    let answer = serde_json::to_value(work.await?)
        .map_err(|error| Error::internal("an answer cannot be written").caused_by(error))?;
    if let Some(ports) = recorded.filter(|_| storage == AnswerStorage::AfterWork) {
        record_answer(ports, key, &answer).await;
    }
    Ok(answer)
}

/// Returns the response that an earlier daemon stored.
async fn stored_answer(ports: &Ports, key: RequestKey) -> Result<Option<Value>> {
    let steps = ports.store.request(key).await?;
    let answer = steps.into_iter().find_map(|step| match step {
        RequestStep::Done { answer } => Some(answer),
        _ => None,
    });
    // A response of another version that cannot be parsed is ignored.
    Ok(answer.and_then(|answer| serde_json::from_str(&answer).ok()))
}

async fn record_answer(ports: &Ports, key: RequestKey, answer: &Value) {
    let answer = answer.to_string();
    if answer.len() > MAX_STORED_ANSWER_BYTES {
        return;
    }
    let changes = step(ports, Some(key), RequestStep::Done { answer });
    failpoint::hit("request.done.before");
    if let Err(error) = ports.store.commit(Commit { changes, events: Vec::new() }).await {
        // The work is done. At worst, a later daemon repeats it.
        tracing::warn!(%error, "the answer to a request cannot be recorded");
    }
    failpoint::hit("request.done.after");
}

fn parse<T: DeserializeOwned>(answer: Value) -> Result<T> {
    serde_json::from_value(answer)
        .map_err(|error| Error::internal("an answer cannot be read").caused_by(error))
}

enum Entered {
    First(watch::Sender<Option<RequestOutcome>>),
    Again(watch::Receiver<Option<RequestOutcome>>),
}

impl Requests {
    fn enter(&self, key: RequestKey, digest: u64) -> Result<Entered> {
        self.remembered().enter(key, digest)
    }

    fn forget(&self, key: RequestKey) {
        self.remembered().entries.remove(&key);
    }

    fn remembered(&self) -> MutexGuard<'_, RememberedRequests> {
        self.remembered.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RememberedRequests {
    /// Adds a request, or returns the known request with the same key.
    fn enter(&mut self, key: RequestKey, digest: u64) -> Result<Entered> {
        self.forget_old(key);
        // A request whose task ended without a result can be carried out again.
        let is_lost = |entry: &Entry| {
            entry.outcome.borrow().is_none() && entry.outcome.has_changed().is_err()
        };
        match self.entries.get(&key).filter(|entry| !is_lost(entry)) {
            Some(entry) if entry.digest != digest => {
                Err(Error::conflict(format!("the request id `{}` was used already", key.id))
                    .caused_by("it belongs to a request with other content")
                    .hint("generate a new id for each request"))
            }
            Some(entry) => Ok(Entered::Again(entry.outcome.clone())),
            None => {
                let (sender, outcome) = watch::channel(None);
                self.entries.insert(key, Entry { digest, outcome });
                self.order.push_back((key, Instant::now()));
                Ok(Entered::First(sender))
            }
        }
    }

    /// Removes old responses, and the oldest responses of the caller of `next` if it has too many.
    /// A request in progress is kept.
    fn forget_old(&mut self, next: RequestKey) {
        let of_caller = |(key, _): &&(RequestKey, Instant)| key.caller == next.caller;
        let count = self.order.iter().filter(of_caller).count() + 1;
        let mut excess = count.saturating_sub(MAX_ANSWERS_PER_CALLER);
        let entries = &mut self.entries;
        self.order.retain(|(key, arrived)| {
            let Some(entry) = entries.get(key) else { return false };
            let is_excess = key.caller == next.caller && excess > 0;
            let is_old = is_excess || arrived.elapsed() >= ANSWER_LIFETIME;
            if !is_old || entry.outcome.borrow().is_none() {
                return true;
            }
            excess -= usize::from(is_excess);
            entries.remove(key);
            false
        });
    }
}
