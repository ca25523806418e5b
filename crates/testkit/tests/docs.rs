//! The documentation names only tests that exist.
#![expect(clippy::unwrap_used, reason = "a failure is a failed test")]

use std::fs;
use std::path::Path;

/// A word in backticks with at least this many underscores is the name of a test.
const UNDERSCORES: usize = 3;

#[test]
fn every_test_that_security_md_names_exists() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut code = String::new();
    collect(&top.join("crates"), &mut code);
    let page = fs::read_to_string(top.join("docs/security.md")).unwrap();
    let quoted = page.split('`').skip(1).step_by(2);
    let names: Vec<&str> = quoted
        .filter(|word| word.chars().all(|it| it.is_ascii_alphanumeric() || "_:".contains(it)))
        .filter(|word| word.matches('_').count() >= UNDERSCORES)
        .map(|word| word.rsplit("::").next().unwrap())
        .collect();
    assert!(names.len() > 50, "the names of tests in docs/security.md are not recognized");
    let is_missing = |name: &&&str| !code.contains(&format!("fn {name}("));
    let missing: Vec<_> = names.iter().filter(is_missing).collect();
    assert!(missing.is_empty(), "docs/security.md names tests that do not exist: {missing:#?}");
}

fn collect(folder: &Path, code: &mut String) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, code);
        } else if path.extension().is_some_and(|it| it == "rs") {
            code.push_str(&fs::read_to_string(path).unwrap());
        }
    }
}
