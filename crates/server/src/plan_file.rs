//! Parses the file of a plan, and finds the lines of its parts.

use std::collections::BTreeMap;

use segue_core::flows::plans::PlanInput;
use segue_core::model::PlanFile;
use segue_core::rules::plans::PlanProblem;
use segue_core::{Error, Result};
use toml::de::{DeTable, DeValue};

/// The largest file of a plan.
const MAX_FILE_BYTES: usize = 16 * 1024 * 1024;

/// The text of a plan's file.
#[derive(Debug)]
pub struct PlanSource {
    text: String,
    /// The name of the file for people.
    name: String,
    is_json: bool,
    /// The byte offset of each key and of each item of a list, by its path.
    offsets: BTreeMap<String, usize>,
    /// A key that an object of the JSON has twice.
    repeated: Option<(String, usize)>,
}

impl PlanSource {
    pub fn new(text: String, name: Option<String>) -> Self {
        let ends_with = |end| name.as_deref().is_some_and(|name| name.ends_with(end));
        let is_json =
            ends_with(".json") || (!ends_with(".toml") && text.trim_start().starts_with('{'));
        let name = name.unwrap_or_else(|| "standard input".to_owned());
        let mut source = Self { text, name, is_json, offsets: BTreeMap::new(), repeated: None };
        source.find_offsets();
        source
    }

    /// Parses the file. An error names the file and the line.
    pub fn parse(&self) -> Result<PlanInput> {
        if self.text.len() > MAX_FILE_BYTES {
            let (name, length) = (&self.name, self.text.len());
            return Err(Error::usage(format!(
                "`{name}` has {length} bytes, more than {MAX_FILE_BYTES}"
            )));
        }
        let file = if self.is_json { self.parse_json()? } else { self.parse_toml()? };
        let mut names: Vec<String> = file.tasks.keys().cloned().collect();
        let at = |name: &str| self.offsets.get(&path(Some(name), None, None)).copied();
        names.sort_by_key(|name| at(name).unwrap_or(usize::MAX));
        Ok(PlanInput { file, names })
    }

    fn parse_json(&self) -> Result<PlanFile> {
        let file = serde_json::from_str(&self.text).map_err(|error| {
            let message = error.to_string();
            let end = message.rfind(" at line ").unwrap_or(message.len());
            self.broken(error.line(), message.get(..end).unwrap_or_default())
        })?;
        match &self.repeated {
            Some((key, offset)) => {
                Err(self.broken(self.line(*offset), &format!("`{key}` is there twice")))
            }
            None => Ok(file),
        }
    }

    fn parse_toml(&self) -> Result<PlanFile> {
        toml::from_str(&self.text).map_err(|error| {
            let line = error.span().map_or(1, |span| self.line(span.start));
            self.broken(line, error.message())
        })
    }

    /// Makes an error of a mistake in the file.
    pub fn located(&self, problem: &PlanProblem) -> Error {
        let task = problem.task.as_deref();
        let more = problem.line.filter(|_| !self.is_json).map(|line| line - 1);
        // An absent key is a mistake of the whole task.
        let paths = [
            more.map(|_| text_path(&path(task, problem.key, None))).unwrap_or_default(),
            path(task, problem.key, problem.index),
            path(task, problem.key, None),
            path(task, None, None),
        ];
        let offset = paths.iter().find_map(|path| self.offsets.get(path)).copied();
        let line = offset.map_or(1, |offset| self.line(offset)) + more.unwrap_or_default();
        let message = match task {
            Some(task) => format!("task `{}`: {}", task.escape_debug(), problem.message),
            None => problem.message.clone(),
        };
        self.broken(line, &message)
    }

    fn broken(&self, line: usize, message: &str) -> Error {
        Error::config(format!("`{}` line {line}: {message}", self.name))
            .hint("run `segue plan schema` to see what a plan may contain")
    }

    fn line(&self, offset: usize) -> usize {
        self.text.get(..offset).unwrap_or_default().matches('\n').count() + 1
    }

    fn find_offsets(&mut self) {
        if self.is_json {
            let mut scanner = JsonScanner {
                text: self.text.as_bytes(),
                at: 0,
                offsets: BTreeMap::new(),
                repeated: None,
            };
            scanner.value("", 0);
            (self.offsets, self.repeated) = (scanner.offsets, scanner.repeated);
        } else if let Ok(table) = DeTable::parse(&self.text) {
            let mut offsets = BTreeMap::new();
            add_table("", (&self.text, table.get_ref()), &mut offsets);
            self.offsets = offsets;
        }
    }
}

/// Returns the path of a part of a file. `/` is in no key that can be valid.
fn path(task: Option<&str>, key: Option<&str>, index: Option<usize>) -> String {
    let task = task.map(|task| format!("/tasks/{task}"));
    let key = key.map(|key| format!("/{key}"));
    let index = index.map(|index| format!("/{index}"));
    [task, key, index].into_iter().flatten().collect()
}

/// Returns the path of the first character of a text, which may be below its key.
fn text_path(path: &str) -> String {
    format!("{path}/")
}

/// Returns the offset of the first character of a text whose quotes begin at this offset. A line end
/// behind three quotes does not count.
fn text_offset(file: &str, quotes: usize) -> usize {
    let rest = file.get(quotes..).unwrap_or_default();
    let long = ["\"\"\"", "'''"].iter().find_map(|it| rest.strip_prefix(it));
    let text = long.map(|it| it.strip_prefix("\r\n").or(it.strip_prefix('\n')).unwrap_or(it));
    text.map_or(quotes, |text| file.len() - text.len())
}

fn add_table(
    path: &str,
    (file, table): (&str, &DeTable<'_>),
    offsets: &mut BTreeMap<String, usize>,
) {
    for (key, value) in table {
        let path = format!("{path}/{}", key.get_ref());
        offsets.insert(path.clone(), key.span().start);
        match value.get_ref() {
            DeValue::Table(table) => add_table(&path, (file, table), offsets),
            DeValue::Array(items) => {
                for (item, index) in items.iter().zip(0_usize..) {
                    offsets.insert(format!("{path}/{index}"), item.span().start);
                }
            }
            DeValue::String(_) => {
                offsets.insert(text_path(&path), text_offset(file, value.span().start));
            }
            _ => {}
        }
    }
}

/// The deepest nesting that is looked at. A plan has less.
const MAX_DEPTH: usize = 8;

/// Finds the offsets of keys and items in JSON. Stops at the first mistake: the parser reports it.
struct JsonScanner<'text> {
    text: &'text [u8],
    at: usize,
    offsets: BTreeMap<String, usize>,
    repeated: Option<(String, usize)>,
}

impl JsonScanner<'_> {
    /// Reads a value. `None` at the end of the text or at a mistake.
    fn value(&mut self, path: &str, depth: usize) -> Option<()> {
        match self.peek()? {
            b'{' if depth < MAX_DEPTH => self.items(b'}', |scanner, _| {
                let offset = scanner.at;
                let key = scanner.string()?;
                let path = format!("{path}/{key}");
                if scanner.offsets.insert(path.clone(), offset).is_some() {
                    scanner.repeated.get_or_insert((key, offset));
                }
                scanner.expect(b':')?;
                scanner.value(&path, depth + 1)
            }),
            b'[' if depth < MAX_DEPTH => self.items(b']', |scanner, index| {
                let path = format!("{path}/{index}");
                scanner.offsets.insert(path.clone(), scanner.at);
                scanner.value(&path, depth + 1)
            }),
            b'{' | b'[' => None,
            b'"' => self.string().map(drop),
            _ => {
                let is_end = |byte: &u8| b",]} \t\r\n".contains(byte);
                let rest = self.text.get(self.at..)?;
                self.at += rest.iter().position(is_end).unwrap_or(rest.len());
                Some(())
            }
        }
    }

    /// Reads the items of an object or a list.
    fn items(
        &mut self,
        end: u8,
        mut item: impl FnMut(&mut Self, usize) -> Option<()>,
    ) -> Option<()> {
        self.at += 1;
        let mut index = 0;
        loop {
            match self.peek()? {
                byte if byte == end => {
                    self.at += 1;
                    return Some(());
                }
                b',' => self.at += 1,
                _ => {
                    item(self, index)?;
                    index += 1;
                }
            }
        }
    }

    fn string(&mut self) -> Option<String> {
        let begin = self.at;
        self.expect(b'"')?;
        loop {
            match self.text.get(self.at)? {
                b'\\' => self.at += 2,
                b'"' => break,
                _ => self.at += 1,
            }
        }
        self.at += 1;
        serde_json::from_slice(self.text.get(begin..self.at)?).ok()
    }

    fn expect(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    /// Skips white space, and returns the next byte.
    fn peek(&mut self) -> Option<u8> {
        let rest = self.text.get(self.at..)?;
        self.at += rest.iter().position(|byte| !byte.is_ascii_whitespace())?;
        self.text.get(self.at).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use segue_core::rules::plans::check_plan;

    const TOML: &str = r#"name = "release"
max_parallel = 2

[tasks.ship]
needs = [
  "design",
  "buidl",
]
agent = "coder"
prompt = """
Ship it.
{{ tasks.desing.answer }}
"""

[tasks.design]
agent = "coder"
prompt = "design it"
"#;

    const UNKNOWN_NEED: &str = r#"{"name": "x",
 "tasks": {
  "a": {"needs": [
"b"], "agent": "a", "prompt": "p"}}}"#;

    fn problem(text: &str, name: &str) -> String {
        let source = PlanSource::new(text.to_owned(), Some(name.to_owned()));
        match source.parse() {
            Ok(input) => source.located(&check_plan(&input.file).unwrap_err()).message,
            Err(error) => error.message,
        }
    }

    #[test]
    fn mistake_in_toml_is_reported_with_its_line() {
        let second = TOML.replace("buidl", "design-2") + "\n[tasks.design-2]\nagent = \"a\"\n";
        let third = TOML.replace("  \"buidl\",\n", "");
        let table = [
            (TOML.to_owned(), "line 7: task `ship`: the plan has no task `buidl`"),
            (second, "line 19: task `design-2`: the task has no `prompt`"),
            (third, "line 11: task `ship`: the prompt names `desing`"),
            ("name = 1\n".to_owned(), "line 1: invalid type"),
            ("name = \"a\"\ntaks = 1\n".to_owned(), "line 2: unknown field `taks`"),
            (
                TOML.replace("agent = \"coder\"\nprompt = \"d", "agnet = \"c\"\nprompt = \"d"),
                "line 16",
            ),
            ("name = \"a b\"\n[tasks]\n".to_owned(), "line 1: `a b` cannot be the name"),
        ];
        for (text, expected) in table {
            let message = problem(&text, "release.toml");
            assert!(message.starts_with("`release.toml` "), "{message}");
            assert!(message.contains(expected), "{message}, expected {expected}");
        }
    }

    #[test]
    fn mistake_in_json_is_reported_with_its_line() {
        let task = r#"{"agent": "a", "prompt": "p"}"#;
        let table = [
            (
                format!("{{\"name\": \"x\",\n\"tasks\": {{\n\"a\": {task},\n\"a\": {task}}}}}"),
                "line 4: `a` is there twice",
            ),
            (UNKNOWN_NEED.to_owned(), "line 4: task `a`: the plan has no task `b`"),
            ("{\"name\": \"x\",\n \"task\": {}}".to_owned(), "line 2: unknown field `task`"),
            ("{\"name\": \"x\",\n".to_owned(), "line 2: EOF"),
        ];
        for (text, expected) in table {
            let message = problem(&text, "x");
            assert!(message.contains(expected), "{message}, expected {expected}");
        }
    }

    #[test]
    fn tasks_keep_the_order_of_the_file_in_both_formats() {
        let toml = TOML.replace("  \"buidl\",\n", "").replace("desing", "design");
        let json = r#"{"name": "x", "tasks": {"b": {"agent": "a", "prompt": "p"},
            "a": {"agent": "a", "prompt": "\"}{"}}}"#;
        for (text, names) in [(toml.as_str(), ["ship", "design"]), (json, ["b", "a"])] {
            let input = PlanSource::new(text.to_owned(), None).parse().unwrap();
            assert_eq!(input.names, names);
        }
    }
}
