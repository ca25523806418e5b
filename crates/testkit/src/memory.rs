//! The memory of this process.

use std::fs;

/// Returns the current resident memory in bytes.
pub fn resident() -> u64 {
    status_bytes("VmRSS:")
}

/// Returns the peak of the resident memory in bytes.
pub fn peak() -> u64 {
    status_bytes("VmHWM:")
}

fn status_bytes(key: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("the status of this process");
    let line = status.lines().find_map(|line| line.strip_prefix(key)).expect("a value");
    let kilobytes = line.split_ascii_whitespace().next().expect("a value");
    kilobytes.parse::<u64>().expect("a number") * 1024
}
