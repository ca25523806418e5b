//! The documentation names only tests that exist, and texts follow the mechanical part of our style.
#![expect(clippy::unwrap_used, reason = "a panic fails the test")]

use std::fs;
use std::path::{Path, PathBuf};

/// A word in backticks with at least this many underscores is the name of a test.
const UNDERSCORES: usize = 3;

/// The pages that name tests, and how many names a page has at least.
const PAGES: [(&str, usize); 2] = [("docs/security.md", 50), ("docs/acceptance.md", 20)];

#[test]
fn every_test_that_a_page_names_exists() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut code = String::new();
    collect(&top.join("crates"), &mut code);
    for (page, least) in PAGES {
        let text = fs::read_to_string(top.join(page)).unwrap();
        let names = test_names(&text);
        assert!(names.len() > least, "the names of tests in {page} are not recognized");
        // A test that several vendors share has a type parameter.
        let exists =
            |name: &str| ["(", "<"].iter().any(|it| code.contains(&format!("fn {name}{it}")));
        let is_missing = |name: &&&str| !exists(name);
        let missing: Vec<_> = names.iter().filter(is_missing).collect();
        assert!(missing.is_empty(), "{page} names tests that do not exist: {missing:#?}");
    }
}

fn test_names(page: &str) -> Vec<&str> {
    let quoted = page.split('`').skip(1).step_by(2);
    quoted
        .filter(|word| word.chars().all(|it| it.is_ascii_alphanumeric() || "_:".contains(it)))
        .filter(|word| word.matches('_').count() >= UNDERSCORES)
        .map(|word| word.rsplit("::").next().unwrap())
        .collect()
}

/// Words that hide their subject: the text has to name the session, the process or the person.
const VAGUE: [&str; 4] = ["somebody", "whoever", "nobody knows", "cannot be meant"];

#[test]
fn messages_to_users_name_their_subject() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut vague = Vec::new();
    for crate_name in ["core", "store", "vendors", "host", "server", "cli"] {
        let mut code = String::new();
        collect(&top.join("crates").join(crate_name).join("src"), &mut code);
        let is_message = |line: &&str| line.contains('"') && !line.trim_start().starts_with("//");
        let is_vague = |line: &&str| VAGUE.iter().any(|word| line.contains(word));
        vague.extend(code.lines().filter(is_message).filter(is_vague).map(str::to_owned));
    }
    assert!(vague.is_empty(), "these messages do not name their subject: {vague:#?}");
}

/// A program writes this page.
const GENERATED: &str = "docs/vendors.md";

#[test]
fn pages_wrap_at_100_columns() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut pages = vec![top.join("README.md"), top.join("ARCHITECTURE.md")];
    pages.push(top.join("CONTRIBUTING.md"));
    find_pages(&top.join("docs"), &mut pages);
    for page in pages {
        let text = fs::read_to_string(&page).unwrap();
        let long = long_lines(&text);
        assert!(long.is_empty(), "{}: longer than 100 columns: {long:#?}", page.display());
    }
}

/// Returns the lines of running text that are too long. Tables, code and links cannot be wrapped.
fn long_lines(text: &str) -> Vec<&str> {
    let mut is_code = false;
    let mut long = Vec::new();
    for line in text.lines() {
        is_code ^= line.trim_start().starts_with("```");
        let is_table = line.starts_with('|') || line.starts_with("    ");
        let can_wrap = line.trim().contains(' ') && !line.contains("](");
        if !is_code && !is_table && can_wrap && line.chars().count() > 100 {
            long.push(line);
        }
    }
    long
}

fn find_pages(folder: &Path, pages: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            find_pages(&path, pages);
        } else if path.extension().is_some_and(|it| it == "md") && !path.ends_with(GENERATED) {
            pages.push(path);
        }
    }
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
