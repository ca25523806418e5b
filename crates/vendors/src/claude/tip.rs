//! Finds the tip of a conversation: the record that the conversation continues from.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::Path;

use segue_core::Result;
use segue_core::ports::Files;

use super::tree::ClaudeNode;
use crate::shared::reading::{self, TranscriptLine};

/// How many bytes at the end of the file are searched for Claude Code's own note of the tip. Claude
/// Code writes this note when a process exits, so only the records of one later process follow it.
const SEARCHED_BYTES: usize = 1024 * 1024;

/// Returns the tip, as Claude Code would choose it: the last record, unless Claude Code has noted a
/// tip that the last record does not descend from. `None` if there is no record to continue from.
pub(super) fn find(files: &dyn Files, path: &Path) -> Result<Option<String>> {
    let mut end = LastRecords::default();
    let mut bytes_left = SEARCHED_BYTES;
    let take = |line: TranscriptLine<'_>| {
        let flow =
            ClaudeNode::read(line.bytes).map_or(ControlFlow::Continue(()), |node| end.take(&node));
        bytes_left = bytes_left.saturating_sub(line.bytes.len());
        if bytes_left == 0 && !end.records.is_empty() { ControlFlow::Break(()) } else { flow }
    };
    reading::each_line_back(files, path, take).map_err(|error| reading::unreadable(path, error))?;
    end.is_complete = bytes_left > 0;
    Ok(end.tip())
}

/// The records at the end of a file, the last one first, and Claude Code's note of the tip.
#[derive(Default)]
struct LastRecords {
    /// The UUID of each record, and the UUID of its parent.
    records: Vec<(String, Option<String>)>,
    note: Option<Noted>,
    /// Whether all records that can matter were read.
    is_complete: bool,
}

#[derive(Clone, PartialEq, Eq)]
enum Noted {
    /// Claude Code noted this record. The conversation may have continued from it since.
    Tip(String),
    /// The user went back to this record.
    WentBackTo(String),
    /// The user went back to before the first record.
    WentBackToStart,
    /// Later records make the note invalid.
    Invalid,
}

impl LastRecords {
    fn take(&mut self, node: &ClaudeNode<'_>) -> ControlFlow<()> {
        if let Some(name) = node.record_uuid() {
            let is_noted_record =
                matches!(&self.note, Some(Noted::Tip(id) | Noted::WentBackTo(id)) if id == name);
            self.records.push((name.to_owned(), node.parent().map(str::to_owned)));
            if node.is_compaction() && self.note.is_none() {
                self.note = Some(Noted::Invalid);
            }
            if is_noted_record {
                return ControlFlow::Break(());
            }
        } else if node.is_tip_note() {
            self.add_note(node);
        }
        match self.note {
            Some(Noted::WentBackToStart | Noted::Invalid) => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    }

    fn add_note(&mut self, node: &ClaudeNode<'_>) {
        let is_last = self.records.is_empty();
        let found = match node.leaf_uuid {
            Some(leaf) if node.explicit && is_last => Noted::WentBackTo(leaf.to_owned()),
            Some(leaf) => Noted::Tip(leaf.to_owned()),
            None if node.explicit && is_last => Noted::WentBackToStart,
            None if node.explicit => Noted::Invalid,
            None => return,
        };
        match (&self.note, &found) {
            (None, _) => self.note = Some(found),
            // When a process exits, it records the same tip again, without the information that the
            // user went back to it.
            (Some(Noted::Tip(at)), Noted::WentBackTo(back)) if at == back => {
                self.note = Some(found);
            }
            _ => {}
        }
    }

    fn tip(self) -> Option<String> {
        let last = self.records.first().map(|(name, _)| name.clone());
        match &self.note {
            Some(Noted::WentBackToStart) => None,
            Some(Noted::WentBackTo(back)) if self.may_contain(back) => Some(back.clone()),
            Some(Noted::Tip(at)) if self.may_contain(at) => match last {
                Some(last) if self.descends_from(&last, at) => Some(self.newest_descendant(last)),
                _ => Some(at.clone()),
            },
            _ => last.map(|last| self.newest_descendant(last)),
        }
    }

    /// Returns whether the file may contain this record.
    fn may_contain(&self, name: &str) -> bool {
        !self.is_complete || self.records.iter().any(|(id, _)| id == name)
    }

    /// Returns whether one record descends from another, as far as the records were read.
    fn descends_from(&self, name: &str, ancestor: &str) -> bool {
        let parents: HashMap<&str, Option<&str>> =
            self.records.iter().map(|(id, parent)| (id.as_str(), parent.as_deref())).collect();
        let mut next = Some(name);
        for _ in 0..=self.records.len() {
            match next {
                None => return false,
                Some(name) if name == ancestor => return true,
                Some(name) => match parents.get(name) {
                    Some(parent) => next = *parent,
                    None => return !parents.contains_key(ancestor),
                },
            }
        }
        false
    }

    /// Follows the descendants of a record that are stored before their parents.
    fn newest_descendant(&self, last: String) -> String {
        let mut tip = last;
        let mut records = self.records.iter().skip(1);
        // Each descendant is further from the end of the file than its parent, so one pass is
        // enough.
        while let Some((name, _)) =
            records.find(|(_, parent)| parent.as_deref() == Some(tip.as_str()))
        {
            tip.clone_from(name);
        }
        tip
    }
}
