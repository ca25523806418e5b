//! The recorded steps of a request. A repeated request finds them and does not repeat the work.

use crate::model::{RequestKey, RequestRecord, RequestStep};
use crate::ports::{Change, Ports};

/// Returns the change that records a step of a request. Empty if the request has no id.
pub fn step(ports: &Ports, key: Option<RequestKey>, step: RequestStep) -> Vec<Change> {
    let record = |key| RequestRecord { key, step, at: ports.clock.now() };
    key.map(|key| Change::RecordRequest(Box::new(record(key)))).into_iter().collect()
}
