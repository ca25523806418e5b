//! Recorded conversations of real vendors.

use std::fs;
use std::path::PathBuf;

use rusqlite::Connection;
use segue_testkit::{Terminal, World};

use super::turns;
use crate::world;

/// Returns a recorded file of a vendor.
fn fixture(name: &str) -> String {
    let vendors = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../vendors/src");
    fs::read_to_string(vendors.join(name)).unwrap()
}

/// Writes a file below the home.
fn write_in_home(world: &World, path: &str, text: &str) {
    let path = world.home().join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

#[test]
fn recorded_conversations_of_claude_and_codex_are_shown_by_vendor_session_id() {
    let world = world();
    let claude = "6d1c4bb0-4a8e-4c83-9a53-0f1f7f9b2a11";
    let codex = "01a1e1be-591b-79d0-85a7-3f4c36fd23d5";
    let recorded = fixture("claude/fixtures/interactive.jsonl");
    write_in_home(&world, &format!(".claude/projects/-code-a/{claude}.jsonl"), &recorded);
    let rollout = format!(".codex/sessions/2026/11/16/rollout-2026-11-16T00-25-10-{codex}.jsonl");
    write_in_home(&world, &rollout, &fixture("codex/fixtures/paginated-tool.jsonl"));

    let address = format!("claude:{claude}");
    let shown = world.ok(["show", &address]);
    assert!(shown.starts_with("1  user  2026-11-16 00:16:"), "{shown}");
    assert!(shown.contains("\n    first ALPHA\n"), "{shown}");
    assert!(
        shown.contains("tool call  Bash  2026") && shown.contains("command: touch x"),
        "{shown}"
    );
    assert!(shown.contains("tool result, failed"), "{shown}");
    assert_eq!(world.ok(["show", &address, "--raw"]), recorded);
    let all = turns(&world, &[&address]);
    let last = turns(&world, &[&address, "-n", "3"]);
    assert_eq!(last, all[all.len() - 3..], "reading from the end gives other turns");

    let codex = turns(&world, &[&format!("codex:{codex}")]);
    let roles: Vec<&str> = codex.iter().map(|turn| turn["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "tool_call", "tool_result", "assistant"]);
    assert_eq!(codex[1]["tool_id"], codex[2]["tool_id"]);
}

#[test]
fn conversation_in_a_database_is_shown_and_followed() {
    let world = world();
    let path = world.home().join(".local/share/opencode/opencode.db");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let database = Connection::open(path).unwrap();
    database.pragma_update(None, "journal_mode", "wal").unwrap();
    database.execute_batch(&fixture("opencode/fixtures/recorded.sql")).unwrap();
    let id = "ses_01980000000070008000000000000001";
    let address = format!("opencode:{id}");
    let all = turns(&world, &[&address]);
    assert!(all.len() > 3 && all[0]["role"] == "user", "{all:#?}");
    let exported = world.ok(["show", &address, "--raw"]);
    let exported: serde_json::Value = serde_json::from_str(&exported).unwrap();
    assert_eq!(exported["info"]["id"], id);

    let mut person = Terminal::start(&world.command(["show", &address, "-f", "-n", "1"]), 30, 100);
    person.wait_for("2026-11-16");
    let insert = r#"INSERT INTO message SELECT 'msg_9', session_id, 1894799938698, 1894799938698, data
        FROM message WHERE id = 'msg_1e269ac8a001SvuhEJUbqQz64s';
        INSERT INTO part VALUES ('prt_9', 'msg_9', 'ses_01980000000070008000000000000001',
        1894799938698, 1894799938698, '{"type":"text","text":"said now"}');"#;
    database.execute_batch(&format!("BEGIN; {insert} COMMIT;")).unwrap();
    person.wait_for("said now");
    person.write("\x03");
    assert_eq!(person.wait(), 0, "{person:?}");
}
