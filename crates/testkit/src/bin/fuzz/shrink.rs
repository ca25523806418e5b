//! Minimizes a case that fails.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::targets::FuzzTarget;
use crate::watched::{End, WatchedChild};

/// The time limit for minimizing a case.
const TIME_LIMIT: Duration = Duration::from_secs(20);

/// Removes parts that are not needed for the failure: first groups of lines, then groups of bytes,
/// in smaller and smaller groups.
pub(crate) fn minimize(target: FuzzTarget, bytes: &[u8], folder: &Path) -> Vec<u8> {
    let until = Instant::now() + TIME_LIMIT;
    let file = folder.join("smaller");
    let fails = |bytes: &[u8]| {
        fs::write(&file, bytes).expect("a file");
        let arguments = ["replay".to_owned(), target.name().to_owned(), file.display().to_string()];
        matches!(WatchedChild::start(&arguments).wait(until), End::Failed(_))
    };
    let lines: Vec<Vec<u8>> =
        bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    let bytes = remove_unneeded(lines, until, &|lines| fails(&lines.concat())).concat();
    remove_unneeded(bytes, until, &|bytes| fails(bytes))
}

/// Removes parts of a list, in smaller and smaller groups, as long as the rest still fails.
fn remove_unneeded<T: Clone>(
    mut all: Vec<T>,
    until: Instant,
    fails: &dyn Fn(&[T]) -> bool,
) -> Vec<T> {
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
