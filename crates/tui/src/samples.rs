//! Sessions and models for tests.

use std::path::PathBuf;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use segue_core::api::{PlanGateView, SessionList, SessionView};
use segue_core::model::TerminalSize;
use serde_json::{Value, json};

use crate::api::{Surroundings, VendorChoice};
use crate::model::UiModel;
use crate::update::{UiEffect, UiMessage, update};

/// The time of all tests.
pub(crate) fn now() -> Timestamp {
    "2026-03-05T12:41:30Z".parse().unwrap()
}

/// Makes a session. `fields` replaces fields of its JSON.
pub(crate) fn session(number: u32, name: &str, status: &str, fields: Value) -> SessionView {
    let id = format!("0198f9d2-0000-7000-8000-{number:012}");
    let mut view = json!({
        "session": id, "id": id,
        "name": name, "fleet": "shop", "address": format!("shop/{name}"),
        "agent": null, "vendor": "pi", "vendor_session_id": "1", "evidence": null,
        "status": status, "waiting_for": null, "status_detail": null,
        "cwd": "/home/ann/src/shop", "worktree": null, "branch": null, "headless": false,
        "pid": 7, "holder_pid": 8, "launches": 1,
        "created_at": "2026-03-05T08:00:00Z", "updated_at": "2026-03-05T12:20:00Z",
    });
    if let Value::Object(fields) = fields {
        for (key, value) in fields {
            view[key] = value;
        }
    }
    serde_json::from_value(view).unwrap()
}

/// Returns the sessions of two fleets in every status. Two of them ask.
pub(crate) fn fleet() -> Vec<SessionView> {
    let permission = json!({
        "waiting_for": "permission", "status_detail": "permission",
        "branch": "feat/login", "task": "12", "worktree": "/w/login",
        "updated_at": "2026-03-05T12:41:00Z",
        "dialog": {
            "id": "q1", "kind": "permission",
            "question": "Bash: npm test -- --watch=false",
            "choices": ["yes", "always", "no"],
            "answer": "segue answer shop/coder yes --question q1",
        },
    });
    let question = json!({
        "waiting_for": "question", "status_detail": "question",
        "updated_at": "2026-03-05T12:33:00Z",
        "dialog": {
            "id": "q2", "kind": "question",
            "question": "Which licence shall I put into the header?",
            "choices": ["MIT", "漢字 wide", "none"],
            "answer": "segue answer shop/writer 1 --question q2",
        },
    });
    let api = |fields: Value| {
        let mut fields = fields;
        fields["fleet"] = json!("api");
        fields["cwd"] = json!("/home/ann/src/api");
        fields
    };
    vec![
        session(1, "coder", "waiting", permission),
        session(2, "reviewer", "working", json!({ "queued_messages": 1, "agent": "reviewer" })),
        session(3, "tester", "idle", json!({})),
        session(4, "writer", "waiting", question),
        session(
            5,
            "coder",
            "interrupted",
            api(json!({
                "address": "api/coder", "updated_at": "2026-03-05T08:02:00Z",
            })),
        ),
        session(
            6,
            "planner",
            "ended",
            api(json!({
                "address": "api/planner", "status_detail": "quit",
                "updated_at": "2026-03-04T20:00:00Z",
            })),
        ),
        session(7, "lost-one", "lost", api(json!({ "address": "api/lost-one" }))),
    ]
}

pub(crate) fn list(sessions: Vec<SessionView>) -> SessionList {
    SessionList { sessions, hidden: 0, next: None }
}

/// A gate of a plan that waits for a person.
pub(crate) fn gate(task: &str) -> PlanGateView {
    let gate = json!({
        "plan": "0198f9d2-0000-7000-8000-000000000001", "plan_name": "release", "fleet": "shop",
        "folder": "/home/ann/src/shop", "task": task, "agent": "coder",
        "work": "Open a pull request.\nName the issue.", "releases": ["announce"],
        "text": "starts the work of coder; announce after it", "since": now(),
        "command": format!("segue plan approve shop/release {task}"),
    });
    serde_json::from_value(gate).unwrap()
}

/// Makes a model of this size without sessions.
pub(crate) fn empty_model(cols: u16, rows: u16) -> UiModel {
    let surroundings = Surroundings {
        home: Some(PathBuf::from("/home/ann")),
        cwd: PathBuf::from("/home/ann/src/shop"),
        zone: TimeZone::UTC,
        has_colours: true,
    };
    let mut model = UiModel::new(surroundings, TerminalSize { rows, cols }, now());
    let vendor = |name: &str, title: &str, is_built_in| VendorChoice {
        name: name.to_owned(),
        title: title.to_owned(),
        is_built_in,
    };
    model.vendors = Some(vec![vendor("pi", "Pi", false), vendor("trial", "Trial", true)]);
    model
}

/// Makes a model of this size that shows these sessions. The first one is selected.
pub(crate) fn model(cols: u16, rows: u16, sessions: Vec<SessionView>) -> UiModel {
    let mut model = empty_model(cols, rows);
    update(&mut model, UiMessage::Sessions(Ok(list(sessions))));
    press(&mut model, KeyCode::Home);
    model
}

pub(crate) fn press(model: &mut UiModel, code: KeyCode) -> Vec<UiEffect> {
    update(model, UiMessage::Key(KeyEvent::new(code, KeyModifiers::NONE)))
}

/// Presses the keys of a text one after the other. Returns the effects of the last key. `⏎` is Enter
/// and `⎋` is Esc.
pub(crate) fn keys(model: &mut UiModel, text: &str) -> Vec<UiEffect> {
    let code = |character| match character {
        '⏎' => KeyCode::Enter,
        '⎋' => KeyCode::Esc,
        '⇥' => KeyCode::Tab,
        other => KeyCode::Char(other),
    };
    text.chars().map(|it| press(model, code(it))).last().unwrap_or_default()
}
