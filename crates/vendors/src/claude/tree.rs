//! Selects the lines of a transcript that form the current conversation. The records are a tree:
//! each record names its parent, and several records can have the same parent.

use std::collections::{BTreeSet, HashMap, VecDeque};

use segue_core::model::Turn;
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::turns;
use crate::shared::reading::{Belongs, TranscriptFormat};

/// How many bytes of skipped records are held at most. A skipped record can turn out to belong to
/// the conversation: in a first turn, the answer can be stored before its question.
const LARGEST_SKIPPED_BYTES: usize = 4 * 1024 * 1024;

/// How many bytes of records are put into the right order at most.
const LARGEST_MOVED_BYTES: usize = 16 * 1024 * 1024;

/// A record's place in the tree, or Claude Code's note of the tip.
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
    pub(super) fn record_uuid(&self) -> Option<&'a str> {
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

    pub(super) fn is_tip_note(&self) -> bool {
        self.kind == "last-prompt"
    }

    fn is_result(&self) -> bool {
        self.kind == "user" && self.tool_use_result.is_some()
    }
}

/// The records of the tree from a tip to the root.
#[derive(Debug)]
pub(super) struct ClaudeBranch {
    /// The UUID of the next record of the branch. `None` after the root.
    wanted: Option<String>,
    /// Whether the newest record that was taken is the result of a tool.
    last_taken_is_result: bool,
    /// UUIDs of tool calls whose results were taken although these results are not in the chain of
    /// parents.
    calls: BTreeSet<String>,
    skipped: Passed,
    /// Lines that come before a line in the conversation but after it in the file, the newest
    /// first. The key is the UUID of that line's record.
    moved_before: HashMap<String, Vec<Vec<u8>>>,
    moved_bytes: usize,
}

impl ClaudeBranch {
    pub(super) fn to(tip: String) -> Self {
        Self {
            wanted: Some(tip),
            last_taken_is_result: false,
            calls: BTreeSet::new(),
            skipped: Passed::default(),
            moved_before: HashMap::new(),
            moved_bytes: 0,
        }
    }

    fn take(&mut self, name: &str, parent: Option<&str>) -> Belongs {
        self.wanted = parent.map(str::to_owned);
        while let Some(skipped) =
            self.wanted.as_deref().and_then(|wanted| self.skipped.remove(wanted))
        {
            self.moved_bytes += skipped.line.len();
            if self.moved_bytes > LARGEST_MOVED_BYTES {
                break;
            }
            self.wanted = skipped.parent;
            self.moved_before.entry(name.to_owned()).or_default().push(skipped.line);
        }
        if self.wanted.is_some() { Belongs::Yes } else { Belongs::First }
    }

    /// Takes the results of tools that ran in parallel, and their calls. Each result has its own
    /// call as parent, so only one result is in the chain of parents. Returns whether the record
    /// was taken.
    fn take_parallel_result(&mut self, node: &ClaudeNode<'_>, name: &str) -> bool {
        let is_wanted = node.parent().is_some() && node.parent() == self.wanted.as_deref();
        if node.is_result() && (self.last_taken_is_result || is_wanted) {
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
            let parent = parent_in_damaged_line(line, wanted);
            return parent.map_or(Belongs::No, |parent| self.take(&name, Some(parent)));
        };
        let Some(name) = node.record_uuid() else { return Belongs::No };
        if name == wanted {
            self.last_taken_is_result = node.is_result();
            return self.take(name, node.parent());
        }
        if self.take_parallel_result(&node, name) {
            return Belongs::Yes;
        }
        self.skipped.add(name, node.parent(), line);
        Belongs::No
    }

    fn turns(&mut self, line: &[u8]) -> Vec<Turn> {
        if self.moved_before.is_empty() {
            return turns::turns_of_line(line);
        }
        let before = ClaudeNode::read(line).and_then(|node| self.moved_before.get(node.uuid?));
        let before = before.into_iter().flatten().rev().flat_map(|line| turns::turns_of_line(line));
        before.chain(turns::turns_of_line(line)).collect()
    }
}

/// Returns the parent of the wanted record if this parent_in_damaged_line line contains the wanted
/// record.
fn parent_in_damaged_line<'a>(line: &'a [u8], wanted: &str) -> Option<&'a str> {
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
        if line.len() > LARGEST_SKIPPED_BYTES {
            return;
        }
        self.bytes += line.len();
        let parent = parent.map(str::to_owned);
        self.records.push_back(SkippedRecord {
            name: name.to_owned(),
            parent,
            line: line.to_vec(),
        });
        while self.bytes > LARGEST_SKIPPED_BYTES {
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
