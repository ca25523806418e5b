//! Every view as a text file in `tests/frames`, at three sizes. `SEGUE_WRITE_FRAMES=1` writes the
//! files again.

use std::fs;
use std::path::PathBuf;

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use segue_core::api::{MessageList, WorktreeDiffReport};
use segue_core::model::{Event, Role, TerminalSize, Tool, Turn};
use segue_core::ports::{TerminalEvent, TerminalSnapshot};
use serde_json::json;

use super::draw;
use crate::api::TalkPage;
use crate::model::UiModel;
use crate::samples::{empty_model, fleet, gate, keys, list, model, session};
use crate::update::{DetailMessage, UiMessage, update};

const SIZES: [(u16, u16); 3] = [(80, 24), (120, 40), (200, 60)];

fn drawn(model: &UiModel) -> String {
    let mut terminal = Terminal::new(TestBackend::new(model.size.cols, model.size.rows)).unwrap();
    terminal.draw(|frame| draw(frame, model)).unwrap();
    let buffer = terminal.backend().buffer();
    let mut text = String::new();
    for y in 0..model.size.rows {
        let mut row = String::new();
        let mut skipped = 0;
        for x in 0..model.size.cols {
            let symbol = buffer[(x, y)].symbol();
            // The cell behind a wide character is empty.
            if skipped == 0 {
                row.push_str(symbol);
                skipped = crate::text::width(symbol).saturating_sub(1);
            } else {
                skipped -= 1;
            }
        }
        text.push_str(row.trim_end());
        text.push('\n');
    }
    text
}

/// Compares a view with its file at every size.
fn check(name: &str, prepare: impl Fn(&mut UiModel)) {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/frames");
    let mut differing = Vec::new();
    for (cols, rows) in SIZES {
        let mut model = model(cols, rows, fleet());
        prepare(&mut model);
        let text = drawn(&model);
        let file = folder.join(format!("{name}-{cols}x{rows}.txt"));
        if std::env::var_os("SEGUE_WRITE_FRAMES").is_some() {
            fs::write(&file, &text).unwrap();
        }
        let expected = fs::read_to_string(&file).unwrap_or_default();
        if text != expected {
            differing.push(format!("{}:\n{text}", file.display()));
        }
    }
    assert!(differing.is_empty(), "differs from its file:\n{}", differing.join("\n"));
}

fn detail(model: &mut UiModel, message: DetailMessage) {
    let request = model.detail.request;
    update(model, UiMessage::Detail(request, message));
}

/// Opens the right side of a narrow screen, and gives it the focus on a wide one.
fn open(model: &mut UiModel, view: &str) {
    keys(model, "⇥");
    keys(model, view);
}

#[test]
fn list_with_the_agents_screen() {
    check("screen", |model| {
        let painted = b"\x1b[2J\x1b[H\x1b[1mdemo agent\x1b[m\r\n> \xe6\xbc\xa2\xe5\xad\x97 wide\r\n\x1b[31mred\x1b[m";
        let size = TerminalSize { rows: 40, cols: 120 };
        let snapshot = TerminalSnapshot { size, painted: painted.to_vec() };
        detail(model, DetailMessage::Terminal(TerminalEvent::Snapshot(snapshot)));
    });
}

#[test]
fn gate_of_a_plan_needs_a_person_beside_the_sessions() {
    check("gate", |model| {
        update(model, UiMessage::Gates(Ok(vec![gate("ship"), gate("announce")])));
    });
}

#[test]
fn approval_shows_what_it_starts() {
    check("approval", |model| {
        update(model, UiMessage::Gates(Ok(vec![gate("ship")])));
        keys(model, "p");
    });
}

#[test]
fn list_that_is_filtered_and_marked() {
    check("filtered", |model| {
        keys(model, "  /shop⏎");
    });
}

#[test]
fn conversation() {
    check("talk", |model| {
        open(model, "2");
        let tool = Tool { id: "1".to_owned(), name: "Bash".to_owned(), failed: false };
        let turns = vec![
            Turn::new(Role::User, "Please run the tests,\nand report \u{1b}[31mfailures."),
            Turn::new(Role::ToolCall, "{\"command\":\"npm test\"}").with_tool(tool),
            Turn::new(Role::Assistant, "All 漢字 tests pass. ".repeat(12)),
        ];
        let page = Ok(TalkPage { turns, before: None });
        detail(model, DetailMessage::Talk { is_earlier: false, page });
    });
}

#[test]
fn diff_with_a_comment() {
    check("diff", |model| {
        open(model, "3");
        let report: WorktreeDiffReport = serde_json::from_value(json!({
            "worktree": "0198f9d2-0000-7000-8000-000000000001",
            "path": "/w/login", "branch": "feat/login", "base": null,
            "files": [
                { "path": "src/login.rs", "added": 2, "removed": 1 },
                { "path": "logo.png", "added": null, "removed": null },
            ],
            "patch": "diff --git a/src/login.rs b/src/login.rs\n--- a/src/login.rs\n\
                +++ b/src/login.rs\n@@ -1,3 +1,4 @@\n fn login() {\n-    old();\n+\tnew();\n\
                +    more();\n }\ndiff --git a/logo.png b/logo.png\nBinary files differ\n",
            "is_cut": false,
        }))
        .unwrap();
        detail(model, DetailMessage::Diff(Ok(report)));
        keys(model, "jjjjjjmwhy not keep it?⏎");
    });
}

#[test]
fn messages() {
    check("messages", |model| {
        open(model, "4");
        let message = |number: u32, state: &str, text: &str| {
            json!({
                "id": format!("0198f9d2-0000-7000-8000-{number:012}"),
                "session": "0198f9d2-0000-7000-8000-000000000001",
                "name": "coder", "fleet": "shop", "address": "shop/coder",
                "state": state, "text": text,
                "created_at": "2026-03-05T11:00:00Z", "updated_at": "2026-03-05T11:00:00Z",
            })
        };
        let all = json!({ "messages": [
            message(1, "delivered", "fix the login"),
            message(2, "queued", "then\nthe tests"),
            message(3, "uncertain", "\u{1b}]0;title\u{7}and the docs"),
        ]});
        let list: MessageList = serde_json::from_value(all).unwrap();
        detail(model, DetailMessage::Messages(Ok(list)));
    });
}

#[test]
fn log() {
    check("log", |model| {
        open(model, "5");
        let event = |seq: i64, kind: &str, data: serde_json::Value| -> Event {
            serde_json::from_value(json!({
                "seq": seq, "at": "2026-03-05T11:00:00Z",
                "session": "0198f9d2-0000-7000-8000-000000000001", "launch": null,
                "kind": kind, "text": "", "data": data,
            }))
            .unwrap()
        };
        let events = vec![
            event(1, "session_created", json!({ "address_then": "shop/coder" })),
            event(2, "bound", json!({ "vendor_session": "abc", "evidence": "preset" })),
            event(
                3,
                "status_changed",
                json!({
                    "status": { "status": "waiting", "detail": "permission" },
                    "source": null, "note": null,
                }),
            ),
        ];
        detail(model, DetailMessage::Log(Ok(events)));
    });
}

#[test]
fn tasks_and_worktrees() {
    check("tasks", |model| {
        let tasks = json!({ "tasks": [{
            "id": "0198f9d2-0000-7000-8000-000000000001", "agent": "coder", "state": "queued",
            "address": null, "created_at": "2026-03-05T11:00:00Z",
            "beginning": "Make the login page work without scripts",
        }]});
        update(model, UiMessage::Tasks(Ok(serde_json::from_value(tasks).unwrap())));
        keys(model, "t");
    });
    check("worktrees", |model| {
        let worktrees = json!({ "worktrees": [{
            "worktree": "0198f9d2-0000-7000-8000-000000000001", "path": "/w/login",
            "repository": "/home/ann/src/shop", "branch": "feat/login", "agent": "coder",
            "leased_to": {
                "session": "0198f9d2-0000-7000-8000-000000000001", "name": "coder",
                "fleet": "shop", "address": "shop/coder",
            },
            "state": "present", "checked_out": null, "head": null,
            "changes": { "staged": 1, "modified": 2, "untracked": 0, "conflicted": 0 },
            "operation": null, "distance": null, "size_bytes": null, "port": 4000,
            "salvage": null, "error": null, "created_at": "2026-03-05T11:00:00Z",
        }]});
        update(model, UiMessage::Worktrees(Ok(serde_json::from_value(worktrees).unwrap())));
        keys(model, "w");
    });
}

#[test]
fn dialogs() {
    check("answer", |model| drop(keys(model, "a")));
    check("confirm", |model| drop(keys(model, "jjx")));
    check("editor", |model| drop(keys(model, "sPlease look at 漢字")));
    check("form", |model| drop(keys(model, "cfix the login")));
    check("handoff", |model| drop(keys(model, "h")));
    check("palette", |model| drop(keys(model, ":worktree")));
    check("help", |model| drop(keys(model, "?")));
}

#[test]
fn empty_screen_and_lost_daemon() {
    check("empty", |model| {
        let size = model.size;
        *model = empty_model(size.cols, size.rows);
        update(model, UiMessage::Sessions(Ok(list(Vec::new()))));
    });
    check("lost", |model| drop(update(model, UiMessage::DaemonGone)));
}

#[test]
fn without_colours_no_cell_has_a_colour_and_the_selection_is_still_marked() {
    use ratatui::style::{Color, Modifier};
    let mut model = model(120, 40, fleet());
    model.surroundings.has_colours = false;
    let mut terminal = Terminal::new(TestBackend::new(120, 40)).unwrap();
    terminal.draw(|frame| draw(frame, &model)).unwrap();
    let cells = &terminal.backend().buffer().content;
    assert!(cells.iter().all(|it| it.fg == Color::Reset && it.bg == Color::Reset));
    assert!(cells.iter().any(|it| it.modifier.contains(Modifier::REVERSED)));
}

#[test]
fn own_colours_are_the_sixteen_of_the_terminal() {
    use ratatui::style::Color;
    let mut terminal = Terminal::new(TestBackend::new(120, 40)).unwrap();
    let model = model(120, 40, fleet());
    terminal.draw(|frame| draw(frame, &model)).unwrap();
    let cells = &terminal.backend().buffer().content;
    let is_plain = |it: Color| !matches!(it, Color::Rgb(..) | Color::Indexed(_));
    assert!(cells.iter().all(|it| is_plain(it.fg) && is_plain(it.bg)));
}

#[test]
fn every_size_can_be_drawn() {
    for (cols, rows) in [(1, 1), (2, 2), (10, 3), (40, 5), (99, 8), (100, 8), (300, 4)] {
        let mut model = model(cols, rows, fleet());
        for typed in ["", "a", "⎋x", "⎋s", "⎋c", "⎋:", "⎋?", "⎋⇥2", "3", "4", "5", "⎋t", "w"]
        {
            keys(&mut model, typed);
            drawn(&model);
        }
    }
}

#[test]
fn texts_of_agents_cannot_move_the_cursor() {
    let name = json!({
        "status_detail": "\u{1b}[2J\u{202e}evil\nline", "branch": "a\u{1b}]0;x\u{7}b",
        "cwd": "/home/\u{1b}[31mred",
    });
    let model = model(200, 60, vec![session(1, "fox", "ended", name)]);
    let text = drawn(&model);
    assert!(
        text.contains("evil line") && !text.contains(['\u{1b}', '\u{202e}', '\u{7}']),
        "{text}"
    );
}
