//! Checks the layout of the workspace: which crate may depend on which, which kind of code may be in
//! which folder, and that every type has a name of its own.
#![expect(clippy::unwrap_used, reason = "a panic fails the test")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use cargo_metadata::{DependencyKind, MetadataCommand};

#[path = "edges/type_names.rs"]
mod type_names;

/// Every allowed dependency between the crates of this workspace. Dev-dependencies are not checked.
const EDGES: [(&str, &[&str]); 15] = [
    ("segue-core", &[]),
    ("segue-web", &[]),
    ("segue-fakes", &["segue-core"]),
    ("segue-store", &["segue-core"]),
    ("segue-vendors", &["segue-core"]),
    ("segue-forges", &["segue-core"]),
    ("segue-git", &["segue-core"]),
    ("segue-host", &["segue-core"]),
    ("segue-acp", &["segue-core"]),
    ("segue-mcp", &["segue-core"]),
    (
        "segue-server",
        &[
            "segue-acp",
            "segue-core",
            "segue-forges",
            "segue-git",
            "segue-host",
            "segue-mcp",
            "segue-store",
            "segue-vendors",
            "segue-web",
        ],
    ),
    ("segue-conformance", &["segue-core", "segue-host"]),
    ("segue-tui", &["segue-core"]),
    ("segue-cli", &["segue-conformance", "segue-core", "segue-server", "segue-tui"]),
    (
        "segue-testkit",
        &[
            "segue-conformance",
            "segue-core",
            "segue-fakes",
            "segue-forges",
            "segue-git",
            "segue-host",
            "segue-store",
            "segue-vendors",
        ],
    ),
];

/// The external crates that `segue-core` may depend on. `segue-core` must not access the machine.
const CORE_SEES: [&str; 10] = [
    "async-trait",
    "jiff",
    "minijinja",
    "regex",
    "schemars",
    "serde",
    "serde_json",
    "sha2",
    "subtle",
    "uuid",
];

/// Heavy dependencies, and the crates that may depend on them.
const HOMES: [(&str, &[&str]); 13] = [
    ("rusqlite", &["segue-store", "segue-testkit", "segue-vendors"]),
    ("axum", &["segue-conformance", "segue-server", "segue-testkit"]),
    ("hyper", &["segue-server"]),
    ("tokio-rustls", &["segue-server"]),
    ("tokio-tungstenite", &["segue-server", "segue-testkit"]),
    ("clap", &["segue-cli"]),
    ("reqwest", &["segue-forges"]),
    ("rmcp", &["segue-mcp", "segue-testkit"]),
    ("vt100", &["segue-conformance", "segue-host", "segue-tui"]),
    ("ratatui", &["segue-tui"]),
    ("crossterm", &["segue-tui"]),
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

const ROOMS: [Room; 7] = [
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
        what: "a forge's name",
        words: &["github", "gitlab", "gitea", "forgejo", "GitHub", "GitLab", "Gitea", "Forgejo"],
        // The formats of tokens, the package of a vendor, and the URL of a file format contain the
        // names.
        allowed: &[
            "crates/forges/",
            "crates/testkit/",
            "crates/core/src/rules/shapes/",
            "crates/git/src/salvage/pointers.rs",
            "crates/vendors/src/copilot/",
        ],
    },
    Room {
        what: "SQL",
        words: &["SELECT ", "INSERT INTO", "UPDATE ", "DELETE FROM", "CREATE TABLE", "PRAGMA "],
        // A vendor's database is a format of that vendor, so the vendor's folder may query it.
        allowed: &[
            "crates/store/",
            "crates/conformance/",
            "crates/testkit/",
            // The keywords that get a colour.
            "crates/tui/src/syntax.rs",
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
            "crates/vendors/src/shared/database.rs",
            "crates/vendors/src/openclaw/",
            "crates/vendors/src/opencode/",
        ],
    },
    Room {
        what: "a process",
        words: &["process::Command", "tokio::process", "Command::new(\""],
        allowed: &[
            "crates/web/build.rs",
            "crates/git/",
            "crates/host/",
            "crates/conformance/",
            "crates/testkit/",
        ],
    },
    Room {
        what: "an implementation of a port",
        words: &[
            "ConfiguredCredentials",
            "DiskArchive",
            "DiskFolders",
            "GitCheckouts",
            "LocalFiles",
            "LocalHolders",
            "LocalMachine",
            "LocalWatchers",
            "ProjectFolders",
            "SystemClock",
            "segue_forges::",
            "segue_vendors::",
        ],
        allowed: &[
            "crates/git/",
            "crates/host/",
            "crates/conformance/",
            "crates/testkit/",
            "crates/server/src/credentials.rs",
            "crates/server/src/project.rs",
            "crates/server/src/wiring.rs",
            "crates/server/src/wiring/",
        ],
    },
    Room {
        what: "the machine's clock or environment",
        words: &["SystemTime::now", "Timestamp::now", "env::var", "Uuid::now_v7", "Uuid::new_v4"],
        // The built-in demo agent is a separate program, although it is part of the same
        // executable.
        allowed: &[
            // A build script, which is no part of the program.
            "crates/web/build.rs",
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

/// A rule for the imports of a module: the names that its files must not contain.
struct ModuleEdge {
    module: &'static str,
    forbidden: &'static [&'static str],
    /// Files to which the rule does not apply yet.
    except: &'static [&'static str],
}

const MODULE_EDGES: [ModuleEdge; 6] = [
    ModuleEdge {
        module: "crates/core/src/model/",
        forbidden: &["api", "flows", "ports", "rules"],
        except: &[],
    },
    ModuleEdge { module: "crates/core/src/rules/", forbidden: &["flows", "ports"], except: &[] },
    ModuleEdge { module: "crates/core/src/ports/", forbidden: &["flows"], except: &[] },
    ModuleEdge { module: "crates/core/src/flows/", forbidden: &["tokio", "tracing"], except: &[] },
    ModuleEdge {
        module: "crates/server/src/supervisor/",
        forbidden: &["routes", "segue_forges", "segue_host", "segue_store", "segue_vendors"],
        except: &[],
    },
    ModuleEdge {
        module: "crates/server/src/routes/",
        forbidden: &["segue_forges", "segue_store", "segue_vendors"],
        except: &[],
    },
];

#[test]
fn modules_import_only_allowed_modules() {
    let code = production_code();
    let mut wrong = Vec::new();
    for edge in &MODULE_EDGES {
        let files: Vec<_> = code.iter().filter(|(path, _)| path.starts_with(edge.module)).collect();
        assert!(!files.is_empty(), "`{}` is not a module", edge.module);
        for (path, text) in files {
            let names = edge.forbidden.iter().filter(|name| imports(text, name));
            let names = names.filter(|_| !edge.except.contains(&path.as_str()));
            wrong.extend(names.map(|name| format!("{path} imports `{name}`")));
        }
    }
    assert!(wrong.is_empty(), "forbidden imports:\n{}", wrong.join("\n"));
}

/// Returns whether code names a module or a crate in a path, such as `ports` in `crate::ports::Store`
/// or in `use crate::{model, ports}`.
fn imports(code: &str, name: &str) -> bool {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let flat = code.split_whitespace().collect::<Vec<_>>().join(" ");
    let uses =
        flat.split(';').filter(|it| it.contains("use crate::{") || it.contains("use super::"));
    let in_list = |it: &str| it.split(|c| !is_word(c)).any(|word| word == name);
    let is_path = |at: usize| {
        let (before, after) = (&flat[..at], &flat[at + name.len()..]);
        let is_whole = !before.ends_with(is_word) && !after.starts_with(is_word);
        let is_crate = name.starts_with("segue_") || name == "tokio" || name == "tracing";
        is_whole && (before.ends_with("crate::") || is_crate && after.starts_with("::"))
    };
    uses.into_iter().any(in_list) || flat.match_indices(name).any(|(at, _)| is_path(at))
}

#[test]
fn imports_are_found_in_paths_and_in_lists() {
    let found = [
        "use crate::ports::Store;",
        "use crate::ports;",
        "use crate::{model, ports};",
        "use crate::{\n    model::Session,\n    ports::Store,\n};",
        "use super::ports::Store;",
        "fn f(store: &dyn crate::ports::Store) {}",
    ];
    for code in found {
        assert!(imports(code, "ports"), "{code}");
    }
    let others = ["let ports = 1;", "use crate::exports::X;", "use crate::reports;", "ports.store"];
    for code in others {
        assert!(!imports(code, "ports"), "{code}");
    }
    assert!(imports("let path = segue_host::hold::socket_path(x);", "segue_host"));
    assert!(!imports("let segue_host = 1;", "segue_host"));
}

/// A type is named where it lives: `ports` takes types of other modules, but does not offer them.
#[test]
fn ports_re_export_only_their_own_types() {
    let code = production_code();
    let ports = code.iter().filter(|(path, _)| path.starts_with("crates/core/src/ports/"));
    let of_others = ports.flat_map(|(path, text)| {
        let names = re_exports(text).into_iter().filter(|it| is_of_another_module(it));
        names.map(move |name| format!("{path} re-exports `{name}`"))
    });
    let of_others: Vec<_> = of_others.collect();
    assert!(of_others.is_empty(), "{}", of_others.join("\n"));
    let found =
        re_exports("pub use a::B;\nuse crate::x;\npub(crate) use crate::{\n    rules,\n};\n");
    assert_eq!(found, ["a::B", "crate::{ rules, }"]);
    assert_eq!(found.iter().map(|it| is_of_another_module(it)).collect::<Vec<_>>(), [false, true]);
}

/// Returns the paths of all `pub use` items.
fn re_exports(code: &str) -> Vec<String> {
    let flat = code.split_whitespace().collect::<Vec<_>>().join(" ");
    let items = flat.split(';').filter_map(|it| {
        let (before, path) = it.rsplit_once("use ")?;
        let is_public = before.trim_end().ends_with("pub") || before.trim_end().ends_with(')');
        is_public.then(|| path.to_owned())
    });
    items.collect()
}

fn is_of_another_module(path: &str) -> bool {
    path.starts_with("crate::") || path.starts_with("super::")
}

/// Returns the path of every source file, relative to the repository, and its code without tests
/// and comments.
fn production_code() -> Vec<(String, String)> {
    let top = repository();
    let mut files = Vec::new();
    collect(&top.join("crates"), &mut files);
    let read = |path: &PathBuf| {
        let name = path.strip_prefix(&top).unwrap().display().to_string();
        (name, without_tests(&fs::read_to_string(path).unwrap()))
    };
    files.iter().map(read).collect()
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
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
