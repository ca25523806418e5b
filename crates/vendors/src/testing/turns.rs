//! Helpers for tests that read and write turns.

use std::ops::ControlFlow;
use std::path::Path;

use jiff::Timestamp;
use segue_core::model::{Role, Tool, Turn, VendorSessionId};
use segue_core::ports::{Conversion, Transcription, TranscriptionOrder, Transcripts};

use crate::testing::{CountingFiles, Home};

/// Reads a transcript in both directions and expects the same turns from both.
pub(crate) fn read_turns(vendor: &dyn Transcripts, path: &Path) -> Vec<Turn> {
    let disk = CountingFiles::default();
    let (mut forward, mut back) = (Vec::new(), Vec::new());
    let take = |turns: &mut Vec<Turn>, turn| {
        turns.push(turn);
        ControlFlow::Continue(())
    };
    vendor.turns(&disk, path, &mut |turn| take(&mut forward, turn)).unwrap();
    vendor.turns_back(&disk, path, &mut |turn| take(&mut back, turn)).unwrap();
    back.reverse();
    assert_eq!(forward, back, "both directions");
    forward
}

/// Writes a transcript, and reads its turns in both directions.
pub(crate) fn read_turns_of_text(
    vendor: &dyn Transcripts,
    path: &str,
    text: impl AsRef<[u8]>,
) -> Vec<Turn> {
    let home = Home::new();
    read_turns(vendor, &home.write(path, text))
}

/// Formats each turn as `role: text`.
pub(crate) fn with_roles(turns: &[Turn]) -> Vec<String> {
    turns.iter().map(|turn| format!("{}: {}", turn.role.word(), turn.text)).collect()
}

/// Formats each turn as `role tool: text`. The name of a failed tool ends with `!`.
pub(crate) fn with_roles_and_tools(turns: &[Turn]) -> Vec<String> {
    turns.iter().map(with_role_and_tool).collect()
}

fn with_role_and_tool(turn: &Turn) -> String {
    let failed = |tool: &Tool| if tool.failed { "!" } else { "" };
    let tool = turn.tool.as_ref().map(|tool| format!(" {}{}", tool.name, failed(tool)));
    format!("{}{}: {}", turn.role.word(), tool.unwrap_or_default(), turn.text)
}

/// Expects that a damaged transcript is read without a panic, and with the same turns in both
/// directions. The damage is a cut anywhere, or bytes that have changed.
pub(crate) fn assert_damage_is_tolerated(vendor: &dyn Transcripts, path: &str, text: &str) {
    let home = Home::new();
    let step = (text.len() / 150).max(1);
    for cut in (0..text.len()).step_by(step) {
        read_turns(vendor, &home.write(path, &text.as_bytes()[..cut]));
        read_turns(vendor, &home.write(path, &text.as_bytes()[cut..]));
    }
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random_below = move |limit: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        usize::try_from(seed % limit as u64).unwrap()
    };
    for _ in 0..100 {
        let mut bytes = text.as_bytes().to_vec();
        for _ in 0..=random_below(20) {
            let at = random_below(bytes.len());
            bytes[at] = u8::try_from(random_below(256)).unwrap();
        }
        read_turns(vendor, &home.write(path, bytes));
    }
}

/// Returns a turn of every kind, as they are passed to a writer.
pub(crate) fn sample_turns() -> Vec<Turn> {
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

/// Returns turns as they are read after they were written: a summary becomes a message of the user.
pub(crate) fn as_read_back(turns: &[Turn]) -> Vec<Turn> {
    let role = |turn: &Turn| if turn.role == Role::Summary { Role::User } else { turn.role };
    turns.iter().map(|turn| Turn { role: role(turn), ..turn.clone() }).collect()
}

/// Returns the order to write a conversation with this id, either as an addition to the transcript
/// `append_to` or as a new transcript.
pub(crate) fn order<'a>(
    home: &'a Home,
    id: &'a VendorSessionId,
    append_to: Option<&'a Path>,
) -> TranscriptionOrder<'a> {
    TranscriptionOrder {
        files: &home.disk,
        place: &home.place,
        id,
        title: "fleet/one",
        model: None,
        now: Timestamp::UNIX_EPOCH,
        append_to,
    }
}

/// Writes turns in the vendor's format, either as an addition to the transcript `append_to` or as a
/// new transcript.
pub(crate) fn write_turns(
    vendor: &dyn Conversion,
    home: &Home,
    (id, append_to): (&str, Option<&Path>),
    turns: &[Turn],
) -> (Transcription, Vec<u8>) {
    let id = VendorSessionId::new(id);
    let mut transcription = vendor.transcription(&order(home, &id, append_to)).unwrap();
    let bytes = write_all(&mut transcription, turns);
    (transcription, bytes)
}

/// Runs the writer of a transcription to its end.
pub(crate) fn write_all(transcription: &mut Transcription, turns: &[Turn]) -> Vec<u8> {
    let mut bytes = Vec::new();
    transcription.writer.begin(&mut bytes);
    turns.iter().for_each(|turn| transcription.writer.turn(turn, &mut bytes));
    transcription.writer.end(&mut bytes);
    bytes
}
