//! How much memory this process has, and had at most.

use std::fs;

/// Forgets how much memory the process had at most until now. Returns how much it has.
pub(crate) fn forget_peak() -> u64 {
    // Where the kernel does not let it, the peak is the one of all cases: never too little.
    let _told = fs::write("/proc/self/clear_refs", "5");
    kilobytes("VmRSS:")
}

/// Returns how many bytes it had at most since then.
pub(crate) fn peak() -> u64 {
    kilobytes("VmHWM:")
}

fn kilobytes(key: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("its own figures");
    let line = status.lines().find_map(|line| line.strip_prefix(key)).expect("a figure");
    let word = line.split_ascii_whitespace().next().expect("a figure");
    word.parse::<u64>().expect("a number") * 1024
}
