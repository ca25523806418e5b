//! Checks the layout of the workspace: which crate may depend on which, and which kind of code may
//! be in which folder.
#![expect(clippy::unwrap_used, reason = "a panic fails the test")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use cargo_metadata::{DependencyKind, MetadataCommand};

/// Every allowed dependency between the crates of this workspace. Dev-dependencies are not checked.
const EDGES: [(&str, &[&str]); 9] = [
    ("segue-core", &[]),
    ("segue-fakes", &["segue-core"]),
    ("segue-store", &["segue-core"]),
    ("segue-vendors", &["segue-core"]),
    ("segue-host", &["segue-core"]),
    ("segue-server", &["segue-core", "segue-host", "segue-store", "segue-vendors"]),
    ("segue-conformance", &["segue-core", "segue-host"]),
    ("segue-cli", &["segue-conformance", "segue-core", "segue-server"]),
    (
        "segue-testkit",
        &["segue-conformance", "segue-core", "segue-host", "segue-store", "segue-vendors"],
    ),
];

/// The external crates that `segue-core` may depend on. `segue-core` must not access the machine.
const CORE_SEES: [&str; 7] =
    ["async-trait", "jiff", "regex", "serde", "serde_json", "sha2", "uuid"];

/// Heavy dependencies, and the crates that may depend on them.
const HOMES: [(&str, &[&str]); 7] = [
    ("rusqlite", &["segue-store", "segue-testkit", "segue-vendors"]),
    ("axum", &["segue-conformance", "segue-server"]),
    ("hyper", &["segue-server"]),
    ("clap", &["segue-cli"]),
    ("vt100", &["segue-conformance", "segue-host"]),
    ("toml", &["segue-server", "segue-vendors"]),
    ("tracing-subscriber", &["segue-server"]),
];

fn dependencies() -> BTreeMap<String, BTreeSet<String>> {
    let metadata = MetadataCommand::new().no_deps().exec().unwrap();
    let normal = |package: &cargo_metadata::Package| {
        let kept = package.dependencies.iter().filter(|it| it.kind == DependencyKind::Normal);
        kept.map(|it| it.name.clone()).collect()
    };
    metadata.packages.iter().map(|it| (it.name.to_string(), normal(it))).collect()
}

#[test]
fn crates_depend_only_on_allowed_crates_of_the_workspace() {
    let dependencies = dependencies();
    let known: BTreeSet<&str> = EDGES.iter().map(|(name, _)| *name).collect();
    assert_eq!(known, dependencies.keys().map(String::as_str).collect());
    for (name, allowed) in EDGES {
        let ours = dependencies[name].iter().filter(|it| it.starts_with("segue-"));
        for other in ours {
            assert!(allowed.contains(&other.as_str()), "{name} must not depend on {other}");
        }
    }
}

#[test]
fn core_depends_only_on_allowed_crates() {
    for name in &dependencies()["segue-core"] {
        assert!(CORE_SEES.contains(&name.as_str()), "core must not depend on {name}");
    }
}

#[test]
fn heavy_dependencies_are_used_only_by_allowed_crates() {
    let dependencies = dependencies();
    for (heavy, homes) in HOMES {
        for (name, all) in &dependencies {
            let at_home = homes.contains(&name.as_str());
            assert!(!all.contains(heavy) || at_home, "{name} must not use {heavy}");
        }
    }
}

/// A rule for one kind of code: the words that identify it, and the folders in which it is allowed.
struct Room {
    what: &'static str,
    words: &'static [&'static str],
    allowed: &'static [&'static str],
}

const ROOMS: [Room; 5] = [
    Room {
        what: "a vendor's name",
        words: &[
            "claude",
            "codex",
            "gemini",
            "copilot",
            "cursor-agent",
            "opencode",
            "openclaw",
            "\"demo\"",
        ],
        allowed: &["crates/vendors/", "crates/conformance/", "crates/testkit/"],
    },
    Room {
        what: "SQL",
        words: &["SELECT ", "INSERT INTO", "UPDATE ", "DELETE FROM", "CREATE TABLE", "PRAGMA "],
        // A vendor's database is a format of that vendor, so the vendor's folder may query it.
        allowed: &[
            "crates/store/",
            "crates/conformance/",
            "crates/testkit/",
            "crates/vendors/src/openclaw/",
            "crates/vendors/src/opencode/",
        ],
    },
    Room {
        what: "a database",
        words: &["rusqlite"],
        allowed: &[
            "crates/store/",
            "crates/testkit/",
            "crates/vendors/src/database.rs",
            "crates/vendors/src/openclaw/",
            "crates/vendors/src/opencode/",
        ],
    },
    Room {
        what: "a process",
        words: &["process::Command", "tokio::process", "Command::new(\""],
        allowed: &["crates/host/", "crates/conformance/", "crates/testkit/"],
    },
    Room {
        what: "the machine's clock or environment",
        words: &["SystemTime::now", "Timestamp::now", "env::var", "Uuid::now_v7", "Uuid::new_v4"],
        // The built-in demo agent is a separate program, although it is part of the same
        // executable.
        allowed: &[
            "crates/host/",
            "crates/conformance/",
            "crates/testkit/",
            "crates/vendors/src/demo/agent/",
        ],
    },
];

#[test]
fn restricted_code_is_only_in_allowed_folders() {
    let mut astray = Vec::new();
    for (path, text) in production_code() {
        for room in &ROOMS {
            if !room.allowed.iter().any(|allowed| path.starts_with(allowed)) {
                let words = room.words.iter().filter(|word| text.contains(**word));
                astray.extend(words.map(|word| format!("{path}: {} ({word})", room.what)));
            }
        }
    }
    assert!(astray.is_empty(), "code in the wrong folder:\n{}", astray.join("\n"));
}

/// Returns the path of every source file, relative to the repository, and its code without tests
/// and comments.
fn production_code() -> Vec<(String, String)> {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let mut files = Vec::new();
    collect(&top.join("crates"), &mut files);
    let read = |path: &PathBuf| {
        let name = path.strip_prefix(&top).unwrap().display().to_string();
        (name, without_tests(&fs::read_to_string(path).unwrap()))
    };
    files.iter().map(read).collect()
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            if !["tests", "benches", "examples", "fixtures"].contains(&name.as_str()) {
                collect(&path, files);
            }
        } else if name.ends_with(".rs") && name != "tests.rs" && name != "samples.rs" {
            files.push(path);
        }
    }
}

fn without_tests(text: &str) -> String {
    let inline = text.find("#[cfg(test)]\n").filter(|at| text[*at..].contains("mod tests {"));
    let code = &text[..inline.unwrap_or(text.len())];
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.collect::<Vec<_>>().join("\n")
}
