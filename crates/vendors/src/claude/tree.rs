//! Which lines of a transcript are the conversation as it stands: each record names the one before
//! it, and several can name the same.

use std::collections::{BTreeSet, HashMap, VecDeque};

use segue_core::model::Turn;
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::turns;
use crate::reading::{Belongs, Format};

/// How much is held of records that may turn out to be missing later. In a first turn the answer can
/// be in the file before its question.
const PASSED: usize = 4 * 1024 * 1024;

/// How much of what was in the wrong order is put right.
const JOINED: usize = 16 * 1024 * 1024;

/// A record's place in the tree, or what says where the tree's tip is.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Node<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    pub(super) uuid: Option<&'a str>,
    parent_uuid: Option<&'a str>,
    logical_parent_uuid: Option<&'a str>,
    #[serde(default)]
    is_sidechain: bool,
    subtype: Option<&'a str>,
    pub(super) leaf_uuid: Option<&'a str>,
    #[serde(default)]
    pub(super) explicit: bool,
    tool_use_result: Option<IgnoredAny>,
}

impl<'a> Node<'a> {
    pub(super) fn read(line: &'a [u8]) -> Option<Self> {
        serde_json::from_slice(line).ok()
    }

    /// Returns its name, if it is part of the conversation itself.
    pub(super) fn name(&self) -> Option<&'a str> {
        let is_part =
            matches!(self.kind, "user" | "assistant" | "attachment" | "system" | "progress");
        self.uuid.filter(|_| is_part && !self.is_sidechain)
    }

    /// Returns the record before it: a compaction has a new root, and still follows what it sums up.
    pub(super) fn parent(&self) -> Option<&'a str> {
        self.parent_uuid.or(self.logical_parent_uuid)
    }

    pub(super) fn is_compaction(&self) -> bool {
        self.kind == "system" && self.subtype == Some("compact_boundary")
    }

    pub(super) fn says_tip(&self) -> bool {
        self.kind == "last-prompt"
    }

    fn is_result(&self) -> bool {
        self.kind == "user" && self.tool_use_result.is_some()
    }
}

/// The records from a tip to the root.
#[derive(Debug)]
pub(super) struct Branch {
    wanted: Option<String>,
    /// The newest record that was taken is a tool's result.
    is_at_results: bool,
    /// Calls whose results were taken beside the chain.
    calls: BTreeSet<String>,
    passed: Passed,
    /// The lines before a line that are behind it in the file, the newest first.
    joined: HashMap<String, Vec<Vec<u8>>>,
    joined_bytes: usize,
}

impl Branch {
    pub(super) fn to(tip: String) -> Self {
        Self {
            wanted: Some(tip),
            is_at_results: false,
            calls: BTreeSet::new(),
            passed: Passed::default(),
            joined: HashMap::new(),
            joined_bytes: 0,
        }
    }

    fn take(&mut self, name: &str, parent: Option<&str>) -> Belongs {
        self.wanted = parent.map(str::to_owned);
        while let Some(passed) = self.wanted.as_deref().and_then(|it| self.passed.remove(it)) {
            self.joined_bytes += passed.line.len();
            if self.joined_bytes > JOINED {
                break;
            }
            self.wanted = passed.parent;
            self.joined.entry(name.to_owned()).or_default().push(passed.line);
        }
        if self.wanted.is_some() { Belongs::Yes } else { Belongs::First }
    }

    /// Tools that run side by side all answer their own call, and only one answer is in the chain.
    fn take_beside(&mut self, node: &Node<'_>, name: &str) -> bool {
        let is_wanted = node.parent().is_some() && node.parent() == self.wanted.as_deref();
        if node.is_result() && (self.is_at_results || is_wanted) {
            self.calls.extend(node.parent().map(str::to_owned));
            return true;
        }
        node.kind == "assistant" && self.calls.remove(name)
    }
}

impl Format for Branch {
    fn belongs(&mut self, line: &[u8]) -> Belongs {
        let Some(wanted) = self.wanted.as_deref() else { return Belongs::No };
        let Some(node) = Node::read(line) else {
            let name = wanted.to_owned();
            let parent = damaged(line, wanted);
            return parent.map_or(Belongs::No, |parent| self.take(&name, Some(parent)));
        };
        let Some(name) = node.name() else { return Belongs::No };
        if name == wanted {
            self.is_at_results = node.is_result();
            return self.take(name, node.parent());
        }
        if self.take_beside(&node, name) {
            return Belongs::Yes;
        }
        self.passed.add(name, node.parent(), line);
        Belongs::No
    }

    fn turns(&mut self, line: &[u8]) -> Vec<Turn> {
        if self.joined.is_empty() {
            return turns::of_line(line);
        }
        let before = Node::read(line).and_then(|node| self.joined.get(node.uuid?));
        let before = before.into_iter().flatten().rev().flat_map(|line| turns::of_line(line));
        before.chain(turns::of_line(line)).collect()
    }
}

/// Returns the record before the wanted one, if this damaged line has the wanted one.
fn damaged<'a>(line: &'a [u8], wanted: &str) -> Option<&'a str> {
    let name = format!("\"uuid\":\"{wanted}\"");
    let before = &line[..memchr::memmem::find(line, name.as_bytes())?];
    let key = b"\"parentUuid\":\"";
    let parent = &before[memchr::memmem::rfind(before, key)? + key.len()..];
    std::str::from_utf8(parent.split(|byte| *byte == b'"').next()?).ok()
}

/// The newest records that did not belong when they were passed.
#[derive(Debug, Default)]
struct Passed {
    records: VecDeque<Record>,
    bytes: usize,
}

#[derive(Debug)]
struct Record {
    name: String,
    parent: Option<String>,
    line: Vec<u8>,
}

impl Passed {
    fn add(&mut self, name: &str, parent: Option<&str>, line: &[u8]) {
        if line.len() > PASSED {
            return;
        }
        self.bytes += line.len();
        let parent = parent.map(str::to_owned);
        self.records.push_back(Record { name: name.to_owned(), parent, line: line.to_vec() });
        while self.bytes > PASSED {
            let Some(oldest) = self.records.pop_front() else { break };
            self.bytes -= oldest.line.len();
        }
    }

    fn remove(&mut self, name: &str) -> Option<Record> {
        let at = self.records.iter().rposition(|record| record.name == name)?;
        let found = self.records.remove(at)?;
        self.bytes -= found.line.len();
        Some(found)
    }
}
