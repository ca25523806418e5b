//! The corpus for new cases: recordings of real programs, and inputs that failed before.

use std::fs;
use std::path::{Path, PathBuf};

use crate::targets::FuzzTarget;

/// Returns the folder of this crate.
pub(crate) fn here() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Returns the inputs from which the cases of a target are made.
pub(crate) fn samples(target: FuzzTarget) -> Vec<Vec<u8>> {
    let mut samples = target.samples();
    samples.extend(regressions(target).iter().map(|path| fs::read(path).expect("a regression")));
    assert!(!samples.is_empty(), "there are samples of {}", target.name());
    samples
}

/// Returns the files of a target's inputs that failed before.
pub(crate) fn regressions(target: FuzzTarget) -> Vec<PathBuf> {
    files(&here().join("regressions").join(target.name()))
}

/// Reads a vendor's recorded fixtures: the files whose names have this ending.
pub(crate) fn recorded(vendor: &str, ending: &str) -> Vec<Vec<u8>> {
    let folder = here().join("../vendors/src").join(vendor).join("fixtures");
    let wanted = files(&folder).into_iter().filter(|path| path.to_string_lossy().ends_with(ending));
    wanted.map(|path| fs::read(path).expect("a recording")).collect()
}

/// Reads the recorded deliveries of forges whose names begin with one of these.
pub(crate) fn deliveries(beginnings: &[&str]) -> Vec<Vec<u8>> {
    let is_wanted = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        name.ends_with(".json") && beginnings.iter().any(|it| name.starts_with(it))
    };
    let all = files(&here().join("../forges/tests/fixtures")).into_iter();
    all.filter(is_wanted).map(|path| fs::read(path).expect("a delivery")).collect()
}

/// Returns the sorted files of a folder. The order must be stable, because the cases depend on it.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> =
        entries.map(|entry| entry.path()).filter(|path| path.is_file()).collect();
    files.sort();
    files
}
