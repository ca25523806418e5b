//! Tests of the answers to agents, and of the output for users' terminals.

use super::*;

fn replies(input: &[u8]) -> String {
    let mut terminal = VirtualTerminal::new(SIZE);
    let mut effects = Effects::unseen();
    terminal.feed(input, &mut effects);
    String::from_utf8(effects.replies().to_vec()).unwrap()
}

fn shown(input: &[u8]) -> Vec<u8> {
    let mut effects = Effects::seen();
    VirtualTerminal::new(SIZE).feed(input, &mut effects);
    assert!(!effects.needs_painting());
    effects.shown().to_vec()
}

#[test]
fn queries_are_answered() {
    let table = [
        ("\x1b[c", "\x1b[?62;22c"),
        ("\x1b[0c", "\x1b[?62;22c"),
        ("\x1b[>c", "\x1b[>0;100;1c"),
        ("\x1b[=c", "\x1bP!|00000000\x1b\\"),
        ("\x1b[5n", "\x1b[0n"),
        ("\x1b[3;4H\x1b[6n", "\x1b[3;4R"),
        ("\x1b[3;4H\x1b[?6n", "\x1b[?3;4R"),
        ("\x1b[1;30Hx\x1b[6n", "\x1b[1;30R"),
        ("\x1b[3;8r\x1b[?6h\x1b[2;2H\x1b[6n", "\x1b[2;2R"),
        ("\x1b]10;?\x07", "\x1b]10;rgb:d0d0/d0d0/d0d0\x07"),
        ("\x1b]11;?\x1b\\", "\x1b]11;rgb:0000/0000/0000\x1b\\"),
        ("\x1b]10;?;?\x07", "\x1b]10;rgb:d0d0/d0d0/d0d0\x07\x1b]11;rgb:0000/0000/0000\x07"),
        ("\x1b]4;1;?\x07", "\x1b]4;1;rgb:cdcd/0000/0000\x07"),
        (
            "\x1b]4;16;?;231;?\x1b\\",
            "\x1b]4;16;rgb:0000/0000/0000\x1b\\\x1b]4;231;rgb:ffff/ffff/ffff\x1b\\",
        ),
        ("\x1b]11;#ffffff\x07", ""),
        ("\x1b[>q", "\x1bP>|segue 1\x1b\\"),
        ("\x1b[>0q", "\x1bP>|segue 1\x1b\\"),
        ("\x1b[?2026$p", "\x1b[?2026;2$y"),
        ("\x1b[?2026h\x1b[?2026$p", "\x1b[?2026;1$y"),
        ("\x1b[?1049h\x1b[?1049$p", "\x1b[?1049;1$y"),
        ("\x1b[?25$p\x1b[?7$p", "\x1b[?25;1$y\x1b[?7;1$y"),
        ("\x1b[?1003h\x1b[?1003$p", "\x1b[?1003;1$y"),
        ("\x1b[?2027$p", "\x1b[?2027;0$y"),
        ("\x1b[4$p", "\x1b[4;0$y"),
        ("\x1b[?u", "\x1b[?0u"),
        ("\x1b[>7u\x1b[?u\x1b[<u\x1b[?u", "\x1b[?7u\x1b[?0u"),
        ("\x1bP+q544e\x1b\\", "\x1bP0+r\x1b\\"),
        ("\x1bP$qm\x1b\\", "\x1bP0$r\x1b\\"),
        ("\x1b[14t", "\x1b[4;160;240t"),
        ("\x1b[16t", "\x1b[6;16;8t"),
        ("\x1b[18t", "\x1b[8;10;30t"),
        ("\x1b[?996n", "\x1b[?997;1n"),
        ("\x1b]52;c;?\x07", ""),
        ("\x1b[21t", ""),
        ("\x05", ""),
    ];
    for (query, answer) in table {
        assert_eq!(replies(query.as_bytes()), answer, "{query:?}");
    }
}

#[test]
fn queries_and_changes_that_outlast_a_detach_are_not_sent_to_users_terminals() {
    let hidden = [
        "\x1b[c",
        "\x1b[>c",
        "\x1b[=c",
        "\x1b[5n",
        "\x1b[6n",
        "\x1b[?6n",
        "\x1b]10;?\x07",
        "\x1b]4;1;?\x07",
        "\x1b[>q",
        "\x1b[?2026$p",
        "\x1b[4$p",
        "\x1b[?u",
        "\x1bP+q544e\x1b\\",
        "\x1b[14t",
        "\x1b[?996n",
        "\x1b]52;c;?\x07",
        "\x05",
        "\x1b[3J",
        "\x1b[5i",
        "\x1b[8;50;50t",
        "\x1b]11;#fff\x07",
        "\x1b]9;4;1;50\x07",
        "\x1b[?2048h",
        "\x1b[?1016h",
        "\x1b_Ga=q;AA\x1b\\",
        "\x1b[x",
        "\x1b[?1;1S",
        "\x1b[?4m",
        "\x1b]1337;File=:AA\x07",
        "\x1bZ",
        "\x1b[22t",
    ];
    for query in hidden {
        assert_eq!(shown(query.as_bytes()), b"", "{query:?}");
    }
}

#[test]
fn visible_output_is_sent_to_users_terminals() {
    let table = [
        ("\x1b[?25;2004h", "\x1b[?25h\x1b[?2004h"),
        ("\x1b[1;4:3;58:5:1mcurly\x1b[m", "\x1b[1;4:3;58:5:1mcurly\x1b[m"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x07", "\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\"),
        ("\x1b]52;c;aGk=\x07", "\x1b]52;c;aGk=\x1b\\"),
        ("\x1b]9;done\x07", "\x1b]9;done\x1b\\"),
        ("\x1b]0;t\x07", "\x1b]2;t\x1b\\"),
        ("\x1b[>7u", "\x1b[=7;1u"),
        ("\x1b[s\x1b[u", "\x1b7\x1b8"),
        ("\x07", "\x07"),
        ("\u{9b}c", "c"),
    ];
    for (written, expected) in table {
        let found = shown(written.as_bytes());
        assert_eq!(String::from_utf8(found).unwrap(), expected, "{written:?}");
    }
}

#[test]
fn titles_and_bells_are_reported_once_per_batch() {
    let mut terminal = VirtualTerminal::new(SIZE);
    let mut effects = Effects::unseen();
    terminal.feed("\x07\x07\x1b]0;one\x07\x1b]2;tw\u{9b}o\x1b[\x07".as_bytes(), &mut effects);
    terminal.feed(b"\x1b]2;two\x07\x1b]1;icon\x07", &mut effects);
    let notices: Vec<TerminalNotice> = effects.notices().collect();
    assert_eq!(notices, [TerminalNotice::Title("two".to_owned()), TerminalNotice::Bell]);
    let mut effects = Effects::unseen();
    terminal.feed(b"\x1b]2;two\x07", &mut effects);
    assert_eq!(effects.notices().count(), 0, "an unchanged title was reported");
    let mut effects = Effects::unseen();
    terminal.feed(b"\x1b[22;0t\x1b]2;three\x07\x1b[23;0t", &mut effects);
    assert_eq!(terminal.title(), "two");
}
