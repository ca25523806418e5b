//! What the tests of the vendors' turns share.

use std::ops::ControlFlow;
use std::path::Path;

use jiff::Timestamp;
use segue_core::Result;
use segue_core::model::{Role, Tool, Turn, VendorSessionId};
use segue_core::ports::{EachTurn, Transcription, TranscriptionOrder, Vendor};

use crate::samples::Home;

/// Reads a transcript in both directions, which must say the same.
pub(crate) fn turns_of(vendor: &dyn Vendor, home: &Home, path: &Path) -> Vec<Turn> {
    both_ways(
        |each| vendor.turns(&home.disk, path, each),
        |each| vendor.turns_back(&home.disk, path, each),
    )
}

/// Returns what two ways to read a transcript give, which must be the same.
pub(crate) fn both_ways(
    forwards: impl FnOnce(&mut EachTurn<'_>) -> Result<()>,
    backwards: impl FnOnce(&mut EachTurn<'_>) -> Result<()>,
) -> Vec<Turn> {
    let (mut forward, mut back) = (Vec::new(), Vec::new());
    let take = |turns: &mut Vec<Turn>, turn| {
        turns.push(turn);
        ControlFlow::Continue(())
    };
    forwards(&mut |turn| take(&mut forward, turn)).unwrap();
    backwards(&mut |turn| take(&mut back, turn)).unwrap();
    back.reverse();
    assert_eq!(forward, back, "both directions");
    forward
}

/// Returns a turn as a short text: its role, its words, and of a tool what is known.
pub(crate) fn short(turn: &Turn) -> String {
    let failed = |tool: &Tool| if tool.failed { "!" } else { "" };
    let tool = turn.tool.as_ref().map(|tool| format!(" {}{}", tool.name, failed(tool)));
    format!("{}{}: {}", turn.role.word(), tool.unwrap_or_default(), turn.text)
}

/// Expects that a reader takes a transcript that is cut anywhere, and one with changed bytes, without
/// a panic and in both directions alike.
pub(crate) fn is_robust(vendor: &dyn Vendor, path: &str, text: &str) {
    let home = Home::new();
    let step = (text.len() / 150).max(1);
    for cut in (0..text.len()).step_by(step) {
        let path = home.write(path, &text.as_bytes()[..cut]);
        turns_of(vendor, &home, &path);
    }
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut chance = move |below: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        usize::try_from(seed % below as u64).unwrap()
    };
    for _ in 0..100 {
        let mut bytes = text.as_bytes().to_vec();
        for _ in 0..=chance(20) {
            let at = chance(bytes.len());
            bytes[at] = u8::try_from(chance(256)).unwrap();
        }
        let path = home.write(path, bytes);
        turns_of(vendor, &home, &path);
    }
}

/// Returns a conversation of every sort of turn, as a writer is given it.
pub(crate) fn conversation() -> Vec<Turn> {
    let at = |second: i64| Timestamp::from_second(1_794_800_000 + second).ok();
    let tool = |id: &str, name: &str, failed| Tool { id: id.into(), name: name.into(), failed };
    let call = |id, arguments: &str| {
        Turn::new(Role::ToolCall, arguments).with_tool(tool(id, "Bash", false))
    };
    let result =
        |id, text: &str, failed| Turn::new(Role::ToolResult, text).with_tool(tool(id, "", failed));
    let turns = [
        Turn::new(Role::Summary, "What was before: \"much\"."),
        Turn::new(Role::User, "list\nthem ü 日本 🎉\n```rust\nfn main() {}\n```"),
        Turn::new(Role::Assistant, "I look."),
        call("toolu_01", r#"{"command":"ls -l"}"#),
        result("toolu_01", "a\nb\n", false),
        call("toolu_02", r#"{"z": {"x":[1,null]}, "command": "false"}"#),
        result("toolu_02", "it broke", true),
        Turn::new(Role::Assistant, "Two, and one is broken."),
        Turn::new(Role::Assistant, "That is all."),
        Turn::new(Role::User, "<environment_context> is a word of mine"),
        Turn::new(Role::User, "thanks"),
        Turn::new(Role::Assistant, "\\o/"),
    ];
    turns.into_iter().zip(0..).map(|(turn, second)| turn.at(at(second))).collect()
}

/// Returns what is read of a written summary: it becomes something that the user said.
pub(crate) fn as_read(turns: &[Turn]) -> Vec<Turn> {
    let role = |turn: &Turn| if turn.role == Role::Summary { Role::User } else { turn.role };
    turns.iter().map(|turn| Turn { role: role(turn), ..turn.clone() }).collect()
}

/// Writes turns as the vendor does, onto a transcript or as one of their own.
pub(crate) fn written(
    vendor: &dyn Vendor,
    home: &Home,
    (id, onto): (&str, Option<&Path>),
    turns: &[Turn],
) -> (Transcription, Vec<u8>) {
    let id = VendorSessionId::new(id);
    let order = TranscriptionOrder {
        files: &home.disk,
        place: &home.place,
        id: &id,
        title: "fleet/one",
        model: None,
        now: Timestamp::UNIX_EPOCH,
        onto,
    };
    let mut transcription = vendor.transcription(&order).unwrap().unwrap();
    let mut bytes = Vec::new();
    transcription.writer.begin(&mut bytes);
    turns.iter().for_each(|turn| transcription.writer.turn(turn, &mut bytes));
    transcription.writer.end(&mut bytes);
    (transcription, bytes)
}
