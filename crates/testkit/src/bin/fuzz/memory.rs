//! Measures the current and the peak memory of this process.

use std::fs;

/// Resets the peak memory of this process. Returns the current memory in bytes.
pub(crate) fn forget_peak() -> u64 {
    // If the kernel refuses the reset, the peak of all earlier cases remains. It is then too high,
    // but never too low.
    let _told = fs::write("/proc/self/clear_refs", "5");
    kilobytes("VmRSS:")
}

/// Returns the peak memory since the last reset, in bytes.
pub(crate) fn peak() -> u64 {
    kilobytes("VmHWM:")
}

fn kilobytes(key: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("its own figures");
    let line = status.lines().find_map(|line| line.strip_prefix(key)).expect("a figure");
    let word = line.split_ascii_whitespace().next().expect("a figure");
    word.parse::<u64>().expect("a number") * 1024
}
