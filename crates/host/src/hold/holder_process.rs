//! Finds and examines the process of a launch's holder without a request to it. The holder may be
//! stopped.

use std::fs;
use std::path::Path;

use segue_core::model::ProcessRef;
use segue_core::ports::Fault;

use super::order::{LiveProcesses, has_end, live_path, socket_path};
use super::spawn::is_holder_of;
use crate::process;

/// The maximum size of `live.json`. Real files are smaller.
const MAX_RECORD_BYTES: u64 = 64 << 10;

/// Returns the live process that holds a launch. A holder that has not started its agent yet is not
/// returned, because it does not handle signals.
pub(super) fn holder(folder: &Path) -> Option<ProcessRef> {
    match recorded(folder) {
        // Other processes can write this file, so check that the process really is the holder.
        Some(live) => {
            let is_holder =
                process::is_alive(&live.holder) && is_holder_of(live.holder.pid, folder);
            is_holder.then_some(live.holder)
        }
        None => process::all()
            .into_iter()
            .filter(|pid| is_holder_of(*pid, folder) && !process::children(*pid).is_empty())
            .find_map(process::find),
    }
}

fn recorded(folder: &Path) -> Option<LiveProcesses> {
    let path = live_path(folder);
    let is_small = fs::metadata(&path).is_ok_and(|metadata| metadata.len() <= MAX_RECORD_BYTES);
    let text = is_small.then(|| fs::read(&path).ok()).flatten()?;
    serde_json::from_slice(&text).ok()
}

/// Returns the fault that prevents a launch from working, as far as it is visible without a request
/// to its holder.
pub(super) fn fault(
    folder: &Path,
    holder: &ProcessRef,
    agent: Option<&ProcessRef>,
) -> Option<Fault> {
    if !process::is_alive(holder) {
        return None;
    }
    if process::is_stopped(holder) {
        return Some(Fault::HolderStopped { pid: holder.pid });
    }
    if let Some(pid) = agent.and_then(process::stopped_below) {
        return Some(Fault::AgentStopped { pid });
    }
    let is_missing = !socket_path(folder).exists() && !has_end(folder);
    is_missing.then_some(Fault::SocketMissing { pid: holder.pid })
}
