//! Separates the input of an attached user into input for the agent and commands of this program.
//!
//! A command is Ctrl-\ followed by a key. Terminals send keys in several encodings, of which the
//! agent chooses one: single bytes, `CSI code ; modifiers u`, or `CSI 27 ; modifiers ; code ~`.

mod meaning;

use segue_core::ports::TerminalUses;

use self::meaning::{KeyMeaning, Press, is_page_up};
use crate::hold::terminal::{Sequence, Token, TokenKind, TokenScanner};

/// Shift, alt and control in a mouse report.
const MOUSE_MODIFIERS: u16 = 4 | 8 | 16;
/// The wheel turned up, in a mouse report.
const WHEEL_UP: u16 = 64;

/// A part of the input: bytes to pass on, or a command.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum TypedInput {
    /// Input for the agent, or for the screen that covers it.
    Passed(Vec<u8>),
    Command(AttachCommand),
}

/// A command to this program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AttachCommand {
    Detach,
    Scroll(ScrollEntry),
    Help,
    /// Let this program use the mouse, or leave it to the user's terminal.
    Mouse,
}

/// The key with which scroll mode was entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScrollEntry {
    Key,
    PageUp,
    Wheel,
}

/// The receiver of the keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    Agent(TerminalUses),
    /// A screen of this program that covers the agent.
    Overlay,
}

/// The input of one user.
#[derive(Debug, Default)]
pub(super) struct Keys {
    scanner: TokenScanner,
    /// The bytes since Ctrl-\, which wait for the next key.
    held: Vec<u8>,
    is_pasting: bool,
    /// A command that follows the input that was passed on last.
    command: Option<AttachCommand>,
}

impl Keys {
    /// Adds input.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.scanner.push(bytes);
    }

    /// Returns the next part of the input. A command can change the receiver of the input that
    /// follows it.
    pub(super) fn next(&mut self, owner: Owner) -> Option<TypedInput> {
        if let Some(command) = self.command.take() {
            return Some(TypedInput::Command(command));
        }
        let mut passed = Vec::new();
        let mut scanner = std::mem::take(&mut self.scanner);
        loop {
            if self.is_pasting {
                self.is_pasting = !scanner.take_paste(&mut passed);
            }
            let Some(token) = scanner.next() else { break };
            self.is_pasting = token.begins_paste();
            let (command, unused) = self.key(token, owner, &mut passed);
            scanner.give_back(unused);
            if command.is_some() {
                self.command = command;
                break;
            }
        }
        self.scanner = scanner;
        if passed.is_empty() {
            return self.command.take().map(TypedInput::Command);
        }
        Some(TypedInput::Passed(passed))
    }

    /// Returns whether an incomplete key waits for its rest.
    pub(super) fn is_waiting(&self) -> bool {
        !self.is_pasting && !self.scanner.rest().is_empty()
    }

    /// Returns the incomplete input, after a pause in which its rest did not arrive.
    pub(super) fn after_pause(&mut self) -> Vec<u8> {
        let mut passed = std::mem::take(&mut self.held);
        passed.append(&mut self.scanner.take_rest());
        passed
    }

    /// Handles a key. Returns the command that it completes, and how many bytes of the token follow
    /// the command.
    fn key(
        &mut self,
        token: Token<'_>,
        owner: Owner,
        passed: &mut Vec<u8>,
    ) -> (Option<AttachCommand>, usize) {
        let key = KeyMeaning::of(token);
        match (self.held.is_empty(), key) {
            (true, KeyMeaning::Prefix(Press::First)) => self.held.extend_from_slice(token.bytes),
            (true, _) => match direct(token, owner) {
                Direct::Pass => passed.extend_from_slice(token.bytes),
                Direct::Drop => {}
                Direct::Enter(entry) => return (Some(AttachCommand::Scroll(entry)), 0),
            },
            // The release or repetition of a key does not complete the command.
            (false, KeyMeaning::Ignored | KeyMeaning::Prefix(Press::Again)) => {
                self.held.extend_from_slice(token.bytes);
            }
            // Ctrl-\ that is pressed twice is passed on once.
            (false, KeyMeaning::Prefix(Press::First)) => {
                self.held.clear();
                passed.extend_from_slice(token.bytes);
            }
            (false, KeyMeaning::Command(command)) => {
                self.held.clear();
                // In typed text, only the first character is the command.
                let used = if token.kind == TokenKind::Text { 1 } else { token.bytes.len() };
                return (Some(command), token.bytes.len() - used);
            }
            (false, KeyMeaning::Other) => {
                passed.append(&mut self.held);
                passed.extend_from_slice(token.bytes);
            }
        }
        (None, 0)
    }
}

/// How a key without a preceding Ctrl-\ is handled.
enum Direct {
    Pass,
    Drop,
    Enter(ScrollEntry),
}

/// Decides about a key without a preceding Ctrl-\. Page Up scrolls unless the agent uses the
/// alternate screen, because such agents scroll themselves. This program uses the mouse as long as
/// the agent does not.
fn direct(token: Token<'_>, owner: Owner) -> Direct {
    let (Owner::Agent(uses), TokenKind::Csi) = (owner, token.kind) else { return Direct::Pass };
    let Some(sequence) = Sequence::parse(token.bytes) else { return Direct::Pass };
    match (sequence.prefix, sequence.last) {
        (0, b'~') if !uses.alternate && is_page_up(&sequence) => Direct::Enter(ScrollEntry::PageUp),
        (b'<', b'M' | b'm') if !uses.mouse => {
            let button = sequence.number(0).unwrap_or(0) & !MOUSE_MODIFIERS;
            if button == WHEEL_UP { Direct::Enter(ScrollEntry::Wheel) } else { Direct::Drop }
        }
        _ => Direct::Pass,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ctrl-\ in the encodings of terminals.
    const PREFIXES: [&[u8]; 7] = [
        b"\x1c",
        b"\x1b[92;5u",
        b"\x1b[92;5:1u",
        b"\x1b[92:124;5u",
        b"\x1b[92;133u",
        b"\x1b[57442;5u\x1b[92;5u\x1b[92;5:2u\x1b[92;5:3u\x1b[57442;1:3u",
        b"\x1b[27;5;92~",
    ];
    const DS: [&[u8]; 5] = [b"d", b"\x1b[100u", b"\x1b[100;1u", b"\x1b[100;1:1u", b"\x1b[100;129u"];
    const PLAIN: Owner = Owner::Agent(TerminalUses { alternate: false, mouse: false });
    const FULL: Owner = Owner::Agent(TerminalUses { alternate: true, mouse: true });

    /// Feeds chunks. Returns all input that was passed on, and the commands.
    fn take_for(owner: Owner, chunks: &[&[u8]]) -> (Vec<u8>, Vec<AttachCommand>) {
        let mut keys = Keys::default();
        let (mut passed, mut commands) = (Vec::new(), Vec::new());
        for chunk in chunks {
            keys.push(chunk);
            while let Some(typed) = keys.next(owner) {
                match typed {
                    TypedInput::Passed(bytes) => passed.extend(bytes),
                    TypedInput::Command(command) => commands.push(command),
                }
            }
        }
        (passed, commands)
    }

    fn take(chunks: &[&[u8]]) -> (Vec<u8>, Vec<AttachCommand>) {
        take_for(FULL, chunks)
    }

    #[test]
    fn detach_key_is_recognized_in_every_encoding_wherever_reads_are_cut() {
        for prefix in PREFIXES {
            for d in DS {
                let stream = [b"x", prefix, d].concat();
                for cut in 0..=stream.len() {
                    let (head, tail) = stream.split_at(cut);
                    let (passed, commands) = take(&[head, tail]);
                    let shown = stream.escape_ascii().to_string();
                    assert_eq!(commands, [AttachCommand::Detach], "{shown:?} at {cut}");
                    assert!(passed.starts_with(b"x"));
                    assert!(!passed.ends_with(d));
                }
            }
        }
    }

    #[test]
    fn every_command_is_recognized_in_every_encoding_and_keeps_later_input() {
        let table: [(&[u8], AttachCommand); 12] = [
            (b"d", AttachCommand::Detach),
            (b"[", AttachCommand::Scroll(ScrollEntry::Key)),
            (b"\x1b[91u", AttachCommand::Scroll(ScrollEntry::Key)),
            (b"\x1b[56:91;2u", AttachCommand::Scroll(ScrollEntry::Key)),
            (b"\x1b[5~", AttachCommand::Scroll(ScrollEntry::PageUp)),
            (b"?", AttachCommand::Help),
            (b"\x1b[63;2u", AttachCommand::Help),
            (b"\x1b[47;2u", AttachCommand::Help),
            (b"\x1b[47:63;2u", AttachCommand::Help),
            (b"\x1b[27;2;63~", AttachCommand::Help),
            (b"m", AttachCommand::Mouse),
            (b"\x1b[109u", AttachCommand::Mouse),
        ];
        for prefix in PREFIXES {
            for (key, command) in table {
                let (passed, commands) = take(&[&[b"x", prefix, key, b"yz"].concat()]);
                assert_eq!(commands, [command], "{:?}", key.escape_ascii().to_string());
                assert!(passed.starts_with(b"x") && passed.ends_with(b"yz"), "{passed:?}");
                assert!(prefix.len() > 10 || passed == b"xyz", "{passed:?}");
            }
        }
    }

    #[test]
    fn prefix_pressed_twice_sends_the_key_itself() {
        assert_eq!(take(&[b"\x1c\x1cd"]), (b"\x1cd".to_vec(), Vec::new()));
        assert_eq!(take(&[b"\x1b[92;5u", b"\x1b[92;5u", b"x"]).0, b"\x1b[92;5ux");
    }

    #[test]
    fn input_that_is_no_command_is_passed_on_unchanged() {
        for typed in [&b"\x1cx"[..], b"\x1c\r", b"\x1b[92;5u\x1b[120u", b"\x1c\x1b[A", b"\x1cD"] {
            assert_eq!(take(&[typed]), (typed.to_vec(), Vec::new()));
        }
        for typed in [&b"\x1b[100;2u"[..], b"\x1b[100:68;2u", b"\x1b[27;2;68~"] {
            let typed = [b"\x1c", typed].concat();
            assert_eq!(take(&[&typed]), (typed.clone(), Vec::new()));
        }
        for typed in [&b"d"[..], b"hello d[?m", b"\x1b[100u", b"\x1b[92;1u", b"\x1b[92;6u"] {
            assert_eq!(take(&[typed]), (typed.to_vec(), Vec::new()));
        }
    }

    #[test]
    fn pasted_keys_are_not_commands() {
        let pasted = b"\x1b[200~\x1cd\x1b[5~\x1b[201~";
        assert_eq!(take_for(PLAIN, &[pasted]), (pasted.to_vec(), Vec::new()));
        assert_eq!(take(&[pasted, b"\x1cd"]).1, [AttachCommand::Detach]);
    }

    #[test]
    fn escape_alone_is_passed_on_after_a_pause() {
        let mut keys = Keys::default();
        keys.push(b"\x1b");
        assert_eq!(keys.next(PLAIN), None);
        assert!(keys.is_waiting());
        assert_eq!(keys.after_pause(), b"\x1b");
        assert!(!keys.is_waiting());
    }

    #[test]
    fn page_up_and_the_wheel_scroll_only_if_the_agent_does_not_use_them() {
        let uses = |alternate, mouse| Owner::Agent(TerminalUses { alternate, mouse });
        let (page, wheel) = (&b"\x1b[5~"[..], &b"\x1b[<64;3;4M"[..]);
        let enters = |entry| (Vec::new(), vec![AttachCommand::Scroll(entry)]);
        let passes = |bytes: &[u8]| (bytes.to_vec(), Vec::new());
        let table = [
            (uses(false, false), page, enters(ScrollEntry::PageUp)),
            (uses(false, true), page, enters(ScrollEntry::PageUp)),
            (uses(true, false), page, passes(page)),
            (uses(true, true), page, passes(page)),
            (Owner::Overlay, page, passes(page)),
            (uses(false, false), wheel, enters(ScrollEntry::Wheel)),
            (uses(true, false), wheel, enters(ScrollEntry::Wheel)),
            (uses(false, true), wheel, passes(wheel)),
            (uses(true, true), wheel, passes(wheel)),
            (Owner::Overlay, wheel, passes(wheel)),
        ];
        for (owner, typed, expected) in table {
            assert_eq!(take_for(owner, &[typed]), expected, "{owner:?} {typed:?}");
        }
    }

    #[test]
    fn keys_like_page_up_are_passed_on_and_other_mouse_reports_are_dropped() {
        for typed in [&b"\x1b[5;2~"[..], b"\x1b[5;5~", b"\x1b[6~", b"\x1b[5;1:3~", b"\x1b[15~"] {
            assert_eq!(take_for(PLAIN, &[typed]), (typed.to_vec(), Vec::new()));
        }
        for typed in [&b"\x1b[<0;1;1M"[..], b"\x1b[<0;1;1m", b"\x1b[<65;1;1M", b"\x1b[<35;1;1M"] {
            assert_eq!(take_for(PLAIN, &[typed]), (Vec::new(), Vec::new()));
        }
        assert_eq!(
            take_for(PLAIN, &[b"\x1b[<68;1;1M"]).1,
            [AttachCommand::Scroll(ScrollEntry::Wheel)]
        );
    }
}
