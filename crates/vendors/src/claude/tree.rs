//! Selects the lines of a transcript that form the current conversation. The records are a tree:
//! each record names its parent, and several records can have the same parent.

use std::collections::{BTreeSet, HashMap, VecDeque};

use segue_core::model::Turn;
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::turns;
use crate::shared::reading::{Belongs, TranscriptFormat};

/// Maximum number of bytes of skipped records that are held. A skipped record can turn out to
/// belong to the conversation: in a first turn, the answer can be stored before its question.
const PASSED: usize = 4 * 1024 * 1024;

/// Maximum number of bytes of records that are put into the right order.
const JOINED: usize = 16 * 1024 * 1024;

/// A record's place in the tree, or the vendor's note of the tip.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ClaudeNode<'a> {
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

impl<'a> ClaudeNode<'a> {
    pub(super) fn read(line: &'a [u8]) -> Option<Self> {
        serde_json::from_slice(line).ok()
    }

    /// Returns the record's UUID if the record is part of the conversation.
    pub(super) fn name(&self) -> Option<&'a str> {
        let is_part =
            matches!(self.kind, "user" | "assistant" | "attachment" | "system" | "progress");
        self.uuid.filter(|_| is_part && !self.is_sidechain)
    }

    /// Returns the parent record. A compaction starts a new tree, but it follows the records that
    /// it summarizes.
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

/// The records of the tree from a tip to the root.
#[derive(Debug)]
pub(super) struct ClaudeBranch {
    wanted: Option<String>,
    /// Whether the newest record that was taken is the result of a tool.
    is_at_results: bool,
    /// UUIDs of tool calls whose results were taken although these results are not in the chain of
    /// parents.
    calls: BTreeSet<String>,
    passed: Passed,
    /// Lines that come before a line in the conversation but after it in the file, the newest
    /// first. The key is the UUID of that line's record.
    joined: HashMap<String, Vec<Vec<u8>>>,
    joined_bytes: usize,
}

impl ClaudeBranch {
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

    /// Takes the results of tools that ran in parallel, and their calls. Each result has its own
    /// call as parent, so only one result is in the chain of parents. Returns whether the record
    /// was taken.
    fn take_beside(&mut self, node: &ClaudeNode<'_>, name: &str) -> bool {
        let is_wanted = node.parent().is_some() && node.parent() == self.wanted.as_deref();
        if node.is_result() && (self.is_at_results || is_wanted) {
            self.calls.extend(node.parent().map(str::to_owned));
            return true;
        }
        node.kind == "assistant" && self.calls.remove(name)
    }
}

impl TranscriptFormat for ClaudeBranch {
    fn belongs(&mut self, line: &[u8]) -> Belongs {
        let Some(wanted) = self.wanted.as_deref() else { return Belongs::No };
        let Some(node) = ClaudeNode::read(line) else {
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
        let before = ClaudeNode::read(line).and_then(|node| self.joined.get(node.uuid?));
        let before = before.into_iter().flatten().rev().flat_map(|line| turns::of_line(line));
        before.chain(turns::of_line(line)).collect()
    }
}

/// Returns the parent of the wanted record if this damaged line contains the wanted record.
fn damaged<'a>(line: &'a [u8], wanted: &str) -> Option<&'a str> {
    let name = format!("\"uuid\":\"{wanted}\"");
    let before = &line[..memchr::memmem::find(line, name.as_bytes())?];
    let key = b"\"parentUuid\":\"";
    let parent = &before[memchr::memmem::rfind(before, key)? + key.len()..];
    std::str::from_utf8(parent.split(|byte| *byte == b'"').next()?).ok()
}

/// The newest records that did not belong to the conversation when they were skipped.
#[derive(Debug, Default)]
struct Passed {
    records: VecDeque<SkippedRecord>,
    bytes: usize,
}

#[derive(Debug)]
struct SkippedRecord {
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
        self.records.push_back(SkippedRecord {
            name: name.to_owned(),
            parent,
            line: line.to_vec(),
        });
        while self.bytes > PASSED {
            let Some(oldest) = self.records.pop_front() else { break };
            self.bytes -= oldest.line.len();
        }
    }

    fn remove(&mut self, name: &str) -> Option<SkippedRecord> {
        let at = self.records.iter().rposition(|record| record.name == name)?;
        let found = self.records.remove(at)?;
        self.bytes -= found.line.len();
        Some(found)
    }
}
