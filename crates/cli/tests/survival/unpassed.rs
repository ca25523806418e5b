//! The failpoints of the sources that no scenario passes.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Returns the failpoints of the sources that are not in `passed`.
pub(crate) fn without<'a>(passed: impl Iterator<Item = &'a str>) -> BTreeSet<String> {
    let passed: BTreeSet<&str> = passed.collect();
    in_sources().into_iter().filter(|name| !passed.contains(name.as_str())).collect()
}

/// Returns the names of all failpoints of the product.
fn in_sources() -> BTreeSet<String> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut folders: Vec<PathBuf> = ["core", "store", "vendors", "host", "git", "server", "cli"]
        .map(|name| crates.join(name).join("src"))
        .into();
    let mut names = BTreeSet::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|it| it == "rs") {
                names.extend(in_source(&fs::read_to_string(&path).unwrap()));
            }
        }
    }
    assert!(names.contains("launch.commit.before"), "the sources were not read: {names:?}");
    names
}

/// Returns the names of the failpoints in the text of a source file, without its tests.
fn in_source(text: &str) -> Vec<String> {
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    let quoted = |begin: &'static str| {
        code.split(begin).skip(1).filter_map(|rest| rest.split('"').next()).map(str::to_owned)
    };
    // An atomic write has three failpoints.
    let writes = quoted("points!(\"")
        .flat_map(|label| ["before", "written", "after"].map(|point| format!("{label}.{point}")));
    quoted("hit(\"").chain(writes).collect()
}
