//! Minimizes a case that fails.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::targets::FuzzTarget;
use crate::watched::{End, WatchedChild};

/// The time limit for minimizing a case.
const PATIENCE: Duration = Duration::from_secs(20);

/// Removes parts that are not needed for the failure: first groups of lines, then groups of bytes,
/// in smaller and smaller groups.
pub(crate) fn shrunk(target: FuzzTarget, bytes: &[u8], folder: &Path) -> Vec<u8> {
    let until = Instant::now() + PATIENCE;
    let file = folder.join("smaller");
    let fails = |bytes: &[u8]| {
        fs::write(&file, bytes).expect("a file");
        let arguments = ["replay".to_owned(), target.name().to_owned(), file.display().to_string()];
        matches!(WatchedChild::start(&arguments).wait(until), End::Failed(_))
    };
    let lines: Vec<Vec<u8>> =
        bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    let bytes = without(lines, until, &|lines| fails(&lines.concat())).concat();
    without(bytes, until, &|bytes| fails(bytes))
}

fn without<T: Clone>(mut all: Vec<T>, until: Instant, fails: &dyn Fn(&[T]) -> bool) -> Vec<T> {
    let mut size = all.len() / 2;
    while size > 0 {
        let mut at = 0;
        while at < all.len() && Instant::now() < until {
            let end = all.len().min(at + size);
            let rest = [&all[..at], &all[end..]].concat();
            if fails(&rest) { all = rest } else { at = end }
        }
        size /= 2;
    }
    all
}
