//! Converts the messages of a holder into the events of a terminal stream.

use std::collections::VecDeque;

use segue_core::ports::{ScrollbackPage, TerminalEvent, TerminalSnapshot};
use segue_core::{Error, Result};

use crate::hold::holder_connection::HolderMessage;
use crate::hold::styled_lines;
use crate::hold::terminal::Size;
use crate::hold::wire::{ScrollbackFacts, WireAnswer, WireEvent};

/// The parts of incomplete events. An event can consist of several messages.
#[derive(Debug, Default)]
pub(super) struct Incoming {
    repaint: Option<Repaint>,
    /// The sizes of the pages that were requested and have not arrived.
    expected: VecDeque<usize>,
    /// The pieces of scrollback that have arrived since the last answer.
    pieces: Vec<u8>,
    copy: Option<ScrollbackCopy>,
}

/// A repaint that has not arrived completely.
#[derive(Debug)]
struct Repaint {
    size: Size,
    painted: Vec<u8>,
    /// The number of bytes of the whole repaint. `None` if the holder does not report it.
    length: Option<usize>,
}

/// A copy of the holder's lines at one time.
#[derive(Debug)]
struct ScrollbackCopy {
    lines: Vec<String>,
    facts: ScrollbackFacts,
}

impl Incoming {
    /// Begins with a repaint for a terminal of this size, whose beginning the holder does not mark.
    pub(super) fn in_unmarked_repaint(size: Size) -> Self {
        let repaint = Repaint { size, painted: Vec::new(), length: None };
        Self { repaint: Some(repaint), ..Self::default() }
    }

    /// Ends a repaint that the holder did not mark. `None` if there is none.
    pub(super) fn end_unmarked_repaint(&mut self) -> Option<TerminalEvent> {
        let Repaint { size, painted, .. } = self.repaint.take_if(|it| it.length.is_none())?;
        Some(TerminalEvent::Snapshot(TerminalSnapshot { size, painted }))
    }

    /// Takes a message. Returns the event that the message completes. `None` if it completes none.
    pub(super) fn take(&mut self, message: HolderMessage) -> Option<TerminalEvent> {
        match message {
            HolderMessage::Output(bytes) => self.output(bytes),
            HolderMessage::Painted(beginning) => {
                let length = Some(beginning.bytes);
                self.repaint = Some(Repaint { size: beginning.size, painted: Vec::new(), length });
                None
            }
            HolderMessage::Scrollback(piece) if !self.expected.is_empty() => {
                self.pieces.extend_from_slice(&piece);
                None
            }
            HolderMessage::Answer(WireAnswer::Scrollback(facts)) => self.scrollback(facts),
            HolderMessage::Answer(WireAnswer::Failed(error))
            | HolderMessage::Event(WireEvent::Refused(error)) => {
                Some(TerminalEvent::Refused(error))
            }
            HolderMessage::Event(WireEvent::Uses(uses)) => Some(TerminalEvent::Uses(uses.into())),
            HolderMessage::Event(WireEvent::Clients(counts)) => {
                Some(TerminalEvent::Clients(counts.into()))
            }
            HolderMessage::Event(WireEvent::Ended(end)) => Some(TerminalEvent::Ended(end)),
            HolderMessage::Event(_)
            | HolderMessage::Answer(_)
            | HolderMessage::History(_)
            | HolderMessage::Scrollback(_) => None,
        }
    }

    fn output(&mut self, mut bytes: Vec<u8>) -> Option<TerminalEvent> {
        let Some(repaint) = &mut self.repaint else { return Some(TerminalEvent::Output(bytes)) };
        repaint.painted.append(&mut bytes);
        let is_complete = repaint.length.is_some_and(|length| repaint.painted.len() >= length);
        let Repaint { size, painted, .. } = self.repaint.take_if(|_| is_complete)?;
        Some(TerminalEvent::Snapshot(TerminalSnapshot { size, painted }))
    }

    /// Records that a page with at most this many lines was requested.
    pub(super) fn expect_scrollback(&mut self, count: usize) {
        self.expected.push_back(count);
    }

    fn scrollback(&mut self, facts: ScrollbackFacts) -> Option<TerminalEvent> {
        let count = self.expected.pop_front()?;
        let text = std::mem::take(&mut self.pieces);
        let lines = styled_lines::parse(&String::from_utf8_lossy(&text));
        let lines = lines.iter().map(styled_lines::StyledLine::formatted).collect();
        let copy = self.copy.insert(ScrollbackCopy { lines, facts });
        Some(TerminalEvent::Scrollback(copy.page_before(usize::MAX, count)))
    }

    /// Returns a page of the last copy.
    pub(super) fn page_before(&self, line: usize, count: usize) -> Result<TerminalEvent> {
        let missing = || Error::conflict("the newest lines must be requested before older ones");
        let copy = self.copy.as_ref().ok_or_else(missing)?;
        Ok(TerminalEvent::Scrollback(copy.page_before(line, count)))
    }
}

impl ScrollbackCopy {
    fn page_before(&self, line: usize, count: usize) -> ScrollbackPage {
        let end = line.min(self.lines.len());
        let first = end.saturating_sub(count);
        ScrollbackPage {
            first,
            lines: self.lines.get(first..end).unwrap_or_default().to_vec(),
            total: self.lines.len(),
            has_forgotten: self.facts.has_forgotten,
            alternate: self.facts.alternate,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hold::wire::Painted;

    const SIZE: Size = Size { rows: 2, cols: 10 };
    const FACTS: ScrollbackFacts = ScrollbackFacts { has_forgotten: true, alternate: false };

    fn output(text: &str) -> HolderMessage {
        HolderMessage::Output(text.as_bytes().to_vec())
    }

    fn snapshot(text: &str) -> Option<TerminalEvent> {
        let painted = text.as_bytes().to_vec();
        Some(TerminalEvent::Snapshot(TerminalSnapshot { size: SIZE, painted }))
    }

    #[test]
    fn repaint_in_several_frames_is_one_snapshot() {
        let mut incoming = Incoming::default();
        let painted = HolderMessage::Painted(Painted { size: SIZE, bytes: 6 });
        assert_eq!(incoming.take(painted), None);
        assert_eq!(incoming.take(output("abc")), None);
        assert_eq!(incoming.take(output("def")), snapshot("abcdef"));
        assert_eq!(incoming.take(output("g")), Some(TerminalEvent::Output(b"g".to_vec())));
    }

    #[test]
    fn repaint_without_a_mark_ends_with_the_answer() {
        let mut incoming = Incoming::in_unmarked_repaint(SIZE);
        assert_eq!(incoming.take(output("ab")), None);
        assert_eq!(incoming.take(output("cd")), None);
        assert_eq!(incoming.end_unmarked_repaint(), snapshot("abcd"));
        assert_eq!(incoming.end_unmarked_repaint(), None);
        assert_eq!(incoming.take(output("e")), Some(TerminalEvent::Output(b"e".to_vec())));
    }

    fn page(event: Option<TerminalEvent>) -> (usize, Vec<String>, usize) {
        let Some(TerminalEvent::Scrollback(page)) = event else { panic!("no page: {event:?}") };
        assert!(page.has_forgotten && !page.alternate);
        (page.first, page.lines, page.total)
    }

    #[test]
    fn pages_are_parts_of_one_copy_and_each_line_has_its_own_colours() {
        let mut incoming = Incoming::default();
        assert!(incoming.page_before(1, 1).is_err(), "there is no copy yet");
        incoming.expect_scrollback(2);
        incoming.take(HolderMessage::Scrollback(b"a\n\x1b[31mb\nc\x1b[m".to_vec()));
        incoming.take(HolderMessage::Scrollback(b"\nd\x1b]2;evil\x07".to_vec()));
        let newest = page(incoming.take(HolderMessage::Answer(WireAnswer::Scrollback(FACTS))));
        let (red_c, d) = ("\x1b[0;31mc\x1b[m".to_owned(), "d]2;evil".to_owned());
        assert_eq!(newest, (2, vec![red_c, d], 4));
        let before = page(incoming.page_before(2, 5).ok());
        assert_eq!(before, (0, vec!["a".to_owned(), "\x1b[0;31mb\x1b[m".to_owned()], 4));
        assert_eq!(page(incoming.page_before(0, 5).ok()), (0, Vec::new(), 4));
        assert_eq!(page(incoming.page_before(99, 1).ok()).0, 3);
    }

    #[test]
    fn scrollback_that_was_not_requested_is_ignored() {
        let mut incoming = Incoming::default();
        assert_eq!(incoming.take(HolderMessage::Scrollback(b"x".to_vec())), None);
        assert_eq!(incoming.take(HolderMessage::Answer(WireAnswer::Scrollback(FACTS))), None);
        assert!(incoming.pieces.is_empty());
    }
}
