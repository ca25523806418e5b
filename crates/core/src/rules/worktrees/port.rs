//! The TCP port of a worktree.

use std::path::Path;

use sha2::{Digest as _, Sha256};

/// The ports for worktrees. The kernel gives none of them to outgoing connections.
const FIRST_PORT: u16 = 20_000;
const PORT_COUNT: u16 = 10_000;

/// Chooses the port of a new worktree: the first free one, from a number that depends on the path.
/// So a worktree that is made again mostly gets the port that it had. `None` if no port is free.
pub fn choose_port(path: &Path, is_free: impl Fn(u16) -> bool) -> Option<u16> {
    let digest = Sha256::digest(path.as_os_str().as_encoded_bytes());
    let start = u16::from_be_bytes([digest[0], digest[1]]) % PORT_COUNT;
    let ports = (0..PORT_COUNT).map(|offset| FIRST_PORT + (start + offset) % PORT_COUNT);
    ports.into_iter().find(|port| is_free(*port))
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    #[test]
    fn port_depends_on_the_path_and_skips_ports_that_are_not_free() {
        let path = Path::new("/data/worktrees/app/coder/fix");
        let first = choose_port(path, |_| true).unwrap();
        assert_eq!(choose_port(path, |_| true), Some(first));
        assert_ne!(choose_port(Path::new("/data/worktrees/app/coder/x"), |_| true), Some(first));
        let second = choose_port(path, |port| port != first).unwrap();
        assert_ne!(second, first);
        assert_eq!(choose_port(path, |_| false), None);
    }

    #[test]
    fn every_port_of_the_range_is_tried_once() {
        let tried = RefCell::new(Vec::new());
        let is_free = |port| {
            tried.borrow_mut().push(port);
            false
        };
        assert_eq!(choose_port(Path::new("/x"), is_free), None);
        let mut tried = tried.into_inner();
        tried.sort_unstable();
        assert_eq!(tried, (FIRST_PORT..FIRST_PORT + PORT_COUNT).collect::<Vec<u16>>());
    }
}
