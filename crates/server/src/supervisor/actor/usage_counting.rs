//! Counts the tokens that the session has used. Transcripts are read in the background; the actor
//! records what was found.

use std::time::Duration;

use segue_core::Result;
use segue_core::flows::usage::{self, UsageScan};
use segue_core::model::{Session, VendorSessionId};
use segue_core::ports::Ports;
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::{Actor, Reply, SessionObservation, send_if_alive, send_reply};
use crate::blocking::blocking;

/// How long a request to stop or to remove a session waits for the count. The count continues after
/// that, and the actor handles other messages meanwhile.
const COUNT_TIMEOUT: Duration = Duration::from_secs(5);

/// The state of the counting of this session's usage.
#[derive(Debug, Default)]
pub(super) struct UsageCounting {
    /// How many scans were begun. At most one runs.
    begun: u64,
    /// How many scans were recorded.
    recorded: u64,
    /// The transcripts may have grown since the current scan began.
    is_due_again: bool,
    /// The requests that wait for a scan, with its number.
    waiting: Vec<(u64, Reply<()>)>,
}

impl UsageCounting {
    /// Returns whether no scan is running or due.
    pub(super) fn is_idle(&self) -> bool {
        self.begun == self.recorded && self.waiting.is_empty()
    }
}

impl Actor {
    /// Counts what the session has used since the last count, after the current scan.
    pub(super) fn count_usage(&mut self) {
        if self.usage_counting.begun > self.usage_counting.recorded {
            self.usage_counting.is_due_again = true;
            return;
        }
        self.usage_counting.is_due_again = false;
        self.usage_counting.begun += 1;
        let (inbox, ports) = (self.inbox.clone(), self.ports.clone());
        let (session, conversations) = (self.state.session.clone(), self.conversations());
        tokio::spawn(async move {
            let scan = scan(ports, session, conversations).await;
            send_if_alive(&inbox, SessionObservation::UsageRead { scan });
        });
    }

    /// Replies as soon as everything is counted that the transcripts contain now.
    pub(super) fn count_usage_and_answer(&mut self, reply: Reply<()>) {
        self.count_usage();
        self.answer_when_counted(reply);
    }

    /// Replies after the scans that are running or due.
    fn answer_when_counted(&mut self, reply: Reply<()>) {
        let needed = self.usage_counting.begun + u64::from(self.usage_counting.is_due_again);
        match needed <= self.usage_counting.recorded {
            true => send_reply(reply, Ok(())),
            false => self.usage_counting.waiting.push((needed, reply)),
        }
    }

    /// Returns a wait for the scans that are running or due, at most for [`COUNT_TIMEOUT`]. A
    /// failure is logged, and the usage is counted later.
    pub(super) fn usage_counted(&mut self) -> impl Future<Output = ()> + Send + 'static {
        let (reply, counted) = oneshot::channel();
        self.answer_when_counted(reply);
        async move {
            let _counted_later = timeout(COUNT_TIMEOUT, counted).await;
        }
    }

    /// Records what a scan has found, and begins the next one if it is due.
    pub(super) async fn usage_read(&mut self, scan: Result<UsageScan>) {
        let recorded = self.record_scan(scan).await;
        self.usage_counting.recorded = self.usage_counting.begun;
        let done = self.usage_counting.recorded;
        for (_, reply) in self.usage_counting.waiting.extract_if(.., |(scan, _)| *scan <= done) {
            send_reply(reply, recorded.clone());
        }
        if self.usage_counting.is_due_again {
            self.count_usage();
        }
    }

    /// Records what a scan has found. If it cannot be recorded, the next scan finds it again.
    async fn record_scan(&mut self, scan: Result<UsageScan>) -> Result<()> {
        let recorded = match scan {
            Ok(UsageScan { increments, error }) => {
                let recorded = usage::record(&self.ports, &mut self.state, increments).await;
                recorded.and(error.map_or(Ok(()), Err))
            }
            Err(error) => Err(error),
        };
        if let Err(error) = &recorded {
            let session = self.state.session.address();
            tracing::warn!(%session, %error, "the usage could not be counted");
        }
        recorded
    }

    /// Returns the conversations of the session, each once, in the order in which they were bound.
    fn conversations(&self) -> Vec<VendorSessionId> {
        let mut ids: Vec<VendorSessionId> = Vec::new();
        for binding in &self.state.bindings {
            if !ids.contains(&binding.vendor_session) {
                ids.push(binding.vendor_session.clone());
            }
        }
        ids
    }
}

async fn scan(
    ports: Ports,
    session: Session,
    conversations: Vec<VendorSessionId>,
) -> Result<UsageScan> {
    let known = ports.store.usage_cursors(&[session.id]).await?;
    blocking(move || usage::read(&ports, &session, &conversations, known)).await
}
