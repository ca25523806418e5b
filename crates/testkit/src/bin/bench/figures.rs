//! Reads the resource usage of processes from `/proc`.

use std::fs;
use std::time::Duration;

/// The processor time and the context switches of processes since their start.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ProcessUsage {
    pub(crate) processor: Duration,
    /// The number of voluntary and involuntary context switches.
    pub(crate) switches: u64,
}

impl ProcessUsage {
    /// Returns the sum over all threads of these processes.
    pub(crate) fn of(pids: &[u32]) -> Self {
        let threads = pids.iter().flat_map(|pid| threads(*pid));
        threads.fold(Self::default(), |sum, thread| Self {
            processor: sum.processor + on_processor(&thread),
            switches: sum.switches + switches(&thread),
        })
    }

    /// Returns the difference from an earlier measurement.
    pub(crate) fn since(self, earlier: Self) -> Self {
        Self {
            processor: self.processor.saturating_sub(earlier.processor),
            switches: self.switches.saturating_sub(earlier.switches),
        }
    }
}

/// Returns the resident memory of a process in bytes, including shared pages.
pub(crate) fn resident(pid: u32) -> u64 {
    kilobytes(&format!("/proc/{pid}/status"), "VmRSS:")
}

/// Returns the private dirty memory of a process in bytes: pages that it wrote and shares with no
/// other process.
pub(crate) fn own_memory(pid: u32) -> u64 {
    kilobytes(&format!("/proc/{pid}/smaps_rollup"), "Private_Dirty:")
}

fn threads(pid: u32) -> Vec<String> {
    let entries = fs::read_dir(format!("/proc/{pid}/task")).expect("a process that is measured");
    entries.flatten().map(|entry| entry.path().display().to_string()).collect()
}

/// Returns the processor time of a thread, which the kernel counts in nanoseconds.
fn on_processor(thread: &str) -> Duration {
    let text = fs::read_to_string(format!("{thread}/schedstat")).unwrap_or_default();
    let first = text.split_ascii_whitespace().next().and_then(|word| word.parse().ok());
    Duration::from_nanos(first.unwrap_or_default())
}

fn switches(thread: &str) -> u64 {
    let status = format!("{thread}/status");
    value(&status, "voluntary_ctxt_switches:") + value(&status, "nonvoluntary_ctxt_switches:")
}

fn kilobytes(file: &str, key: &str) -> u64 {
    value(file, key) * 1024
}

fn value(file: &str, key: &str) -> u64 {
    let text = fs::read_to_string(file).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(key));
    let word = line.and_then(|line| line.split_ascii_whitespace().next());
    word.and_then(|word| word.parse().ok()).unwrap_or_default()
}
