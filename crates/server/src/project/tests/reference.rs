//! Compares `docs/configuration.md` with the parsers of `segue.toml` and `config.toml`: the page
//! lists every key that a parser knows and no other, and each example on it is accepted.

use std::collections::BTreeSet;

use serde::de::DeserializeOwned;
use tempfile::TempDir;

use crate::project::settings::Settings;
use crate::project::source::RESERVED_KEYS;
use crate::project::*;

const PAGE: &str = include_str!("../../../../../docs/configuration.md");

/// A key that no parser knows. The parser's error about it lists the keys that it does know.
const UNKNOWN: &str = "no_such_key";

/// A row of a table of keys.
struct KeyRow {
    key: &'static str,
    default: &'static str,
    example: &'static str,
}

/// Returns the part of the page below this heading, up to the next heading.
fn section(heading: &str) -> &'static str {
    let (_, after) = PAGE.split_once(&format!("\n{heading}\n")).expect(heading);
    after.split("\n#").next().unwrap()
}

/// Returns the rows of the first table below this heading.
fn rows(heading: &str) -> Vec<KeyRow> {
    let lines = section(heading).lines().skip_while(|line| !line.starts_with("| key |"));
    let rows = lines.skip(2).take_while(|line| line.starts_with('|')).map(row);
    let rows: Vec<KeyRow> = rows.collect();
    assert!(!rows.is_empty(), "there is no table of keys below {heading}");
    rows
}

fn row(line: &'static str) -> KeyRow {
    let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
    let [key, _, default, example] = cells[..] else { panic!("not four cells: {line}") };
    KeyRow { key: key.trim_matches('`'), default, example }
}

/// Returns the first block of TOML below this heading.
fn block(heading: &str) -> &'static str {
    let (_, block) = section(heading).split_once("```toml\n").expect(heading);
    block.split("```").next().unwrap()
}

/// Returns the keys that the parser knows at the place of [`UNKNOWN`] in this text.
fn known<T: DeserializeOwned>(text: &str) -> BTreeSet<String> {
    let Err(error) = toml::from_str::<T>(text) else { panic!("{UNKNOWN} is accepted in {text}") };
    let message = error.message();
    let (unknown, known) = message.split_once(", expected ").expect(message);
    assert!(unknown.contains(UNKNOWN), "{message}");
    known.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

fn documented(heading: &str) -> BTreeSet<String> {
    rows(heading).iter().map(|row| row.key.to_owned()).collect()
}

/// The tables of `segue.toml`: the heading on the page, and a text in which the table comes last.
const TABLES: [(&str, &str); 5] = [
    ("### `[fleet]`", "[fleet]\n"),
    ("### `[worktrees]`", "[worktrees]\n"),
    ("### `[[agents]]`", AGENT),
    (
        "### `[[agents.timers]]`",
        "[[agents]]\nname = \"coder\"\nvendor = \"demo\"\n[[agents.timers]]\n",
    ),
    ("### `[vendors.NAME]`", "[vendors.mytool]\n"),
];

const AGENT: &str = "[[agents]]\n";

#[test]
fn page_lists_exactly_the_keys_of_the_project_file() {
    for (heading, text) in TABLES {
        let mut known = known::<WrittenProject>(&format!("{text}{UNKNOWN} = 1\n"));
        if text == AGENT {
            for key in RESERVED_KEYS {
                assert!(known.remove(key), "{key}");
                assert!(section(heading).contains(&format!("`{key}`")), "{key}");
            }
        }
        assert_eq!(documented(heading), known, "{heading}");
    }
    let tables: BTreeSet<String> =
        ["agents", "fleet", "vendors", "worktrees"].map(str::to_owned).into();
    assert_eq!(known::<WrittenProject>(&format!("{UNKNOWN} = 1\n")), tables);
}

#[test]
fn page_lists_exactly_the_keys_of_the_settings() {
    let mut keys = known::<Settings>(&format!("{UNKNOWN} = 1\n"));
    for table in ["attention", "environment", "tasks", "loops", "disk", "sweep"] {
        assert!(keys.remove(table), "{table}");
        let below = known::<Settings>(&format!("[{table}]\n{UNKNOWN} = 1\n"));
        keys.extend(below.iter().map(|key| format!("{table}.{key}")));
    }
    for (heading, text) in LISTS {
        let below = known::<Settings>(&format!("{text}{UNKNOWN} = 1\n"));
        assert_eq!(documented(heading), below, "{heading}");
    }
    for list in ["credentials", "sources", "dispatch"] {
        assert!(keys.remove(list), "{list}");
    }
    assert_eq!(documented("## config.toml"), keys);
    let below = known::<Settings>(&format!("{CREDENTIALS}{UNKNOWN} = 1\n"));
    assert_eq!(documented(CREDENTIALS_HEADING), below);
}

/// The lists of tables in `config.toml`: the heading on the page, and the beginning of a table.
const LISTS: [(&str, &str); 2] =
    [("### `[[sources]]`", "[[sources]]\n"), ("### `[[dispatch]]`", "[[dispatch]]\n")];

const CREDENTIALS_HEADING: &str = "### `[credentials.\"HOST\"]`";

const CREDENTIALS: &str = "[credentials.\"git.example.org\"]\n";

/// Returns a folder with this project file, and with the files that the examples name.
fn project(text: &str) -> (TempDir, PathBuf) {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("shop");
    fs::create_dir_all(folder.join("prompts")).unwrap();
    for name in ["coder", "start", "review"] {
        fs::write(folder.join(format!("prompts/{name}.md")), "a text").unwrap();
    }
    fs::write(folder.join(PROJECT_FILE), text).unwrap();
    (temporary, folder)
}

#[track_caller]
fn assert_accepted(text: &str) {
    let (_temporary, folder) = project(text);
    let projects =
        ProjectFolders::new(Arc::new(segue_vendors::all()), super::checkouts(), PathBuf::new());
    if let Err(error) = projects.around(&folder) {
        panic!("{error:?}: {text}");
    }
}

#[test]
fn every_example_of_the_project_file_is_accepted() {
    assert_accepted(block("## segue.toml"));
    for (heading, text) in TABLES {
        let rows = rows(heading);
        let examples = || rows.iter().filter(|row| row.example.starts_with('`'));
        // A required key is in every text: the row of that key is the example itself.
        let required: Vec<&str> = examples()
            .filter(|row| row.default == "required")
            .map(|row| row.example.trim_matches('`'))
            .collect();
        let needed = |row: &KeyRow| match row.key {
            // `resume` needs an id that `new` has, too.
            "resume" => "new = [\"{id}\"]\n",
            "repo" => "worktree = \"fix\"\n",
            _ => "",
        };
        for row in examples().filter(|row| row.default != "required") {
            let example = row.example.trim_matches('`');
            assert!(example.starts_with(&format!("{} = ", row.key)), "{example}");
            let lines = required.join("\n");
            assert_accepted(&format!("{text}{lines}\n{}{example}\n", needed(row)));
        }
    }
}

#[test]
fn every_example_of_the_settings_is_accepted() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config.toml");
    let accept = |text: &str| {
        fs::write(&file, text).unwrap();
        check_settings(&file).unwrap_or_else(|error| panic!("{error:?}: {text}"));
    };
    accept(block("## config.toml"));
    for row in rows("## config.toml") {
        let table = row.key.split_once('.').map(|(table, _)| format!("[{table}]\n"));
        accept(&format!("{}{}\n", table.unwrap_or_default(), row.example.trim_matches('`')));
    }
    for (heading, text) in LISTS {
        let rows = rows(heading);
        let required: Vec<&str> = rows
            .iter()
            .filter(|row| row.default == "required")
            .map(|row| row.example.trim_matches('`'))
            .collect();
        for row in rows.iter().filter(|row| row.default != "required") {
            let lines = required.join("\n");
            accept(&format!("{text}{lines}\n{}\n", row.example.trim_matches('`')));
        }
    }
    for row in rows(CREDENTIALS_HEADING) {
        let source = if row.key == "username" { "env = \"A\"\n" } else { "" };
        accept(&format!("{CREDENTIALS}{source}{}\n", row.example.trim_matches('`')));
    }
}
