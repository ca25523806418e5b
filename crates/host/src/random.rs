//! Random bytes for secrets.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use segue_core::Result;

use crate::failure::cannot;

/// The source of random bytes. It never blocks after the machine has started.
const RANDOM: &str = "/dev/urandom";

/// Returns random bytes that cannot be predicted.
pub fn random_bytes<const COUNT: usize>() -> Result<[u8; COUNT]> {
    let mut bytes = [0; COUNT];
    let read = File::open(RANDOM).and_then(|mut file| file.read_exact(&mut bytes));
    read.map_err(|error| cannot("read", Path::new(RANDOM), &error))?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_differ_each_time() {
        assert_ne!(random_bytes::<32>().unwrap(), random_bytes::<32>().unwrap());
    }
}
