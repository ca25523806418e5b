//! The last bytes of an agent's output.

use std::collections::VecDeque;

/// A bounded queue of bytes. If it is full, the oldest bytes are dropped. Memory is allocated only
/// as it fills.
#[derive(Debug)]
pub(crate) struct OutputHistory {
    bytes: VecDeque<u8>,
    limit: usize,
}

impl OutputHistory {
    pub(crate) fn new(limit: usize) -> Self {
        Self { bytes: VecDeque::new(), limit }
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let kept = bytes.get(bytes.len().saturating_sub(self.limit)..).unwrap_or(bytes);
        let excess = (self.bytes.len() + kept.len()).saturating_sub(self.limit);
        self.bytes.drain(..excess);
        // The default growth could allocate up to twice the limit.
        if self.bytes.capacity() < self.bytes.len() + kept.len() {
            let capacity = (self.bytes.capacity() * 2).clamp(kept.len(), self.limit);
            self.bytes.reserve_exact(capacity.saturating_sub(self.bytes.len()));
        }
        self.bytes.extend(kept);
    }

    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Removes the last `count` bytes.
    pub(crate) fn forget_newest(&mut self, count: usize) {
        self.bytes.truncate(self.bytes.len().saturating_sub(count));
    }

    /// Returns the last `count` bytes, in two pieces.
    pub(crate) fn last(&self, count: usize) -> [&[u8]; 2] {
        let (older, newer) = self.bytes.as_slices();
        let of_newer = count.min(newer.len());
        let of_older = (count - of_newer).min(older.len());
        [
            older.get(older.len() - of_older..).unwrap_or_default(),
            newer.get(newer.len() - of_newer..).unwrap_or_default(),
        ]
    }

    pub(crate) fn to_vec(&self) -> Vec<u8> {
        self.bytes.iter().copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn push_keeps_the_newest_bytes() {
        let mut history = OutputHistory::new(10);
        history.push(b"abcdef");
        history.push(b"ghijkl");
        assert_eq!(history.to_vec(), b"cdefghijkl");
        history.push(b"0123456789ABC");
        assert_eq!(history.to_vec(), b"3456789ABC");
    }

    #[test]
    fn last_returns_bytes_in_order_wherever_the_buffer_wraps() {
        let mut history = OutputHistory::new(10);
        for byte in b"abcdefghijklmnopqrstuvwxyz" {
            history.push(&[*byte]);
            let all = history.to_vec();
            for count in 0..12 {
                let expected = &all[all.len().saturating_sub(count)..];
                assert_eq!(history.last(count).concat(), expected);
            }
        }
    }

    #[test]
    fn capacity_grows_on_demand_and_never_beyond_the_limit() {
        let mut history = OutputHistory::new(1 << 16);
        history.push(b"x");
        assert!(history.bytes.capacity() < 1024);
        for _ in 0..1000 {
            history.push(&[b'y'; 777]);
        }
        assert_eq!(history.to_vec().len(), 1 << 16);
        assert!(history.bytes.capacity() <= (1 << 16) + 1024, "{}", history.bytes.capacity());
    }
}
