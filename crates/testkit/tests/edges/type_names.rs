//! Checks that every type of the workspace has a name of its own, so that a reader who sees a name
//! knows which type it is. Types of tests and examples count, too. Associated types do not: their
//! names belong to the trait. Types that a macro names are not seen, unless the macro is written
//! like a definition, as with `word_enum!`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::repository;

/// The words that begin the definition of a type.
const KEYWORDS: [&str; 5] = ["struct", "enum", "trait", "union", "type"];

#[test]
fn type_names_are_defined_once() {
    let top = repository();
    let mut files = Vec::new();
    collect(&top.join("crates"), &mut files);
    files.sort();
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for file in files {
        let path = file.strip_prefix(&top).unwrap().display().to_string();
        for (line, name) in type_names(&fs::read_to_string(&file).unwrap()) {
            places.entry(name).or_default().push(format!("{path}:{line}"));
        }
    }
    assert!(places.contains_key("Session") && places.contains_key("World"), "{places:?}");
    let twice = places.into_iter().filter(|(_, places)| places.len() > 1);
    let twice: Vec<_> = twice.map(|(name, it)| format!("`{name}`: {}", it.join(", "))).collect();
    assert!(twice.is_empty(), "type names that are defined more than once:\n{}", twice.join("\n"));
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|it| it == "rs") {
            files.push(path);
        }
    }
}

/// Returns the types that formatted code defines, each with the number of its line.
fn type_names(code: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    // The indentation of the `impl` or `trait` around the current line.
    let mut around = None;
    for (number, line) in (1..).zip(code.lines()) {
        let item = line.trim_start();
        let indentation = line.len() - item.len();
        if item.starts_with('}') && around == Some(indentation) {
            around = None;
        }
        let definition = definition(item);
        let is_in_trait = around.is_some_and(|it| indentation == it + 4);
        if let Some((keyword, name)) = definition
            && !(keyword == "type" && is_in_trait)
        {
            found.push((number, name.to_owned()));
        }
        let begins_trait = definition.is_some_and(|(keyword, _)| keyword == "trait");
        if (begins_trait || item.starts_with("impl")) && !item.ends_with(['}', ';']) {
            around = Some(indentation);
        }
    }
    found
}

/// Returns the keyword and the name of the type whose definition a line begins.
fn definition(item: &str) -> Option<(&str, &str)> {
    let item = match item.strip_prefix("pub(") {
        Some(restricted) => restricted.split_once(") ")?.1,
        None => item.strip_prefix("pub ").unwrap_or(item),
    };
    let (keyword, rest) = item.split_once(' ')?;
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
    let name = &rest[..end];
    let is_type = KEYWORDS.contains(&keyword) && name.starts_with(|c: char| c.is_ascii_uppercase());
    is_type.then_some((keyword, name))
}

#[test]
fn definitions_of_types_are_found_and_associated_types_are_not() {
    // One literal for each line, so that the other test does not read them as definitions.
    let code = [
        "pub(crate) struct First<'a>(&'a str);",
        "/// struct Comment",
        "word_enum! {",
        "    pub enum Second {",
        "        Third = \"third\",",
        "    }",
        "}",
        "pub trait Fourth {",
        "    type Associated;",
        "    fn f() {",
        "        type Fifth = u8;",
        "        struct Sixth;",
        "    }",
        "}",
        "impl Iterator for Sixth",
        "where",
        "    Self: Sized,",
        "{",
        "    type Item = u8;",
        "}",
        "impl Fourth for Sixth {}",
        "mod tests {",
        "    type Seventh = u8;",
        "    impl Fourth for Seventh {",
        "        type Associated = u8;",
        "    }",
        "    pub(super) union Eighth {}",
        "}",
        "let struct_ = 1;",
    ];
    let expected = [
        (1, "First"),
        (4, "Second"),
        (8, "Fourth"),
        (11, "Fifth"),
        (12, "Sixth"),
        (23, "Seventh"),
        (27, "Eighth"),
    ];
    assert_eq!(type_names(&code.join("\n")), expected.map(|(line, name)| (line, name.to_owned())));
}
