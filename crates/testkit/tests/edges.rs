//! The layout is held by a test: which crate may see which, and what may be written where.
#![expect(clippy::unwrap_used, reason = "a failure is a failed test")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use cargo_metadata::{DependencyKind, MetadataCommand};

/// Every edge between our crates; tests may see anything.
const EDGES: [(&str, &[&str]); 8] = [
    ("segue-core", &[]),
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

/// What the product without a machine may see of the world.
const CORE_SEES: [&str; 7] =
    ["async-trait", "jiff", "regex", "serde", "serde_json", "sha2", "uuid"];

/// Heavy dependencies have one home each.
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
fn crates_see_only_what_they_may() {
    let dependencies = dependencies();
    let known: BTreeSet<&str> = EDGES.iter().map(|(name, _)| *name).collect();
    assert_eq!(known, dependencies.keys().map(String::as_str).collect());
    for (name, allowed) in EDGES {
        let ours = dependencies[name].iter().filter(|it| it.starts_with("segue-"));
        for other in ours {
            assert!(allowed.contains(&other.as_str()), "{name} must not see {other}");
        }
    }
}

#[test]
fn core_sees_no_machine() {
    for name in &dependencies()["segue-core"] {
        assert!(CORE_SEES.contains(&name.as_str()), "core must not depend on {name}");
    }
}

#[test]
fn heavy_dependencies_have_one_home() {
    let dependencies = dependencies();
    for (heavy, homes) in HOMES {
        for (name, all) in &dependencies {
            let at_home = homes.contains(&name.as_str());
            assert!(!all.contains(heavy) || at_home, "{heavy} does not belong in {name}");
        }
    }
}

/// Where something may be written, and the words that give it away.
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
        // A vendor's own database is that vendor's format.
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
        // The built-in agent is a program of its own, that happens to be in the same file.
        allowed: &[
            "crates/host/",
            "crates/conformance/",
            "crates/testkit/",
            "crates/vendors/src/demo/agent/",
        ],
    },
];

#[test]
fn everything_is_in_its_room() {
    let mut astray = Vec::new();
    for (path, text) in production_code() {
        for room in &ROOMS {
            if !room.allowed.iter().any(|allowed| path.starts_with(allowed)) {
                let words = room.words.iter().filter(|word| text.contains(**word));
                astray.extend(words.map(|word| format!("{path}: {} ({word})", room.what)));
            }
        }
    }
    assert!(astray.is_empty(), "in the wrong room:\n{}", astray.join("\n"));
}

/// Returns every source file without its tests and comments, by its path from the top.
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
