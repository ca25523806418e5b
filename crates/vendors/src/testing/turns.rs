//! Helpers for tests that read and write turns.

use std::ops::ControlFlow;
use std::path::Path;

use jiff::Timestamp;
use segue_core::Result;
use segue_core::model::{Role, Tool, Turn, VendorSessionId};
use segue_core::ports::{EachTurn, Transcription, TranscriptionOrder, Vendor};

use crate::testing::Home;

/// Reads a transcript in both directions and expects the same turns from both.
pub(crate) fn turns_of(vendor: &dyn Vendor, home: &Home, path: &Path) -> Vec<Turn> {
    let transcripts = vendor.transcripts().unwrap();
    both_ways(
        |each| transcripts.turns(&home.disk, path, each),
        |each| transcripts.turns_back(&home.disk, path, each),
    )
}

/// Runs a forward and a backward reader and expects the same turns from both.
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

/// Formats a turn as a short text: its role, the name of its tool with `!` if the tool failed, and
/// its text.
pub(crate) fn short(turn: &Turn) -> String {
    let failed = |tool: &Tool| if tool.failed { "!" } else { "" };
    let tool = turn.tool.as_ref().map(|tool| format!(" {}{}", tool.name, failed(tool)));
    format!("{}{}: {}", turn.role.word(), tool.unwrap_or_default(), turn.text)
}

/// Expects that a reader accepts a transcript that is cut anywhere, and one with changed bytes,
/// without a panic and with the same turns in both directions.
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

/// Returns a conversation with every kind of turn, as it is passed to a writer.
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

/// Returns the turns as they are read after they were written: a summary becomes a message of the
/// user.
pub(crate) fn as_read(turns: &[Turn]) -> Vec<Turn> {
    let role = |turn: &Turn| if turn.role == Role::Summary { Role::User } else { turn.role };
    turns.iter().map(|turn| Turn { role: role(turn), ..turn.clone() }).collect()
}

/// Writes turns in the vendor's format, either as an addition to the transcript `onto` or as a new
/// transcript.
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
    let mut transcription = vendor.conversion().unwrap().transcription(&order).unwrap();
    let mut bytes = Vec::new();
    transcription.writer.begin(&mut bytes);
    turns.iter().for_each(|turn| transcription.writer.turn(turn, &mut bytes));
    transcription.writer.end(&mut bytes);
    (transcription, bytes)
}
