//! Redaction leaves ordinary code and logs unchanged: it changes at most one line in ten thousand.
//!
//! The corpus has the files of this repository, and the sources of all dependencies as cargo has
//! unpacked them. `Cargo.lock` pins the dependencies, so the same commit always has the same
//! corpus.
#![expect(clippy::expect_used, reason = "a panic fails the test")]

use std::fs;
use std::path::{Path, PathBuf};

use cargo_metadata::MetadataCommand;
use segue_core::rules::redaction::redact;

/// Redaction may change one line in this many.
const ONE_IN: usize = 10_000;
/// At most this many bytes are read, so that the test is fast even without optimization.
const BYTES: usize = 24 * 1024 * 1024;
/// Files with more bytes than this are skipped, because they are generated tables.
const FILE: u64 = 256 * 1024;
/// Packages that parse addresses with passwords. They are skipped, because their tests have many
/// such addresses.
const ABOUT_PASSWORDS: [&str; 3] = ["url", "http", "percent-encoding"];
/// Files of this repository are skipped if their path contains one of these words, because they are
/// about secrets.
const ABOUT_SECRETS: [&str; 6] =
    ["redaction", "secrets.rs", "shapes", "fuzz", "handoff", "regressions"];

fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("a folder")
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let Ok(facts) = fs::symlink_metadata(&path) else { continue };
        if facts.is_dir() && !["target", ".git", "node_modules"].contains(&name.as_str()) {
            collect(&path, files);
        } else if facts.is_file() && facts.len() <= FILE {
            files.push(path);
        }
    }
}

/// Returns the files of this repository, followed by the files of its dependencies.
fn corpus() -> Vec<PathBuf> {
    let mut command = MetadataCommand::new();
    // Cargo has not unpacked the packages that only other platforms need.
    let platform = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let options = ["--offline", "--locked", "--filter-platform", &platform];
    let metadata = command.other_options(options.map(str::to_owned).to_vec());
    let metadata = metadata.exec().expect("the workspace's packages");
    let mut packages = metadata.packages;
    packages.sort_by(|one, other| (&one.name, &one.version).cmp(&(&other.name, &other.version)));
    let mut files = Vec::new();
    let top = top();
    for package in packages {
        let folder = package.manifest_path.parent().expect("a folder").as_std_path().to_owned();
        let is_own = folder.starts_with(&top);
        if !is_own && !ABOUT_PASSWORDS.contains(&package.name.as_str()) {
            collect(&folder, &mut files);
        }
    }
    let mut own = Vec::new();
    collect(&top.join("crates"), &mut own);
    own.extend(["Cargo.lock", "README.md", "ARCHITECTURE.md"].map(|name| top.join(name)));
    let is_plain = |path: &&PathBuf| {
        let inside = path.strip_prefix(&top).unwrap_or(path).to_string_lossy();
        !ABOUT_SECRETS.iter().any(|word| inside.contains(word))
    };
    let own: Vec<PathBuf> = own.iter().filter(is_plain).cloned().collect();
    own.into_iter().chain(files).collect()
}

#[test]
fn redaction_changes_at_most_one_line_in_ten_thousand_of_ordinary_code() {
    let (mut lines, mut bytes, mut touched) = (0, 0, Vec::new());
    for path in corpus() {
        // Files that are not UTF-8 text are skipped.
        let Ok(text) = fs::read_to_string(&path) else { continue };
        bytes += text.len();
        if bytes > BYTES {
            break;
        }
        let left = redact(&text);
        lines += text.lines().count();
        // Redaction replaces a secret of several lines with one line. All of its lines count as
        // changed.
        let kept: std::collections::HashSet<&str> = left.lines().collect();
        let gone = text.lines().filter(|line| !kept.contains(line));
        touched.extend(gone.map(|line| format!("{}: {}", path.display(), line.trim())));
    }
    let allowed = lines / ONE_IN;
    assert!(lines > 150_000, "the corpus has only {lines} lines");
    assert!(touched.len() <= allowed, "{} of {lines}: {touched:#?}", touched.len());
}
