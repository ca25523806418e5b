//! Finds the lines of a transcript that belong to the current conversation. Each entry names its
//! parent. Pi continues from the last line, so its ancestors are the conversation.

use std::path::Path;

use segue_core::Result;
use segue_core::model::Turn;
use segue_core::ports::Files;
use serde::Deserialize;

use super::turns;
use crate::shared::reading::{self, Belongs, TranscriptFormat};

/// The position of an entry in the tree.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PiNode<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    id: Option<&'a str>,
    parent_id: Option<&'a str>,
}

impl<'a> PiNode<'a> {
    /// Parses a line. `None` if the line is the header or is invalid.
    fn read(line: &'a [u8]) -> Option<Self> {
        serde_json::from_slice(line).ok().filter(|node: &Self| node.kind != "session")
    }
}

/// Follows the conversation from its last entry to its first one.
#[derive(Debug, Default)]
pub(super) struct PiBranch {
    wanted: WantedEntry,
}

#[derive(Debug, Default)]
enum WantedEntry {
    /// The last entry of the file.
    #[default]
    Tip,
    Entry(String),
    /// Every entry, because the first version of the format has no tree.
    All,
}

impl PiBranch {
    fn follow(&mut self, parent: Option<&str>) -> Belongs {
        match parent {
            Some(parent) => {
                self.wanted = WantedEntry::Entry(parent.to_owned());
                Belongs::Yes
            }
            None => Belongs::First,
        }
    }
}

impl TranscriptFormat for PiBranch {
    fn belongs(&mut self, line: &[u8]) -> Belongs {
        let node = PiNode::read(line);
        match (&self.wanted, node) {
            (WantedEntry::Tip, Some(PiNode { id: Some(_), parent_id, .. })) => {
                self.follow(parent_id)
            }
            (WantedEntry::Tip, Some(_)) => {
                self.wanted = WantedEntry::All;
                Belongs::Yes
            }
            (WantedEntry::All, Some(_)) => Belongs::Yes,
            (WantedEntry::Entry(wanted), Some(node)) if node.id == Some(wanted) => {
                self.follow(node.parent_id)
            }
            (WantedEntry::Entry(wanted), None) => match parent_in_damaged_line(line, wanted) {
                Some(parent) => self.follow(Some(parent)),
                None => Belongs::No,
            },
            _ => Belongs::No,
        }
    }

    fn turns(&mut self, line: &[u8]) -> Vec<Turn> {
        turns::line_turns(line)
    }
}

/// Returns the parent of the wanted entry if this damaged line is that entry.
fn parent_in_damaged_line<'a>(line: &'a [u8], wanted: &str) -> Option<&'a str> {
    let pattern = format!("\"id\":\"{wanted}\",\"parentId\":\"");
    let parent = &line[memchr::memmem::find(line, pattern.as_bytes())? + pattern.len()..];
    std::str::from_utf8(parent.split(|byte| *byte == b'"').next()?).ok()
}

/// Returns the id of the last entry, which is the parent of the next entry.
pub(super) fn tip(files: &dyn Files, path: &Path) -> Result<Option<String>> {
    let id_of = |line: &[u8]| PiNode::read(line).map(|node| node.id.map(str::to_owned));
    let tip = reading::find_line_back(files, path, id_of);
    Ok(tip.map_err(|error| reading::unreadable(path, error))?.flatten())
}
