//! Finds the tip of a conversation: the record that the conversation continues from.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::Path;

use segue_core::Result;
use segue_core::ports::Files;

use super::tree::ClaudeNode;
use crate::shared::reading::{self, TranscriptLine};

/// How many bytes at the end of the file are searched for the vendor's own note of the tip. The
/// vendor writes this note when a process exits, so only the records of one later process follow
/// it.
const LOOKED_AT: usize = 1024 * 1024;

/// Returns the tip, as the vendor would choose it: the last record, unless the vendor has noted a
/// tip that the last record does not descend from. `None` if there is no record to continue from.
pub(super) fn find(files: &dyn Files, path: &Path) -> Result<Option<String>> {
    let mut end = LastRecords::default();
    let mut left = LOOKED_AT;
    let take = |line: TranscriptLine<'_>| {
        let told =
            ClaudeNode::read(line.bytes).map_or(ControlFlow::Continue(()), |it| end.take(&it));
        left = left.saturating_sub(line.bytes.len());
        if left == 0 && !end.records.is_empty() { ControlFlow::Break(()) } else { told }
    };
    reading::each_line_back(files, path, take).map_err(|error| reading::unreadable(path, error))?;
    end.is_whole = left > 0;
    Ok(end.tip())
}

/// The records at the end of a file, the last one first, and the vendor's note of the tip.
#[derive(Default)]
struct LastRecords {
    records: Vec<(String, Option<String>)>,
    noted: Option<Noted>,
    /// Whether all records that can matter were read.
    is_whole: bool,
}

#[derive(Clone, PartialEq, Eq)]
enum Noted {
    /// The vendor noted this record. The conversation may have continued from it since.
    At(String),
    /// A person went back to this record.
    BackAt(String),
    /// A person went back to before the first record.
    Nowhere,
    /// Later records make the note invalid.
    Void,
}

impl LastRecords {
    fn take(&mut self, node: &ClaudeNode<'_>) -> ControlFlow<()> {
        if let Some(name) = node.name() {
            let is_noted =
                matches!(&self.noted, Some(Noted::At(it) | Noted::BackAt(it)) if it == name);
            self.records.push((name.to_owned(), node.parent().map(str::to_owned)));
            if node.is_compaction() && self.noted.is_none() {
                self.noted = Some(Noted::Void);
            }
            if is_noted {
                return ControlFlow::Break(());
            }
        } else if node.says_tip() {
            self.note(node);
        }
        match self.noted {
            Some(Noted::Nowhere | Noted::Void) => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    }

    fn note(&mut self, node: &ClaudeNode<'_>) {
        let is_last = self.records.is_empty();
        let found = match node.leaf_uuid {
            Some(leaf) if node.explicit && is_last => Noted::BackAt(leaf.to_owned()),
            Some(leaf) => Noted::At(leaf.to_owned()),
            None if node.explicit && is_last => Noted::Nowhere,
            None if node.explicit => Noted::Void,
            None => return,
        };
        match (&self.noted, &found) {
            (None, _) => self.noted = Some(found),
            // When a process exits, it notes the same tip again, without the mark that a person
            // went back to it.
            (Some(Noted::At(at)), Noted::BackAt(back)) if at == back => self.noted = Some(found),
            _ => {}
        }
    }

    fn tip(self) -> Option<String> {
        let last = self.records.first().map(|(name, _)| name.clone());
        match &self.noted {
            Some(Noted::Nowhere) => None,
            Some(Noted::BackAt(back)) if self.may_have(back) => Some(back.clone()),
            Some(Noted::At(at)) if self.may_have(at) => match last {
                Some(last) if self.comes_from(&last, at) => Some(self.newest_after(last)),
                _ => Some(at.clone()),
            },
            _ => last.map(|last| self.newest_after(last)),
        }
    }

    fn may_have(&self, name: &str) -> bool {
        !self.is_whole || self.records.iter().any(|(it, _)| it == name)
    }

    /// Returns whether one record descends from another, as far as the records were read.
    fn comes_from(&self, name: &str, ancestor: &str) -> bool {
        let parents: HashMap<&str, Option<&str>> =
            self.records.iter().map(|(it, parent)| (it.as_str(), parent.as_deref())).collect();
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
    fn newest_after(&self, last: String) -> String {
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
